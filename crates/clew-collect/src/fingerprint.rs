//! How a file is recognised when its name, its inode or both have changed.
//!
//! Three proofs, cheapest first: the hash of a file's head, the checksum of the few bytes before
//! a position (the *lead*), and the running checksum of everything up to a position. All values
//! go into the registry, so their algorithms never change under one registry version.

use serde::{Deserialize, Serialize};

/// Bytes of a file's head that are hashed.
pub(crate) const HEAD_BYTES_MAX: usize = 1024;
/// Bytes before a position that are compared on every read.
pub(crate) const LEAD_BYTES_MAX: u64 = 64;

/// FNV-1a, 64 bits: tiny, stable for ever, good enough for heads of at most 1 KiB.
pub(crate) fn hash_bytes(seed: u64, bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64 ^ seed;
    bytes.iter().fold(start, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// The hash of a file's first bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) bytes: usize,
    pub(crate) hash: u64,
}

impl Head {
    /// Of the first bytes of a file; takes at most [`HEAD_BYTES_MAX`] of them.
    pub(crate) fn of(start: &[u8]) -> Head {
        let start = &start[..start.len().min(HEAD_BYTES_MAX)];
        Head {
            bytes: start.len(),
            hash: hash_bytes(0, start),
        }
    }

    /// Whether a file that starts with `start` can be the file this head was taken from. Files
    /// only grow, so it must have at least as many bytes, and the same ones.
    pub(crate) fn matches(self, start: &[u8]) -> bool {
        start.len() >= self.bytes && Head::of(&start[..self.bytes]) == self
    }
}

/// Bytes of a [`Start`].
const START_BYTES_MAX: usize = 32;

/// The hash of a file's very first bytes: what even a short copy of it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Start(Head);

impl Start {
    pub(crate) fn of(start: &[u8]) -> Start {
        Start(Head::of(&start[..start.len().min(START_BYTES_MAX)]))
    }

    /// Whether there are too few bytes to tell.
    pub(crate) fn is_longer_than(self, start: &[u8]) -> bool {
        self.0.bytes > start.len()
    }

    /// Never true for a file that was empty.
    pub(crate) fn matches(self, start: &[u8]) -> bool {
        self.0.bytes > 0 && self.0.matches(start)
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
