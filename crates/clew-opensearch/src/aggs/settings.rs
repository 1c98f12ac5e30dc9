//! Settings that several aggregations have in common.

use clew_query::aggregation::{IncludeExclude, TermFilter};
use serde_json::Value;

use super::body::{Body, scalar};
use super::{AggDslError, AggDslErrorKind};

/// Counts beyond 32 bits mean "all".
pub(super) fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// How many buckets are wanted, which must be some.
pub(super) fn size(body: &mut Body<'_>, usual: u64) -> Result<u32, AggDslError> {
    let size = body.count("size")?.unwrap_or(usual);
    if size == 0 {
        return Err(body.in_field("size", none_of("size", body)));
    }
    Ok(small(size))
}

/// How many buckets each shard tells of, which must be some.
pub(super) fn shard_size(body: &mut Body<'_>) -> Result<Option<u32>, AggDslError> {
    match body.count("shard_size")? {
        Some(0) => Err(body.in_field("shard_size", none_of("shardSize", body))),
        count => Ok(count.map(small)),
    }
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

/// A count of at least one, under the name that messages give it.
pub(super) fn positive(
    body: &mut Body<'_>,
    key: &str,
    told: &str,
    usual: u64,
) -> Result<u32, AggDslError> {
    let count = body.count(key)?.unwrap_or(usual);
    if count == 0 {
        return Err(none_of(told, body));
    }
    Ok(small(count))
}

fn none_of(told: &str, body: &Body<'_>) -> AggDslError {
    let name = body.name;
    AggDslError::illegal(format!(
        "[{told}] must be greater than 0. Found [0] in [{name}]"
    ))
}

pub(super) fn term_filter(body: &mut Body<'_>) -> Result<TermFilter, AggDslError> {
    Ok(TermFilter {
        include: term_set(body, "include")?,
        exclude: term_set(body, "exclude")?,
    })
}

fn term_set(body: &mut Body<'_>, key: &str) -> Result<Option<IncludeExclude>, AggDslError> {
    match body.take(key) {
        None => Ok(None),
        Some(Value::String(pattern)) => Ok(Some(IncludeExclude::Pattern(pattern.clone()))),
        Some(Value::Array(list)) => list
            .iter()
            .map(|value| scalar(value).ok_or_else(|| body.wrong(key, value)))
            .collect::<Result<Vec<_>, _>>()
            .map(|values| Some(IncludeExclude::Values(values))),
        Some(Value::Object(settings)) if key == "include" => {
            let mut part = Body::new(key, body.name, settings);
            let count = part.count("num_partitions")?;
            let number = part.count("partition")?;
            part.end()?;
            let (Some(count), Some(number)) = (count, number) else {
                return Err(AggDslError::illegal(
                    "Missing [partition] or [num_partitions] parameter for partition-based include",
                ));
            };
            if count < 2 || number >= count {
                return Err(AggDslError::illegal(format!(
                    "partition must be >= 0 and less than num_partitions, which must be >= 2: \
                     found [{number}] of [{count}]"
                )));
            }
            Ok(Some(IncludeExclude::Partition {
                part: small(number),
                count: small(count),
            }))
        }
        Some(other) => Err(body.wrong(key, other)),
    }
}
