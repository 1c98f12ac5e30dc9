//! Buckets of equal steps: of numbers, and of time.

use clew_query::AggError;
use tantivy::columnar::MonotonicallyMappableToU64;

use super::slots::{Slots, count_up};
use super::{Block, Collect, Level, Segment, Subs};
use crate::column::{Repeats, Rows, ValueColumn};
use crate::key::{Key, KeyTable};
use crate::limits::Account;
use crate::partial::{Buckets, Partial};
use crate::plan::{DatePlan, Ends, NumberPlan, Plan};
use crate::rounding::{Arithmetic, Rounding, Starts};

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
            count_up(&mut self.counts, number, block.docs[at], account)?;
            if !self.subs.is_empty() {
                self.subs.push(block.docs[at], number);
            }
        }
        self.subs.flush(account)
    }

    fn finish(
        self,
        key_of: impl Fn(i64) -> Key,
        account: &mut Account,
    ) -> Result<Partial, AggError> {
        let (parents, steps) = self.slots.into_parts();
        let mut counts = self.counts;
        counts.truncate(steps.len());
        account.charge_keys(steps.len())?;
        let keys = steps
            .into_iter()
            .map(|step| key_of(i64::from_u64(step)))
            .collect();
        let table = KeyTable::of_distinct(parents, keys);
        Ok(Partial::Buckets(Buckets::of(
            table,
            counts,
            self.subs.finish(account)?,
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
        segment: Segment<'_>,
        plan: &Plan,
        numbers: &NumberPlan,
        level: Level,
    ) -> Result<Self, AggError> {
        let column = ValueColumn::open(segment.reader, &plan.values)?;
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
                subs: Subs::open(segment, plan)?,
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
            // Bounds are for the place among the intervals, whatever the offset.
            let within =
                hard.is_none_or(|hard| hard.holds_both(start_of_step(step, interval, 0.0)));
            within.then_some(step)
        })
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        self.steps.finish(Key::I64, account)
    }
}

/// Buckets of time.
pub(crate) struct DateHistogram {
    steps: Steps,
    numbering: Numbering,
    hard: Option<Ends<i64>>,
}

/// How an instant finds its bucket, cheapest first.
enum Numbering {
    /// All intervals are equally long.
    Arithmetic(Arithmetic),
    /// The starts of all intervals are listed; a bucket is known by its place.
    Listed(Starts),
    /// A bucket is known by the instant it begins.
    Rounded { rounding: Rounding, hint: usize },
}

impl Numbering {
    fn of(rounding: Rounding, range: Option<(i64, i64)>) -> Self {
        if let Some(by) = rounding.arithmetic() {
            return Numbering::Arithmetic(by);
        }
        let listed = range.and_then(|(min, max)| rounding.starts(min..=max));
        listed.map_or(Numbering::Rounded { rounding, hint: 0 }, Numbering::Listed)
    }

    /// Where bucket numbers lie, if they are close together.
    fn span(&self, range: Option<(i64, i64)>) -> Option<(u64, u64)> {
        let (min, max) = range?;
        match self {
            Numbering::Arithmetic(by) => Some((by.step_of(min).to_u64(), by.step_of(max).to_u64())),
            Numbering::Listed(starts) => Some((0_i64.to_u64(), place(starts.len() - 1).to_u64())),
            Numbering::Rounded { .. } => None,
        }
    }
}

fn place(index: usize) -> i64 {
    i64::try_from(index).expect("lists of starts are short")
}

impl DateHistogram {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &Plan,
        dates: &DatePlan,
        level: Level,
    ) -> Result<Self, AggError> {
        let column = ValueColumn::open(segment.reader, &plan.values)?;
        let range = column
            .range()
            .map(|(min, max)| (column.instant(min), column.instant(max)));
        let (min, max) = range.unwrap_or((0, 0));
        let rounding = Rounding::prepare(dates.interval, &dates.zone, dates.offset_ms, min..=max);
        let numbering = Numbering::of(rounding, range);
        Ok(DateHistogram {
            steps: Steps {
                column,
                rows: Rows::default(),
                slots: Slots::for_range(numbering.span(range), level),
                counts: Vec::new(),
                subs: Subs::open(segment, plan)?,
            },
            numbering,
            hard: dates.hard,
        })
    }
}

impl Collect for DateHistogram {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let within = |start: i64| self.hard.is_none_or(|hard| hard.holds(start));
        match &mut self.numbering {
            Numbering::Arithmetic(by) => self.steps.collect(block, account, |column, raw| {
                let step = by.step_of(column.instant(raw));
                within(by.start_of(step)).then_some(step)
            }),
            Numbering::Listed(starts) => self.steps.collect(block, account, |column, raw| {
                let at = starts.place_of(column.instant(raw));
                within(starts.start_of(at)).then_some(place(at))
            }),
            Numbering::Rounded { rounding, hint } => {
                self.steps.collect(block, account, |column, raw| {
                    let start = rounding.round(column.instant(raw), hint);
                    within(start).then_some(start)
                })
            }
        }
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        let numbering = self.numbering;
        self.steps.finish(
            |step| {
                Key::I64(match &numbering {
                    Numbering::Arithmetic(by) => by.start_of(step),
                    Numbering::Listed(starts) => {
                        starts.start_of(usize::try_from(step).expect("places are not negative"))
                    }
                    Numbering::Rounded { .. } => step,
                })
            },
            account,
        )
    }
}
