//! `histogram` and `variable_width_histogram`: buckets of numbers.

use clew_query::aggregation::{AggSpec, HistogramSpec, VariableWidthSpec};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::settings::small;
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
    let interval = body
        .number("interval")?
        .ok_or_else(|| AggDslError::illegal("[interval] must be >0 for histogram aggregation"))?;
    if interval <= 0.0 {
        let reason = format!(
            "[interval] must be >0 for histogram aggregation [{}]",
            body.name
        );
        return Err(body.in_field("interval", AggDslError::illegal(reason)));
    }
    Ok(HistogramSpec {
        source,
        interval,
        offset: body.number("offset")?.unwrap_or(0.0),
        min_doc_count: body.count("min_doc_count")?.unwrap_or(0),
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
    if buckets == 0 || buckets > 50_000 {
        return Err(AggDslError::illegal(format!(
            "buckets must be between 1 and 50000 for [{}]",
            body.name
        )));
    }
    Ok(VariableWidthSpec {
        buckets: small(buckets),
        source: body.source()?,
    })
}
