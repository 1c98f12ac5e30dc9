//! What a caller chooses: limits of the log, and how safe an entry has to be.

use crate::error::LogError;
use crate::position::StreamId;

const MIB: usize = 1 << 20;
/// An entry's length is stored in 32 bits, and one entry is held in memory as a whole.
const ENTRY_BYTES_LIMIT: usize = 1 << 30;

/// When an entry counts as acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// After `fdatasync`: it survives power loss.
    Sync,
    /// After `write(2)`: it survives the end of the process, not of the machine.
    Os,
}

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
}

impl Default for LogOptions {
    fn default() -> Self {
        LogOptions {
            file_bytes_max: 64 * MIB as u64,
            entry_bytes_max: 16 * MIB,
            pending_bytes_max: 64 * MIB,
        }
    }
}

impl LogOptions {
    /// Checks every limit, and names the first bad one.
    pub fn validate(&self) -> Result<(), LogError> {
        let bad = |field, reason| Err(LogError::Options { field, reason });
        if self.file_bytes_max == 0 {
            return bad("file_bytes_max", "must be above zero");
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
}
