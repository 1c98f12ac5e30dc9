//! Buckets of equal steps: of numbers, and of time.

use tantivy::SegmentReader;
use tantivy::columnar::MonotonicallyMappableToU64;

use super::slots::{Slots, count_up};
use super::{Block, Collect, Level, Subs};
use crate::aggregation::column::{Repeats, Rows, ValueColumn};
use crate::aggregation::error::AggError;
use crate::aggregation::key::{Key, KeyTable};
use crate::aggregation::limits::Account;
use crate::aggregation::partial::{Buckets, Partial};
use crate::aggregation::plan::{DatePlan, Ends, NumberPlan, Plan};
use crate::aggregation::rounding::{Arithmetic, Rounding};

/// What both histograms share: how buckets are numbered and counted.
struct Steps {
    column: ValueColumn,
    rows: Rows,
    slots: Slots,
    counts: Vec<u64>,
    subs: Subs,
}

impl Steps {
    /// Counts each value under the step it belongs to; a document counts once per step, and as its
    /// values are sorted, equal steps are neighbours.
    fn collect(
        &mut self,
        block: Block<'_>,
        account: &mut Account,
        mut step_of: impl FnMut(&ValueColumn, u64) -> Option<i64>,
    ) -> Result<(), AggError> {
        if self.column.is_empty() {
            return Ok(());
        }
        self.column
            .read(block.docs, Repeats::Dropped, &mut self.rows);
        let mut previous = None;
        for (entry, raw) in self.rows.entries.iter().zip(&self.rows.values) {
            let Some(step) = step_of(&self.column, *raw) else {
                continue;
            };
            if previous == Some((*entry, step)) {
                continue;
            }
            previous = Some((*entry, step));
            let at = *entry as usize;
            let number = self
                .slots
                .number(block.parents[at], step.to_u64(), account)?;
            count_up(&mut self.counts, number, account)?;
            if !self.subs.is_empty() {
                self.subs.push(block.docs[at], number);
            }
        }
        self.subs.flush(account)
    }

    fn finish(self, key_of: impl Fn(i64) -> Key) -> Result<Partial, AggError> {
        let (parents, steps) = self.slots.into_parts();
        let mut counts = self.counts;
        counts.truncate(steps.len());
        let keys = steps
            .into_iter()
            .map(|step| key_of(i64::from_u64(step)))
            .collect();
        let table = KeyTable::of_distinct(parents, keys);
        Ok(Partial::Buckets(Buckets::of(
            table,
            counts,
            self.subs.finish()?,
        )))
    }
}

/// Buckets of numbers. While collecting and merging, a bucket's key is its whole number of steps.
pub(crate) struct NumberHistogram {
    steps: Steps,
    interval: f64,
    offset: f64,
    hard: Option<Ends<f64>>,
}

impl NumberHistogram {
    pub(crate) fn open(
        reader: &SegmentReader,
        plan: &Plan,
        numbers: &NumberPlan,
        level: Level,
    ) -> Result<Self, AggError> {
        let column = ValueColumn::open(reader, &plan.values)?;
        let range = column.range().map(|(min, max)| {
            let step = |raw| step_of_number(column.number(raw), numbers.interval, numbers.offset);
            (step(min).to_u64(), step(max).to_u64())
        });
        Ok(NumberHistogram {
            steps: Steps {
                column,
                rows: Rows::default(),
                slots: Slots::for_range(range, level),
                counts: Vec::new(),
                subs: Subs::open(reader, plan)?,
            },
            interval: numbers.interval,
            offset: numbers.offset,
            hard: numbers.hard,
        })
    }
}

/// The number of whole steps below a value.
#[allow(
    clippy::cast_possible_truncation,
    reason = "steps beyond 2^63 fall together at the end, as they would for lack of precision"
)]
pub(crate) fn step_of_number(value: f64, interval: f64, offset: f64) -> i64 {
    ((value - offset) / interval).floor() as i64
}

/// Where a step begins.
#[allow(
    clippy::cast_precision_loss,
    reason = "the step came from a floating-point number"
)]
pub(crate) fn start_of_step(step: i64, interval: f64, offset: f64) -> f64 {
    step as f64 * interval + offset
}

impl Collect for NumberHistogram {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let (interval, offset, hard) = (self.interval, self.offset, self.hard);
        self.steps.collect(block, account, |column, raw| {
            let step = step_of_number(column.number(raw), interval, offset);
            let within = hard.is_none_or(|hard| hard.holds(start_of_step(step, interval, offset)));
            within.then_some(step)
        })
    }

    fn finish(self: Box<Self>) -> Result<Partial, AggError> {
        self.steps.finish(Key::I64)
    }
}

/// Buckets of time. Where all intervals are equally long they are numbered; elsewhere a bucket is
/// known by the instant it begins.
pub(crate) struct DateHistogram {
    steps: Steps,
    rounding: Rounding,
    arithmetic: Option<Arithmetic>,
    hard: Option<Ends<i64>>,
    hint: usize,
}

impl DateHistogram {
    pub(crate) fn open(
        reader: &SegmentReader,
        plan: &Plan,
        dates: &DatePlan,
        level: Level,
    ) -> Result<Self, AggError> {
        let column = ValueColumn::open(reader, &plan.values)?;
        let range = column
            .range()
            .map(|(min, max)| (column.instant(min), column.instant(max)));
        let (min, max) = range.unwrap_or((0, 0));
        let rounding = Rounding::prepare(dates.interval, &dates.zone, dates.offset_ms, min..=max);
        let arithmetic = rounding.arithmetic();
        let steps = match (range, arithmetic) {
            (Some((min, max)), Some(by)) => {
                Some((by.step_of(min).to_u64(), by.step_of(max).to_u64()))
            }
            _ => None,
        };
        Ok(DateHistogram {
            steps: Steps {
                column,
                rows: Rows::default(),
                slots: Slots::for_range(steps, level),
                counts: Vec::new(),
                subs: Subs::open(reader, plan)?,
            },
            rounding,
            arithmetic,
            hard: dates.hard,
            hint: 0,
        })
    }
}

impl Collect for DateHistogram {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let hard = self.hard;
        if let Some(by) = self.arithmetic {
            return self.steps.collect(block, account, |column, raw| {
                let step = by.step_of(column.instant(raw));
                let within = hard.is_none_or(|hard| hard.holds(by.start_of(step)));
                within.then_some(step)
            });
        }
        let (rounding, hint) = (&self.rounding, &mut self.hint);
        self.steps.collect(block, account, |column, raw| {
            let start = rounding.round(column.instant(raw), hint);
            hard.is_none_or(|hard| hard.holds(start)).then_some(start)
        })
    }

    fn finish(self: Box<Self>) -> Result<Partial, AggError> {
        let arithmetic = self.arithmetic;
        self.steps
            .finish(|step| Key::I64(arithmetic.map_or(step, |by| by.start_of(step))))
    }
}
