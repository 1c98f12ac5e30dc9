//! How many shards a node may have. Each takes memory for as long as it is there, whether anybody asks for it or not, and no
//! account knows of that: a few short requests would take all that there is.

use crate::base::error::EngineError;
use crate::node::engine::{Engine, Inner};

/// What a shard takes that is written to, about; an empty one takes less.
const SHARD_BYTES: u64 = 64 << 10;
/// All of them may take this part of the memory.
const MEMORY_PARTS: u64 = 2;

impl Engine {
    /// Sets how many shards open indexes may have together for others to be made or opened. Without a figure all indexes, closed
    /// ones too, may have as many as fit half of the memory.
    pub fn set_shards_max(&self, max: Option<u64>) {
        self.inner.indices.set_shards_max(max);
    }
}

impl Inner {
    /// Refuses so many new shards where there would be too many then.
    pub(crate) fn check_new_shards(&self, adds: u64) -> Result<(), EngineError> {
        let given = self.indices.shards_max();
        let max = given.unwrap_or(self.options.memory_bytes / MEMORY_PARTS / SHARD_BYTES);
        let indices = self.indices.read();
        let counted = indices
            .values()
            .filter(|index| given.is_none() || index.is_open());
        let there: u64 = counted.map(|index| index.shards.len() as u64).sum();
        match there.saturating_add(adds) <= max {
            true => Ok(()),
            false => Err(EngineError::TooManyShards { adds, there, max }),
        }
    }

    /// The same of shards of indexes that are closed, which are there already: only a figure that was given counts those of open
    /// ones alone.
    pub(crate) fn check_opened_shards(&self, adds: u64) -> Result<(), EngineError> {
        match self.indices.shards_max() {
            Some(_) => self.check_new_shards(adds),
            None => Ok(()),
        }
    }
}
