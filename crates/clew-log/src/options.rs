//! What a caller chooses: limits of the log, and what an append has to promise.

use std::fmt;
use std::str::FromStr;

use crate::error::LogError;
use crate::position::{Llsn, StreamId};

const MIB: usize = 1 << 20;
/// An entry's length is stored in 31 bits, and one entry is held in memory as a whole.
const ENTRY_BYTES_LIMIT: usize = 1 << 30;
/// Places inside a file are kept as 32-bit counts of eight bytes.
const FILE_BYTES_LIMIT: u64 = 16 << 30;

/// When an entry counts as acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// As soon as its position is given: the end of the process may take it.
    Memory,
    /// After `write(2)`: it survives the end of the process, not of the machine.
    Os,
    /// After `fdatasync`: it survives power loss.
    #[default]
    Sync,
}

/// How the entries of a call are stored. Calls too small to gain by it are stored as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// As they are.
    #[default]
    None,
    /// Fast: about memory speed.
    Lz4,
    /// Smaller.
    Zstd,
}

/// Reads and prints a choice by the words users give it.
macro_rules! words {
    ($name:ident, $what:literal, $($word:literal => $variant:ident),+) => {
        impl FromStr for $name {
            type Err = LogError;
            fn from_str(word: &str) -> Result<Self, LogError> {
                match word {
                    $($word => Ok($name::$variant),)+
                    _ => Err(LogError::Options { field: $what, reason: concat!("must be one of", $(" ", $word),+) }),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($name::$variant => $word),+ })
            }
        }
    };
}

words!(Durability, "durability", "memory" => Memory, "os" => Os, "sync" => Sync);
words!(Compression, "compression", "none" => None, "lz4" => Lz4, "zstd" => Zstd);

/// Limits of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// A new file is begun before one grows beyond this. Only a single call to `append` larger
    /// than this makes a larger file, because the entries of a call are never split.
    pub file_bytes_max: u64,
    /// Limit of one entry's payload.
    pub entry_bytes_max: usize,
    /// Limit of what waits in memory for the disk; `append` blocks at it. A single larger call
    /// is let in once nothing else is pending.
    pub pending_bytes_max: usize,
    /// Named streams give up their oldest entries, by whole files, while the log has more bytes
    /// than this; 0 keeps them.
    pub retention_bytes: u64,
    /// Named streams give up entries older than this, by whole files; 0 keeps them.
    pub retention_age_ms: u64,
}

impl Default for LogOptions {
    fn default() -> Self {
        LogOptions {
            file_bytes_max: 64 * MIB as u64,
            entry_bytes_max: 16 * MIB,
            pending_bytes_max: 64 * MIB,
            retention_bytes: 0,
            retention_age_ms: 0,
        }
    }
}

impl LogOptions {
    /// Checks every limit.
    ///
    /// # Errors
    /// [`LogError::Options`] with the first one that is bad.
    pub fn validate(&self) -> Result<(), LogError> {
        let bad = |field, reason| Err(LogError::Options { field, reason });
        if self.file_bytes_max == 0 || self.file_bytes_max > FILE_BYTES_LIMIT {
            return bad("file_bytes_max", "must be between one byte and 16 GiB");
        }
        if self.entry_bytes_max == 0 || self.entry_bytes_max > ENTRY_BYTES_LIMIT {
            return bad("entry_bytes_max", "must be between one byte and one GiB");
        }
        if self.pending_bytes_max == 0 {
            return bad("pending_bytes_max", "must be above zero");
        }
        Ok(())
    }
}

/// An entry to append. Its payload is the concatenation of the parts, so that a caller need not
/// put them together first.
#[derive(Clone, Copy, Debug)]
pub struct NewEntry<'a> {
    /// The stream it belongs to.
    pub stream: StreamId,
    /// The payload in pieces; may be empty.
    pub parts: &'a [&'a [u8]],
    /// Keys with values, kept in this order; together at most 64 KiB.
    pub headers: &'a [(&'a str, &'a [u8])],
}

impl<'a> NewEntry<'a> {
    /// An entry without headers.
    pub const fn new(stream: StreamId, parts: &'a [&'a [u8]]) -> Self {
        NewEntry {
            stream,
            parts,
            headers: &[],
        }
    }
}

/// Who appends, so that a retry after an unknown outcome adds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Producer {
    /// Chosen by the producer, once, for all its calls.
    pub id: u64,
    /// The call's number: one above that of the producer's call before, or the same for a retry.
    /// The first call of a producer may have any.
    pub sequence: u64,
}

/// What a call to `append` promises and demands. All but the durability needs a call whose
/// entries belong to one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppendOptions {
    /// When the call counts as acknowledged: with `Sync` a sync is asked for at once.
    pub durability: Durability,
    /// Makes a retry give the positions of the first attempt.
    pub producer: Option<Producer>,
    /// Refuses the call unless this is the stream's last entry.
    pub expect_last: Option<Llsn>,
    /// Refuses the call unless this is the stream's epoch.
    pub epoch: Option<u64>,
    /// How the entries are stored.
    pub compression: Compression,
    /// More calls follow at once: the writer is not woken for this one alone, which costs more than a
    /// small call. It is as soon as somebody waits for durability, reads, or calls
    /// [`Log::hand_over`](crate::Log::hand_over). Without effect where durability is `Sync`.
    pub more_follows: bool,
}

impl AppendOptions {
    /// Whether the call must keep to one stream.
    pub(crate) fn need_one_stream(&self) -> bool {
        self.producer.is_some() || self.expect_last.is_some() || self.epoch.is_some()
    }
}

impl From<Durability> for AppendOptions {
    fn from(durability: Durability) -> Self {
        AppendOptions {
            durability,
            ..AppendOptions::default()
        }
    }
}

/// Which entries to give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trim {
    /// Entries up to this position of the streams that the embedding program numbers itself.
    Unnamed(crate::position::Glsn),
    /// Entries up to this position of all streams made by name.
    Named(crate::position::Glsn),
    /// Entries up to this position of one stream made by name.
    Stream(StreamId, Llsn),
}
