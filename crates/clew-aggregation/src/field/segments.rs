//! The segments of a shard, and the nested objects in each.

use std::sync::Arc;

use clew_search::Blocks;
use tantivy::SegmentReader;
use tantivy::index::SegmentId;

use crate::field::context::AggContext;

/// The segments of a shard and their nested objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments(Arc<Vec<(SegmentId, Option<Arc<Blocks>>)>>);

impl Segments {
    pub(crate) fn of(context: &AggContext<'_>) -> Self {
        let Some(snapshot) = context.snapshot else {
            return Segments::default();
        };
        let readers = snapshot.readers.iter().enumerate();
        let segments =
            readers.map(|(at, reader)| (reader.segment_id(), snapshot.blocks(at).cloned()));
        Segments(Arc::new(segments.collect()))
    }

    pub(crate) fn blocks(&self, reader: &SegmentReader) -> Option<Arc<Blocks>> {
        let id = reader.segment_id();
        let mut segments = self.0.iter();
        segments.find(|(segment, _)| *segment == id)?.1.clone()
    }

    /// The place of a segment among those of the shard.
    pub(crate) fn place(&self, reader: &SegmentReader) -> usize {
        let id = reader.segment_id();
        let mut segments = self.0.iter();
        segments
            .position(|(segment, _)| *segment == id)
            .unwrap_or(0)
    }
}
