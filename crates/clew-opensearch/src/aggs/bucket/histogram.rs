//! `histogram` and `variable_width_histogram`: buckets of numbers.

use clew_query::aggregation::{AggSpec, HistogramSpec, VariableWidthSpec};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::settings::{min_doc_count, small};
use crate::aggs::table::{PLAIN_NUMBERS, RANGED_NUMBERS, Row};

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("histogram", RANGED_NUMBERS, |body| {
        histogram(body).map(AggSpec::Histogram)
    }),
    Row::new("variable_width_histogram", PLAIN_NUMBERS, |body| {
        variable_width(body).map(AggSpec::VariableWidth)
    }),
];

fn histogram(body: &mut Body<'_>) -> Result<HistogramSpec, AggDslError> {
    let source = body.source()?;
    let interval = body.number("interval")?;
    if interval.is_some_and(|interval| interval <= 0.0) {
        let reason = format!(
            "[interval] must be >0 for histogram aggregation [{}]",
            body.name
        );
        return Err(body.in_field("interval", AggDslError::illegal(reason)));
    }
    Ok(HistogramSpec {
        source,
        // Where there is none, those who search refuse it.
        interval: interval.unwrap_or(0.0),
        offset: body.number("offset")?.unwrap_or(0.0),
        min_doc_count: min_doc_count(body, 0)?,
        extended_bounds: body.bounds("extended_bounds")?,
        hard_bounds: body.bounds("hard_bounds")?,
        order: body.order()?,
        keyed: body.flag("keyed")?,
    })
}

/// A count that must be beyond a bound where it is given.
fn more_than(
    body: &mut Body<'_>,
    key: &'static str,
    bound: u64,
) -> Result<Option<u64>, AggDslError> {
    let count = body.count(key)?;
    if count.is_some_and(|count| count <= bound) {
        let reason = format!("{key} must be greater than [{bound}] for [{}]", body.name);
        return Err(body.in_field(key, AggDslError::illegal(reason)));
    }
    Ok(count)
}

fn variable_width(body: &mut Body<'_>) -> Result<VariableWidthSpec, AggDslError> {
    // Values are kept one by one until the end, so these two change nothing.
    let shard_size = more_than(body, "shard_size", 1)?;
    let initial_buffer = more_than(body, "initial_buffer", 0)?;
    let buckets = body.count("buckets")?.unwrap_or(10);
    let bound = match buckets {
        0 => Some("greater than [0]"),
        1..=50_000 => None,
        _ => Some("less than or equal to [50000]"),
    };
    if let Some(bound) = bound {
        let reason = format!("buckets must be {bound} for [{}]", body.name);
        return Err(body.in_field("buckets", AggDslError::illegal(reason)));
    }
    let kept = shard_size.unwrap_or_else(|| buckets.saturating_mul(50));
    let shown = kept.saturating_mul(3) / 4;
    let buffer = initial_buffer.unwrap_or_else(|| kept.saturating_mul(10).min(50_000));
    let scarce = match (shown < buckets, buffer < buckets) {
        (true, _) => Some(("3/4 of shard_size", shown)),
        (false, true) => Some(("initial_buffer", buffer)),
        (false, false) => None,
    };
    if let Some((setting, found)) = scarce {
        let name = body.name;
        body.late(AggDslError::illegal(format!(
            "{setting} must be at least buckets but was [{found}<{buckets}] for [{name}]"
        )));
    }
    Ok(VariableWidthSpec {
        buckets: small(buckets),
        source: body.source()?,
    })
}
