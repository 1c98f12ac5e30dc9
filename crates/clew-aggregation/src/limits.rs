//! What one request may use, and the account it is booked on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clew_platform::{MemoryAccount, MemoryPurpose, Pace, Reservation};
use clew_query::{AggError, go_on_reducing};
use clew_schema::DOC_COUNT;
use tantivy::columnar::Column;
use tantivy::{DocId, SegmentReader};

use crate::value::key::Key;

/// Bounds of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AggLimits {
    /// Buckets in the result, empty ones included.
    pub buckets_max: usize,
    /// Memory of one collector (one shard), in bytes.
    pub memory_bytes_max: usize,
}

impl Default for AggLimits {
    /// OpenSearch's default of `search.max_buckets`, and half a gigabyte.
    fn default() -> Self {
        AggLimits {
            buckets_max: 65_535,
            memory_bytes_max: 512 << 20,
        }
    }
}

/// Memory is reserved in steps of this size.
const RESERVE_BYTES: usize = 64 << 10;

/// The memory in use by one collector: what its merged segments hold, and what the segment under
/// way has allocated so far. Whatever books on it, or takes a [`step`](Account::step), ends with the request.
#[derive(Debug)]
pub(crate) struct Account {
    settled_bytes: usize,
    running_bytes: usize,
    max_bytes: usize,
    /// What is taken of the node's memory for it.
    memory: Option<Reservation>,
    /// What a fork has handed over, which nobody else has reserved yet.
    handed_bytes: usize,
    /// What all collectors together use that collect other segments of the shard at the same time.
    together: Option<Arc<AtomicUsize>>,
    /// The scores of the segment's documents, where an aggregation wants them.
    scores: Vec<f32>,
    /// The column that says how many documents each one stands for, in indexes where some say so.
    doc_count: Option<String>,
    /// The same column of the segment.
    doc_counts: Option<Column<i64>>,
    /// Counts what is booked.
    bookings: Pace,
    /// Counts blocks of documents, and collectors that are asked what they counted.
    steps: Pace,
}

impl Account {
    pub(crate) fn new(limits: AggLimits) -> Self {
        Account {
            settled_bytes: 0,
            running_bytes: 0,
            max_bytes: limits.memory_bytes_max,
            memory: None,
            handed_bytes: 0,
            together: None,
            scores: Vec::new(),
            doc_count: None,
            doc_counts: None,
            bookings: Pace::default(),
            steps: Pace::of_blocks(),
        }
    }

    /// The same, over memory that is taken of the node's.
    pub(crate) fn reserving(self, memory: Option<&Arc<MemoryAccount>>) -> Self {
        Account {
            memory: memory.map(|memory| memory.open(MemoryPurpose::Searches)),
            ..self
        }
    }

    /// What is taken of the node's memory.
    pub(crate) fn into_memory(self) -> Option<Reservation> {
        self.memory
    }

    /// The same, where a column says how many documents each one stands for.
    pub(crate) fn counting_by(self, doc_count: Option<String>) -> Self {
        Account { doc_count, ..self }
    }

    /// An account for a collector of other segments, which shares the bounds of this one with its like.
    pub(crate) fn fork(&self, together: Arc<AtomicUsize>) -> Self {
        let limits = AggLimits {
            memory_bytes_max: self.max_bytes,
            ..AggLimits::default()
        };
        Account {
            settled_bytes: self.settled_bytes,
            memory: self.memory.as_ref().map(Reservation::sibling),
            together: Some(together),
            doc_count: self.doc_count.clone(),
            ..Account::new(limits)
        }
    }

    /// Counts a step of one collector: a block of documents, or its end.
    ///
    /// # Errors
    /// Once nobody wants what is counted.
    pub(crate) fn step(&mut self) -> Result<(), AggError> {
        go_on_reducing(&mut self.steps)
    }

    /// Reads how many documents each one of a segment stands for, before it is counted.
    pub(crate) fn turn_to(&mut self, reader: &SegmentReader) -> Result<(), AggError> {
        if let Some(column) = &self.doc_count {
            let opened = reader.fast_fields().column_opt(column);
            self.doc_counts = opened.map_err(|source| AggError::Column {
                field: DOC_COUNT.to_string(),
                source,
            })?;
        }
        Ok(())
    }

    /// Whether no document of the segment stands for several.
    #[inline]
    pub(crate) fn every_document_is_one(&self) -> bool {
        self.doc_counts.is_none()
    }

