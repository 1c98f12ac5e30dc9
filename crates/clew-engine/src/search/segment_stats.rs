//! What an index says of its segments one by one.

use std::num::NonZeroU64;

use clew_schema::Mapping;
use clew_vector::Choice;

use crate::index::handle::Index;
use crate::search::pinned::PinnedShard;
use crate::shard::{SegmentView, Shard, View};

/// A segment that searches see.
#[derive(Clone, Debug, PartialEq)]
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
    /// Its columns of dense vectors, by field.
    pub vectors: Vec<VectorColumnStats>,
}

/// A column of vectors in a segment.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorColumnStats {
    /// Path of the field.
    pub field: String,
    /// Vectors.
    pub count: usize,
    /// Whether a graph leads to them.
    pub has_graph: bool,
    /// Whether they are in inverted lists.
    pub has_lists: bool,
    /// Names what the lists are around: the same in columns that share their centres.
    pub list_centres: Option<NonZeroU64>,
    /// Why it has the one or the other, where both were tried.
    pub choice: Option<Choice>,
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
            vectors: columns_of(segment, &view.snapshot.mapping),
        }
    });
    segments.collect()
}

fn columns_of(segment: &SegmentView, mapping: &Mapping) -> Vec<VectorColumnStats> {
    let columns = segment.vectors().columns();
    let columns = columns.filter_map(|(id, column)| {
        let field = mapping.by_id(id)?;
        Some(VectorColumnStats {
            field: field.path.clone(),
            count: column.len(),
            has_graph: column.has_graph(),
            has_lists: column.has_lists(),
            list_centres: column.list_centres(),
            choice: column.choice(),
        })
    });
    columns.collect()
}
