//! Buckets of equal steps, of numbers and of time: how they are numbered and counted, and the gaps between and beyond
//! those that have documents.

use clew_query::aggregation::{Bounds, Direction, Scalar};
use clew_query::{AggError, sorted_in_time};
use clew_schema::Span;
use tantivy::columnar::MonotonicallyMappableToU64;

use crate::collect::places::Places;
use crate::collect::slots::Slots;
use crate::collect::{Block, Planned, Segment};
use crate::counted::Partial;
use crate::field::column::ValueColumn;
use crate::field::rows::{Repeats, Rows};
use crate::limits::Account;
use crate::order::{By, PlannedOrder, Row};
use crate::reduce::{Budget, Node, results_of};
use crate::result::{Bucket, BucketExtra};
use crate::value::key::Key;

/// Steps that one range may touch: one without an end touches all there are.
const RANGE_STEPS_MAX: usize = 1 << 18;

/// What both histograms share: how buckets are numbered and counted.
pub(crate) struct Steps {
    column: ValueColumn,
    rows: Rows,
    places: Places,
}

impl Steps {
    pub(crate) fn open(
        column: ValueColumn,
        slots: Slots,
        of: (Segment<'_>, &dyn Planned),
    ) -> Result<Self, AggError> {
        Ok(Steps {
            column,
            rows: Rows::default(),
            places: Places::numbered_by(slots, of)?,
        })
    }

    /// Counts each value under the step it belongs to; a document counts once per step, and as its
    /// values are sorted, equal steps are neighbours.
    pub(crate) fn collect(
        &mut self,
        block: Block<'_>,
        account: &mut Account,
        mut step_of: impl FnMut(&ValueColumn, u64) -> Option<i64>,
    ) -> Result<(), AggError> {
        if self.column.is_empty() {
            return Ok(());
        }
        self.column
            .read_scored(block.docs, account, Repeats::Dropped, &mut self.rows)?;
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
            let of = (block.docs[at], block.parents[at]);
            self.places.add(of, step.to_u64(), account)?;
        }
        self.places.flush(account)
    }

    /// Counts each document under all steps that its ranges touch, once each. `steps_of` says from which step to which
    /// one a range goes, `next` what comes behind a step; a document's ranges are in the order of their lower ends.
    pub(crate) fn collect_ranges(
        &mut self,
        (block, field): (Block<'_>, &str),
        account: &mut Account,
        steps_of: impl Fn(Span) -> Option<(i64, i64)>,
        next: impl Fn(i64) -> i64,
    ) -> Result<(), AggError> {
        if self.column.is_empty() {
            return Ok(());
        }
        self.column
            .read_scored(block.docs, account, Repeats::Dropped, &mut self.rows)?;
        let mut reached: Option<(u32, i64)> = None;
        for (entry, raw) in self.rows.entries.iter().zip(&self.rows.values) {
            let span = self.column.span(*raw).map_err(|source| AggError::Column {
                field: field.to_string(),
                source: source.into(),
            })?;
            let Some((first, last)) = span.and_then(&steps_of) else {
                continue;
            };
            let before = reached.filter(|(of, _)| of == entry).map(|(_, step)| step);
            let mut step = match before {
                Some(before) if before >= first => next(before),
                _ => first,
            };
            let at = *entry as usize;
            let of = (block.docs[at], block.parents[at]);
            let mut steps = 0_usize;
            while step <= last {
                steps += 1;
                if steps > RANGE_STEPS_MAX {
                    return Err(AggError::invalid(format!(
                        "a range of field [{field}] would be in more than [{RANGE_STEPS_MAX}] \
                         buckets: bound them by [hard_bounds], or take a longer interval"
                    )));
                }
                self.places.add(of, step.to_u64(), account)?;
                let following = next(step);
                if following <= step {
                    break;
                }
                step = following;
            }
            reached = Some((*entry, before.map_or(last, |before| before.max(last))));
        }
        self.places.flush(account)
    }

    pub(crate) fn finish(
        self,
        key_of: impl Fn(i64) -> Key,
        account: &mut Account,
    ) -> Result<Partial, AggError> {
        let key_of = |place| key_of(i64::from_u64(place));
        self.places.finish_as(key_of, account)
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

pub(crate) fn enough(
    mut rows: Vec<Row>,
    min_doc_count: u64,
    budget: &mut Budget,
) -> Result<Vec<Row>, AggError> {
    rows.retain(|row| row.count >= min_doc_count);
    for _ in &rows {
        budget.take()?;
    }
    Ok(rows)
}

/// Every key from the first to the last, those of `span` included. With only one end given, it
/// extends what the data has; without data nothing is shown then.
pub(crate) fn fill(
    rows: Vec<Row>,
    span: Ends<i64>,
    next: impl Fn(i64) -> i64,
    budget: &mut Budget,
) -> Result<Vec<Row>, AggError> {
    let first = rows.first().map(|row| row.key);
    let last = rows.last().map(|row| row.key);
    let (first, last) = match (first.zip(last), span.min, span.max) {
        (Some((first, last)), min, max) => (
            min.map_or(first, |min| min.min(first)),
            max.map_or(last, |max| max.max(last)),
        ),
        (None, Some(min), Some(max)) => (min, max),
        (None, _, _) => return Ok(rows),
    };
    let mut filled = Vec::with_capacity(rows.len());
    let mut rows = rows.into_iter().peekable();
    let mut key = first;
    loop {
        // Days that happen twice can put data before the key that follows by the calendar.
        while let Some(row) = rows.next_if(|row| row.key < key) {
            budget.take()?;
            filled.push(row);
        }
        if key > last {
            return Ok(filled);
        }
        budget.take()?;
        let empty = Row {
            key,
            count: 0,
            number: None,
        };
        filled.push(rows.next_if(|row| row.key == key).unwrap_or(empty));
        if key == i64::MAX {
            return Ok(filled);
        }
        key = next(key);
    }
}

/// Both ends, each of which may be open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends<T> {
    pub(crate) min: Option<T>,
    pub(crate) max: Option<T>,
}

impl<T: PartialOrd + Copy> Ends<T> {
    /// Both ends included.
    pub(crate) fn holds_both(&self, value: T) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }

    /// Lower end included, upper end not.
    pub(crate) fn holds(&self, value: T) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value < max)
    }
}