    /// How many documents a document stands for.
    #[inline]
    pub(crate) fn stands_for(&self, doc: DocId) -> u64 {
        let count = self
            .doc_counts
            .as_ref()
            .and_then(|counts| counts.first(doc));
        count
            .and_then(|count| u64::try_from(count).ok())
            .unwrap_or(1)
    }

    /// Makes room for the scores of a segment's documents.
    pub(crate) fn make_scores(&mut self, max_doc: u32) -> Result<(), AggError> {
        self.charge(max_doc as usize * size_of::<f32>())?;
        self.scores.clear();
        self.scores.resize(max_doc as usize, 0.0);
        Ok(())
    }

    pub(crate) fn set_score(&mut self, doc: DocId, score: f32) {
        if let Some(place) = self.scores.get_mut(doc as usize) {
            *place = score;
        }
    }

    /// A document's score; 0 where no aggregation wants scores.
    pub(crate) fn score(&self, doc: DocId) -> f32 {
        self.scores.get(doc as usize).copied().unwrap_or(0.0)
    }

    /// Gives a nested object the score of what it is part of.
    pub(crate) fn copy_score(&mut self, from: DocId, to: DocId) {
        let score = self.score(from);
        self.set_score(to, score);
    }

    /// Books an allocation, before or right after it is made.
    ///
    /// # Errors
    /// When it does not fit; once nobody wants what is counted.
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<(), AggError> {
        go_on_reducing(&mut self.bookings)?;
        self.running_bytes += bytes;
        if let Some(together) = &self.together {
            together.fetch_add(bytes, Ordering::Relaxed);
        }
        self.check()
    }

    /// Books the keys and counters of so many buckets, but for the texts of keys.
    pub(crate) fn charge_keys(&mut self, buckets: usize) -> Result<(), AggError> {
        self.charge(buckets * (size_of::<Key>() + size_of::<u64>()))
    }

    /// A segment of a fork is done: what it holds is left for the collector that it comes from.
    pub(crate) fn hand_over(&mut self, bytes: usize) -> Result<(), AggError> {
        if let Some(together) = &self.together {
            together.fetch_add(bytes, Ordering::Relaxed);
            together.fetch_sub(self.running_bytes, Ordering::Relaxed);
        }
        self.handed_bytes += bytes;
        self.running_bytes = 0;
        self.check()
    }

    /// A segment is done, and what it holds is to be merged: while it is, it may be there twice.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), AggError> {
        self.running_bytes = 2 * bytes;
        self.check()
    }

    /// A segment is done: only what was merged remains.
    pub(crate) fn settle(&mut self, merged_bytes: usize) -> Result<(), AggError> {
        self.settled_bytes = merged_bytes;
        self.running_bytes = 0;
        if let Some(memory) = &mut self.memory {
            memory.shrink_to(merged_bytes.next_multiple_of(RESERVE_BYTES));
        }
        self.check()
    }

    fn check(&mut self) -> Result<(), AggError> {
        let running_bytes = match &self.together {
            Some(together) => together.load(Ordering::Relaxed),
            None => self.running_bytes,
        };
        let wanted_bytes = self.settled_bytes + running_bytes;
        if wanted_bytes > self.max_bytes {
            return Err(AggError::TooLarge {
                wanted_bytes,
                max_bytes: self.max_bytes,
            });
        }
        self.reserve()
    }

    /// Has reserved what this collector holds itself, in steps, as most aggregations are done within the first.
    fn reserve(&mut self) -> Result<(), AggError> {
        let Some(memory) = &mut self.memory else {
            return Ok(());
        };
        // What a fork began with is its origin's.
        let settled_bytes = match self.together {
            Some(_) => self.handed_bytes,
            None => self.settled_bytes,
        };
        let held_bytes = settled_bytes + self.running_bytes;
        if held_bytes > memory.bytes() {
            let bytes = held_bytes.next_multiple_of(RESERVE_BYTES);
            memory.grow_to(bytes)?;
        }
        Ok(())
    }
}

/// Makes `values` long enough for index `at`, booking what that takes.
pub(crate) fn grow<T: Clone + Default>(
    values: &mut Vec<T>,
    at: u32,
    account: &mut Account,
) -> Result<(), AggError> {
    let at = at as usize;
    if at < values.len() {
        return Ok(());
    }
    let length = (at + 1).next_power_of_two().max(64);
    account.charge((length - values.len()) * size_of::<T>())?;
    values.resize(length, T::default());
    Ok(())
}
