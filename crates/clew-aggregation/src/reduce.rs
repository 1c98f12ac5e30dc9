//! What turns counts into results: the counts with their buckets sorted by parent, and the budget
//! that every bucket is taken from.

use clew_platform::{MemoryExceeded, Pace};
use clew_query::{AggError, go_on_reducing};
use clew_search::MergedHit;

use crate::collect::Planned;
use crate::counted::Partial;
use crate::counted::buckets::{Buckets, ByParent};
use crate::order::{Comparison, Row};
use crate::result::{AggResult, Bucket, NamedResult};
use crate::value::key::Key;

/// What results take is booked in steps of so many bytes.
const BOOK_BYTES: usize = 64 << 10;

/// Buckets made so far, of all aggregations together.
pub(crate) struct Budget<'a> {
    pub(crate) count: usize,
    pub(crate) pace: Pace,
    /// Of metrics: to read a distribution takes as long as to make many buckets.
    pub(crate) metrics: Pace,
    pub(crate) max: usize,
    /// The documents of the top hits made so far.
    pub(crate) hits: Vec<MergedHit>,
    /// Books what results take.
    pub(crate) book: &'a dyn Fn(usize) -> Result<(), MemoryExceeded>,
    pub(crate) unbooked_bytes: usize,
}

impl<'a> Budget<'a> {
    /// For so many buckets, of which there are none yet.
    pub(crate) fn new(max: usize, book: &'a dyn Fn(usize) -> Result<(), MemoryExceeded>) -> Self {
        Budget {
            count: 0,
            pace: Pace::default(),
            metrics: Pace::of_blocks(),
            max,
            hits: Vec::new(),
            book,
            unbooked_bytes: 0,
        }
    }

    pub(crate) fn take(&mut self) -> Result<(), AggError> {
        self.count += 1;
        go_on_reducing(&mut self.pace)?;
        if self.count > self.max {
            return Err(AggError::TooManyBuckets {
                max: self.max,
                count: self.count,
            });
        }
        self.charge(size_of::<Bucket>())
    }

    /// Counts a metric that is computed.
    pub(crate) fn compute(&mut self) -> Result<(), AggError> {
        go_on_reducing(&mut self.metrics)
    }

    /// Notes what a result takes, which is booked a little later.
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<(), AggError> {
        self.unbooked_bytes += bytes;
        if self.unbooked_bytes < BOOK_BYTES {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.unbooked_bytes);
        (self.book)(bytes).map_err(AggError::Memory)
    }
}

/// An aggregation as its result sees it.
pub(crate) trait Reduced: Planned {
    /// What it is called in the request.
    fn name(&self) -> &str;
    /// What was counted in one bucket of its parent; a bucket made to fill a gap has no number.
    fn result(
        &self,
        node: &Node<'_>,
        parent: Option<u32>,
        budget: &mut Budget<'_>,
    ) -> Result<AggResult, AggError>;
}

/// An aggregation's counts with its buckets sorted by parent.
pub(crate) struct Node<'a> {
    pub(crate) plan: &'a dyn Reduced,
    pub(crate) partial: &'a Partial,
    pub(crate) by_parent: ByParent,
    pub(crate) comparison: Option<Comparison<'a>>,
    pub(crate) subs: Vec<Node<'a>>,
}

impl Node<'_> {
    /// The numbers of the buckets inside a parent's; a parent made to fill a gap has none.
    pub(crate) fn numbers(&self, parent: Option<u32>) -> &[u32] {
        parent.map_or(&[], |parent| self.by_parent.of_parent(parent))
    }
}

pub(crate) fn results_of(
    nodes: &[Node<'_>],
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<Vec<NamedResult>, AggError> {
    nodes
        .iter()
        .map(|node| {
            budget.charge(size_of::<NamedResult>() + node.plan.name().len())?;
            Ok(NamedResult {
                name: node.plan.name().to_string(),
                result: node.plan.result(node, parent, budget)?,
            })
        })
        .collect()
}

fn whole_key(key: &Key) -> i64 {
    match key {
        Key::I64(value) | Key::Date(value) => *value,
        _ => 0,
    }
}

pub(crate) fn rows_of(numbers: &[u32], buckets: &Buckets) -> Vec<Row> {
    let mut rows: Vec<Row> = numbers
        .iter()
        .map(|number| Row {
            key: whole_key(&buckets.table.keys()[*number as usize]),
            count: buckets.counts[*number as usize],
            number: Some(*number),
        })
        .collect();
    rows.sort_unstable_by_key(|row| row.key);
    rows
}
