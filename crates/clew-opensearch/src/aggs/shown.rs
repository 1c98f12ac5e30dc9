//! What the JSON of several results has in common.

use clew_aggregation::{
    Bucket, BucketExtra, HistogramResult, Key, Metric, TermsResult, ValueFormat,
};
use clew_platform::Pace;
use serde_json::{Map, Value, json};

use super::render::{Rendering, add_all};
use crate::http::error::ApiError;

/// Buckets to be shown; no more once the request is over, as nobody sees them then or only a part is asked for.
pub(super) fn while_wanted<T>(buckets: &[T]) -> impl Iterator<Item = &T> {
    let mut pace = Pace::default();
    buckets.iter().take_while(move |_| !pace.is_over())
}

/// Adds a list of buckets, or the error of the first that cannot be shown.
pub(super) fn insert_buckets(
    body: &mut Map<String, Value>,
    buckets: impl Iterator<Item = Result<Value, ApiError>>,
) -> Result<(), ApiError> {
    let buckets = buckets.collect::<Result<_, _>>()?;
    body.insert("buckets".to_string(), Value::Array(buckets));
    Ok(())
}

/// Adds buckets by their names, or as a list without them.
pub(super) fn insert_keyed(
    body: &mut Map<String, Value>,
    buckets: impl Iterator<Item = Result<(String, Value), ApiError>>,
    keyed: bool,
) -> Result<(), ApiError> {
    if !keyed {
        return insert_buckets(body, buckets.map(|named| Ok(named?.1)));
    }
    let buckets = buckets.collect::<Result<_, _>>()?;
    body.insert("buckets".to_string(), Value::Object(buckets));
    Ok(())
}

/// How wrong a count may be; -1 where nothing can be said.
fn error_value(error: Option<u64>) -> Value {
    error.map_or(json!(-1), |error| json!(error))
}

pub(super) fn terms_counts(body: &mut Map<String, Value>, terms: &TermsResult) {
    body.insert(
        "doc_count_error_upper_bound".to_string(),
        error_value(terms.doc_count_error_upper_bound),
    );
    body.insert(
        "sum_other_doc_count".to_string(),
        json!(terms.sum_other_doc_count),
    );
}

/// The key of a term, alone in its bucket yet.
pub(super) fn term_key(terms: &TermsResult, bucket: &Bucket) -> Map<String, Value> {
    let mut object = Map::with_capacity(2 + bucket.subs.len());
    object.insert("key".to_string(), key_value(&bucket.key));
    if let Some(text) = terms.format.text_of_key(&bucket.key) {
        object.insert("key_as_string".to_string(), json!(text));
    }
    object
}

/// How many documents have a term, and how wrong that may be.
pub(super) fn term_count(object: &mut Map<String, Value>, terms: &TermsResult, bucket: &Bucket) {
    object.insert("doc_count".to_string(), json!(bucket.doc_count));
    if terms.show_error {
        object.insert(
            "doc_count_error_upper_bound".to_string(),
            error_value(bucket.doc_count_error),
        );
    }
}

pub(super) fn histogram_body(
    body: &mut Map<String, Value>,
    histogram: &HistogramResult,
    how: Rendering<'_>,
) -> Result<(), ApiError> {
    let one = |bucket: &Bucket| {
        let text = histogram.format.text_of_key(&bucket.key);
        let name = match (histogram.keyed, &text) {
            (false, _) => String::new(),
            (true, Some(text)) => text.clone(),
            (true, None) => bucket.key.to_string(),
        };
        let mut object = Map::with_capacity(3 + bucket.subs.len());
        if let Some(text) = text {
            object.insert("key_as_string".to_string(), Value::String(text));
        }
        if let BucketExtra::Extent { min, .. } = bucket.extra {
            object.insert("min".to_string(), json!(min));
        }
        object.insert("key".to_string(), key_value(&bucket.key));
        if let BucketExtra::Extent { max, .. } = bucket.extra {
            object.insert("max".to_string(), json!(max));
        }
        object.insert("doc_count".to_string(), json!(bucket.doc_count));
        add_all(&mut object, &bucket.subs, how)?;
        Ok((name, Value::Object(object)))
    };
    let buckets = while_wanted(&histogram.buckets).map(one);
    insert_keyed(body, buckets, histogram.keyed)
}

/// A list of buckets with their names as keys.
pub(super) fn named_buckets_body(
    body: &mut Map<String, Value>,
    buckets: &[Bucket],
    how: Rendering<'_>,
) -> Result<(), ApiError> {
    let one = |bucket: &Bucket| {
        let mut object = Map::new();
        object.insert("key".to_string(), key_value(&bucket.key));
        object.insert("doc_count".to_string(), json!(bucket.doc_count));
        add_all(&mut object, &bucket.subs, how)?;
        Ok(Value::Object(object))
    };
    insert_buckets(body, while_wanted(buckets).map(one))
}

/// A key as JSON has it.
pub(super) fn key_value(key: &Key) -> Value {
    match key {
        Key::I64(value) | Key::Date(value) => json!(value),
        Key::U64(value) => json!(value),
        Key::F64(value) => json!(value),
        Key::Str(text) => json!(text),
        Key::Bool(value) => json!(i64::from(*value)),
        Key::Ip(_) => json!(key.to_string()),
        Key::Null => Value::Null,
        Key::Tuple(keys) => keys.iter().map(key_value).collect(),
    }
}

/// A key of several sources' values: each as its own format shows it.
pub(super) fn part_value(key: &Key, format: &ValueFormat) -> Value {
    match key {
        Key::Bool(value) => json!(value),
        _ => format
            .text_of_key(key)
            .map_or_else(|| key_value(key), Value::String),
    }
}

/// A text beside a number where OpenSearch writes whatever its format makes of it: truths and numbers without a sign stay what
/// they are there.
pub(super) fn loose_text(format: &ValueFormat, value: f64) -> Option<Value> {
    match format {
        ValueFormat::Boolean => Some(json!(value != 0.0)),
        ValueFormat::Unsigned => Some(number_or_name(Some(value))),
        ValueFormat::Raw | ValueFormat::Decimal(_) | ValueFormat::Date { .. } => {
            format.text_of_number(value).map(Value::String)
        }
    }
}

/// JSON has no word for what is not a number; OpenSearch quotes it.
pub(super) fn number_or_name(value: Option<f64>) -> Value {
    match value {
        Some(value) if value.is_nan() => json!("NaN"),
        value => json!(value),
    }
}

pub(super) fn metric_body(body: &mut Map<String, Value>, metric: &Metric) {
    body.insert("value".to_string(), json!(metric.value));
    let text = metric
        .value
        .and_then(|value| metric.format.text_of_number(value));
    if let Some(text) = text {
        body.insert("value_as_string".to_string(), json!(text));
    }
}