/// Ends as they are written, checked: those up to which buckets are shown though they are empty, and those beyond which there are
/// none. `end` reads one, and `shown` tells it.
pub(crate) fn read_ends<T: PartialOrd + std::fmt::Display>(
    written: (&Option<Bounds>, &Option<Bounds>),
    name: &str,
    end: impl Fn(&Scalar) -> Result<T, AggError>,
    shown: impl Fn(&Scalar) -> String,
) -> Result<[Option<Ends<T>>; 2], AggError> {
    let ends = |bounds: &Option<Bounds>| -> Result<Option<Ends<T>>, AggError> {
        let Some(bounds) = bounds else {
            return Ok(None);
        };
        let one = |scalar: &Option<Scalar>| scalar.as_ref().map(&end).transpose();
        let ends = Ends {
            min: one(&bounds.min)?,
            max: one(&bounds.max)?,
        };
        check_ends(&ends, name)?;
        Ok(Some(ends))
    };
    let (extended, hard) = (ends(written.0)?, ends(written.1)?);
    check_inside(&extended, &hard, shown, written)?;
    Ok([extended, hard])
}

fn check_ends<T: PartialOrd + std::fmt::Display>(
    ends: &Ends<T>,
    name: &str,
) -> Result<(), AggError> {
    match (&ends.min, &ends.max) {
        (Some(min), Some(max)) if min > max => Err(AggError::invalid(format!(
            "[extended_bounds.min][{min}] cannot be greater than [extended_bounds.max][{max}] for \
             histogram aggregation [{name}]"
        ))),
        _ => Ok(()),
    }
}

/// Buckets that are to be shown must not be ones that are to be left out; each end is told as it is shown.
fn check_inside<T: PartialOrd>(
    extended: &Option<Ends<T>>,
    hard: &Option<Ends<T>>,
    shown: impl Fn(&Scalar) -> String,
    (extended_written, hard_written): (&Option<Bounds>, &Option<Bounds>),
) -> Result<(), AggError> {
    let (Some(extended), Some(hard)) = (extended, hard) else {
        return Ok(());
    };
    let below = matches!((&extended.min, &hard.min), (Some(inner), Some(outer)) if inner < outer);
    let above = matches!((&extended.max, &hard.max), (Some(inner), Some(outer)) if inner > outer);
    if below || above {
        let end = |end: &Option<Scalar>| end.as_ref().map(&shown).unwrap_or_default();
        let both = |bounds: &Option<Bounds>| {
            let bounds = bounds.as_ref();
            bounds.map(|bounds| format!("{}--{}", end(&bounds.min), end(&bounds.max)))
        };
        let hard = both(hard_written).unwrap_or_default();
        let extended = both(extended_written).unwrap_or_default();
        return Err(AggError::invalid(format!(
            "Extended bounds have to be inside hard bounds, hard bounds: [{hard}], extended \
             bounds: [{extended}]"
        )));
    }
    Ok(())
}

pub(crate) fn histogram_buckets(
    node: &Node<'_>,
    order: &[PlannedOrder],
    mut rows: Vec<Row>,
    key: impl Fn(i64) -> Key,
    budget: &mut Budget,
) -> Result<Vec<Bucket>, AggError> {
    match order {
        [] => {}
        [only] if only.by == By::Key => {
            if only.direction == Direction::Descending {
                rows.reverse();
            }
        }
        _ => {
            if let Some(comparison) = &node.comparison {
                rows = sorted_in_time(rows, |a, b| comparison.of_rows(a, b))?;
            }
        }
    }
    rows.into_iter()
        .map(|row| {
            Ok(Bucket {
                key: key(row.key),
                doc_count: row.count,
                doc_count_error: None,
                extra: BucketExtra::None,
                subs: results_of(&node.subs, row.number, budget)?,
            })
        })
        .collect()
}
