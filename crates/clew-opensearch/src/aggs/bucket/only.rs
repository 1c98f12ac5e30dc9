//! Aggregations with one bucket for each of their parent's: documents without a value, what is inside or around the
//! documents, their relatives, all of them, the best of them.

use clew_aggregation::{NamedResult, SingleKind};
use clew_query::aggregation::{
    AggSpec, Generation, GlobalSpec, NestedSpec, RelativesSpec, ReverseNestedSpec, SampleSpec,
    Source,
};
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::render::{Rendering, TypeName, add_all};
use crate::aggs::settings::{check_hint, positive, small};
use crate::aggs::table::{ALIKE, ALL_VALUES, NO_VALUES, Row};
use crate::http::error::ApiError;

/// Documents of each shard in a sample unless the request says otherwise.
const SAMPLE_SIZE: u64 = 100;

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("missing", ALL_VALUES, |body| {
        body.source().map(AggSpec::Missing)
    }),
    Row::new("nested", NO_VALUES, nested),
    Row::new("reverse_nested", NO_VALUES, reverse_nested),
    Row::new("children", NO_VALUES, |body| {
        relatives(body, Generation::Children)
    }),
    Row::new("parent", NO_VALUES, |body| {
        relatives(body, Generation::Parents)
    }),
    Row::new("global", NO_VALUES, |_| Ok(AggSpec::Global(GlobalSpec))),
    Row::new("sampler", NO_VALUES, sampler),
    Row::new("diversified_sampler", ALIKE, diversified_sampler),
];

fn nested(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let path = body.only_text("path")?;
    if path.is_none() {
        let reason = format!(
            "Missing [path] field for nested aggregation [{}]",
            body.name
        );
        body.late(AggDslError::parsing(reason));
    }
    Ok(AggSpec::Nested(NestedSpec {
        path: path.unwrap_or_default(),
    }))
}

fn reverse_nested(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let path = body.only_text("path")?;
    Ok(AggSpec::ReverseNested(ReverseNestedSpec { path }))
}

/// Children or parents, by the kind of the children.
fn relatives(body: &mut Body<'_>, way: Generation) -> Result<AggSpec, AggDslError> {
    let kind = body.only_text("type")?;
    if kind.is_none() {
        let reason = format!(
            "Missing [child_type] field for {} aggregation [{}]",
            body.kind, body.name
        );
        body.late(AggDslError::parsing(reason));
    }
    Ok(AggSpec::Relatives(RelativesSpec {
        way,
        kind: kind.unwrap_or_default(),
    }))
}

fn sampler(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    Ok(AggSpec::Sample(SampleSpec {
        size: sample_size(body)?,
        diverse: None,
    }))
}

fn diversified_sampler(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    Ok(AggSpec::Sample(SampleSpec {
        size: sample_size(body)?,
        diverse: Some(diverse(body)?),
    }))
}

/// How many of the best documents of each shard a sample has.
fn sample_size(body: &mut Body<'_>) -> Result<u32, AggDslError> {
    positive(body, "shard_size", "shardSize", SAMPLE_SIZE)
}

/// The field whose values make a sample diverse, and how many documents may have the same one.
fn diverse(body: &mut Body<'_>) -> Result<(Source, u32), AggDslError> {
    check_hint(body, &["map", "bytes_hash", "global_ordinals"])?;
    let most = body.count_called("max_docs_per_value", "maxDocsPerValue")?;
    Ok((body.source()?, small(most.unwrap_or(1))))
}

/// The type of the results of those of a kind.
pub(crate) fn type_name(kind: SingleKind) -> TypeName {
    match kind {
        SingleKind::Filter => "filter",
        SingleKind::Global => "global",
        SingleKind::Children => "children",
        SingleKind::Parents => "parent",
        SingleKind::Sample => "sampler",
    }
}

/// Writes the only bucket of those of a type.
pub(crate) fn write(
    body: &mut Map<String, Value>,
    name: TypeName,
    (doc_count, subs): (u64, &[NamedResult]),
    how: Rendering<'_>,
) -> Result<TypeName, ApiError> {
    body.insert("doc_count".to_string(), json!(doc_count));
    add_all(body, subs, how)?;
    Ok(name)
}
