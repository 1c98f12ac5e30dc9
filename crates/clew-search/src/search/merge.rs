//! Joining what several shards found into one order.

use std::cmp::Ordering;

use super::grouped::keep_firsts;
use super::hit::ShardHit;
use super::request::ShardResult;
use super::sorted::in_order;
use super::total::{Total, TrackTotal};
use crate::search::hit::MergedHit;
use clew_query::{SortKey, compare_rows};

/// What all shards found together.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedHits {
    /// How many documents match.
    pub total: Total,
    /// The best score, when scores were computed.
    pub max_score: Option<f32>,
    /// The hits from `from` on.
    pub hits: Vec<MergedHit>,
    /// Whether any shard ended early.
    pub timed_out: bool,
    /// Whether any shard had found as many documents as it should look at.
    pub terminated_early: bool,
}

/// Hits in order; equal ones by shard, then segment, then document. Of those with the same group
/// only the first stays. There are none once nobody wants them any more.
pub fn merge_hits(
    results: Vec<ShardResult>,
    sort: &[SortKey],
    window: std::ops::Range<usize>,
    track: TrackTotal,
) -> MergedHits {
    let total = Total::merge(results.iter().map(|result| result.total), track);
    let max_score = results
        .iter()
        .filter_map(|result| result.max_score)
        .max_by(f32::total_cmp);
    let timed_out = results.iter().any(|result| result.timed_out);
    let terminated_early = results.iter().any(|result| result.terminated_early);
    let hits: Vec<MergedHit> = (0..)
        .zip(results)
        .flat_map(|(shard, result)| result.hits.into_iter().map(move |hit| (shard, hit)))
        .map(|(shard, hit)| MergedHit { shard, hit })
        .collect();
    let mut hits = in_order(hits, |a, b| {
        compare_hits(sort, &a.hit, &b.hit).then(a.shard.cmp(&b.shard))
    });
    keep_firsts(&mut hits, |hit| hit.hit.group.as_ref());
    let hits = hits
        .into_iter()
        .skip(window.start)
        .take(window.len())
        .collect();
    MergedHits {
        total,
        max_score,
        hits,
        timed_out,
        terminated_early,
    }
}

/// The order of two hits; the sort is stable and shards deliver in order, so ties need no more.
pub(crate) fn compare_hits(sort: &[SortKey], a: &ShardHit, b: &ShardHit) -> Ordering {
    if sort.is_empty() {
        return b.score.unwrap_or(0.0).total_cmp(&a.score.unwrap_or(0.0));
    }
    compare_rows(sort, &a.sort, &b.sort)
}
