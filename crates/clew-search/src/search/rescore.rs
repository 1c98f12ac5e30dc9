//! Second thoughts about the best hits: a further query's scores are put together with the first
//! ones, for the hits at the top only.

use clew_platform::Pace;
use clew_query::{Query, QueryError, go_on};
use tantivy::query::{EnableScoring, Weight};
use tantivy::{DocId, DocSet, SegmentReader};

use super::hit::ShardHit;
use super::merge::compare_hits;
use super::request::ShardResult;
use super::sorted::in_order;
use crate::query::{CompileContext, QueryRecorder, plan_recorded};

/// How two scores become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combine {
    /// Their sum.
    #[default]
    Total,
    /// Their product.
    Multiply,
    /// Their mean.
    Avg,
    /// The higher one.
    Max,
    /// The lower one.
    Min,
}

impl Combine {
    /// Puts a hit's first score together with its second one.
    pub fn apply(self, first: f32, second: f32) -> f32 {
        match self {
            Combine::Total => first + second,
            Combine::Multiply => first * second,
            Combine::Avg => f32::midpoint(first, second),
            Combine::Max => first.max(second),
            Combine::Min => first.min(second),
        }
    }
}

/// One round of scoring the best hits again.
#[derive(Clone, Debug, PartialEq)]
pub struct Rescore {
    /// How many hits of each shard are looked at.
    pub window: usize,
    /// What scores them again.
    pub query: Query,
    /// Factor of the first score.
    pub query_weight: f32,
    /// Factor of the second score.
    pub rescore_weight: f32,
    /// How the two become one.
    pub combine: Combine,
}

/// Scores the first hits of a shard again and puts them in order; a recorder notes what that costs, step by step.
///
/// # Errors
/// When the query does not fit the mapping, or reading fails.
pub fn rescore(
    context: &CompileContext<'_>,
    result: &mut ShardResult,
    round: &Rescore,
    recorder: Option<&QueryRecorder>,
) -> Result<(), QueryError> {
    let since = recorder.map(|recorder| recorder.watch().now());
    let snapshot = context.snapshot;
    let plan = plan_recorded(&round.query, context, (false, recorder))?;
    let weight = plan
        .query
        .weight(EnableScoring::enabled_from_searcher(snapshot.stub()))?;
    let window = round.window.min(result.hits.len());
    let mut pace = Pace::of_blocks();
    for (place, hit) in result.hits.iter_mut().enumerate() {
        let first = hit.score.unwrap_or(0.0) * round.query_weight;
        go_on(&mut pace)?;
        let second = if place < window {
            score_of(&*weight, &snapshot.readers[hit.segment], hit.doc)?
        } else {
            None
        };
        hit.score = Some(match second {
            Some(second) => round.combine.apply(first, second * round.rescore_weight),
            None => first,
        });
    }
    let tail = result.hits.split_off(window);
    let head = std::mem::take(&mut result.hits);
    result.hits = in_order(head, |a: &ShardHit, b: &ShardHit| compare_hits(&[], a, b));
    result.hits.extend(tail);
    result.max_score = result
        .hits
        .iter()
        .filter_map(|hit| hit.score)
        .max_by(f32::total_cmp);
    if let (Some(recorder), Some(since), Some(steps)) = (recorder, since, plan.steps) {
        recorder.rescored(steps, round.window, since);
    }
    Ok(())
}

/// A document's score; `None` when it does not match.
pub(super) fn score_of(
    weight: &dyn Weight,
    reader: &SegmentReader,
    doc: DocId,
) -> Result<Option<f32>, QueryError> {
    let mut scorer = weight.scorer(reader, 1.0)?;
    let at = if scorer.doc() < doc {
        scorer.seek(doc)
    } else {
        scorer.doc()
    };
    Ok((at == doc).then(|| scorer.score()))
}
