//! `histogram` and `variable_width_histogram`: buckets of numbers.

use clew_query::aggregation::{AggSpec, HistogramSpec, VariableWidthSpec};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::settings::{min_doc_count, small};
use crate::aggs::table::{NUMBERS, Row};

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("histogram", NUMBERS, |body| {
        histogram(body).map(AggSpec::Histogram)
    }),
    Row::new("variable_width_histogram", NUMBERS, |body| {
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

fn variable_width(body: &mut Body<'_>) -> Result<VariableWidthSpec, AggDslError> {
    // Values are kept one by one until the end, so these two change nothing.
    body.count("shard_size")?;
    body.count("initial_buffer")?;
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
    Ok(VariableWidthSpec {
        buckets: small(buckets),
        source: body.source()?,
    })
}
