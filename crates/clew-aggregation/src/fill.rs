//! The buckets of histograms between and beyond those that have documents.

use clew_query::AggError;

use super::collect::step_of_number;
use super::plan::{DatePlan, Ends, NumberPlan};
use super::reduce::Budget;
use super::rounding::Rounding;

/// A bucket to be made; one without a number has no documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) key: i64,
    pub(crate) count: u64,
    pub(crate) number: Option<u32>,
}

/// The buckets of time to show, by key.
///
/// # Errors
/// [`AggError::TooManyBuckets`], before the buckets are made.
pub(crate) fn dates(
    plan: &DatePlan,
    rows: Vec<Row>,
    budget: &mut Budget,
) -> Result<Vec<Row>, AggError> {
    if plan.min_doc_count > 0 {
        return enough(rows, plan.min_doc_count, budget);
    }
    let data = rows.first().zip(rows.last()).map(|(a, b)| (a.key, b.key));
    let extended = plan.extended.unwrap_or(Ends {
        min: None,
        max: None,
    });
    let known = [
        data.map(|(min, _)| min),
        data.map(|(_, max)| max),
        extended.min,
        extended.max,
    ];
    let known = || known.into_iter().flatten();
    let (Some(min), Some(max)) = (known().min(), known().max()) else {
        return Ok(rows);
    };
    let rounding = Rounding::prepare(plan.interval, &plan.zone, plan.offset_ms, min..=max);
    // Given ends are rounded as if there was no offset, and then moved by it.
    let plain = Rounding::prepare(plan.interval, &plan.zone, 0, min..=max);
    let round = |instant| plain.round(instant, &mut 0).saturating_add(plan.offset_ms);
    let span = Ends {
        min: extended.min.map(round),
        max: extended.max.map(round),
    };
    fill(rows, span, |key| rounding.next(key), budget)
}

/// The buckets of numbers to show, by step.
///
/// # Errors
/// [`AggError::TooManyBuckets`], before the buckets are made.
pub(crate) fn numbers(
    plan: &NumberPlan,
    rows: Vec<Row>,
    budget: &mut Budget,
) -> Result<Vec<Row>, AggError> {
    if plan.min_doc_count > 0 {
        return enough(rows, plan.min_doc_count, budget);
    }
    let step = |bound: f64| step_of_number(bound, plan.interval, plan.offset);
    let span = plan.extended.map_or(
        Ends {
            min: None,
            max: None,
        },
        |ends| Ends {
            min: ends.min.map(step),
            max: ends.max.map(step),
        },
    );
    fill(rows, span, |step| step.saturating_add(1), budget)
}

fn enough(
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
fn fill(
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
