//! Graphs that the upkeep was building when somebody asked for a merge, for which it leaves off: that merge, which is over
//! the same segments and more, goes on from them.

use std::sync::Arc;

use clew_platform::{MemoryAccount, MemoryPurpose, Reservation};
use clew_schema::FieldId;
use clew_vector::UnfinishedGraph;
use parking_lot::Mutex;
use tantivy::DocId;
use tantivy::index::SegmentId;

/// A graph that was left off, of documents that lived then in some segments.
#[derive(Debug)]
pub(super) struct LeftOffGraph {
    pub(super) field: FieldId,
    graph: UnfinishedGraph,
    /// The documents that the graph numbers one after the other.
    parts: Vec<PartDocs>,
}

/// The documents of a segment that were merged.
#[derive(Debug)]
pub(super) struct PartDocs {
    pub(super) segment: SegmentId,
    /// Those that lived, ascending.
    pub(super) docs: Vec<DocId>,
}

impl LeftOffGraph {
    pub(super) fn new(field: FieldId, graph: UnfinishedGraph, parts: Vec<PartDocs>) -> Self {
        LeftOffGraph {
            field,
            graph,
            parts,
        }
    }

    pub(super) fn graph(&self) -> &UnfinishedGraph {
        &self.graph
    }

    /// The number that the graph knows a document of a segment by, if it does.
    pub(super) fn number(&self, segment: SegmentId, doc: DocId) -> Option<DocId> {
        number(&self.parts, segment, doc)
    }

    fn bytes(&self) -> usize {
        let docs = self.parts.iter().map(|part| part.docs.capacity());
        self.graph.mem_bytes() + docs.sum::<usize>() * size_of::<DocId>()
    }

    /// Books its memory; nothing where there is none left, and the graph is given up. Never waits: whoever waits for
    /// memory while he has some waits for those who do the same.
    pub(super) fn booked(self, memory: &Arc<MemoryAccount>) -> Option<BookedGraph> {
        let booked = memory.reserve(MemoryPurpose::Merges, self.bytes()).ok()?;
        Some(BookedGraph {
            graph: self,
            _memory: booked,
        })
    }
}

/// A graph that was left off, and its memory.
#[derive(Debug)]
pub(super) struct BookedGraph {
    graph: LeftOffGraph,
    _memory: Reservation,
}

impl BookedGraph {
    pub(super) fn graph(&self) -> &LeftOffGraph {
        &self.graph
    }
}

/// The graph that the upkeep of a shard left off last, until the merge has ended that it left off for.
#[derive(Debug, Default)]
pub(super) struct LeftOffPlace(Mutex<Option<BookedGraph>>);

impl LeftOffPlace {
    pub(super) fn keep(&self, graph: BookedGraph) {
        *self.0.lock() = Some(graph);
    }

    /// The graph, once. Its memory is booked no more: who takes it is going to wait for more.
    pub(super) fn take(&self) -> Option<LeftOffGraph> {
        let left = self.0.lock().take();
        left.map(|left| left.graph)
    }
}

/// The number of a document among those of some parts, one after the other.
fn number(parts: &[PartDocs], segment: SegmentId, doc: DocId) -> Option<DocId> {
    let mut first = 0;
    for part in parts {
        if part.segment == segment {
            let at = part.docs.binary_search(&doc).ok()?;
            return DocId::try_from(first + at).ok();
        }
        first += part.docs.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_numbered_through_all_parts_as_they_lived() {
        let segment = SegmentId::generate_random;
        let [first, second, other] = [segment(), segment(), segment()];
        let part = |segment, docs: &[DocId]| PartDocs {
            segment,
            docs: docs.to_vec(),
        };
        let parts = [part(first, &[0, 2, 3]), part(second, &[1, 4])];
        let found = |segment, doc| number(&parts, segment, doc);
        assert_eq!(
            [0, 1, 2, 3].map(|doc| found(first, doc)),
            [Some(0), None, Some(1), Some(2)]
        );
        assert_eq!(
            [1, 2, 4].map(|doc| found(second, doc)),
            [Some(3), None, Some(4)]
        );
        assert_eq!(found(other, 0), None);
    }
}
