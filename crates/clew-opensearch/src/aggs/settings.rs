//! Settings that several aggregations have in common.

use clew_query::aggregation::{IncludeExclude, TermFilter};
use serde_json::{Map, Value};

use super::body::Body;
use super::plain::{scalar, whole_number};
use super::{AggDslError, AggDslErrorKind};
use crate::http::place::Spot;

/// Counts beyond 32 bits mean "all".
pub(super) fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// How many buckets are wanted, which must be some.
pub(super) fn size(body: &mut Body<'_>, usual: u64) -> Result<u32, AggDslError> {
    positive(body, "size", "size", usual)
}

/// How many buckets each shard tells of, which must be some.
pub(super) fn shard_size(body: &mut Body<'_>) -> Result<Option<u32>, AggDslError> {
    let count = body.some_count("shard_size", "shardSize")?;
    Ok(count.map(small))
}

/// Looks whether there is the way to collect that is asked for; how it is done is for us to know.
pub(super) fn check_collect_mode(body: &mut Body<'_>) -> Result<(), AggDslError> {
    match body.only_text("collect_mode")?.as_deref() {
        None | Some("depth_first" | "breadth_first") => Ok(()),
        Some(other) => {
            let reason = format!("no [collect_mode] found for value [{other}]");
            let error = AggDslError::of(AggDslErrorKind::Malformed, reason);
            Err(body.in_field("collect_mode", error))
        }
    }
}

/// The ways to count terms that OpenSearch has.
pub(super) const TERMS_HINTS: &[&str] = &["map", "global_ordinals"];

/// Looks whether there is the way to count that is asked for; how it is done is for us to know.
pub(super) fn check_hint(body: &mut Body<'_>, known: &[&str]) -> Result<(), AggDslError> {
    match body.only_text("execution_hint")? {
        Some(other) if !known.contains(&other.as_str()) => {
            let known = known.join(", ");
            let reason = format!("Unknown `execution_hint`: [{other}], expected any of [{known}]");
            Err(AggDslError::illegal(reason).of_shards())
        }
        Some(_) | None => Ok(()),
    }
}

/// How many documents a bucket must have in a shard to be reported.
pub(super) fn shard_min_doc_count(body: &mut Body<'_>) -> Result<u64, AggDslError> {
    let count = body.count_called("shard_min_doc_count", "shardMinDocCount")?;
    Ok(count.unwrap_or(0))
}

/// How many documents a bucket must have at least to be shown.
pub(super) fn min_doc_count(body: &mut Body<'_>, usual: u64) -> Result<u64, AggDslError> {
    let count = body.count_called("min_doc_count", "minDocCount")?;
    Ok(count.unwrap_or(usual))
}

/// A count of at least one, under the name that messages give it.
pub(super) fn positive(
    body: &mut Body<'_>,
    key: &'static str,
    told: &str,
    usual: u64,
) -> Result<u32, AggDslError> {
    let count = body.some_count(key, told)?;
    Ok(small(count.unwrap_or(usual)))
}

pub(super) fn term_filter(body: &mut Body<'_>) -> Result<TermFilter, AggDslError> {
    let filter = TermFilter {
        include: term_set(body, "include")?,
        exclude: term_set(body, "exclude")?,
    };
    let mixed = match (&filter.include, &filter.exclude) {
        (Some(IncludeExclude::Partition { .. }), Some(_)) => {
            Some("Cannot specify any excludes when using a partition-based include")
        }
        (Some(IncludeExclude::Values(_)), Some(IncludeExclude::Pattern(_))) => {
            Some("Cannot mix a set-based include with a regex-based method")
        }
        (Some(IncludeExclude::Pattern(_)), Some(IncludeExclude::Values(_))) => {
            Some("Cannot mix a regex-based include with a set-based method")
        }
        _ => None,
    };
    match mixed {
        None => Ok(filter),
        Some(reason) => Err(body.in_field("exclude", AggDslError::illegal(reason))),
    }
}

fn term_set(body: &mut Body<'_>, key: &'static str) -> Result<Option<IncludeExclude>, AggDslError> {
    match body.take(key) {
        None => Ok(None),
        Some(Value::String(pattern)) => Ok(Some(IncludeExclude::Pattern(pattern.clone()))),
        Some(Value::Array(list)) => list
            .iter()
            .map(|value| scalar(value).ok_or_else(|| body.wrong(key, value)))
            .collect::<Result<Vec<_>, _>>()
            .map(|values| Some(IncludeExclude::Values(values))),
        Some(value @ Value::Object(_)) if key == "include" => {
            let known = |name: &str| matches!(name, "partition" | "num_partitions");
            let mut names = value.as_object().into_iter().flat_map(Map::keys);
            if let Some(other) = names.find(|name| !known(name)) {
                let reason = format!("Unknown parameter in Include/Exclude clause: {other}");
                let error = AggDslError::of(AggDslErrorKind::Malformed, reason);
                return Err(body.in_field(key, error.at(Spot::end_of(value))));
            }
            body.part((key, "include"), value, partition).map(Some)
        }
        Some(other) => Err(body.wrong(key, other)),
    }
}

/// Which part of the terms is asked for, of how many.
fn partition(part: &mut Body<'_>) -> Result<IncludeExclude, AggDslError> {
    let mut whole = |key: &'static str| match part.take(key) {
        None => Err(AggDslError::illegal(format!(
            "Missing [{key}] parameter for partition-based include"
        ))),
        Some(value) => whole_number(value).ok_or_else(|| part.wrong(key, value)),
    };
    let number = whole("partition")?;
    let count = whole("num_partitions")?;
    match (u64::try_from(number), u64::try_from(count)) {
        (Ok(number), Ok(count)) if number < count => Ok(IncludeExclude::Partition {
            part: small(number),
            count: small(count),
        }),
        _ => Err(AggDslError::illegal(format!(
            "Partition must be >=0 and < numPartition which is {count}"
        ))),
    }
}
