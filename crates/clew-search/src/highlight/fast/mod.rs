//! Pieces as Lucene's `FastVectorHighlighter` makes them for OpenSearch: the phrases of the query are looked for among its words
//! in the text, a piece is put around the first of them that is left and takes those that fit, and its ends are moved to
//! boundaries near them. Places are counted in characters of 16 bits, through all values, with a space behind each.
//!
//! The words come from the text here, too: the index keeps no vectors of them.

mod boundary;
mod phrases;

use std::ops::Range;

use clew_analysis::Token;

use super::wanted::FieldWanted;
use super::{HighlightError, HighlightOptions, Place, length, push_text};
use phrases::{Looked, Phrase, Word};

pub use boundary::Boundary;

/// Least characters before the first phrase of a piece, unless a request says otherwise.
const MARGIN: usize = 6;
/// Positions between two values.
const VALUE_GAP: usize = 100;

/// How pieces are made.
#[derive(Clone, Debug, PartialEq)]
pub struct FastOptions {
    /// What stands before the words of each part of the query, and what behind them. Parts that are too many have the first.
    pub tags: Vec<(String, String)>,
    /// Where pieces may end.
    pub boundary: Boundary,
    /// Phrases of a document that are looked at.
    pub phrases_max: usize,
    /// Least characters before the first phrase of a piece.
    pub margin: Option<usize>,
}

/// Phrases of a document that are looked at, unless a request says otherwise.
const PHRASES_MAX: usize = 256;

impl Default for FastOptions {
    fn default() -> Self {
        FastOptions {
            tags: vec![("<em>".to_string(), "</em>".to_string())],
            boundary: Boundary::default(),
            phrases_max: PHRASES_MAX,
            margin: None,
        }
    }
}

/// A part of the text with phrases in it.
struct Fragment {
    range: Range<usize>,
    parts: Vec<Part>,
    boost: f32,
}

/// The places of one phrase that belong to a fragment.
struct Part {
    spans: Vec<Range<usize>>,
    number: usize,
    boost: f32,
}

/// The pieces of values whose words are given value by value.
///
/// # Errors
/// Pieces are to be smaller than their margins allow.
pub(super) fn pieces(
    (options, fast): (&HighlightOptions, &FastOptions),
    (values, words): (&[String], &[Vec<Token>]),
    wanted: &[FieldWanted],
) -> Result<Vec<String>, HighlightError> {
    let text = Text::of(values);
    let words = placed(values, words);
    let looked = Looked::new(wanted, &words);
    let phrases = looked.phrases(&words, fast.phrases_max);
    let mut fragments = if options.fragments_max == 0 {
        let whole = 0..usize::MAX;
        let all = phrases.iter().map(Part::of).collect();
        Vec::from_iter((!phrases.is_empty()).then(|| Fragment::new(whole, all)))
    } else {
        around(&phrases, options.fragment_size, fast.margin)?
    };
    if text.ends.len() > 1 {
        fragments = text.apart(&fragments);
    }
    if options.best_first {
        fragments.sort_by(|a, b| {
            let by_boost = b.boost.total_cmp(&a.boost);
            by_boost.then(a.range.start.cmp(&b.range.start))
        });
    }
    let mut most = match options.fragments_max {
        0 => usize::MAX,
        most => most,
    };
    // A beginning that ends behind the first of several values is none.
    let is_within = match text.ends.as_slice() {
        [] => false,
        [_] => true,
        [first, ..] => options.no_match_size <= *first,
    };
    if fragments.is_empty() && options.no_match_size > 0 && is_within {
        fragments = vec![Fragment::new(0..options.no_match_size, Vec::new())];
        most = 1;
    }
    let mut writer = Writer {
        text: &text,
        values: 0,
        known: 0,
        escape: options.escape,
        fast,
    };
    let shown = fragments.iter().take(most);
    Ok(shown.map(|fragment| writer.write(fragment)).collect())
}

/// The words of all values, in the characters and the positions of all of them together.
fn placed<'t>(values: &[String], words: &'t [Vec<Token>]) -> Vec<Word<'t>> {
    let mut all = Vec::new();
    let (mut units, mut positions) = (0, 0);
    for (value, words) in values.iter().zip(words) {
        let mut place = Place::default();
        let mut last = positions;
        for word in words {
            last = positions + word.position;
            all.push(Word {
                text: &word.text,
                start: units + place.units_before(value, word.start),
                end: units + place.units_before(value, word.end),
                position: last,
            });
        }
        units += length(value) + 1;
        positions = last + VALUE_GAP + 1;
    }
    all
}

