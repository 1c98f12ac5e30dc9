//! How much more than a text its analysis may make of it: settings can ask for a megabyte in place of each letter, or for all
//! pieces of all lengths. What does not fit is left out, or stays as it was, and whoever had the text analysed can ask whether
//! that was so.

use std::cell::Cell;

use super::Term;

/// Bytes by which a filter may make a text, or all terms of one together, longer, whatever their length.
pub(super) const MADE_BYTES_MAX: usize = 16 << 20;
/// Bytes beside that for each byte of the text.
const BYTES_PER_BYTE_MAX: usize = 64;
/// Terms that a text may become, whatever its length: each takes a hundred bytes beside its own.
const TERMS_MAX: usize = 100_000;
/// Terms beside that for each byte of the text.
const TERMS_PER_BYTE_MAX: usize = 8;

thread_local! {
    /// Bytes that the terms of the text may have that this thread is at: what one filter has made is no text for the next.
    static TEXT_ROOM: Cell<usize> = const { Cell::new(usize::MAX) };
    /// Whether something did not fit since this was last asked.
    static LEFT_OUT: Cell<bool> = const { Cell::new(false) };
}

/// Whether analysis on this thread has left something out, or as it was, since this was last asked: what there was no room for, and
/// what an expression would have taken too long to find.
pub fn take_left_out() -> bool {
    LEFT_OUT.replace(false)
}

/// Notes that something was left out.
pub(super) fn leave_out() {
    LEFT_OUT.set(true);
}

/// What may still be made.
#[derive(Debug)]
pub(super) struct Room {
    terms: usize,
    bytes: usize,
}

impl Room {
    /// Room for what is made of so many bytes, be they a text or what was made of one.
    fn for_bytes(text_bytes: usize) -> Self {
        let with = |most: usize, each: usize| most.saturating_add(text_bytes.saturating_mul(each));
        Room {
            terms: with(TERMS_MAX, TERMS_PER_BYTE_MAX),
            bytes: with(MADE_BYTES_MAX, BYTES_PER_BYTE_MAX),
        }
    }

    /// Room for all that is made of a text of so many bytes, which this thread is at from now on.
    pub(super) fn for_text(text_bytes: usize) -> Self {
        let room = Room::for_bytes(text_bytes);
        TEXT_ROOM.set(room.bytes);
        room
    }

    /// Room for what one step makes of so many bytes: no more than there is for all of the text.
    pub(super) fn for_step(bytes: usize) -> Self {
        let room = Room::for_bytes(bytes);
        Room {
            bytes: room.bytes.min(TEXT_ROOM.get()),
            ..room
        }
    }

    /// Room for what is made of these terms.
    pub(super) fn for_terms(terms: &[Term]) -> Self {
        Room::for_step(terms.iter().map(|term| term.token.text.len()).sum())
    }

    /// Whether something did not fit: nothing does any more.
    pub(super) fn is_over(&self) -> bool {
        self.terms == 0
    }

    /// Leaves out the terms for which there is no room.
    pub(super) fn cut(&self, terms: &mut Vec<Term>) {
        let mut left = self.bytes;
        let fits = |term: &&Term| match left.checked_sub(term.token.text.len()) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        };
        let count = terms.iter().take(self.terms).take_while(fits).count();
        if count < terms.len() {
            terms.truncate(count);
            leave_out();
        }
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
                leave_out();
                false
            }
        }
    }
}
