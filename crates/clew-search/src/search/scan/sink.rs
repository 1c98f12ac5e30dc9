//! Where the hits of a scan are kept.

use clew_query::QueryError;
use tantivy::{DocId, SegmentReader};

use crate::search::grouped::GroupedTop;
use crate::search::sorted::SortedTop;
use crate::segments::TopScores;
use crate::snapshot::Snapshot;

pub(super) enum Sink<'a> {
    Nothing,
    Score(TopScores),
    Sorted(SortedTop<'a>),
    Grouped(Box<GroupedTop<'a>>),
}

impl Sink<'_> {
    pub(super) fn begin(
        &mut self,
        segment: usize,
        snapshot: &Snapshot,
        reader: &SegmentReader,
    ) -> Result<(), QueryError> {
        match self {
            Sink::Sorted(top) => top.begin(segment, snapshot, reader),
            Sink::Grouped(top) => top.begin(segment, snapshot, reader),
            _ => Ok(()),
        }
    }

    /// Whether no later segment can bring a better document.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self, Sink::Sorted(top) if top.is_complete())
    }

    pub(super) fn offer(
        &mut self,
        segment: usize,
        doc: DocId,
        score: f32,
    ) -> Result<(), QueryError> {
        match self {
            Sink::Nothing => Ok(()),
            Sink::Score(top) => {
                top.offer(segment, doc, score);
                Ok(())
            }
            Sink::Sorted(top) => top.offer(doc, score),
            Sink::Grouped(top) => top.offer(doc, score),
        }
    }

    /// Joins what another thread has found in other segments.
    pub(super) fn absorb(&mut self, other: Self) {
        match (self, other) {
            (Sink::Score(top), Sink::Score(more)) => top.absorb(more),
            (Sink::Sorted(top), Sink::Sorted(more)) => top.absorb(more),
            // Nothing is kept, or one thread sees everything.
            _ => {}
        }
    }
}
