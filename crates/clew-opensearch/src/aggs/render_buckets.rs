//! Buckets as JSON.

use clew_aggregation::{
    Bucket, BucketExtra, CompositeResult, HistogramResult, Key, RangeBucket, RangeEnd, TermsResult,
    ValueFormat,
};
use clew_platform::Pace;
use serde_json::{Map, Value, json};

use super::render::{Rendering, add_all};
use crate::http::error::ApiError;

/// Buckets to be shown; no more once the request is over, as nobody sees them then or only a part is asked for.
fn while_wanted<T>(buckets: &[T]) -> impl Iterator<Item = &T> {
    let mut pace = Pace::default();
    buckets.iter().take_while(move |_| !pace.is_over())
}

/// Adds a list of buckets, or the error of the first that cannot be shown.
fn insert_buckets(
    body: &mut Map<String, Value>,
    buckets: impl Iterator<Item = Result<Value, ApiError>>,
) -> Result<(), ApiError> {
    let buckets = buckets.collect::<Result<_, _>>()?;
    body.insert("buckets".to_string(), Value::Array(buckets));
    Ok(())
}

/// Adds buckets by their names, or as a list without them.
fn insert_keyed(
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

fn terms_counts(body: &mut Map<String, Value>, terms: &TermsResult) {
    body.insert(
        "doc_count_error_upper_bound".to_string(),
        error_value(terms.doc_count_error_upper_bound),
    );
    body.insert(
        "sum_other_doc_count".to_string(),
        json!(terms.sum_other_doc_count),
    );
}

pub(super) fn terms_body(
    body: &mut Map<String, Value>,
    terms: &TermsResult,
    how: Rendering<'_>,
) -> Result<(), ApiError> {
    if !terms.rare {
        terms_counts(body, terms);
    }
    let buckets = while_wanted(&terms.buckets).map(|bucket| {
        let mut object = Map::new();
        object.insert("key".to_string(), key_value(&bucket.key));
        if let Some(text) = terms.format.text_of_key(&bucket.key) {
            object.insert("key_as_string".to_string(), json!(text));
        }
        object.insert("doc_count".to_string(), json!(bucket.doc_count));
        if terms.show_error {
            object.insert(
                "doc_count_error_upper_bound".to_string(),
                error_value(bucket.doc_count_error),
            );
        }
        add_all(&mut object, &bucket.subs, how)?;
        Ok(Value::Object(object))
    });
    insert_buckets(body, buckets)
}

pub(super) fn histogram_body(
    body: &mut Map<String, Value>,
    histogram: &HistogramResult,
    how: Rendering<'_>,
) -> Result<(), ApiError> {
    let one = |bucket: &Bucket| {
        let text = histogram.format.text_of_key(&bucket.key);
        let mut object = Map::new();
        if let Some(text) = &text {
            object.insert("key_as_string".to_string(), json!(text));
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
        let name = text.unwrap_or_else(|| bucket.key.to_string());
        Ok((name, Value::Object(object)))
    };
    let buckets = while_wanted(&histogram.buckets).map(one);
    insert_keyed(body, buckets, histogram.keyed)
}

pub(super) fn significant_body(
    body: &mut Map<String, Value>,
    terms: &TermsResult,
    (doc_count, background): (u64, u64),
    how: Rendering<'_>,
) -> Result<(), ApiError> {
    body.insert("doc_count".to_string(), json!(doc_count));
    body.insert("bg_count".to_string(), json!(background));
    let buckets = while_wanted(&terms.buckets).map(|bucket| {
        let mut object = Map::new();
        object.insert("key".to_string(), key_value(&bucket.key));
        if let Some(text) = terms.format.text_of_key(&bucket.key) {
            object.insert("key_as_string".to_string(), json!(text));
        }
        object.insert("doc_count".to_string(), json!(bucket.doc_count));
        if let BucketExtra::Score { score, background } = bucket.extra {
            object.insert("score".to_string(), json!(score));
            object.insert("bg_count".to_string(), json!(background));
        }
        add_all(&mut object, &bucket.subs, how)?;
        Ok(Value::Object(object))
    });
    insert_buckets(body, buckets)
}

pub(super) fn auto_date_body(
    body: &mut Map<String, Value>,
    histogram: &HistogramResult,
    interval: &str,
    how: Rendering<'_>,
) -> Result<(), ApiError> {
    histogram_body(body, histogram, how)?;
    body.insert("interval".to_string(), json!(interval));
    Ok(())
}

pub(super) fn multi_terms_body(
    body: &mut Map<String, Value>,
    terms: &TermsResult,
    formats: &[ValueFormat],
    how: Rendering<'_>,
) -> Result<(), ApiError> {
    terms_counts(body, terms);
    let buckets = while_wanted(&terms.buckets).map(|bucket| {
        let mut object = Map::new();
        let parts = match &bucket.key {
            Key::Tuple(keys) => &keys[..],
            _ => &[],
        };
        let values: Vec<Value> = parts
            .iter()
            .zip(formats)
            .map(|(key, format)| part_value(key, format))
            .collect();
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let texts: Vec<String> = values.iter().map(text).collect();
        object.insert("key".to_string(), Value::Array(values));
        object.insert("key_as_string".to_string(), json!(texts.join("|")));
        object.insert("doc_count".to_string(), json!(bucket.doc_count));
        if terms.show_error {
            object.insert(
                "doc_count_error_upper_bound".to_string(),
                error_value(bucket.doc_count_error),
            );
        }
        add_all(&mut object, &bucket.subs, how)?;
        Ok(Value::Object(object))
    });
    insert_buckets(body, buckets)
}

pub(super) fn composite_body(
    body: &mut Map<String, Value>,
    composite: &CompositeResult,
    how: Rendering<'_>,
) -> Result<(), ApiError> {
    let key = |bucket: &Bucket| {
        let parts = match &bucket.key {
            Key::Tuple(keys) => &keys[..],
            _ => &[],
        };
        let mut object = Map::new();
        for ((name, format), key) in composite.names.iter().zip(&composite.formats).zip(parts) {
            object.insert(name.clone(), part_value(key, format));
        }
        Value::Object(object)
    };
    if let Some(last) = composite.buckets.last() {
        body.insert("after_key".to_string(), key(last));
    }
    let buckets = while_wanted(&composite.buckets).map(|bucket| {
        let mut object = Map::new();
        object.insert("key".to_string(), key(bucket));
        object.insert("doc_count".to_string(), json!(bucket.doc_count));
        add_all(&mut object, &bucket.subs, how)?;
        Ok(Value::Object(object))
    });
    insert_buckets(body, buckets)
}

/// Buckets that have a name or only a place.
pub(super) fn buckets_body(
    body: &mut Map<String, Value>,
    buckets: &[Bucket],
    keyed: bool,
    how: Rendering<'_>,
) -> Result<(), ApiError> {
    let one = |bucket: &Bucket| {
        let mut object = Map::new();
        object.insert("doc_count".to_string(), json!(bucket.doc_count));
        add_all(&mut object, &bucket.subs, how)?;
        Ok((bucket.key.to_string(), Value::Object(object)))
    };
    let buckets = while_wanted(buckets).map(one);
    insert_keyed(body, buckets, keyed)
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

pub(super) fn range_body(
    body: &mut Map<String, Value>,
    ranges: &[RangeBucket],
    keyed: bool,
    how: Rendering<'_>,
) -> Result<(), ApiError> {
    let one = |range: &RangeBucket| {
        let name = range.name.to_string();
        let mut object = Map::new();
        if !keyed {
            object.insert("key".to_string(), json!(name));
        }
        for (end, value) in [("from", &range.from), ("to", &range.to)] {
            match value {
                None => {}
                Some(RangeEnd::Address(address)) => {
                    object.insert(end.to_string(), json!(address));
                }
                Some(RangeEnd::Number(number, text)) => {
                    object.insert(end.to_string(), json!(number));
                    if let Some(text) = text {
                        object.insert(format!("{end}_as_string"), json!(text));
                    }
                }
            }
        }
        object.insert("doc_count".to_string(), json!(range.doc_count));
        add_all(&mut object, &range.subs, how)?;
        Ok((name, Value::Object(object)))
    };
    let buckets = while_wanted(ranges).map(one);
    insert_keyed(body, buckets, keyed)
}

/// A key as JSON has it.
fn key_value(key: &Key) -> Value {
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
fn part_value(key: &Key, format: &ValueFormat) -> Value {
    match key {
        Key::Bool(value) => json!(value),
        _ => format
            .text_of_key(key)
            .map_or_else(|| key_value(key), Value::String),
    }
}
