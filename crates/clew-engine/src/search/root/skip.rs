//! Which shards a search passes over: those without a document in a range that every match is in.

use std::borrow::Cow;

use clew_query::Query;
use clew_query::aggregation::NamedAgg;
use clew_search::VectorAnswers;

use crate::base::error::EngineError;
use crate::search::pinned::PinnedShard;
use crate::search::request::SearchRequest;

/// Leaves out shards on which nothing can match, and says how many; one is kept to give the empty
/// answer its shape.
pub(super) fn skip<'t>(
    targets: Cow<'t, [PinnedShard]>,
    request: &SearchRequest,
    now_ms: i64,
) -> Result<(Cow<'t, [PinnedShard]>, u32), EngineError> {
    let above = request.control.skip_above;
    let ranges = required_ranges(&request.query);
    let sees_all = request.aggs.iter().any(NamedAgg::needs_every_shard);
    if above.is_none_or(|above| targets.len() as u64 <= above) || ranges.is_empty() || sees_all {
        return Ok((targets, 0));
    }
    let no_vectors = VectorAnswers::default();
    let mut kept = Vec::with_capacity(targets.len());
    let mut spare = None;
    for target in &*targets {
        let mut can_match = target.check_readable().is_err();
        if !can_match {
            can_match = true;
            for range in &ranges {
                let snapshot = &target.view.snapshot;
                can_match &= clew_search::may_match(snapshot, range, &no_vectors, now_ms)?;
            }
        }
        if can_match {
            kept.push(target.clone());
        } else {
            spare.get_or_insert(target);
        }
    }
    if kept.is_empty() {
        kept.extend(spare.cloned());
    }
    let skipped = u32::try_from(targets.len() - kept.len()).expect("shard counts are limited");
    Ok((Cow::Owned(kept), skipped))
}

/// The ranges that every match is in.
fn required_ranges(query: &Query) -> Vec<&Query> {
    match query {
        Query::Range(_) => vec![query],
        Query::ConstantScore { filter: inner, .. } | Query::Named { query: inner, .. } => {
            required_ranges(inner)
        }
        Query::Bool(clauses) => clauses
            .must
            .iter()
            .chain(&clauses.filter)
            .flat_map(required_ranges)
            .collect(),
        _ => Vec::new(),
    }
}