/// Pieces around phrases, each as large as is asked for, or as its phrases are.
fn around(
    phrases: &[Phrase],
    size: usize,
    margin: Option<usize>,
) -> Result<Vec<Fragment>, HighlightError> {
    let margin = margin.unwrap_or(MARGIN);
    let least = margin.saturating_mul(3).max(1);
    if size < least {
        return Err(HighlightError::TooSmall { size, least });
    }
    let mut fragments: Vec<Fragment> = Vec::new();
    let (mut at, mut begin) = (0, 0);
    while let Some(first) = phrases.get(at) {
        if first.start() < begin {
            // It reaches into the piece before.
            at += 1;
            continue;
        }
        let start = first.start();
        let mut end = first.end();
        let reach = end.max(start.saturating_sub(margin).max(begin).saturating_add(size));
        let fits = |phrase: &Phrase, end: usize| phrase.spans.len() <= 1 || end - start <= size;
        let mut parts = Vec::new();
        if fits(first, end) {
            parts.push(Part::of(first));
        }
        at += 1;
        while let Some(phrase) = phrases.get(at).filter(|phrase| phrase.end() <= reach) {
            end = phrase.end();
            if end >= start && fits(phrase, end) {
                parts.push(Part::of(phrase));
            }
            at += 1;
        }
        if parts.is_empty() {
            continue;
        }
        let matched = end.saturating_sub(start);
        let from = start
            .saturating_sub(size.saturating_sub(matched) / 2)
            .max(begin);
        begin = from.saturating_add(matched.max(size));
        fragments.push(Fragment::new(from..begin, parts));
    }
    Ok(fragments)
}

impl Fragment {
    fn new(range: Range<usize>, parts: Vec<Part>) -> Self {
        let boost = parts.iter().map(|part| part.boost).sum();
        Fragment {
            range,
            parts,
            boost,
        }
    }
}

impl Part {
    fn of(phrase: &Phrase) -> Self {
        Part {
            spans: phrase.spans.clone(),
            number: phrase.number,
            boost: phrase.boost,
        }
    }
}

/// All values.
struct Text {
    units: Vec<u16>,
    /// Where each value ends, with the space behind it.
    ends: Vec<usize>,
}

impl Text {
    fn of(values: &[String]) -> Self {
        let (mut units, mut ends) = (Vec::new(), Vec::new());
        for value in values {
            units.extend(value.encode_utf16());
            units.push(u16::from(b' '));
            ends.push(units.len());
        }
        Text { units, ends }
    }

    /// The same pieces, of which none goes beyond a value.
    fn apart(&self, fragments: &[Fragment]) -> Vec<Fragment> {
        let mut apart = Vec::new();
        for fragment in fragments {
            let first = fragment.parts.iter().flat_map(|part| &part.spans).next();
            let first = first.map_or(fragment.range.start, |span| span.start);
            let from = self.ends.partition_point(|end| *end <= first);
            for value in from..self.ends.len() {
                let begin = value.checked_sub(1).map_or(0, |before| self.ends[before]);
                let here = begin..self.ends[value];
                if here.start >= fragment.range.end {
                    break;
                }
                let parts = fragment.parts.iter().filter_map(|part| {
                    let spans = part.spans.iter().filter(|span| here.contains(&span.start));
                    let spans: Vec<Range<usize>> = spans.cloned().collect();
                    (!spans.is_empty()).then_some(Part { spans, ..*part })
                });
                let parts: Vec<Part> = parts.collect();
                if !parts.is_empty() {
                    let range =
                        fragment.range.start.max(here.start)..fragment.range.end.min(here.end);
                    apart.push(Fragment::new(range, parts));
                }
            }
        }
        apart
    }
}

/// Writes pieces.
struct Writer<'a> {
    text: &'a Text,
    /// Values that were looked at, and where the last of them ends: no piece sees more of them than it needs.
    values: usize,
    known: usize,
    escape: bool,
    fast: &'a FastOptions,
}

impl Writer<'_> {
    fn write(&mut self, fragment: &Fragment) -> String {
        let range = self.bounds(&fragment.range);
        let mut written = String::new();
        let mut at = range.start;
        for part in &fragment.parts {
            for span in &part.spans {
                if span.start < at || span.end > range.end {
                    continue;
                }
                self.push(&mut written, at..span.start);
                let (before, after) = self.tags(part.number);
                written.push_str(before);
                self.push(&mut written, span.clone());
                written.push_str(after);
                at = span.end;
            }
        }
        self.push(&mut written, at..range.end);
        written
    }

    /// Where the piece begins and ends.
    fn bounds(&mut self, range: &Range<usize>) -> Range<usize> {
        while self.known < range.end
            && let Some(end) = self.text.ends.get(self.values)
        {
            self.known = *end;
            self.values += 1;
        }
        let units = &self.text.units[..self.known];
        // The space behind the last value is none of it.
        let last = self.known.saturating_sub(1);
        let boundary = &self.fast.boundary;
        let end = match last < range.end {
            true => last,
            false => boundary.end(units, range.end),
        };
        let start = boundary.start(units, range.start).min(end);
        start..end
    }

    fn tags(&self, number: usize) -> (&str, &str) {
        let tags = self.fast.tags.get(number).or(self.fast.tags.first());
        tags.map_or(("", ""), |(before, after)| {
            (before.as_str(), after.as_str())
        })
    }

    fn push(&self, written: &mut String, range: Range<usize>) {
        let text = String::from_utf16_lossy(&self.text.units[range]);
        push_text(written, &text, self.escape);
    }
}

#[cfg(test)]
mod tests;
