//! Paths to the numbers of a bucket: `name>name.value`, `name['key']>name`, with `_count` and `_key` as names.

use clew_query::AggError;
use clew_query::aggregation::{AggSpec, GapPolicy, NamedAgg};

use crate::result::access::BucketView;
use crate::result::{AggResult, NamedResult};
use crate::value::key::Key;

/// How messages begin of paths that lead to something else.
const WANTED: &str = "buckets_path must reference either a number value or a single value numeric \
                      metric aggregation,";

/// A name on the way, with what of it is meant: a bucket by its key, or a number.
struct Element<'p> {
    name: &'p str,
    key: Option<&'p str>,
}

/// Takes a path apart, as OpenSearch does: brackets may stand at each name, a dot at the last one alone.
fn elements(path: &str) -> Result<Vec<Element<'_>>, AggError> {
    let parts = path.split('>').map(str::trim);
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err(AggError::validation("Invalid path []"));
    }
    let last = parts.len() - 1;
    let parts = parts.into_iter().enumerate();
    parts
        .map(|(at, part)| element(part, at == last, path))
        .collect()
}

fn element<'p>(part: &'p str, is_last: bool, path: &str) -> Result<Element<'p>, AggError> {
    let written = match part.split_once('[') {
        Some((name, rest)) => Some((name, rest.strip_suffix(']').unwrap_or_default())),
        None if is_last => part.rsplit_once('.'),
        None => None,
    };
    let Some((name, key)) = written else {
        return Ok(Element {
            name: part,
            key: None,
        });
    };
    if name.is_empty() || key.is_empty() {
        return Err(AggError::aggregation(format!(
            "Invalid path element [{part}] in path [{path}]"
        )));
    }
    Ok(Element {
        name,
        key: Some(key),
    })
}

/// The steps of a path: its names, each followed by what of it is meant.
///
/// # Errors
/// [`AggError`] when it is none.
pub(crate) fn steps(path: &str) -> Result<Vec<String>, AggError> {
    let elements = elements(path)?.into_iter();
    let steps = elements.flat_map(|one| std::iter::once(one.name).chain(one.key));
    Ok(steps.map(str::to_string).collect())
}

/// The name that a path begins with, if it is one.
pub(super) fn first_name(path: &str) -> Option<&str> {
    Some(elements(path).ok()?.first()?.name)
}

/// Refuses a path that begins with no aggregation of the same level and with nothing that every bucket has, or goes on with
/// one that is not inside the one before.
///
/// # Errors
/// [`AggError::Validation`] naming what is not there.
pub(super) fn check(path: &str, siblings: &[NamedAgg]) -> Result<(), AggError> {
    if matches!(path, "_count" | "_key") {
        return Ok(());
    }
    let elements = elements(path)?;
    let mut level = siblings;
    for (at, element) in elements.iter().enumerate() {
        let is_inner_last = at > 0 && at + 1 == elements.len();
        if is_inner_last && matches!(element.name, "_count" | "_key") {
            return Ok(());
        }
        let Some(found) = level.iter().find(|agg| agg.name == element.name) else {
            return Err(AggError::validation(match at {
                0 => format!("No aggregation found for path [{path}]"),
                _ => format!("No aggregation [{}] found for path [{path}]", element.name),
            }));
        };
        // What a pipeline has inside is known when it ran.
        if matches!(found.spec, AggSpec::Pipeline(_)) {
            return Ok(());
        }
        level = &found.subs;
    }
    Ok(())
}

