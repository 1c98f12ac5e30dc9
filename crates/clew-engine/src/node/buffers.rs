//! Keeps the buffers of all shards within their limit: each has one of its own, but there may be thousands. Above it
//! the largest buffers become segments, and whoever writes waits for that.

use std::sync::Arc;

use clew_platform::MemoryPurpose;

use crate::index::handle::Index;
use crate::node::engine::Inner;
use crate::shard::Shard;

impl Inner {
    /// Makes segments of the largest buffers of some indexes while all of them together take more than they may.
    /// The caller must hold no shard's write lock, and no documents that have a place in a buffer and are not there yet.
    pub(crate) fn relieve_buffers(&self, indices: impl Fn() -> Vec<Arc<Index>>) {
        if self.buffer_bytes_above(1, 1) == 0 {
            return;
        }
        // One at a time: the others would seal buffers that need not be.
        let _one = self.relieving.lock();
        // Down to less than the limit, so that the next write does not come here again.
        while self.buffer_bytes_above(3, 4) > 0 {
            let indices = indices();
            let shards = indices.iter().flat_map(|index| &index.shards);
            let living = shards.filter(|shard| shard.failure().is_none());
            let sized = living.map(|shard| (shard.buffer_bytes(), shard));
            match sized.max_by_key(|(bytes, _)| *bytes) {
                Some((bytes, shard)) if bytes > 0 => seal(shard),
                _ => break,
            }
        }
        self.wake_upkeep();
    }

    /// How much more buffers take than a part of what they may.
    fn buffer_bytes_above(&self, part: usize, of: usize) -> usize {
        let buffers = self.memory.figures(MemoryPurpose::Buffers);
        buffers.used.saturating_sub(buffers.limit / of * part)
    }
}

fn seal(shard: &Shard) {
    if let Err(error) = shard.seal_buffer() {
        let (index, number) = (&shard.place.index, shard.place.number);
        tracing::error!(%index, shard = number, %error, "a buffer cannot be made a segment");
    }
}
