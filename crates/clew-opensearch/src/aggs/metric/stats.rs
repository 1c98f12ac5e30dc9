//! `stats` and `extended_stats`: several numbers of one field.

use clew_aggregation::{ExtendedStats, Stats};
use clew_query::aggregation::{AggSpec, ExtendedStatsSpec};
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::render::TypeName;
use crate::aggs::shown::{loose_text, number_or_name};
use crate::aggs::table::{NUMBERS, Row};

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("stats", NUMBERS, |body| body.source().map(AggSpec::Stats)),
    Row::new("extended_stats", NUMBERS, extended),
];

fn extended(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let sigma = body.number("sigma")?.unwrap_or(2.0);
    if sigma < 0.0 {
        let reason = format!(
            "[sigma] must be greater than or equal to 0. Found [{sigma:?}] in [{}]",
            body.name
        );
        return Err(body.in_field("sigma", AggDslError::illegal(reason)));
    }
    Ok(AggSpec::ExtendedStats(ExtendedStatsSpec {
        source: body.source()?,
        sigma,
    }))
}

/// Writes the simple ones under the name of their type.
pub(crate) fn write(body: &mut Map<String, Value>, stats: &Stats, name: TypeName) -> TypeName {
    stats_body(body, stats);
    stats_text(body, stats);
    name
}

fn stats_body(body: &mut Map<String, Value>, stats: &Stats) {
    body.insert("count".to_string(), json!(stats.count));
    body.insert("min".to_string(), json!(stats.min));
    body.insert("max".to_string(), json!(stats.max));
    body.insert("avg".to_string(), json!(stats.avg));
    body.insert("sum".to_string(), json!(stats.sum));
}

fn stats_text(body: &mut Map<String, Value>, stats: &Stats) {
    if stats.count == 0 {
        return;
    }
    let all = [
        ("min_as_string", stats.min),
        ("max_as_string", stats.max),
        ("avg_as_string", stats.avg),
        ("sum_as_string", Some(stats.sum)),
    ];
    for (name, value) in all {
        if let Some(text) = value.and_then(|value| loose_text(&stats.format, value)) {
            body.insert(name.to_string(), text);
        }
    }
}

/// The same with squares.
pub(crate) fn write_extended(
    body: &mut Map<String, Value>,
    extended: &ExtendedStats,
    name: TypeName,
) -> TypeName {
    extended_body(body, extended);
    name
}

fn extended_body(body: &mut Map<String, Value>, extended: &ExtendedStats) {
    let stats = &extended.stats;
    stats_body(body, stats);
    let root = |variance: Option<f64>| variance.map(f64::sqrt);
    let numbers = [
        ("sum_of_squares", extended.sum_of_squares),
        ("variance", extended.variance),
        ("variance_population", extended.variance),
        ("variance_sampling", extended.variance_sampling),
        ("std_deviation", root(extended.variance)),
        ("std_deviation_population", root(extended.variance)),
        ("std_deviation_sampling", root(extended.variance_sampling)),
    ];
    let text = |value: Option<f64>| stats.format.text_of_number(value?);
    let mut texts = Vec::new();
    for (name, value) in numbers {
        body.insert(name.to_string(), number_or_name(value));
        // Of deviations OpenSearch shows texts whatever the format.
        let shown = match name.starts_with("std_deviation") {
            true => text(value).map(Value::String),
            false => value.and_then(|value| loose_text(&stats.format, value)),
        };
        texts.extend(shown.map(|shown| (format!("{name}_as_string"), shown)));
    }
    let bound = |variance: Option<f64>, sign: f64| {
        let distance = root(variance).map(|deviation| deviation * extended.sigma * sign);
        stats
            .avg
            .zip(distance)
            .map(|(avg, distance)| avg + distance)
    };
    let (population, sampling) = (extended.variance, extended.variance_sampling);
    let bounds = [
        ("upper", bound(population, 1.0)),
        ("lower", bound(population, -1.0)),
        ("upper_population", bound(population, 1.0)),
        ("lower_population", bound(population, -1.0)),
        ("upper_sampling", bound(sampling, 1.0)),
        ("lower_sampling", bound(sampling, -1.0)),
    ];
    let named = |(name, value): &(&str, Option<f64>)| (name.to_string(), number_or_name(*value));
    let shown: Map<String, Value> = bounds.iter().map(named).collect();
    body.insert("std_deviation_bounds".to_string(), Value::Object(shown));
    stats_text(body, stats);
    if stats.count > 0 && !texts.is_empty() {
        body.extend(texts);
        let named = |(name, value): &(&str, Option<f64>)| {
            text(*value).map(|text| (name.to_string(), json!(text)))
        };
        let shown: Map<String, Value> = bounds.iter().filter_map(named).collect();
        body.insert(
            "std_deviation_bounds_as_string".to_string(),
            Value::Object(shown),
        );
    }
}
