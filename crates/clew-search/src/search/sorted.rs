//! The first documents under sort keys: a heap per segment, joined as segments end.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Duration;

use clew_platform::{Pace, overdue, sorted_while};
use clew_query::{Order, QueryError, SortKey, SortValue};
use tantivy::{DocId, SegmentReader};

use super::cursor::{KeyCursor, Slot};
use super::hit::ShardHit;
use super::merge::compare_hits;
use crate::search::nested_sort::SortOrder;
use crate::segments::{ColumnOf, RANGE};
use crate::snapshot::Snapshot;

/// When the time is up, hits that were found may be joined with the others for so long; those behind are left out then.
pub(super) const TIME_TO_JOIN: Duration = Duration::from_millis(50);

/// Hits in order; none of them once nobody wants them any more, or where there was no time to join them.
pub(super) fn in_order<T>(hits: Vec<T>, compare: impl FnMut(&T, &T) -> Ordering) -> Vec<T> {
    sorted_while(hits, compare, || !overdue(TIME_TO_JOIN)).unwrap_or_default()
}

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

impl Current {
    /// Gives texts that scripts made other places where these have become few, and up those that are of no hit.
    fn spread(&mut self) {
        let mut rows = std::mem::take(&mut self.heap).into_vec();
        let crowded = self.cursors.iter().enumerate();
        for (at, cursor) in crowded.filter(|(_, cursor)| cursor.is_crowded()) {
            let all = rows.iter().map(|row| &row.0).chain(&self.after);
            let slots: Vec<Slot> = all.map(|slots| slots[at]).collect();
            let all = rows.iter_mut().map(|row| &mut row.0).chain(&mut self.after);
            for (slots, slot) in all.zip(cursor.spread(&slots)) {
                slots[at] = slot;
            }
        }
        self.heap = rows.into();
    }
}

/// The first hits so far.
pub(super) struct SortedTop<'a> {
    keys: SortOrder<'a>,
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
        keys: SortOrder<'a>,
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
        // Segments come in any order; their places are those of the index.
        let before = snapshot.readers[..segment].iter();
        let base = self.base + before.map(|one| u64::from(one.max_doc())).sum::<u64>();
        let cursors = self.keys.cursors(snapshot, reader, base)?;
        let after = KeyCursor::slots_of(&cursors, self.after)?;
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
        if current.cursors.iter().any(KeyCursor::is_crowded) {
            current.spread();
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
        let mut pace = Pace::default();
        let mut before: Option<Vec<Slot>> = None;
        for (slots, doc, score) in in_order(current.heap.into_vec(), Ord::cmp) {
            if pace.is_over() && overdue(TIME_TO_JOIN) {
                break;
            }
            let mut sort = Vec::with_capacity(slots.len());
            for (at, (cursor, slot)) in current.cursors.iter().zip(&slots).enumerate() {
                // Texts are looked up in a dictionary, and hits that follow each other often have the same.
                let known = before.as_ref().zip(self.hits.last());
                let known = known.filter(|(before, _)| before[at] == *slot);
                sort.push(match known {
                    Some((_, hit)) => hit.sort[at].clone(),
                    None => cursor.value(*slot)?,
                });
            }
            before = Some(slots);
            self.hits.push(ShardHit {
                segment: current.segment,
                doc,
                score: self.keep_scores.then(|| f32::from_bits(score)),
                sort,
                group: None,
            });
        }
        self.put_in_order();
        if self.hits.len() == self.limit
            && let (Some(last), true) = (self.hits.last(), current.cursors[0].is_global())
        {
            self.ceiling = Some(current.cursors[0].slot_of(&last.sort[0])?);
        }
        Ok(())
    }

    fn put_in_order(&mut self) {
        let keys = self.keys;
        let hits = std::mem::take(&mut self.hits);
        self.hits = in_order(hits, |a, b| {
            compare_hits(&keys, a, b).then(a.segment.cmp(&b.segment))
        });
        self.hits.truncate(self.limit);
    }

    /// Takes the hits of another, which are of other segments.
    pub(super) fn absorb(&mut self, other: Self) {
        self.hits.extend(other.hits);
        self.put_in_order();
    }

    /// What a hit must not exceed, with what is known of hits elsewhere.
    pub(super) fn lower_ceiling(&mut self, elsewhere: Option<Slot>) -> Option<Slot> {
        self.ceiling = match (self.ceiling, elsewhere) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        };
        self.ceiling
    }

    /// What is sorted by first.
    pub(super) fn first_key(&self) -> Option<&SortKey> {
        self.keys.first()
    }

    /// The first slot that a document of a segment can have, where slots of several segments compare.
    pub(super) fn first_slot(
        &self,
        snapshot: &Snapshot,
        reader: &SegmentReader,
    ) -> Result<Option<Slot>, QueryError> {
        let Some(SortKey::Field { .. }) = self.keys.first() else {
            return Ok(None);
        };
        let cursor = self.keys.cursor(0, snapshot, reader, 0)?;
        let span = cursor.whole_span().filter(|_| cursor.is_global());
        span.map(|span| cursor.first_slot(&span)).transpose()
    }

    /// The first slots that the documents of the current segment's ranges can have, once they are known.
    pub(super) fn slots_of_ranges(
        &self,
        (snapshot, reader): (&Snapshot, &SegmentReader),
        column: ColumnOf<'_>,
    ) -> Result<Option<Vec<Slot>>, QueryError> {
        let Some(cursor) = self.current.as_ref().map(|current| &current.cursors[0]) else {
            return Ok(None);
        };
        let docs = reader.max_doc();
        let spans = snapshot.columns().spans.of(column, docs, || {
            let begins = (0..docs).step_by(RANGE as usize);
            let spans = begins.map(|begin| cursor.span(begin..(begin + RANGE).min(docs)));
            spans.collect()
        });
        let Some(spans) = spans.filter(|_| cursor.whole_span().is_some()) else {
            return Ok(None);
        };
        let slots = spans.iter().map(|span| cursor.first_slot(span));
        slots.collect::<Result<_, _>>().map(Some)
    }

    /// Whether no document from here on that has this slot or a later one can be among the first.
    pub(super) fn is_hopeless(&self, slot: Slot, doc: DocId) -> bool {
        if self.ceiling.is_some_and(|ceiling| slot > ceiling) {
            return true;
        }
        let current = self.current.as_ref();
        let current = current.filter(|current| current.heap.len() >= self.limit);
        current
            .and_then(|current| current.heap.peek())
            .is_some_and(|(worst, kept, _)| {
                let ties_lose = self.keys.len() == 1 && doc > *kept;
                slot > worst[0] || (slot == worst[0] && ties_lose)
            })
    }

    /// Whether later segments can bring no better documents: the order is that of the index.
    pub(super) fn is_complete(&self) -> bool {
        let by_place = matches!(&*self.keys, [SortKey::Doc { order: Order::Asc }, ..]);
        by_place && self.hits.len() >= self.limit
    }

    pub(super) fn into_hits(self) -> Vec<ShardHit> {
        self.hits
    }
}
