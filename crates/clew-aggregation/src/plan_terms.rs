//! Terms: the most frequent, the rarest, the most significant.

use std::sync::Arc;

use clew_query::AggError;
use clew_schema::FieldKind;

use super::collect::WordsPlan;
use super::collector::AggContext;
use super::plan::{By, Plan, PlannedOrder, TermSets, TermsPlan, TermsShape, ValueKind, ValuePlan};
use super::plan_fields::{check_patterns, term_filter};
use super::plan_filters::documents_of;
use super::plan_order::{order_or_count, plan_order};
use super::significance::SignificantPlan;
use clew_query::aggregation::{Direction, SignificantSpec, TermsSpec};
use clew_query::aggregation::{RareTermsSpec, Source};

/// The plan of `terms`.
///
/// # Errors
/// [`AggError`] naming what is wrong.
pub(crate) fn plan_terms(
    spec: &TermsSpec,
    values: &ValuePlan,
    subs: &[Plan],
) -> Result<TermsPlan, AggError> {
    if spec.size == 0 {
        return Err(AggError::invalid(
            "[size] must be greater than 0. Found [0] in a terms aggregation",
        ));
    }
    let order = order_or_count(plan_order(&spec.order, subs)?);
    let size = spec.size as usize;
    // A shard is asked for more than the client wants, unless it cannot be wrong anyway.
    let by_key = order[0].by == By::Key;
    let suggested = if by_key { size } else { size + size / 2 + 10 };
    let shard_size = spec.shard_size.map_or(suggested, |asked| asked as usize);
    Ok(TermsPlan {
        size,
        shard_size: shard_size.max(size),
        min_doc_count: spec.min_doc_count,
        order,
        filter: term_filter(&spec.filter, values)?,
        show_error: spec.show_error,
        shape: TermsShape::Plain,
    })
}

/// What the words of a text are to an aggregation.
///
/// # Errors
/// [`AggError`] when the field has no words.
pub(crate) fn words_of(source: &Source, context: &AggContext<'_>) -> Result<ValuePlan, AggError> {
    let field = &source.field;
    let Some(mapped) = context.mapping.field(field) else {
        return Err(AggError::invalid(format!(
            "Field [{field}] does not exist, SignificantText requires an analyzed field"
        )));
    };
    if !matches!(
        mapped.kind,
        FieldKind::Text { .. } | FieldKind::Keyword { .. }
    ) {
        return Err(AggError::invalid(format!(
            "Field [{field}] has no analyzer, but SignificantText requires an analyzed field"
        )));
    }
    Ok(ValuePlan {
        field: field.clone(),
        kind: ValueKind::Keyword,
        ..ValuePlan::none()
    })
}

/// How words are taken from texts; `None` where a column is read, or nothing is indexed yet.
fn words_plan(
    spec: &SignificantSpec,
    context: &AggContext<'_>,
) -> Result<Option<WordsPlan>, AggError> {
    let mapped = context.mapping.field(&spec.source.field);
    let (Some(words), Some(mapped)) = (&spec.words, mapped) else {
        return Ok(None);
    };
    let indexed = mapped.field.filter(|_| mapped.indexed);
    let field = indexed.ok_or_else(|| {
        AggError::invalid(format!("Field [{}] is not indexed", spec.source.field))
    })?;
    let paths = if words.paths.is_empty() {
        context.mapping.source_paths(mapped)
    } else {
        words.paths.clone()
    };
    Ok(Some(WordsPlan {
        field,
        analyzer: match &mapped.kind {
            FieldKind::Text { analyzer, .. } => analyzer.clone(),
            _ => "keyword".to_string(),
        },
        paths,
        drops_copies: words.drops_copies,
    }))
}

/// The plan of `rare_terms`. Rare terms are counted in full on every shard: what is rare here may be frequent elsewhere.
pub(crate) fn plan_rare_terms(
    spec: &RareTermsSpec,
    values: &ValuePlan,
) -> Result<TermsPlan, AggError> {
    let shape = TermsShape::Rare {
        max_doc_count: spec.max_doc_count,
    };
    Ok(every_term(term_filter(&spec.filter, values)?, shape))
}

/// All terms, rarest first.
pub(crate) fn every_term(filter: TermSets, shape: TermsShape) -> TermsPlan {
    let ascending = |by| PlannedOrder {
        by,
        direction: Direction::Ascending,
    };
    TermsPlan {
        size: usize::MAX,
        shard_size: usize::MAX,
        min_doc_count: 1,
        order: vec![ascending(By::Count), ascending(By::Key)],
        filter,
        show_error: false,
        shape,
    }
}

/// The plan of `significant_terms`.
///
/// # Errors
/// [`AggError`] naming what is wrong.
pub(crate) fn plan_significant(
    spec: &SignificantSpec,
    values: &ValuePlan,
    (context, name): (&AggContext<'_>, &str),
) -> Result<TermsPlan, AggError> {
    check_patterns(&spec.filter, values, name)?;
    let background = spec.background.as_ref();
    let background = background.map(|query| documents_of(query, context));
    let size = spec.size as usize;
    let shard_size = spec.shard_size.map_or(size * 2, |asked| asked as usize);
    Ok(TermsPlan {
        size,
        shard_size: shard_size.max(size).max(10),
        min_doc_count: spec.min_doc_count,
        order: vec![PlannedOrder {
            by: By::Score(spec.heuristic),
            direction: Direction::Descending,
        }],
        filter: term_filter(&spec.filter, values)?,
        show_error: false,
        shape: TermsShape::Significant(SignificantPlan {
            heuristic: spec.heuristic,
            background: background.transpose()?.map(Arc::new),
            words: words_plan(spec, context)?.map(Arc::new),
        }),
    })
}
