//! What an index says of its segments one by one.

use crate::index::handle::Index;
use crate::search::pinned::PinnedShard;
use crate::shard::{Shard, View};

/// A segment that searches see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentStats {
    /// The beginning of the names of its files.
    pub id: String,
    /// Documents that live.
    pub docs: u64,
    /// Documents that were deleted and are still in the files.
    pub deleted: u64,
    /// Size of its files.
    pub bytes: u64,
    /// Whether a flush has named it, so that a restart finds it without the log.
    pub committed: bool,
}

impl Index {
    /// The segments of each shard, oldest first.
    pub fn segments(&self) -> Vec<Vec<SegmentStats>> {
        let shards = self.shards.iter();
        shards
            .map(|shard| segments_of(shard, &shard.view()))
            .collect()
    }
}

impl PinnedShard {
    /// The segments that the search sees, oldest first.
    pub fn segments(&self) -> Vec<SegmentStats> {
        segments_of(&self.shard, &self.view)
    }
}

fn segments_of(shard: &Shard, view: &View) -> Vec<SegmentStats> {
    let segments = view.segments.iter().map(|segment| {
        let docs = u64::from(segment.reader.num_docs());
        SegmentStats {
            id: segment.id().uuid_string(),
            docs,
            deleted: u64::from(segment.root_count()).saturating_sub(docs),
            bytes: segment.bytes(),
            committed: shard.has_flushed(segment.id()),
        }
    });
    segments.collect()
}
