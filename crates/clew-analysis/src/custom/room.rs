//! How much more than a text its analysis may make of it: settings can ask for a megabyte in place of each letter, or for all
//! pieces of all lengths. What does not fit is left out, or stays as it was.

use super::Term;

/// Bytes by which a filter may make a text, or all terms of one together, longer, whatever their length.
pub(super) const MADE_BYTES_MAX: usize = 16 << 20;
/// Bytes beside that for each byte of the text.
const BYTES_PER_BYTE_MAX: usize = 64;
/// Terms that a text may become, whatever its length.
const TERMS_MAX: usize = 1_000_000;
/// Terms beside that for each byte of the text.
const TERMS_PER_BYTE_MAX: usize = 8;

/// What may still be made.
#[derive(Debug)]
pub(super) struct Room {
    terms: usize,
    bytes: usize,
}

impl Room {
    /// Room for what is made of so many bytes.
    pub(super) fn for_bytes(text_bytes: usize) -> Self {
        let with = |most: usize, each: usize| most.saturating_add(text_bytes.saturating_mul(each));
        Room {
            terms: with(TERMS_MAX, TERMS_PER_BYTE_MAX),
            bytes: with(MADE_BYTES_MAX, BYTES_PER_BYTE_MAX),
        }
    }

    /// Room for what is made of these terms.
    pub(super) fn for_terms(terms: &[Term]) -> Self {
        Room::for_bytes(terms.iter().map(|term| term.token.text.len()).sum())
    }

    /// Terms for which there is room.
    pub(super) fn terms(&self) -> usize {
        self.terms
    }

    /// Takes the room of a term; false, from then on, when there is none.
    pub(super) fn takes(&mut self, term_bytes: usize) -> bool {
        match (
            self.terms.checked_sub(1),
            self.bytes.checked_sub(term_bytes),
        ) {
            (Some(terms), Some(bytes)) => {
                (self.terms, self.bytes) = (terms, bytes);
                true
            }
            _ => {
                (self.terms, self.bytes) = (0, 0);
                false
            }
        }
    }
}
