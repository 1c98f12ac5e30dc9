//! The first documents under sort keys: a heap per segment, joined as segments end.

use std::collections::BinaryHeap;

use tantivy::{DocId, SegmentReader};

use super::cursor::{KeyCursor, Slot};
use super::merge::compare_hits;
use super::request::ShardHit;
use super::snapshot::Snapshot;
use super::sort::{Order, SortKey, SortValue};
use crate::query::QueryError;

/// What is kept of a document; the greatest comes last in the order of hits.
type Row = (Vec<Slot>, DocId, ScoreBits);
/// A score that takes no part in the order of rows that differ.
type ScoreBits = u32;

/// What else is kept of hits, and where their documents begin.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    pub(super) scores: bool,
    pub(super) doc_base: u64,
}

/// The segment that is being read.
struct Current {
    segment: usize,
    cursors: Vec<KeyCursor>,
    after: Option<Vec<Slot>>,
    heap: BinaryHeap<Row>,
}

/// The first hits so far.
pub(super) struct SortedTop<'a> {
    keys: &'a [SortKey],
    limit: usize,
    after: Option<&'a [SortValue]>,
    keep_scores: bool,
    hits: Vec<ShardHit>,
    /// First slot of the last hit that is kept, where slots of several segments compare.
    ceiling: Option<Slot>,
    current: Option<Current>,
    base: u64,
}

impl<'a> SortedTop<'a> {
    pub(super) fn new(
        keys: &'a [SortKey],
        limit: usize,
        after: Option<&'a [SortValue]>,
        kept: Kept,
    ) -> Result<Self, QueryError> {
        if after.is_some_and(|after| after.len() != keys.len()) {
            return Err(QueryError::illegal(format!(
                "search_after has {} value(s) but sort has {}.",
                after.map_or(0, <[SortValue]>::len),
                keys.len()
            )));
        }
        Ok(SortedTop {
            keys,
            limit,
            after,
            keep_scores: kept.scores,
            hits: Vec::new(),
            ceiling: None,
            current: None,
            base: kept.doc_base,
        })
    }

    pub(super) fn begin(
        &mut self,
        segment: usize,
        snapshot: &Snapshot,
        reader: &SegmentReader,
    ) -> Result<(), QueryError> {
        let cursors = self
            .keys
            .iter()
            .map(|key| KeyCursor::open(key, snapshot, reader, self.base))
            .collect::<Result<Vec<_>, _>>()?;
        self.base += u64::from(reader.max_doc());
        let after = match self.after {
            Some(values) => Some(
                cursors
                    .iter()
                    .zip(values)
                    .map(|(cursor, value)| cursor.slot_of(value))
                    .collect::<Result<Vec<_>, _>>()?,
            ),
            None => None,
        };
        self.current = Some(Current {
            segment,
            cursors,
            after,
            heap: BinaryHeap::new(),
        });
        Ok(())
    }

    pub(super) fn offer(&mut self, doc: DocId, score: f32) -> Result<(), QueryError> {
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        if self.limit == 0 {
            return Ok(());
        }
        let first = current.cursors[0].slot(doc, score)?;
        if current.cursors[0].is_global() && self.ceiling.is_some_and(|ceiling| first > ceiling) {
            return Ok(());
        }
        let full = current.heap.len() >= self.limit;
        if full && current.heap.peek().is_some_and(|worst| first > worst.0[0]) {
            return Ok(());
        }
        let mut slots = Vec::with_capacity(current.cursors.len());
        slots.push(first);
        for cursor in &current.cursors[1..] {
            slots.push(cursor.slot(doc, score)?);
        }
        if current.after.as_ref().is_some_and(|after| slots <= *after) {
            return Ok(());
        }
        let row = (slots, doc, score.to_bits());
        if !full {
            current.heap.push(row);
        } else if let Some(mut worst) = current.heap.peek_mut()
            && row < *worst
        {
            *worst = row;
        }
        Ok(())
    }

    /// Joins the segment's first documents with those of the segments before.
    pub(super) fn end(&mut self) -> Result<(), QueryError> {
        let Some(current) = self.current.take() else {
            return Ok(());
        };
        for (slots, doc, score) in current.heap.into_sorted_vec() {
            let sort = current
                .cursors
                .iter()
                .zip(slots)
                .map(|(cursor, slot)| cursor.value(slot))
                .collect::<Result<Vec<_>, _>>()?;
            self.hits.push(ShardHit {
                segment: current.segment,
                doc,
                score: self.keep_scores.then(|| f32::from_bits(score)),
                sort,
                group: None,
            });
        }
        let keys = self.keys;
        self.hits.sort_by(|a, b| compare_hits(keys, a, b));
        self.hits.truncate(self.limit);
        if self.hits.len() == self.limit
            && let (Some(last), true) = (self.hits.last(), current.cursors[0].is_global())
        {
            self.ceiling = Some(current.cursors[0].slot_of(&last.sort[0])?);
        }
        Ok(())
    }

    /// Whether later segments can bring no better documents: the order is that of the index.
    pub(super) fn is_complete(&self) -> bool {
        let by_place = matches!(self.keys, [SortKey::Doc { order: Order::Asc }, ..]);
        by_place && self.hits.len() >= self.limit
    }

    pub(super) fn into_hits(self) -> Vec<ShardHit> {
        self.hits
    }
}
