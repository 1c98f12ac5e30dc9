//! Pieces of text around marked words: sentences, cut where they are longer than wanted.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::HighlightOptions;
use super::wanted::Mark;
use crate::analysis::Token;

/// A piece of a text with marked words in it.
struct Piece {
    order: usize,
    score: usize,
    text: String,
}

/// The pieces found so far.
pub(super) struct Found<'a> {
    options: &'a HighlightOptions,
    pieces: Vec<Piece>,
}

impl<'a> Found<'a> {
    pub(super) fn new(options: &'a HighlightOptions) -> Self {
        Found {
            options,
            pieces: Vec::new(),
        }
    }

    /// Adds the pieces of one value.
    pub(super) fn add(&mut self, text: &str, words: &[Token], marks: &[Mark]) {
        if marks.is_empty() {
            return;
        }
        let ranges = if self.options.fragments_max == 0 {
            std::iter::once(0..text.len()).collect()
        } else {
            cut(text, self.options.fragment_size, |at| {
                marks.iter().any(|mark| words[mark.word].start == at)
            })
        };
        for range in ranges {
            let inside: Vec<Mark> = marks
                .iter()
                .filter(|mark| range.contains(&words[mark.word].start))
                .copied()
                .collect();
            if inside.is_empty() {
                continue;
            }
            let mut kinds: Vec<usize> = inside.iter().map(|mark| mark.by).collect();
            kinds.sort_unstable();
            kinds.dedup();
            let order = self.pieces.len();
            self.pieces.push(Piece {
                order,
                // A piece with two of the query's words tells more than one with the same twice.
                score: kinds.len() * 1000 + inside.len(),
                text: self.write(text, range, words, &inside),
            });
        }
    }

    fn write(&self, text: &str, range: Range<usize>, words: &[Token], marks: &[Mark]) -> String {
        let mut written = String::new();
        let mut at = range.start;
        for mark in marks {
            let Token { start, end, .. } = words[mark.word];
            if start < at {
                continue;
            }
            self.push(&mut written, &text[at..start]);
            written.push_str(&self.options.before);
            self.push(&mut written, &text[start..end]);
            written.push_str(&self.options.after);
            at = end;
        }
        if at < range.end {
            self.push(&mut written, &text[at..range.end]);
        }
        if self.options.fragments_max == 0 {
            return written;
        }
        written.trim().to_string()
    }

    fn push(&self, written: &mut String, text: &str) {
        if !self.options.escape {
            written.push_str(text);
            return;
        }
        for character in text.chars() {
            match character {
                '"' => written.push_str("&quot;"),
                '&' => written.push_str("&amp;"),
                '<' => written.push_str("&lt;"),
                '>' => written.push_str("&gt;"),
                '\'' => written.push_str("&#x27;"),
                '/' => written.push_str("&#x2F;"),
                other => written.push(other),
            }
        }
    }

    /// The pieces to show.
    pub(super) fn finish(mut self, texts: &[String]) -> Vec<String> {
        let max = match self.options.fragments_max {
            0 => usize::MAX,
            max => max,
        };
        if self.pieces.is_empty() {
            return self.beginning(texts);
        }
        self.pieces
            .sort_by_key(|piece| (std::cmp::Reverse(piece.score), piece.order));
        self.pieces.truncate(max);
        if !self.options.best_first {
            self.pieces.sort_by_key(|piece| piece.order);
        }
        self.pieces.into_iter().map(|piece| piece.text).collect()
    }

    fn beginning(&self, texts: &[String]) -> Vec<String> {
        let Some(text) = texts.first().filter(|_| self.options.no_match_size > 0) else {
            return Vec::new();
        };
        let end = word_end(text, 0, self.options.no_match_size);
        let mut written = String::new();
        self.push(&mut written, text[..end].trim());
        vec![written]
    }
}

/// Sentences of a text; longer ones are cut between words. No cut goes through a marked place.
fn cut(text: &str, size: usize, is_marked: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for (start, sentence) in text.split_sentence_bound_indices() {
        let end = start + sentence.len();
        if size == 0 || sentence.chars().count() <= size {
            ranges.push(start..end);
            continue;
        }
        let mut at = start;
        while at < end {
            // A piece begins at a marked word where there is one, so that it shows what follows.
            let first = sentence
                .char_indices()
                .map(|(offset, _)| start + offset)
                .find(|place| *place >= at && is_marked(*place));
            let Some(first) = first else {
                break;
            };
            let from = if word_end(text, at, size) > first {
                at
            } else {
                first
            };
            let to = word_end(text, from, size).min(end);
            ranges.push(from..to);
            at = to;
        }
    }
    ranges
}

/// Where the word ends that is `size` characters behind a place.
fn word_end(text: &str, from: usize, size: usize) -> usize {
    let rest = &text[from..];
    let Some((target, _)) = rest.char_indices().nth(size) else {
        return text.len();
    };
    let mut end = rest.len();
    for (at, word) in rest.split_word_bound_indices() {
        if at >= target {
            end = at;
            break;
        }
        end = at + word.len();
        if end >= target {
            break;
        }
    }
    from + end
}
