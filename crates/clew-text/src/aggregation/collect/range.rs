//! Buckets that are given beforehand: ranges of numbers, and the documents without a value.

use tantivy::SegmentReader;

use super::slots::{Slots, count_up};
use super::{Block, Collect, Level, Subs};
use crate::aggregation::column::{Repeats, Rows, ValueColumn};
use crate::aggregation::error::AggError;
use crate::aggregation::key::{Key, KeyTable};
use crate::aggregation::limits::Account;
use crate::aggregation::partial::{Buckets, Partial};
use crate::aggregation::plan::{Plan, PlannedRange, RangePlan};

/// Counts documents per bucket; keys are places in a list.
struct Places {
    slots: Slots,
    counts: Vec<u64>,
    subs: Subs,
}

impl Places {
    fn open(reader: &SegmentReader, plan: &Plan) -> Result<Self, AggError> {
        Ok(Places {
            slots: Slots::for_range(None, Level::Nested),
            counts: Vec::new(),
            subs: Subs::open(reader, plan)?,
        })
    }

    fn add(
        &mut self,
        (doc, parent): (u32, u32),
        place: u64,
        account: &mut Account,
    ) -> Result<(), AggError> {
        let number = self.slots.number(parent, place, account)?;
        count_up(&mut self.counts, number, account)?;
        if !self.subs.is_empty() {
            self.subs.push(doc, number);
        }
        Ok(())
    }

    fn finish(self) -> Result<Partial, AggError> {
        let (parents, places) = self.slots.into_parts();
        let mut counts = self.counts;
        counts.truncate(places.len());
        let keys = places
            .into_iter()
            .map(|place| Key::I64(place.cast_signed()))
            .collect();
        let table = KeyTable::of_distinct(parents, keys);
        Ok(Partial::Buckets(Buckets::of(
            table,
            counts,
            self.subs.finish()?,
        )))
    }
}

pub(crate) struct Ranges {
    column: ValueColumn,
    rows: Rows,
    ranges: Vec<PlannedRange>,
    places: Places,
    hits: Vec<u64>,
}

impl Ranges {
    pub(crate) fn open(
        reader: &SegmentReader,
        plan: &Plan,
        range: &RangePlan,
    ) -> Result<Self, AggError> {
        Ok(Ranges {
            column: ValueColumn::open(reader, &plan.values)?,
            rows: Rows::default(),
            ranges: range.ranges.clone(),
            places: Places::open(reader, plan)?,
            hits: Vec::new(),
        })
    }
}

impl Collect for Ranges {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        if self.column.is_empty() {
            return Ok(());
        }
        self.column
            .read(block.docs, Repeats::Dropped, &mut self.rows);
        let mut at = 0;
        while at < self.rows.entries.len() {
            let entry = self.rows.entries[at];
            self.hits.clear();
            while self.rows.entries.get(at) == Some(&entry) {
                let value = self.column.number(self.rows.values[at]);
                let within = |range: &PlannedRange| value >= range.from && value < range.to;
                self.hits.extend(
                    (0_u64..)
                        .zip(&self.ranges)
                        .filter(|(_, range)| within(range))
                        .map(|(place, _)| place),
                );
                at += 1;
            }
            // A document counts once per range, whatever number of its values lies in it.
            self.hits.sort_unstable();
            self.hits.dedup();
            let of = (block.docs[entry as usize], block.parents[entry as usize]);
            for place in &self.hits {
                self.places.add(of, *place, account)?;
            }
        }
        self.places.subs.flush(account)
    }

    fn finish(self: Box<Self>) -> Result<Partial, AggError> {
        self.places.finish()
    }
}

pub(crate) struct Missing {
    column: ValueColumn,
    without: Vec<u32>,
    places: Places,
}

impl Missing {
    pub(crate) fn open(reader: &SegmentReader, plan: &Plan) -> Result<Self, AggError> {
        Ok(Missing {
            column: ValueColumn::open(reader, &plan.values)?,
            without: Vec::new(),
            places: Places::open(reader, plan)?,
        })
    }
}

impl Collect for Missing {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        self.column.without_value(block.docs, &mut self.without);
        for entry in &self.without {
            let of = (block.docs[*entry as usize], block.parents[*entry as usize]);
            self.places.add(of, 0, account)?;
        }
        self.places.subs.flush(account)
    }

    fn finish(self: Box<Self>) -> Result<Partial, AggError> {
        self.places.finish()
    }
}
