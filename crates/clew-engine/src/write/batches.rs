//! The parts of a request in which it is written: so many operations are parsed, then each shard's are applied.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::write_request::WriteOperation;
use crate::index::handle::Index;
use crate::shard::{ShardWrite, Target};
use crate::write::watched::Watch;
use crate::write::write_memory::{CHUNK_BYTES, operation_bytes};

/// Operations that are parsed before they are applied: bounds the memory of a large request.
const CHUNK_OPERATIONS: usize = 512;

/// How much is in the part of a request that is parsed before it is applied.
#[derive(Default)]
pub(super) struct Chunk {
    operations: usize,
    bytes: usize,
}

impl Chunk {
    /// Counts an operation in, if there is room for it; a large one has a chunk of its own.
    pub(super) fn takes(&mut self, operation: &WriteOperation) -> bool {
        let bytes = self.bytes.saturating_add(operation_bytes(operation));
        if self.operations == CHUNK_OPERATIONS || (self.operations > 0 && bytes > CHUNK_BYTES) {
            return false;
        }
        self.operations += 1;
        self.bytes = bytes;
        true
    }

    /// Counts what the last one became beyond its length.
    pub(super) fn brings(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The operations of one shard, with their places in the request.
pub(super) type ShardBatch = (Arc<Index>, Vec<(usize, ShardWrite, Watch)>);

/// Those of all shards, by the index' and the shard's own names: in the order in which several shards are locked.
pub(super) type ShardBatches = BTreeMap<(String, u32), ShardBatch>;

/// Adds an operation, with its place in the request, to those of its shard.
pub(super) fn put_by_shard(
    shards: &mut ShardBatches,
    position: usize,
    (index, write, watch): (Arc<Index>, ShardWrite, Watch),
) {
    let Target { id, routing } = &write.target;
    let key = routing.as_ref().unwrap_or(id);
    let shard = index.shard_of(key).place.number;
    let batch = shards.entry((index.uuid.clone(), shard));
    let (_, writes) = batch.or_insert_with(|| (index, vec![]));
    writes.push((position, write, watch));
}

/// The next of them: one whose shard nobody writes to just now, so that requests of many shards that come at once do not wait for
/// each other at each of them.
pub(super) fn next_free(
    batches: &mut Vec<((String, u32), ShardBatch)>,
) -> Option<((String, u32), ShardBatch)> {
    let is_free = |((_, shard), (index, _)): &((String, u32), ShardBatch)| {
        !index.shards[*shard as usize].is_written_to()
    };
    let free = batches.iter().position(is_free).unwrap_or(0);
    (!batches.is_empty()).then(|| batches.swap_remove(free))
}
