//! Which documents match, and how many, without scores.

use std::ops::ControlFlow;

use clew_platform::Pace;
use clew_query::{Query, QueryError, unless_stopped};
use tantivy::query::{EnableScoring, Weight};
use tantivy::{SegmentReader, TERMINATED};

use super::{CompileContext, Plan, VectorAnswers, each_block, plan, plan_nested};
use crate::segments::SegmentBits;
use crate::snapshot::Snapshot;

/// The documents of each segment that match and are not deleted.
///
/// # Errors
/// When the query does not fit the mapping, or reading fails.
pub fn matching(
    snapshot: &Snapshot,
    query: &Query,
    vectors: &VectorAnswers,
    now_ms: i64,
) -> Result<Vec<SegmentBits>, QueryError> {
    let context = CompileContext {
        snapshot,
        now_ms,
        vectors,
    };
    matching_plan(snapshot, &plan(query, &context)?)
}

/// The rows that match in a scope: whole documents, or the nested objects of a path, where deleted
/// ones and rows of other kinds may be among them.
///
/// # Errors
/// When the query does not fit the mapping, a segment cannot be read, or the request is over.
pub fn matching_within(
    context: &CompileContext<'_>,
    query: &Query,
    scope: Option<&str>,
) -> Result<Vec<SegmentBits>, QueryError> {
    let plan = plan_nested(query, context, scope)?;
    matching_plan_of_rows(context.snapshot, &plan, scope.is_some())
}

pub(crate) fn matching_plan(
    snapshot: &Snapshot,
    plan: &Plan,
) -> Result<Vec<SegmentBits>, QueryError> {
    matching_plan_of_rows(snapshot, plan, false)
}

/// The same, among all rows when `with_objects`: nested objects and deleted documents too.
fn matching_plan_of_rows(
    snapshot: &Snapshot,
    plan: &Plan,
    with_objects: bool,
) -> Result<Vec<SegmentBits>, QueryError> {
    let weight = unscored(snapshot, plan)?;
    snapshot
        .readers
        .iter()
        .map(|reader| segment_bits(&*weight, reader, with_objects))
        .collect()
}

pub(crate) fn unscored(snapshot: &Snapshot, plan: &Plan) -> Result<Box<dyn Weight>, QueryError> {
    Ok(plan
        .query
        .weight(EnableScoring::disabled_from_searcher(snapshot.stub()))?)
}

/// The documents of a segment that match, deleted ones included.
pub(crate) fn segment_answer(
    weight: &dyn Weight,
    reader: &SegmentReader,
) -> Result<SegmentBits, QueryError> {
    segment_bits(weight, reader, true)
}

fn segment_bits(
    weight: &dyn Weight,
    reader: &SegmentReader,
    with_objects: bool,
) -> Result<SegmentBits, QueryError> {
    let mut bits = SegmentBits::empty(reader.max_doc());
    let alive = reader.alive_bitset().filter(|_| !with_objects);
    let mut pace = Pace::of_blocks();
    each_block(weight, reader, |docs| {
        for doc in docs {
            if alive.is_none_or(|alive| alive.is_alive(*doc)) {
                bits.insert(*doc);
            }
        }
        Ok(match pace.is_over() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    })?;
    // Sets that were left half done are good for nothing: filters are kept, and take documents away.
    unless_stopped()?;
    Ok(bits)
}

/// Whether a document may match: where this is false, none does. It may be a deleted one. Costs no more than finding the first.
///
/// # Errors
/// When the query does not fit the mapping, or reading fails.
pub fn may_match(
    snapshot: &Snapshot,
    query: &Query,
    vectors: &VectorAnswers,
    now_ms: i64,
) -> Result<bool, QueryError> {
    let context = CompileContext {
        snapshot,
        now_ms,
        vectors,
    };
    let plan = plan(query, &context)?;
    if let Some(exact) = plan.matches_exactly() {
        return Ok(exact > 0);
    }
    let weight = unscored(snapshot, &plan)?;
    for reader in &snapshot.readers {
        unless_stopped()?;
        if weight.scorer(reader, 1.0)?.doc() != TERMINATED {
            return Ok(true);
        }
    }
    Ok(false)
}
