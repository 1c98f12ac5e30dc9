//! Sorted searches that need not see every match: of a segment the ranges of documents that come first are read
//! first, and then only those that may still bring a hit.

use clew_query::{QueryError, SortKey};
use tantivy::query::Weight;
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, DocId, SegmentReader, TERMINATED};

use super::Scan;
use super::sink::Sink;
use crate::search::cursor::Slot;
use crate::search::run::Counting;
use crate::segments::RANGE;
use crate::snapshot::Snapshot;

/// Ranges that are read before the others.
const FIRST_RANGES: usize = 4;

/// Where a segment begins in the order of hits, as far as that is known.
pub(super) type Begin = Option<Slot>;

/// The segments in the order of their first documents, where these can be compared, else in their own.
pub(super) fn order(
    sink: &Sink<'_>,
    snapshot: &Snapshot,
) -> Result<Vec<(Begin, usize)>, QueryError> {
    let mut begins = Vec::with_capacity(snapshot.readers.len());
    for (segment, reader) in snapshot.readers.iter().enumerate() {
        let begin = match sink {
            Sink::Sorted(top) => top.first_slot(snapshot, reader)?,
            _ => None,
        };
        begins.push((begin, segment));
    }
    if begins.iter().all(|(begin, _)| begin.is_some()) {
        begins.sort_unstable();
    }
    Ok(begins)
}

/// The name of the column that is sorted by first.
fn column(key: &SortKey, snapshot: &Snapshot) -> Option<String> {
    let SortKey::Field { path, .. } = key else {
        return None;
    };
    let mapped = snapshot.mapping.field(path)?;
    Some(mapped.column())
}

impl Scan<'_, '_, '_> {
    /// Whether matches may be left uncounted.
    pub(super) fn may_pass_over(&self) -> bool {
        let enough = |counting: Counting| self.together.seen() > counting.limit;
        let counting = self.wish.counting;
        counting.is_some_and(|counting| counting.known.is_some() || enough(counting))
    }

    /// Whether no document from here on that has this slot, or a later one, can be a hit.
    pub(super) fn is_hopeless(&self, slot: Slot, doc: DocId) -> bool {
        match &self.sink {
            Sink::Sorted(top) => self.may_pass_over() && top.is_hopeless(slot, doc),
            _ => false,
        }
    }

    /// Reads the segment range by range; `false` when nothing is known of its ranges yet.
    pub(super) fn by_ranges(
        &mut self,
        segment: usize,
        reader: &SegmentReader,
        (weight, score): (&dyn Weight, f32),
    ) -> Result<bool, QueryError> {
        let Sink::Sorted(top) = &self.sink else {
            return Ok(false);
        };
        let (Some(key), true) = (top.first_key(), self.wish.counting.is_some()) else {
            return Ok(false);
        };
        let snapshot = self.run.snapshot;
        let Some(column) = column(key, snapshot).filter(|_| reader.max_doc() > RANGE) else {
            return Ok(false);
        };
        let Some(slots) =
            top.slots_of_ranges((snapshot, reader), (reader.segment_id(), &column))?
        else {
            self.looking_at = Some(column);
            return Ok(false);
        };
        let mut first: Vec<usize> = (0..slots.len()).collect();
        first.sort_unstable_by_key(|range| slots[*range]);
        first.truncate(FIRST_RANGES);
        for are_first in [true, false] {
            let wanted = |range: usize| first.contains(&range) == are_first;
            self.pass((segment, reader), (weight, score), (&slots, &wanted))?;
        }
        Ok(true)
    }

    /// Reads the documents of the ranges that are wanted.
    fn pass(
        &mut self,
        (segment, reader): (usize, &SegmentReader),
        (weight, score): (&dyn Weight, f32),
        (slots, wanted): (&[Slot], &dyn Fn(usize) -> bool),
    ) -> Result<(), QueryError> {
        let range_of = |doc: DocId| (doc / RANGE) as usize;
        let mut docs = weight.scorer(reader, 1.0)?;
        let mut buffer = [0; COLLECT_BLOCK_BUFFER_LEN];
        let mut chosen = Vec::with_capacity(COLLECT_BLOCK_BUFFER_LEN);
        while docs.doc() != TERMINATED {
            let doc = docs.doc();
            let range = range_of(doc);
            if !wanted(range) || self.is_hopeless(slots[range], doc) {
                let next = (doc / RANGE + 1) * RANGE;
                if next >= reader.max_doc() {
                    break;
                }
                docs.seek(next);
                continue;
            }
            let count = docs.fill_buffer(&mut buffer);
            chosen.clear();
            chosen.extend(buffer[..count].iter().filter(|doc| wanted(range_of(**doc))));
            if self.block(segment, reader, &chosen, &|_| score)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
