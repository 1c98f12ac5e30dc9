//! The distinct terms of one field, numbered in the order in which they first came.

use std::hash::BuildHasher;

use clew_kernels::prefetch;
use foldhash::fast::RandomState;

/// Bytes of the longest term that a slot holds itself.
const INLINE_MAX: usize = 11;
/// Where a slot's key says how long its term is; what it says of terms that are too long.
const LENGTH_SHIFT: u32 = 88;
const LONG: u128 = 0xff << LENGTH_SHIFT;
/// Where a slot's key lies, above its number.
const KEY_SHIFT: u32 = 32;
/// Slots of a table that has just got its first term: a power of two.
const SLOTS_MIN: usize = 64;

/// Terms by number, and numbers by term: open addressing with linear probing.
///
/// A slot is one number: 32 bits of term number plus one (0 is a free slot), and above them 96 bits that are the term
/// itself when it has at most 11 bytes, or else its hash. So the words of a text are nearly all found with one cache
/// line, where a table of references would touch three. The hash is seeded anew in every process: terms come from
/// outside.
#[derive(Debug, Default)]
pub(super) struct TermTable {
    slots: Vec<u128>,
    /// The terms one after the other.
    bytes: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<u32>,
    seed: RandomState,
}

/// A short term whose slot was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct TermAsked {
    key: u128,
    hash: u64,
}

impl TermTable {
    /// Number of terms.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Memory that it holds.
    pub(super) fn mem_usage(&self) -> usize {
        self.slots.capacity() * size_of::<u128>()
            + self.bytes.capacity()
            + self.ends.capacity() * size_of::<u32>()
    }

    /// The bytes of a term.
    pub(super) fn term(&self, number: u32) -> &[u8] {
        let at = index(number);
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[index(start)..index(self.ends[at])]
    }

    /// The number of a term, which it gets when it has none; `None` when there are more terms, or more bytes of them,
    /// than 32 bits count.
    pub(super) fn number(&mut self, term: &[u8]) -> Option<u32> {
        match self.ask(term, term.len()) {
            Some(asked) => self.number_of(asked),
            None => {
                let hash = self.seed.hash_one(term);
                self.find(LONG | u128::from(hash), hash, term)
            }
        }
    }

    /// Asks for the slot of a term, so that it is there when its [number](TermTable::number_of) is; `None` when the term
    /// is too long for that. Of many terms slots are nowhere near, and most of the time is waiting for one.
    ///
    /// It is the first `length` of the bytes; where 16 follow from its beginning, it is read without a branch.
    pub(super) fn ask(&self, bytes: &[u8], length: usize) -> Option<TermAsked> {
        let key = packed(bytes, length)?;
        let hash = self.seed.hash_one(key);
        prefetch(&self.slots, self.home(hash));
        Some(TermAsked { key, hash })
    }

    /// As [`TermTable::number`].
    pub(super) fn number_of(&mut self, TermAsked { key, hash }: TermAsked) -> Option<u32> {
        let bytes = key.to_le_bytes();
        self.find(key, hash, &bytes[..length_of(key)])
    }

    fn find(&mut self, key: u128, hash: u64, term: &[u8]) -> Option<u32> {
        if self.len() * 8 >= self.slots.len() * 5 {
            self.grow();
        }
        let mut at = self.home(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return self.insert(at, key, term);
            }
            if slot >> KEY_SHIFT == key {
                let number = number_in(slot);
                if key < LONG || self.term(number) == term {
                    return Some(number);
                }
            }
            at = self.next(at);
        }
    }

    /// Terms' numbers in the order of their bytes.
    pub(super) fn sorted(&self) -> Vec<u32> {
        let count = u32::try_from(self.len()).unwrap_or(u32::MAX);
        let mut order: Vec<(u64, u32)> = (0..count)
            .map(|number| (beginning(self.term(number)), number))
            .collect();
        order.sort_unstable_by(|(a, left), (b, right)| {
            a.cmp(b)
                .then_with(|| self.term(*left).cmp(self.term(*right)))
        });
        order.into_iter().map(|(_, number)| number).collect()
    }

    fn insert(&mut self, at: usize, key: u128, term: &[u8]) -> Option<u32> {
        let number = u32::try_from(self.len()).ok()?;
        let end = u32::try_from(self.bytes.len() + term.len()).ok()?;
        self.slots[at] = key << KEY_SHIFT | u128::from(number.checked_add(1)?);
        self.bytes.extend_from_slice(term);
        self.ends.push(end);
        Some(number)
    }

    fn home(&self, hash: u64) -> usize {
        // The length is a power of two that fits, and so does what is left of the hash. Before there are slots, a place
        // outside is asked for, which is ignored, and none is looked at.
        usize::try_from(hash & (self.slots.len() as u64).wrapping_sub(1)).unwrap_or(0)
    }

    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }

    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(SLOTS_MIN);
        let old = std::mem::replace(&mut self.slots, vec![0; size]);
        for slot in old.into_iter().filter(|slot| *slot != 0) {
            let key = slot >> KEY_SHIFT;
            let hash = if key < LONG {
                self.seed.hash_one(key)
            } else {
                u64::try_from(key ^ LONG).unwrap_or(0)
            };
            let mut at = self.home(hash);
            while self.slots[at] != 0 {
                at = self.next(at);
            }
            self.slots[at] = slot;
        }
    }
}

