//! How much memory may be taken for what.

use super::MemoryPurpose;

/// What buffers have at least where that is no more than a quarter of what there is beyond [`SMALL_BYTES`]: each takes 7 MB or more
/// for its columns, and where they do not fit that are written to in turns, each becomes a segment with a few documents.
const BUFFERS_BYTES_MIN: usize = 512 << 20;
/// So little memory is needed for all else.
const SMALL_BYTES: u64 = 512 << 20;

/// The limits of an account, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimits {
    /// Of everything together.
    pub total: usize,
    /// Of bodies of requests.
    pub bodies: usize,
    /// Of the operations of writes.
    pub operations: usize,
    /// Of what requests find, and of answers.
    pub searches: usize,
    /// Of documents that are in no segment yet: above it buffers are made segments.
    pub buffers: usize,
    /// Of merges.
    pub merges: usize,
    /// Of what the process really has, booked or not: above it nothing large is taken.
    pub real: usize,
}

impl MemoryLimits {
    /// The shares of so much memory: 80 % of what is really there, 70 % in all, 45 % for bodies, 25 % for operations, 30 % for what
    /// searches find, 10 % for buffers (more where there is little beyond half a GiB), 25 % for merges.
    pub fn shares_of(bytes: u64) -> Self {
        let percent = |share: u64| {
            let bytes = bytes / 100 * share;
            usize::try_from(bytes).unwrap_or(usize::MAX)
        };
        let beyond = usize::try_from(bytes.saturating_sub(SMALL_BYTES) / 4).unwrap_or(usize::MAX);
        MemoryLimits {
            total: percent(70),
            bodies: percent(45),
            operations: percent(25),
            searches: percent(30),
            buffers: percent(10).max(beyond.min(BUFFERS_BYTES_MIN)),
            merges: percent(25),
            real: percent(80),
        }
    }

    /// No limits.
    pub fn none() -> Self {
        MemoryLimits {
            total: usize::MAX,
            bodies: usize::MAX,
            operations: usize::MAX,
            searches: usize::MAX,
            buffers: usize::MAX,
            merges: usize::MAX,
            real: usize::MAX,
        }
    }

    /// The limit of one purpose.
    pub fn of(&self, purpose: MemoryPurpose) -> usize {
        match purpose {
            MemoryPurpose::Bodies => self.bodies,
            MemoryPurpose::Operations => self.operations,
            MemoryPurpose::Searches => self.searches,
            MemoryPurpose::Buffers => self.buffers,
            MemoryPurpose::Merges => self.merges,
        }
    }
}
