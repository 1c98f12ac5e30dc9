//! Collectors of one segment. Each gets blocks of documents together with the bucket of its parent
//! that every document fell into, and hands documents on to its own sub-aggregations likewise.

pub(crate) mod places;
pub(crate) mod slots;
pub(crate) mod timed;

use clew_query::AggError;
use tantivy::{DocId, SegmentReader};

use crate::counted::Partial;
use crate::field::ValuePlan;
use crate::limits::Account;

/// One segment of a shard.
#[derive(Clone, Copy)]
pub(crate) struct Segment<'a> {
    pub(crate) reader: &'a SegmentReader,
    /// Its place among the shard's segments.
    pub(crate) ord: usize,
}

/// Documents and, for each, the parent's bucket; ascending, with repeats where a document is in
/// several buckets.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    pub(crate) docs: &'a [DocId],
    pub(crate) parents: &'a [u32],
}

/// Documents that are handed on at a time, few enough for what is read of them to stay in the cache.
pub(crate) const BLOCK_DOCS: usize = 2_048;

/// At the root every document has the same parent.
static ROOT: [u32; BLOCK_DOCS] = [0; BLOCK_DOCS];

impl<'a> Block<'a> {
    /// Documents at the root, [`BLOCK_DOCS`] at most.
    pub(crate) fn at_root(docs: &'a [DocId]) -> Self {
        Block {
            docs,
            parents: &ROOT[..docs.len()],
        }
    }
}

/// Counts what one aggregation wants of a segment.
pub(crate) trait Collect: Send {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError>;
    /// What was counted, with keys that mean the same in every segment; what that takes is booked before it is made.
    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError>;
}

/// What collectors have counted, in their order.
pub(crate) fn finish_all(
    collectors: Vec<Box<dyn Collect>>,
    account: &mut Account,
) -> Result<Vec<Partial>, AggError> {
    let finish = |collector: Box<dyn Collect>| {
        account.step()?;
        collector.finish(account)
    };
    collectors.into_iter().map(finish).collect()
}

/// An aggregation as its own collector sees it.
pub(crate) trait Planned {
    /// Where its values come from.
    fn values(&self) -> &ValuePlan;
    /// Collectors of what is inside.
    fn open_subs(&self, segment: Segment<'_>) -> Result<Subs, AggError>;
    /// What is inside, with nothing counted.
    fn empty_subs(&self) -> Vec<Partial>;
    /// Whether anything inside wants scores.
    fn subs_want_scores(&self) -> bool;
}

/// Whether there is one parent bucket or many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Root,
    Nested,
}

/// Sub-aggregations and the block being put together for them.
pub(crate) struct Subs {
    collectors: Vec<Box<dyn Collect>>,
    docs: Vec<DocId>,
    parents: Vec<u32>,
}

impl Subs {
    pub(crate) fn of(collectors: Vec<Box<dyn Collect>>) -> Self {
        Subs {
            collectors,
            docs: Vec::new(),
            parents: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.collectors.is_empty()
    }

    #[inline]
    pub(crate) fn push(&mut self, doc: DocId, bucket: u32) {
        self.docs.push(doc);
        self.parents.push(bucket);
    }

    /// Hands on what was pushed.
    pub(crate) fn flush(&mut self, account: &mut Account) -> Result<(), AggError> {
        if !self.docs.is_empty() {
            for collector in &mut self.collectors {
                account.step()?;
                let block = Block {
                    docs: &self.docs,
                    parents: &self.parents,
                };
                collector.collect(block, account)?;
            }
        }
        self.docs.clear();
        self.parents.clear();
        Ok(())
    }

    pub(crate) fn finish(self, account: &mut Account) -> Result<Vec<Partial>, AggError> {
        finish_all(self.collectors, account)
    }
}
