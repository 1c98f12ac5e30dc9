//! Words joined with those behind them.

use std::ops::Range;

use super::Term;
use super::part::Part;

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

    pub(super) fn apply(&self, terms: &[Term]) -> Vec<Term> {
        let is_lone = self.keeps_lone_words && terms.len() < self.sizes.start;
        let mut out = Vec::new();
        for (at, term) in terms.iter().enumerate() {
            if self.keeps_words || is_lone {
                out.push(term.clone());
            }
            for size in self.sizes.clone() {
                out.extend(self.joined(&terms[at..], size));
            }
        }
        out
    }

    /// So many places joined, gaps filled; `None` when there are not as many.
    fn joined(&self, terms: &[Term], size: usize) -> Option<Term> {
        let first = terms.first()?;
        let mut words: Vec<&str> = Vec::with_capacity(size);
        let mut end = first;
        for term in terms {
            let place = term.token.position.checked_sub(first.token.position)?;
            if place >= size {
                break;
            }
            while words.len() < place {
                words.push(&self.filler);
            }
            if words.len() == place {
                words.push(&term.token.text);
                end = term;
            }
        }
        if words.len() < size {
            return None;
        }
        let mut shingle = first.clone();
        shingle.token.text = words.join(&self.separator);
        shingle.token.offset_to = end.token.offset_to;
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
