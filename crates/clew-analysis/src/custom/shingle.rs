//! Words joined with those behind them.

use std::ops::Range;

use super::Term;
use super::char_filter::Filtered;
use super::part::Part;
use super::room::Room;

/// Longest shingle, in words.
const SHINGLE_MAX: usize = 16;

/// Words joined with those behind them.
#[derive(Clone)]
pub(super) struct Shingle {
    sizes: Range<usize>,
    separator: String,
    filler: String,
    keeps_words: bool,
    keeps_lone_words: bool,
}

impl Shingle {
    pub(super) fn compile(part: &Part<'_>) -> Result<Self, String> {
        let max = part.number("max_shingle_size", 2, 2..=SHINGLE_MAX)?;
        let min = part.number("min_shingle_size", 2, 2..=max)?;
        Ok(Shingle {
            sizes: min..max + 1,
            separator: part
                .text("token_separator")
                .unwrap_or_else(|| " ".to_string()),
            filler: part.text("filler_token").unwrap_or_else(|| "_".to_string()),
            keeps_words: part.flag("output_unigrams", true)?,
            keeps_lone_words: part.flag("output_unigrams_if_no_shingles", false)?,
        })
    }

    /// Whether the lengths of what it makes say nothing of ways through the text: sizes overlap.
    pub(super) fn hides_ways(&self) -> bool {
        self.keeps_words || self.sizes.len() > 1
    }

    /// Each place begins shingles of all sizes, also one that another filter has left empty: there the filler stands.
    /// So do those behind the last term, of which the text may have some.
    pub(super) fn apply(&self, terms: &[Term], behind: Behind<'_>) -> Vec<Term> {
        let places = self.places(terms, behind);
        let is_lone = self.keeps_lone_words && places.len() < self.sizes.start;
        let mut out = Vec::new();
        let mut room = Room::for_terms(terms);
        for (at, place) in places.iter().enumerate() {
            // Lucene ends where words alone are wanted, there is none, and too little is left for a shingle.
            let has_words = self.keeps_words || is_lone;
            if has_words && place.is_filler && places.len() - at < self.sizes.start {
                break;
            }
            if has_words && !place.is_filler {
                let mut word = place.term.clone();
                word.token.position = at;
                out.push(word);
            }
            for size in self.sizes.clone() {
                if room.is_over() {
                    break;
                }
                let joined = self.joined(&places[at..], at, size);
                out.extend(joined.filter(|term| room.takes(term.token.text.len())));
            }
        }
        out
    }

    /// The terms with what stands for those that are missing before each of them and behind the last, fewer than the longest
    /// shingle has.
    fn places(&self, terms: &[Term], behind: Behind<'_>) -> Vec<Place> {
        let most = self.sizes.end.saturating_sub(2);
        let mut places = Vec::with_capacity(terms.len());
        let mut next = 0;
        for term in terms {
            let missing = term.token.position.saturating_sub(next).min(most);
            if missing > 0 {
                let filler = self.filler(term, term.token.offset_from);
                places.extend(std::iter::repeat_n(filler, missing));
            }
            places.push(Place {
                term: term.clone(),
                is_filler: false,
            });
            next = term.token.position + 1;
        }
        if let Some(last) = terms.last() {
            let filler = self.filler(last, behind.end);
            places.extend(std::iter::repeat_n(filler, behind.places.min(most)));
        }
        places
    }

    /// What stands at a place of the text where there is no term.
    fn filler(&self, beside: &Term, at: usize) -> Place {
        let mut term = beside.clone();
        term.token.text.clone_from(&self.filler);
        term.token.offset_from = at;
        term.token.offset_to = at;
        Place {
            term,
            is_filler: true,
        }
    }

    /// So many places joined; `None` when there are not as many, or nothing but fillers.
    fn joined(&self, places: &[Place], position: usize, size: usize) -> Option<Term> {
        let places = places.get(..size)?;
        if places.iter().all(|place| place.is_filler) {
            return None;
        }
        let words: Vec<&str> = places
            .iter()
            .map(|place| place.term.token.text.as_str())
            .collect();
        let mut shingle = places.first()?.term.clone();
        shingle.token.text = words.join(&self.separator);
        shingle.token.offset_to = places.last()?.term.token.offset_to;
        shingle.token.position = position;
        // Where words do not stand beside them, the shortest shingles take one place each.
        shingle.token.position_length = if self.keeps_words {
            size
        } else {
            size + 1 - self.sizes.start
        };
        shingle.kind = "shingle";
        Some(shingle)
    }
}

/// What a text has behind its last term.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Behind<'t> {
    /// Places of terms that filters took out.
    pub(super) places: usize,
    /// Where the text ends, in bytes.
    pub(super) end: usize,
    /// The text as it came, and what it was cut from; not where terms are looked at one by one.
    pub(super) text: Option<(&'t str, &'t Filtered)>,
}

/// A place in a text: a term, or what stands for one that was left out.
#[derive(Clone)]
struct Place {
    term: Term,
    is_filler: bool,
}
