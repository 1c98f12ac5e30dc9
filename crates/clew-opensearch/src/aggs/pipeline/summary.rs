//! What is said about all buckets of an aggregation beside it.

use clew_aggregation::Metric;
use clew_query::aggregation::{AggSpec, PipelineKind, Summary};
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::metric::percentiles::PERCENTS;
use crate::aggs::pipeline::pipeline;
use crate::aggs::render::TypeName;
use crate::aggs::shown::metric_body;
use crate::aggs::table::{NOT_LISTED, Row};

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("avg_bucket", NOT_LISTED, |body| read(body, Summary::Avg)),
    Row::new("max_bucket", NOT_LISTED, |body| read(body, Summary::Max)),
    Row::new("min_bucket", NOT_LISTED, |body| read(body, Summary::Min)),
    Row::new("sum_bucket", NOT_LISTED, |body| read(body, Summary::Sum)),
    Row::new("stats_bucket", NOT_LISTED, |body| {
        read(body, Summary::Stats)
    }),
    Row::new("extended_stats_bucket", NOT_LISTED, extended_stats),
    Row::new("percentiles_bucket", NOT_LISTED, percentiles),
];

fn read(body: &mut Body<'_>, summary: Summary) -> Result<AggSpec, AggDslError> {
    pipeline(body, PipelineKind::Summary(summary))
}

fn extended_stats(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let sigma = match body.take("sigma") {
        None => None,
        Some(Value::Number(number)) => number.as_f64(),
        Some(other) => return Err(body.wrong("sigma", other)),
    };
    let sigma = sigma.unwrap_or(2.0);
    if sigma < 0.0 {
        return Err(AggDslError::illegal("sigma must be a non-negative double"));
    }
    read(body, Summary::ExtendedStats { sigma })
}

fn percentiles(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let percents = body.numbers("percents")?;
    let percents = percents.unwrap_or_else(|| PERCENTS.to_vec());
    if percents
        .iter()
        .any(|percent| !(0.0..=100.0).contains(percent))
    {
        return Err(AggDslError::illegal(
            "percents must only contain non-null doubles from 0.0-100.0 inclusive",
        ));
    }
    let summary = Summary::Percentiles {
        percents,
        keyed: body.flag_or("keyed", true)?,
    };
    read(body, summary)
}

/// Writes the greatest or least number of all buckets and where it is, and says its type.
pub(crate) fn write(body: &mut Map<String, Value>, metric: &Metric, keys: &[String]) -> TypeName {
    metric_body(body, metric);
    body.insert("keys".to_string(), json!(keys));
    "bucket_metric_value"
}
