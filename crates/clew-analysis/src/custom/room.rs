//! How much more than a text its analysis may make of it: settings can ask for a megabyte in place of each letter, or for all
//! pieces of all lengths. What does not fit is left out, or stays as it was, and whoever had the text analysed can ask whether
//! that was so.

use std::cell::Cell;
use std::sync::OnceLock;
use std::thread::available_parallelism;

use super::Term;

/// Bytes by which a filter may make a text, or all terms of one together, longer, whatever their length.
pub(super) const MADE_BYTES_MAX: usize = 16 << 20;
/// Bytes beside that for each byte of the text.
const BYTES_PER_BYTE_MAX: usize = 64;
/// Terms that a text may become, whatever its length: each takes a hundred bytes beside its own.
const TERMS_MAX: usize = 100_000;
/// Terms beside that for each byte of the text.
const TERMS_PER_BYTE_MAX: usize = 8;

/// What a term takes until the text is done with, about: its own, and what is made of it meanwhile.
const TERM_BYTES: u64 = 128;
/// The terms of the texts that all processors are at may take this part of the memory.
const MEMORY_PARTS: u64 = 4;
/// There is room for a term of so many bytes of a text in any case: hardly a language has shorter words, and to leave out what stands
/// in the text is worse than to leave out what is made of it beside.
const WORD_BYTES: usize = 3;

/// Terms that a text may become as the memory is.
static TERMS_BY_MEMORY: OnceLock<usize> = OnceLock::new();

/// Bounds what texts may become for a machine, or a container, with so much memory. The first call counts.
pub fn size_room(memory_bytes: u64) {
    let threads = available_parallelism().map_or(1, usize::from);
    TERMS_BY_MEMORY.get_or_init(|| terms_by_memory(memory_bytes, threads));
}

fn terms_by_memory(memory_bytes: u64, threads: usize) -> usize {
    let all = usize::try_from(memory_bytes / MEMORY_PARTS / TERM_BYTES).unwrap_or(usize::MAX);
    (all / threads.max(1)).max(TERMS_MAX)
}

/// Terms that so many bytes may become, where a text may become so many as the memory is.
fn terms_of(bytes: usize, by_memory: usize) -> usize {
    let made = TERMS_MAX.saturating_add(bytes.saturating_mul(TERMS_PER_BYTE_MAX));
    made.min(by_memory.max(bytes / WORD_BYTES))
}

thread_local! {
    /// Terms that the text may become that this thread is at.
    static TEXT_TERMS: Cell<usize> = const { Cell::new(usize::MAX) };
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
        let by_memory = TERMS_BY_MEMORY.get().copied().unwrap_or(usize::MAX);
        Room {
            terms: terms_of(text_bytes, by_memory),
            bytes: MADE_BYTES_MAX.saturating_add(text_bytes.saturating_mul(BYTES_PER_BYTE_MAX)),
        }
    }

    /// Room for all that is made of a text of so many bytes, which this thread is at from now on.
    pub(super) fn for_text(text_bytes: usize) -> Self {
        let room = Room::for_bytes(text_bytes);
        TEXT_ROOM.set(room.bytes);
        TEXT_TERMS.set(room.terms);
        room
    }

    /// Room for what one step makes of so many bytes: no more than there is for all of the text.
    pub(super) fn for_step(bytes: usize) -> Self {
        let room = Room::for_bytes(bytes);
        Room {
            terms: room.terms.min(TEXT_TERMS.get()),
            bytes: room.bytes.min(TEXT_ROOM.get()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_of_a_text_is_bounded_by_the_memory_and_its_words_are_not() {
        let small = terms_by_memory(512 << 20, 2);
        assert_eq!(small, 524_288);
        assert_eq!(terms_by_memory(16 << 20, 64), TERMS_MAX);
        for (bytes, by_memory, terms) in [
            (10, small, TERMS_MAX + 80),
            (338_000, usize::MAX, TERMS_MAX + 2_704_000),
            (338_000, small, small),
            (9_000_000, small, 3_000_000),
        ] {
            assert_eq!(terms_of(bytes, by_memory), terms, "{bytes} {by_memory}");
        }
    }
}
