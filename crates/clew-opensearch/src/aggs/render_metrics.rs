//! Metrics and what pipelines computed, as JSON.

use clew_aggregation::{ExtendedStats, MatrixResult, Metric, PercentilesResult, Stats};
use clew_schema::geo::GeoPoint;
use serde_json::{Map, Value, json};

pub(super) fn metric_body(body: &mut Map<String, Value>, metric: &Metric) {
    body.insert("value".to_string(), json!(metric.value));
    let text = metric
        .value
        .and_then(|value| metric.format.text_of_number(value));
    if let Some(text) = text {
        body.insert("value_as_string".to_string(), json!(text));
    }
}

pub(super) fn stats_body(body: &mut Map<String, Value>, stats: &Stats) {
    body.insert("count".to_string(), json!(stats.count));
    body.insert("min".to_string(), json!(stats.min));
    body.insert("max".to_string(), json!(stats.max));
    body.insert("avg".to_string(), json!(stats.avg));
    body.insert("sum".to_string(), json!(stats.sum));
}

pub(super) fn matrix_body(body: &mut Map<String, Value>, matrix: &MatrixResult) {
    body.insert("doc_count".to_string(), json!(matrix.doc_count));
    if matrix.doc_count == 0 {
        return;
    }
    let by_name = |numbers: &[f64]| -> Map<String, Value> {
        let names = matrix.names.iter().cloned();
        names
            .zip(numbers.iter().map(|number| shown(*number)))
            .collect()
    };
    let fields = matrix.names.iter().zip(&matrix.fields).enumerate();
    let fields = fields.map(|(at, (name, field))| {
        json!({
            "name": name,
            "count": matrix.doc_count,
            "mean": shown(field.mean),
            "variance": shown(field.variance),
            "skewness": shown(field.skewness),
            "kurtosis": shown(field.kurtosis),
            "covariance": by_name(&matrix.covariance[at]),
            "correlation": by_name(&matrix.correlation[at]),
        })
    });
    body.insert("fields".to_string(), fields.collect());
}

/// A number, or what Java writes for one that is none.
fn shown(number: f64) -> Value {
    if number.is_nan() {
        return json!("NaN");
    }
    json!(number)
}

pub(super) fn stats_text(body: &mut Map<String, Value>, stats: &Stats) {
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
        let text = value.and_then(|value| stats.format.text_of_number(value));
        if let Some(text) = text {
            body.insert(name.to_string(), json!(text));
        }
    }
}

pub(super) fn extended_body(body: &mut Map<String, Value>, extended: &ExtendedStats) {
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
        texts.extend(text(value).map(|text| (format!("{name}_as_string"), json!(text))));
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

/// JSON has no word for what is not a number; OpenSearch quotes it.
fn number_or_name(value: Option<f64>) -> Value {
    match value {
        Some(value) if value.is_nan() => json!("NaN"),
        value => json!(value),
    }
}

pub(super) fn derivative_body(
    body: &mut Map<String, Value>,
    metric: &Metric,
    normalized: Option<&Metric>,
) {
    metric_body(body, metric);
    if let Some(normalized) = normalized {
        body.insert("normalized_value".to_string(), json!(normalized.value));
        let text = normalized
            .value
            .and_then(|value| normalized.format.text_of_number(value));
        if let Some(text) = text {
            body.insert("normalized_value_as_string".to_string(), json!(text));
        }
    }
}

pub(super) fn bucket_value_body(body: &mut Map<String, Value>, metric: &Metric, keys: &[String]) {
    metric_body(body, metric);
    body.insert("keys".to_string(), json!(keys));
}

pub(super) fn percentiles_body(body: &mut Map<String, Value>, percentiles: &PercentilesResult) {
    let text =
        |value: &Option<f64>| value.and_then(|value| percentiles.format.text_of_number(value));
    let values = if percentiles.keyed {
        let mut object = Map::new();
        for (point, value) in &percentiles.points {
            let name = json!(point).to_string();
            if let Some(text) = text(value) {
                object.insert(format!("{name}_as_string"), json!(text));
            }
            object.insert(name, json!(value));
        }
        Value::Object(object)
    } else {
        let one = |(point, value): &(f64, Option<f64>)| match text(value) {
            Some(text) => json!({"key": point, "value": value, "value_as_string": text}),
            None => json!({"key": point, "value": value}),
        };
        percentiles.points.iter().map(one).collect()
    };
    body.insert("values".to_string(), values);
}

fn point_value(point: &GeoPoint) -> Value {
    json!({"lat": point.lat, "lon": point.lon})
}

pub(super) fn bounds_body(body: &mut Map<String, Value>, corners: Option<&(GeoPoint, GeoPoint)>) {
    if let Some((first, last)) = corners {
        let bounds = json!({"top_left": point_value(first), "bottom_right": point_value(last)});
        body.insert("bounds".to_string(), bounds);
    }
}

pub(super) fn centroid_body(body: &mut Map<String, Value>, middle: Option<&GeoPoint>, count: u64) {
    if let Some(middle) = middle {
        body.insert("location".to_string(), point_value(middle));
    }
    body.insert("count".to_string(), json!(count));
}
