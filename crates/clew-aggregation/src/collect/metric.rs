//! Numbers per bucket.

use clew_query::AggError;

use super::{Block, Collect, Segment};
use crate::column::{Repeats, Rows, ValueColumn};
use crate::limits::{Account, grow};
use crate::moments::{ExtendedMoments, Moments};
use crate::partial::{Partial, Sketches};
use crate::plan::{Plan, ValueKind};
use crate::sketch::{Sketch, hash_key};

/// Reads a block and calls `add` with each value's bucket.
fn each_value(
    column: &ValueColumn,
    rows: &mut Rows,
    block: Block<'_>,
    mut add: impl FnMut(u32, u64) -> Result<(), AggError>,
) -> Result<(), AggError> {
    if column.is_empty() {
        return Ok(());
    }
    column.read(block.docs, Repeats::Kept, rows);
    for (entry, raw) in rows.entries.iter().zip(&rows.values) {
        add(block.parents[*entry as usize], *raw)?;
    }
    Ok(())
}

/// Count, extremes and sum: all that the simple metrics show.
pub(crate) struct Basic {
    column: ValueColumn,
    rows: Rows,
    moments: Vec<Moments>,
}

impl Basic {
    pub(crate) fn open(segment: Segment<'_>, plan: &Plan) -> Result<Self, AggError> {
        Ok(Basic {
            column: ValueColumn::open(segment.reader, &plan.values)?,
            rows: Rows::default(),
            moments: Vec::new(),
        })
    }
}

impl Collect for Basic {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let (column, moments) = (&self.column, &mut self.moments);
        each_value(column, &mut self.rows, block, |parent, raw| {
            grow(moments, parent, account)?;
            moments[parent as usize].add(column.number(raw));
            Ok(())
        })
    }

    fn finish(self: Box<Self>, _: &mut Account) -> Result<Partial, AggError> {
        Ok(Partial::Moments(self.moments))
    }
}

/// The same with squares.
pub(crate) struct Extended {
    column: ValueColumn,
    rows: Rows,
    moments: Vec<ExtendedMoments>,
}

impl Extended {
    pub(crate) fn open(segment: Segment<'_>, plan: &Plan) -> Result<Self, AggError> {
        Ok(Extended {
            column: ValueColumn::open(segment.reader, &plan.values)?,
            rows: Rows::default(),
            moments: Vec::new(),
        })
    }
}

impl Collect for Extended {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let (column, moments) = (&self.column, &mut self.moments);
        each_value(column, &mut self.rows, block, |parent, raw| {
            grow(moments, parent, account)?;
            moments[parent as usize].add(column.number(raw));
            Ok(())
        })
    }

    fn finish(self: Box<Self>, _: &mut Account) -> Result<Partial, AggError> {
        Ok(Partial::Extended(self.moments))
    }
}

/// How many values there are.
pub(crate) struct ValueCount {
    column: ValueColumn,
    rows: Rows,
    counts: Vec<u64>,
    repeats: Repeats,
}

impl ValueCount {
    pub(crate) fn open(segment: Segment<'_>, plan: &Plan) -> Result<Self, AggError> {
        // A document's keywords and addresses are a set; its numbers are a list.
        let repeats = match plan.values.kind {
            ValueKind::Keyword | ValueKind::Ip => Repeats::Dropped,
            _ => Repeats::Kept,
        };
        Ok(ValueCount {
            column: ValueColumn::open(segment.reader, &plan.values)?,
            rows: Rows::default(),
            counts: Vec::new(),
            repeats,
        })
    }
}

impl Collect for ValueCount {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        if self.column.is_empty() {
            return Ok(());
        }
        self.column.read(block.docs, self.repeats, &mut self.rows);
        for entry in &self.rows.entries {
            let parent = block.parents[*entry as usize];
            grow(&mut self.counts, parent, account)?;
            self.counts[parent as usize] += 1;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &mut Account) -> Result<Partial, AggError> {
        Ok(Partial::Counts(self.counts))
    }
}

/// How many distinct values there are. Values are told apart within the segment first; what is
/// hashed is the value itself, so that equal ones of other segments are known again.
pub(crate) struct Cardinality {
    field: String,
    column: ValueColumn,
    rows: Rows,
    /// Pairs of bucket and number; the first `sorted` are in order and distinct.
    pairs: Vec<(u32, u64)>,
    sorted: usize,
    threshold: usize,
}

/// Pairs are told apart when this many have come in since the last time.
const PAIRS_UNSORTED_MIN: usize = 4_096;

impl Cardinality {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &Plan,
        threshold: usize,
    ) -> Result<Self, AggError> {
        Ok(Cardinality {
            field: plan.values.field.clone(),
            column: ValueColumn::open(segment.reader, &plan.values)?,
            rows: Rows::default(),
            pairs: Vec::new(),
            sorted: 0,
            threshold,
        })
    }

    fn tidy(&mut self) {
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.sorted = self.pairs.len();
    }

    /// The hash of each distinct number, in the numbers' order.
    fn hashes(&self, sorted: &[u64]) -> Result<Vec<u64>, AggError> {
        let mut hashes = Vec::with_capacity(sorted.len());
        self.column.each_key(&self.field, sorted, |key| {
            hashes.push(hash_key(&key));
            Ok(())
        })?;
        Ok(hashes)
    }
}

impl Collect for Cardinality {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let before = self.pairs.capacity();
        let pairs = &mut self.pairs;
        each_value(&self.column, &mut self.rows, block, |parent, raw| {
            pairs.push((parent, raw));
            Ok(())
        })?;
        if self.pairs.len() > self.sorted * 2 + PAIRS_UNSORTED_MIN {
            self.tidy();
        }
        account.charge((self.pairs.capacity() - before) * size_of::<(u32, u64)>())
    }

    fn finish(mut self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        self.tidy();
        // Numbers, their hashes, and the hashes that buckets remember.
        account.charge(3 * self.pairs.len() * size_of::<u64>())?;
        let mut numbers: Vec<u64> = self.pairs.iter().map(|(_, raw)| *raw).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let hashes = self.hashes(&numbers)?;
        let buckets = self
            .pairs
            .last()
            .map_or(0, |(parent, _)| *parent as usize + 1);
        account.charge(buckets * (size_of::<Sketch>() + Sketch::HEAP_BYTES_MIN))?;
        let mut sketches = vec![Sketch::default(); buckets];
        for (parent, raw) in &self.pairs {
            if let Ok(at) = numbers.binary_search(raw) {
                sketches[*parent as usize].add(hashes[at], self.threshold);
            }
        }
        for sketch in &mut sketches {
            sketch.tidy(self.threshold);
        }
        Ok(Partial::Distinct(Sketches {
            sketches,
            threshold: self.threshold,
        }))
    }
}
