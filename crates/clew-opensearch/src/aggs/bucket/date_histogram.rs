//! `date_histogram` and `auto_date_histogram`: buckets of time.

use clew_aggregation::HistogramResult;
use clew_query::aggregation::{AggSpec, AutoDateSpec, DateHistogramSpec};
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::interval::{calendar, date_interval, date_offset};
use crate::aggs::render::{Rendering, TypeName};
use crate::aggs::settings::{min_doc_count, small};
use crate::aggs::shown::histogram_body;
use crate::aggs::table::{NUMBERS, RANGED_NUMBERS, Row};
use crate::http::error::ApiError;

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("date_histogram", RANGED_NUMBERS, |body| {
        date_histogram(body).map(AggSpec::DateHistogram)
    }),
    Row::new("auto_date_histogram", NUMBERS, |body| {
        auto_date(body).map(AggSpec::AutoDateHistogram)
    }),
];

fn date_histogram(body: &mut Body<'_>) -> Result<DateHistogramSpec, AggDslError> {
    let source = body.source()?;
    let interval = date_interval(body)?;
    let offset_ms = date_offset(body)?;
    Ok(DateHistogramSpec {
        source,
        interval,
        time_zone: body.time_zone()?,
        offset_ms,
        min_doc_count: min_doc_count(body, 0)?,
        extended_bounds: body.bounds("extended_bounds")?,
        hard_bounds: body.bounds("hard_bounds")?,
        order: body.order()?,
        keyed: body.flag("keyed")?,
    })
}

/// What the shortest interval of an `auto_date_histogram` may be.
const AUTO_UNITS: &[&str] = &["second", "minute", "hour", "day", "month", "year"];

fn auto_date(body: &mut Body<'_>) -> Result<AutoDateSpec, AggDslError> {
    let buckets = body.count("buckets")?.unwrap_or(10);
    if buckets == 0 {
        let reason = format!("buckets must be greater than 0 for [{}]", body.name);
        return Err(body.in_field("buckets", AggDslError::illegal(reason)));
    }
    let minimum = match body.only_text("minimum_interval")? {
        None => None,
        Some(text) => match calendar(&text) {
            Some(unit) if AUTO_UNITS.contains(&text.as_str()) => Some(unit),
            _ => {
                let reason =
                    "minimum_interval must be one of [[month, hour, second, minute, day, year]]";
                return Err(body.in_field("minimum_interval", AggDslError::illegal(reason)));
            }
        },
    };
    Ok(AutoDateSpec {
        buckets: small(buckets),
        time_zone: body.time_zone()?,
        minimum,
        source: body.source()?,
    })
}

/// Writes buckets whose length the data chose, and says their type.
pub(crate) fn write_auto(
    body: &mut Map<String, Value>,
    histogram: &HistogramResult,
    interval: &str,
    how: Rendering<'_>,
) -> Result<TypeName, ApiError> {
    histogram_body(body, histogram, how)?;
    body.insert("interval".to_string(), json!(interval));
    Ok("auto_date_histogram")
}
