//! Where pieces may begin and end.

use crate::highlight::fragments::scanner::{sentence_starts, word_starts};

/// Characters that are looked through for the boundary of a sentence or of a word.
const WINDOW_UNITS: usize = 10_000;

/// What pieces are to begin behind and to end before.
#[derive(Clone, Debug, PartialEq)]
pub enum Boundary {
    /// Certain characters, where there is one no farther away.
    Characters {
        /// They.
        characters: Vec<u16>,
        /// How far away they may be.
        scanned: usize,
    },
    /// Sentences.
    Sentences,
    /// Words.
    Words,
}

impl Default for Boundary {
    fn default() -> Self {
        Boundary::Characters {
            characters: ".,!? \t\n".encode_utf16().collect(),
            scanned: 20,
        }
    }
}

impl Boundary {
    /// Where a piece begins that is to begin at a place, or before it.
    pub(super) fn start(&self, units: &[u16], at: usize) -> usize {
        if at == 0 || at > units.len() {
            return at;
        }
        let starts: fn(&str) -> Vec<usize> = match self {
            Boundary::Characters {
                characters,
                scanned,
            } => {
                let found = units[..at].iter().rev().take(*scanned);
                let passed = found.take_while(|unit| !characters.contains(unit)).count();
                // The beginning of the text is a boundary.
                let is_found = passed < *scanned || passed == at;
                return if is_found { at - passed } else { at };
            }
            Boundary::Sentences => sentence_starts,
            Boundary::Words => word_starts,
        };
        let before = &units[at.saturating_sub(WINDOW_UNITS)..at];
        let before = String::from_utf16_lossy(before);
        let last = starts(&before).last().copied().unwrap_or_default();
        at - before[last..].encode_utf16().count()
    }

    /// Where a piece ends that is to end at a place, or behind it.
    pub(super) fn end(&self, units: &[u16], at: usize) -> usize {
        if at > units.len() {
            return at;
        }
        let starts: fn(&str) -> Vec<usize> = match self {
            Boundary::Characters {
                characters,
                scanned,
            } => {
                let mut found = units[at..].iter().take(*scanned);
                let passed = found.position(|unit| characters.contains(unit));
                return at + passed.unwrap_or_default();
            }
            Boundary::Sentences => sentence_starts,
            Boundary::Words => word_starts,
        };
        let behind = &units[at..units.len().min(at.saturating_add(WINDOW_UNITS))];
        let behind = String::from_utf16_lossy(behind);
        let second = starts(&behind).get(1).copied().unwrap_or(behind.len());
        at + behind[..second].encode_utf16().count()
    }
}
