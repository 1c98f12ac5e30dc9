//! Searches of several shards for the nearest and nothing else: each shard is asked for its share, and asked again if
//! the nearest do not lie by chance.

use clew_query::{KnnQuery, Query};

use crate::base::error::EngineError;
use crate::search::depth::{Depth, SearchedPart, short_parts};
use crate::search::knn::depth_asked;
use crate::search::leaf::ShardAnswer;
use crate::search::pinned::PinnedShard;
use crate::search::request::SearchRequest;

/// What each shard is asked.
pub(super) struct Shares<'r> {
    knn: &'r KnnQuery,
    /// Hits of the whole that are looked at.
    nearest: usize,
    shards: Vec<Share>,
}

struct Share {
    whole: Depth,
    depth: Depth,
}

impl<'r> Shares<'r> {
    /// `None` where each shard is asked for all: it is the only one, or more depends on its neighbours than the best hits.
    pub(super) fn of(request: &'r SearchRequest, targets: &[PinnedShard]) -> Option<Self> {
        let (Query::Knn(knn), [_, _, ..]) = (&request.query, targets) else {
            return None;
        };
        let control = &request.control;
        let nearest = request.from.saturating_add(request.size);
        let is_plain = request.aggs.is_empty()
            && request.sort.is_empty()
            && request.post_filter.is_none()
            && request.search_after.is_none()
            && control.slice.is_none()
            && control.collapse.is_none()
            && control.rescore.is_empty()
            && control.hybrid.is_none()
            // What is told of a hit is found out by asking its shard for all.
            && !control.explain
            && request.inner_hits.is_empty()
            && request.parts.values().all(|part| part.boost.is_none())
            && (1..=knn.k?).contains(&nearest);
        let is_bounded =
            knn.min_score.is_none() && knn.max_distance.is_none() && knn.target_recall.is_none();
        if !is_plain || !is_bounded {
            return None;
        }
        let rows: Vec<usize> = targets.iter().map(|target| rows_of(target, knn)).collect();
        let share = |(at, target): (usize, &PinnedShard)| {
            let whole = depth_asked(target, knn)?;
            let depth = whole.shared_out(&rows)[at];
            Some(Share { whole, depth })
        };
        let shards = targets.iter().enumerate().map(share);
        Some(Shares {
            knn,
            nearest,
            shards: shards.collect::<Option<_>>()?,
        })
    }

    /// What a shard is asked at first.
    pub(super) fn query(&self, shard: usize) -> Query {
        self.query_of(self.shards[shard].depth)
    }

    fn query_of(&self, depth: Depth) -> Query {
        Query::Knn(KnnQuery {
            k: Some(depth.hits),
            ef_search: Some(depth.candidates),
            oversample: None,
            ..self.knn.clone()
        })
    }

    /// The shards that are to be asked again, and what.
    pub(super) fn again(
        &self,
        answers: &[Result<ShardAnswer, EngineError>],
    ) -> Vec<(usize, Query)> {
        let scores = |answer: &Result<ShardAnswer, EngineError>| -> Vec<f32> {
            let hits = answer.iter().flat_map(|answer| &answer.found.result.hits);
            hits.filter_map(|hit| hit.score).collect()
        };
        let scores: Vec<Vec<f32>> = answers.iter().map(scores).collect();
        let parts = self
            .shards
            .iter()
            .zip(&scores)
            .map(|(share, scores)| SearchedPart {
                whole: share.whole,
                depth: share.depth,
                scores,
            });
        let short = short_parts(&parts.collect::<Vec<_>>(), self.nearest);
        let asked = |(at, depth)| (at, self.query_of(depth));
        short.into_iter().map(asked).collect()
    }
}

/// Vectors of a shard.
fn rows_of(target: &PinnedShard, knn: &KnnQuery) -> usize {
    let Some(field) = target.mapping().field(&knn.field) else {
        return 0;
    };
    let segments = target.view.segments.iter();
    let columns = segments.filter_map(|segment| segment.vectors().column(field.id));
    columns.map(clew_vector::Column::len).sum()
}
