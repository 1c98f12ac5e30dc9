//! How a file is recognised when its name, its inode or both have changed.
//!
//! Three proofs, cheapest first: the hash of a file's head, the checksum of the few bytes before
//! a position (the *lead*), and the running checksum of everything up to a position. All values
//! go into the registry, so their algorithms never change under one registry version.

use clew_platform::{FNV1A_64, fnv1a_64};
use serde::{Deserialize, Serialize};

/// Bytes of a file's head that are hashed.
pub(crate) const HEAD_BYTES_MAX: usize = 1024;
/// Bytes before a position that are compared on every read.
pub(crate) const LEAD_BYTES_MAX: u64 = 64;

/// FNV-1a, 64 bits: tiny, stable for ever, good enough for heads of at most 1 KiB.
pub(crate) fn hash_bytes(seed: u64, bytes: &[u8]) -> u64 {
    fnv1a_64(FNV1A_64 ^ seed, bytes)
}

/// The first length at which a head is hashed; then at each doubled one.
const FIRST_MARK_BYTES: usize = 32;

/// Hashes of a file's first bytes: of the first 32, 64, 128 and so on, and of all that were there. So a
/// file can be held against a copy that has fewer bytes, or more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head(Vec<Mark>);

/// A number of first bytes, and their hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark(usize, u64);

/// Whether a file can be a copy of the one that a head was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// They have this many first bytes in common, and none is known to differ.
    Same {
        bytes: usize,
    },
    Other,
    /// There are too few bytes to tell.
    Unclear,
}

impl Head {
    /// Of the first bytes of a file; takes at most [`HEAD_BYTES_MAX`] of them.
    pub(crate) fn of(start: &[u8]) -> Head {
        let start = &start[..start.len().min(HEAD_BYTES_MAX)];
        let mut marks = Vec::new();
        let (mut hash, mut done, mut next) = (hash_bytes(0, &[]), 0, FIRST_MARK_BYTES);
        while done < start.len() {
            let end = next.min(start.len());
            hash = fnv1a_64(hash, &start[done..end]);
            marks.push(Mark(end, hash));
            (done, next) = (end, next * 2);
        }
        Head(marks)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.last().map_or(0, |mark| mark.0)
    }

    /// Whether a file that starts with `start` can be the file this head was taken from. Files
    /// only grow, so it must have at least as many bytes, and the same ones.
    pub(crate) fn matches(&self, start: &[u8]) -> bool {
        self.0.last().is_none_or(|mark| mark.matches(start))
    }

    /// Whether a file that starts with `start` can be a copy, perhaps an unfinished one.
    pub(crate) fn likeness(&self, start: &[u8]) -> Likeness {
        let mut marks = self.0.iter().rev();
        match marks.find(|mark| mark.0 <= start.len()) {
            None => Likeness::Unclear,
            Some(mark) if mark.matches(start) => Likeness::Same { bytes: mark.0 },
            Some(_) => Likeness::Other,
        }
    }
}

impl Mark {
    fn matches(self, start: &[u8]) -> bool {
        start.len() >= self.0 && hash_bytes(0, &start[..self.0]) == self.1
    }
}

/// How far a file was read, with the proof of what was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    pub(crate) offset: u64,
    /// CRC-32C of all bytes before `offset`.
    pub(crate) checksum: u32,
    /// CRC-32C of the last `lead_bytes()` bytes before `offset`.
    pub(crate) lead: u32,
}

impl Position {
    /// How many bytes `lead` covers.
    pub(crate) fn lead_bytes(self) -> u64 {
        self.offset.min(LEAD_BYTES_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_held_against_shorter_and_longer_copies() {
        let content: Vec<u8> = (0..2_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let check = |head_of: usize, start: usize, differs_at: Option<usize>, expected| {
            let mut start = content[..start].to_vec();
            if let Some(at) = differs_at {
                start[at] ^= 1;
            }
            let found = Head::of(&content[..head_of]).likeness(&start);
            assert_eq!(found, expected, "{head_of} {differs_at:?}");
        };
        let same = |bytes| Likeness::Same { bytes };
        check(0, 100, None, Likeness::Unclear);
        check(100, 0, None, Likeness::Unclear);
        check(100, 31, None, Likeness::Unclear);
        check(20, 19, None, Likeness::Unclear);
        check(20, 20, None, same(20));
        check(100, 32, None, same(32));
        check(100, 32, Some(31), Likeness::Other);
        check(100, 99, Some(63), Likeness::Other);
        // Only as far as the last mark.
        check(100, 99, Some(64), same(64));
        check(100, 100, Some(99), Likeness::Other);
        check(2_000, 2_000, Some(1_023), Likeness::Other);
        check(2_000, 2_000, Some(1_024), same(1_024));
        assert_eq!(Head::of(&content).bytes(), HEAD_BYTES_MAX);
    }
}