/// What a path leads to.
enum Found {
    /// A number, or one that is not there.
    Number(Option<f64>),
    /// Nothing: an aggregation or a bucket that there is not.
    Nothing,
    /// A metric of several numbers.
    Several,
    /// Something else, by the name that OpenSearch has for it.
    Other(&'static str),
}

/// Whether a bucket has nothing at the end of a path: a derivative has no result in the first one.
pub(crate) fn is_lacking(bucket: &BucketView<'_>, path: &[String]) -> bool {
    matches!(in_bucket(bucket, path), Ok(Found::Nothing))
}

/// A bucket's number at the end of a path; `None` where the gap policy passes it over, or where the bucket has no such
/// result. That the path names an aggregation at all was checked before.
///
/// # Errors
/// [`AggError`] when the path does not lead to one number.
pub(crate) fn bucket_number(
    bucket: &BucketView<'_>,
    path: &[String],
    gaps: GapPolicy,
) -> Result<Option<f64>, AggError> {
    let named = path.first().map_or("", String::as_str);
    let value = match in_bucket(bucket, path)? {
        Found::Number(value) => value,
        Found::Nothing => return Ok(None),
        Found::Several => {
            return Err(AggError::aggregation(format!(
                "{WANTED} but [{named}] contains multiple values. Please specify which to use."
            )));
        }
        Found::Other(class) => {
            return Err(no_number(class, named));
        }
    };
    if matches!(path, [only] if only == "_count") {
        return Ok(value);
    }
    let value = value.filter(|value| value.is_finite());
    Ok(match (value, gaps) {
        (Some(value), _) if bucket.doc_count > 0 => Some(value),
        (_, GapPolicy::InsertZeros) => Some(0.0),
        (_, GapPolicy::Skip) => None,
    })
}

fn no_number(class: &str, named: &str) -> AggError {
    AggError::aggregation(format!("{WANTED} got: [{class}] at aggregation [{named}]"))
}

#[allow(
    clippy::cast_precision_loss,
    reason = "2^53 documents will not be counted"
)]
fn in_bucket(bucket: &BucketView<'_>, path: &[String]) -> Result<Found, AggError> {
    match path {
        [only] if only == "_count" => Ok(Found::Number(Some(bucket.doc_count as f64))),
        [only] if only == "_key" => Ok(Found::Number(key_number(bucket.key))),
        [name, rest @ ..] => match bucket.subs.iter().find(|sub| sub.name == *name) {
            Some(found) => in_result(found, rest),
            None => Ok(Found::Nothing),
        },
        [] => Ok(Found::Other("Bucket")),
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
fn in_result(named: &NamedResult, path: &[String]) -> Result<Found, AggError> {
    let result = &named.result;
    let [name, rest @ ..] = path else {
        return Ok(match result.number(None) {
            Some(number) => Found::Number(number),
            None if result.has_several() => Found::Several,
            None => Found::Other(result.class_name()),
        });
    };
    if let Some((doc_count, subs)) = result.single_bucket() {
        if rest.is_empty() && name == "_count" {
            return Ok(Found::Number(Some(doc_count as f64)));
        }
        let found = subs.iter().find(|sub| sub.name == *name);
        return match found {
            Some(found) => in_result(found, rest),
            None => Err(AggError::invalid(format!(
                "Cannot find an aggregation named [{name}] in [{}]",
                named.name
            ))),
        };
    }
    let Some(buckets) = result.buckets() else {
        return in_metric(named, path);
    };
    if rest.is_empty() && name == "_bucket_count" {
        return Ok(Found::Number(Some(buckets.len() as f64)));
    }
    let quoted = name
        .strip_prefix('\'')
        .and_then(|key| key.strip_suffix('\''));
    if let Some(key) = quoted {
        let mut all = buckets.iter();
        let of_key = all.find(|bucket| result.key_text(bucket.key) == key);
        return of_key.map_or(Ok(Found::Nothing), |bucket| in_bucket(bucket, rest));
    }
    // Without a key it is what all buckets have, if they have it.
    match buckets.first().map(|bucket| in_bucket(bucket, path)) {
        Some(Err(error)) => Err(error),
        Some(Ok(Found::Nothing)) => Ok(Found::Nothing),
        Some(Ok(_)) | None => Ok(Found::Other("Object[]")),
    }
}

/// A number of a metric.
fn in_metric(named: &NamedResult, path: &[String]) -> Result<Found, AggError> {
    if let [property] = path
        && let Some(number) = named.result.number(Some(property.as_str()))
    {
        return Ok(Found::Number(number));
    }
    let (name, path) = (&named.name, path.join(", "));
    let reason = match &named.result {
        AggResult::GeoCentroid { .. } | AggResult::GeoBounds(_) => {
            format!("Found unknown path element [{path}] in [{name}]")
        }
        AggResult::Stats(_)
        | AggResult::StatsBucket(_)
        | AggResult::ExtendedStats(_)
        | AggResult::ExtendedStatsBucket(_) => format!(
            "No enum constant org.opensearch.search.aggregations.metrics.InternalStats.Metrics.{path}"
        ),
        _ => format!("path not supported for [{name}]: [{path}]"),
    };
    Err(AggError::invalid(reason))
}

/// The aggregation of several buckets that a sibling's path leads to, and the rest of the path.
///
/// # Errors
/// [`AggError::Execution`] when it does not lead to buckets.
pub(crate) fn sibling<'a, 'p>(
    results: &'a [NamedResult],
    path: &'p [String],
) -> Result<(&'a NamedResult, &'p [String]), AggError> {
    let (mut results, mut path) = (results, path);
    while let [name, rest @ ..] = path {
        let found = results.iter().find(|result| result.name == *name);
        let Some(found) = found else {
            break;
        };
        if found.result.buckets().is_some() {
            if rest.is_empty() {
                return Err(no_number("Bucket", name));
            }
            return Ok((found, rest));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart_at_their_names() {
        for (path, want) in [
            ("m", "m"),
            (" m > ", "m"),
            ("a>b.c", "a|b|c"),
            ("a.b>c", "a.b|c"),
            ("a.b.c", "a.b|c"),
            ("h['x.y']>m.max", "h|'x.y'|m|max"),
            ("p[50.0]", "p|50.0"),
            ("_count", "_count"),
        ] {
            assert_eq!(steps(path).unwrap().join("|"), want, "{path}");
        }
        for (path, want) in [
            ("", "Validation Failed: 1: Invalid path [];"),
            (">", "Validation Failed: 1: Invalid path [];"),
            ("a>k[", "Invalid path element [k[] in path [a>k[]"),
            (
                "k['x'].n",
                "Invalid path element [k['x'].n] in path [k['x'].n]",
            ),
            (".n", "Invalid path element [.n] in path [.n]"),
        ] {
            assert_eq!(steps(path).unwrap_err().to_string(), want);
        }
    }
}