fn index(number: u32) -> usize {
    number as usize
}

fn number_in(slot: u128) -> u32 {
    let low = slot & u128::from(u32::MAX);
    u32::try_from(low).unwrap_or(0).wrapping_sub(1)
}

/// How long the term is whose key this is, when that is short.
fn length_of(key: u128) -> usize {
    usize::try_from(key >> LENGTH_SHIFT).map_or(0, |length| length.min(INLINE_MAX))
}

/// A short term as a number: its bytes, and above them its length. No two have the same. It is the first `length` of the
/// bytes.
fn packed(bytes: &[u8], length: usize) -> Option<u128> {
    if length > INLINE_MAX {
        return None;
    }
    let term = &bytes[..length];
    let own = if let Some(bytes) = bytes.first_chunk() {
        u128::from_le_bytes(*bytes) & ((1 << (8 * length)) - 1)
    } else if let (Some(first), Some(last)) = (term.first_chunk(), term.last_chunk()) {
        // Two reads that may overlap take the place of a copy of unknown length.
        let last = u128::from(u64::from_le_bytes(*last));
        u128::from(u64::from_le_bytes(*first)) | last << (8 * (length - 8))
    } else if let (Some(first), Some(last)) = (term.first_chunk(), term.last_chunk()) {
        let last = u128::from(u32::from_le_bytes(*last));
        u128::from(u32::from_le_bytes(*first)) | last << (8 * (length - 4))
    } else {
        let byte = |sum: u128, byte: &u8| sum << 8 | u128::from(*byte);
        term.iter().rev().fold(0, byte)
    };
    Some(own | (length as u128) << LENGTH_SHIFT)
}

/// The first eight bytes of a term, which order most terms.
fn beginning(term: &[u8]) -> u64 {
    match term.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 8];
            bytes[..term.len()].copy_from_slice(term);
            u64::from_be_bytes(bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_terms_have_keys_of_their_own() {
        let mut seen = HashMap::new();
        let letters = [0_u8, 1, b'a', 0xff];
        for length in 0..=INLINE_MAX {
            // All terms of up to four of these letters, and longer ones that differ at either end.
            for pattern in 0..256_usize {
                let letter = |at: usize| {
                    let turn = if at < 2 {
                        at
                    } else {
                        2 + (length - 1 - at).min(1)
                    };
                    letters[(pattern >> (2 * turn)) & 3]
                };
                let term: Vec<u8> = (0..length).map(letter).collect();
                let key = packed(&term, length).unwrap();
                assert!(key < LONG);
                let within: Vec<u8> = term.iter().chain(&[b'x'; 16]).copied().collect();
                assert_eq!(packed(&within, length), Some(key));
                let before = seen.entry(key).or_insert_with(|| term.clone());
                assert_eq!(*before, term);
            }
        }
        assert_eq!(packed(&[b'a'; 16], INLINE_MAX + 1), None);
    }

    proptest! {
        #[test]
        fn terms_keep_their_numbers(
            terms in proptest::collection::vec(
                proptest::collection::vec(prop_oneof![Just(0_u8), Just(b'a'), Just(b'b'), Just(0xff)], 0..16),
                0..600,
            )
        ) {
            let mut table = TermTable::default();
            let mut model: HashMap<Vec<u8>, u32> = HashMap::new();
            for term in &terms {
                let new = u32::try_from(model.len()).unwrap();
                let wanted = *model.entry(term.clone()).or_insert(new);
                prop_assert_eq!(table.number(term), Some(wanted));
            }
            prop_assert_eq!(table.len(), model.len());
            let mut sorted: Vec<&Vec<u8>> = model.keys().collect();
            sorted.sort_unstable();
            let numbers = table.sorted();
            let shown: Vec<&[u8]> = numbers.iter().map(|number| table.term(*number)).collect();
            prop_assert_eq!(shown, sorted);
        }
    }
}
