//! What one request may use, and the account it is booked on.

use super::error::AggError;

/// Bounds of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AggLimits {
    /// Buckets in the result, empty ones included.
    pub buckets_max: usize,
    /// Memory of one collector (one shard), in bytes.
    pub memory_bytes_max: usize,
}

impl Default for AggLimits {
    /// OpenSearch's default of `search.max_buckets`, and half a gigabyte.
    fn default() -> Self {
        AggLimits {
            buckets_max: 65_535,
            memory_bytes_max: 512 << 20,
        }
    }
}

/// The memory in use by one collector: what its merged segments hold, and what the segment under
/// way has allocated so far.
#[derive(Debug)]
pub(crate) struct Account {
    settled_bytes: usize,
    running_bytes: usize,
    max_bytes: usize,
}

impl Account {
    pub(crate) fn new(limits: AggLimits) -> Self {
        Account {
            settled_bytes: 0,
            running_bytes: 0,
            max_bytes: limits.memory_bytes_max,
        }
    }

    /// Books an allocation, before or right after it is made.
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<(), AggError> {
        self.running_bytes += bytes;
        self.check()
    }

    /// A segment is done: only what was merged remains.
    pub(crate) fn settle(&mut self, merged_bytes: usize) -> Result<(), AggError> {
        self.settled_bytes = merged_bytes;
        self.running_bytes = 0;
        self.check()
    }

    fn check(&self) -> Result<(), AggError> {
        let wanted_bytes = self.settled_bytes + self.running_bytes;
        if wanted_bytes > self.max_bytes {
            return Err(AggError::TooLarge {
                wanted_bytes,
                max_bytes: self.max_bytes,
            });
        }
        Ok(())
    }
}

/// Makes `values` long enough for index `at`, booking what that takes.
pub(crate) fn grow<T: Clone + Default>(
    values: &mut Vec<T>,
    at: u32,
    account: &mut Account,
) -> Result<(), AggError> {
    let at = at as usize;
    if at < values.len() {
        return Ok(());
    }
    let length = (at + 1).next_power_of_two().max(64);
    account.charge((length - values.len()) * size_of::<T>())?;
    values.resize(length, T::default());
    Ok(())
}
