//! Buckets that are given beforehand: ranges of numbers, and the documents without a value.

use clew_query::AggError;
use clew_schema::geo::GeoPoint;

use super::slots::{Slots, count_one, count_up};
use super::{Block, Collect, Counted, Level, Segment, Subs};
use crate::column::{Repeats, Rows, ValueColumn};
use crate::key::{Key, KeyTable};
use crate::limits::Account;
use crate::partial::{Buckets, Partial};
use crate::plan::Plan;
use crate::plan_range::{RangeEnds, RangePlan};
use clew_query::aggregation::DistanceOrigin;

/// Counts documents per bucket; keys are places in a list.
pub(super) struct Places {
    slots: Slots,
    counts: Vec<u64>,
    subs: Subs,
    counted: Counted,
}

impl Places {
    pub(super) fn open(segment: Segment<'_>, plan: &Plan) -> Result<Self, AggError> {
        Ok(Places {
            slots: Slots::for_range(None, Level::Nested),
            counts: Vec::new(),
            subs: Subs::open(segment, plan)?,
            counted: Counted::WhatTheyStandFor,
        })
    }

    /// The same, counting otherwise.
    pub(super) fn counting(self, counted: Counted) -> Self {
        Places { counted, ..self }
    }

    pub(super) fn add(
        &mut self,
        (doc, parent): (u32, u32),
        place: u64,
        account: &mut Account,
    ) -> Result<(), AggError> {
        let number = self.slots.number(parent, place, account)?;
        match self.counted {
            Counted::Documents => count_one(&mut self.counts, number, account)?,
            Counted::WhatTheyStandFor => count_up(&mut self.counts, number, doc, account)?,
        }
        if !self.subs.is_empty() {
            self.subs.push(doc, number);
        }
        Ok(())
    }

    pub(super) fn flush(&mut self, account: &mut Account) -> Result<(), AggError> {
        self.subs.flush(account)
    }

    pub(super) fn finish(self, account: &mut Account) -> Result<Partial, AggError> {
        let (parents, places) = self.slots.into_parts();
        let mut counts = self.counts;
        counts.truncate(places.len());
        account.charge_keys(places.len())?;
        let keys = places
            .into_iter()
            .map(|place| Key::I64(place.cast_signed()))
            .collect();
        let table = KeyTable::of_distinct(parents, keys);
        Ok(Partial::Buckets(Buckets::of(
            table,
            counts,
            self.subs.finish(account)?,
        )))
    }
}

/// Whether a value lies in a range.
enum Test {
    Number(f64, f64),
    /// Of the numbers that stand for values in this segment.
    Raw(u64, u64),
}

impl Test {
    fn of(ends: RangeEnds, column: &ValueColumn) -> Self {
        match ends {
            RangeEnds::Numbers(from, to) => Test::Number(from, to),
            RangeEnds::Addresses(from, to) => {
                let first = |end: Option<_>, open: u64| {
                    end.map_or(open, |end| column.first_from(end).unwrap_or(u64::MAX))
                };
                Test::Raw(first(from, 0), first(to, u64::MAX))
            }
        }
    }

    fn holds(&self, raw: u64, number: f64) -> bool {
        match self {
            Test::Number(from, to) => number >= *from && number < *to,
            Test::Raw(from, to) => raw >= *from && raw < *to,
        }
    }
}

pub(crate) struct Ranges {
    column: ValueColumn,
    rows: Rows,
    tests: Vec<Test>,
    origin: Option<DistanceOrigin>,
    places: Places,
    hits: Vec<u64>,
}

impl Ranges {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &Plan,
        range: &RangePlan,
    ) -> Result<Self, AggError> {
        let column = ValueColumn::open(segment.reader, &plan.values)?;
        let tests = range
            .ranges
            .iter()
            .map(|range| Test::of(range.ends, &column));
        Ok(Ranges {
            tests: tests.collect(),
            origin: range.origin,
            column,
            rows: Rows::default(),
            places: Places::open(segment, plan)?,
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
                let raw = self.rows.values[at];
                let number = match self.origin {
                    Some(origin) => {
                        GeoPoint::decode(raw).metres_to(origin.place) / origin.unit_metres
                    }
                    None => self.column.number(raw),
                };
                self.hits.extend(
                    (0_u64..)
                        .zip(&self.tests)
                        .filter(|(_, test)| test.holds(raw, number))
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
        self.places.flush(account)
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        self.places.finish(account)
    }
}

pub(crate) struct Missing {
    column: ValueColumn,
    without: Vec<u32>,
    places: Places,
}

impl Missing {
    pub(crate) fn open(segment: Segment<'_>, plan: &Plan) -> Result<Self, AggError> {
        Ok(Missing {
            column: ValueColumn::open(segment.reader, &plan.values)?,
            without: Vec::new(),
            places: Places::open(segment, plan)?,
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
        self.places.flush(account)
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        self.places.finish(account)
    }
}
