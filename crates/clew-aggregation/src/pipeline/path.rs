//! Paths to the numbers of a bucket: `name>name.value`, with `_count` and `_key` as names.

use clew_query::AggError;
use clew_query::aggregation::GapPolicy;

use crate::result::access::BucketView;
use crate::result::{AggResult, NamedResult};
use crate::value::key::Key;

/// The steps of a path. The last one may name a number after a dot, or a bucket in brackets.
pub(crate) fn steps(path: &str, results: &[NamedResult]) -> Vec<String> {
    let mut steps: Vec<String> = Vec::new();
    let parts: Vec<&str> = path.split('>').collect();
    for (at, part) in parts.iter().enumerate() {
        let known = at == 0 && results.iter().any(|result| result.name == *part);
        if let Some((name, key)) = part.strip_suffix(']').and_then(|p| p.split_once('[')) {
            steps.push(name.to_string());
            steps.push(key.trim_matches(['\'', '"']).to_string());
        } else if let Some((name, rest)) = part.split_once('.').filter(|_| !known) {
            steps.push(name.to_string());
            steps.push(rest.to_string());
        } else {
            steps.push((*part).to_string());
        }
    }
    steps
}

/// Whether the bucket has no result of the name that a path begins with: a derivative has none in the first one.
pub(crate) fn is_lacking(bucket: &BucketView<'_>, path: &[String]) -> bool {
    path.first().is_some_and(|name| {
        !name.starts_with('_') && bucket.subs.iter().all(|sub| sub.name != *name)
    })
}

/// A bucket's number at the end of a path; `None` where the gap policy passes it over, or where the bucket has no such
/// result: a derivative has none in the first one. That the path names an aggregation at all was checked before.
///
/// # Errors
/// [`AggError::Invalid`] when the path does not lead to one number.
pub(crate) fn bucket_number(
    bucket: &BucketView<'_>,
    path: &[String],
    gaps: GapPolicy,
) -> Result<Option<f64>, AggError> {
    if is_lacking(bucket, path) {
        return Ok(None);
    }
    let value = raw_number(bucket, path)?;
    if matches!(path, [only] if only == "_count" || only == "_bucket_count") {
        return Ok(value);
    }
    let value = value.filter(|value| value.is_finite());
    Ok(match (value, gaps) {
        (Some(value), _) if bucket.doc_count > 0 => Some(value),
        (value, GapPolicy::KeepValues) => value,
        (_, GapPolicy::InsertZeros) => Some(0.0),
        (_, GapPolicy::Skip) => None,
    })
}

#[allow(
    clippy::cast_precision_loss,
    reason = "2^53 documents will not be counted"
)]
fn raw_number(bucket: &BucketView<'_>, path: &[String]) -> Result<Option<f64>, AggError> {
    match path {
        [only] if only == "_count" => Ok(Some(bucket.doc_count as f64)),
        [only] if only == "_key" => Ok(key_number(bucket.key)),
        [name, rest @ ..] => {
            let found = bucket.subs.iter().find(|sub| sub.name == *name);
            found.map_or(Ok(None), |found| result_number(found, rest))
        }
        [] => Err(AggError::invalid(
            "buckets_path must reference either a number value or a single value numeric metric \
             aggregation",
        )),
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "keys are numbers as JSON has them"
)]
pub(crate) fn key_number(key: &Key) -> Option<f64> {
    match key {
        Key::I64(value) | Key::Date(value) => Some(*value as f64),
        Key::U64(value) => Some(*value as f64),
        Key::F64(value) => Some(*value),
        Key::Bool(value) => Some(f64::from(u8::from(*value))),
        Key::Str(_) | Key::Ip(_) | Key::Null | Key::Tuple(_) => None,
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "2^53 documents will not be counted"
)]
fn result_number(named: &NamedResult, path: &[String]) -> Result<Option<f64>, AggError> {
    let result = &named.result;
    if let Some((doc_count, subs)) = result.single_bucket() {
        let view = BucketView {
            key: &Key::Null,
            doc_count,
            subs,
        };
        if path.is_empty() {
            return Ok(Some(doc_count as f64));
        }
        return raw_number(&view, path);
    }
    let Some(buckets) = result.buckets() else {
        return metric_number(named, path.first().map(String::as_str));
    };
    match path {
        [] => Err(not_a_number(result.class_name(), &named.name)),
        [only] if only == "_bucket_count" => Ok(Some(buckets.len() as f64)),
        [name, rest @ ..] => {
            let of_key = buckets
                .iter()
                .find(|bucket| result.key_text(bucket.key) == *name);
            match of_key {
                Some(bucket) => raw_number(bucket, rest),
                None => Err(not_a_number("Object[]", &named.name)),
            }
        }
    }
}

fn not_a_number(class: &str, name: &str) -> AggError {
    AggError::aggregation(format!(
        "buckets_path must reference either a number value or a single value numeric metric \
         aggregation, got: [{class}] at aggregation [{name}]"
    ))
}

fn metric_number(named: &NamedResult, property: Option<&str>) -> Result<Option<f64>, AggError> {
    match (named.result.number(property), property) {
        (Some(number), _) => Ok(number),
        (None, None) => Err(AggError::aggregation(format!(
            "buckets_path must reference either a number value or a single value numeric metric \
             aggregation, but [{}] contains multiple values. Please specify which to use.",
            named.name
        ))),
        (None, Some(property)) => Err(AggError::aggregation(format!(
            "path not supported for [{}]: [{property}]",
            named.name
        ))),
    }
}

/// The buckets that a sibling's path leads to, and the rest of the path.
///
/// # Errors
/// [`AggError::Invalid`] when it does not lead to buckets.
pub(crate) fn sibling<'a, 'p>(
    results: &'a [NamedResult],
    path: &'p [String],
) -> Result<(&'a AggResult, &'p [String]), AggError> {
    let (mut results, mut path) = (results, path);
    while let [name, rest @ ..] = path {
        let found = results.iter().find(|result| result.name == *name);
        let Some(found) = found else {
            break;
        };
        if found.result.buckets().is_some() {
            return Ok((&found.result, rest));
        }
        match found.result.single_bucket() {
            Some((_, subs)) => (results, path) = (subs, rest),
            None => break,
        }
    }
    Err(AggError::aggregation(format!(
        "The first aggregation in buckets_path must be a multi-bucket aggregation for path [{}]",
        path.join(">")
    )))
}
