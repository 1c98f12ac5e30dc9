//! Searches by several queries at once: every shard gives the best of each, and the fused ranking
//! is what the search finds. Totals and aggregations are those of the queries' union.

use clew_query::{Order, Query, SortKey, SortValue};
use clew_search::{
    Explained, KnnResolver, MergedHit, ShardHit, ShardRequest, ShardResult, TrackTotal, explain,
    rescore,
};

use super::PinnedShard;
use crate::base::error::EngineError;
use crate::search::fusion::{Fused, Place};
use crate::search::knn::ViewKnn;
use crate::search::request::{Hit, Hybrid, SearchRequest};

/// What all queries of one shard share.
pub(super) struct Part<'a> {
    pub(super) target: &'a PinnedShard,
    pub(super) request: &'a SearchRequest,
    pub(super) knn: &'a dyn KnnResolver,
    pub(super) now_ms: i64,
    pub(super) only: Option<&'a [clew_search::SegmentBits]>,
}

impl Part<'_> {
    /// What the shard found for the request's query, and the best of each of the queries that rank
    /// together.
    pub(super) fn found(
        &self,
        request: ShardRequest<'_>,
    ) -> Result<(ShardResult, Vec<Vec<ShardHit>>), EngineError> {
        let snapshot = &self.target.view.snapshot;
        let mut found = clew_search::search(snapshot, request, self.knn)?;
        let control = &self.request.control;
        if let Some(hybrid) = &control.hybrid {
            let parts = if self.request.size > 0 {
                best_of_each(self, hybrid)?
            } else {
                Vec::new()
            };
            return Ok((found, parts));
        }
        for round in &control.rescore {
            rescore(snapshot, &mut found, round, self.knn, self.now_ms)?;
        }
        Ok((found, Vec::new()))
    }
}

/// The best documents of each query in one shard.
fn best_of_each(part: &Part<'_>, hybrid: &Hybrid) -> Result<Vec<Vec<ShardHit>>, EngineError> {
    let snapshot = &part.target.view.snapshot;
    let seen = part.request.parts.get(&part.target.index.uuid);
    let search = |query: &Query| {
        let boosted = seen.and_then(|seen| super::boosted(seen, query));
        let request = ShardRequest {
            filter: seen.and_then(|seen| seen.filter.as_ref()),
            post_filter: part.request.post_filter.as_ref(),
            limit: hybrid.depth,
            track_total: TrackTotal::No,
            only: part.only,
            now_ms: part.now_ms,
            ..ShardRequest::new(boosted.as_ref().unwrap_or(query))
        };
        let mut found = clew_search::search(snapshot, request, part.knn)?;
        for round in &part.request.control.rescore {
            rescore(snapshot, &mut found, round, part.knn, part.now_ms)?;
        }
        Ok(found.hits)
    };
    hybrid.queries.iter().map(search).collect()
}

/// What the shards found, as one ranking, in the order that the search asks for.
pub(super) fn ranking(
    request: &SearchRequest,
    hybrid: &Hybrid,
    shards: &[Vec<Vec<ShardHit>>],
) -> Result<Vec<Fused>, EngineError> {
    let mut rankings: Vec<Vec<(Place, f32)>> = vec![Vec::new(); hybrid.queries.len()];
    for (shard, parts) in shards.iter().enumerate() {
        for (ranking, hits) in rankings.iter_mut().zip(parts) {
            let place = |hit: &ShardHit| (shard, hit.segment, hit.doc);
            ranking.extend(
                hits.iter()
                    .map(|hit| (place(hit), hit.score.unwrap_or(0.0))),
            );
        }
    }
    let mut fused = hybrid.fusion.fuse(&rankings);
    let after = match request.search_after.as_deref() {
        Some([SortValue::Score(score)]) => Some(f64::from(*score)),
        Some([SortValue::F64(score)]) => Some(*score),
        _ => None,
    };
    let rising = matches!(&request.sort[..], [SortKey::Score { order: Order::Asc }]);
    if rising {
        fused.reverse();
    }
    fused.retain(|one| {
        let score = f64::from(one.score);
        let behind = |after: f64| if rising { score > after } else { score < after };
        request.min_score.is_none_or(|min| one.score >= min) && after.is_none_or(behind)
    });
    if request.from > fused.len() {
        return Err(EngineError::InvalidRequest {
            reason: "Reached end of search result, increase pagination_depth value to see more \
                     results"
                .to_string(),
        });
    }
    Ok(fused)
}

/// The hits of a window of a ranking.
pub(super) fn hits(request: &SearchRequest, ranking: &[Fused]) -> Vec<MergedHit> {
    let window = ranking.iter().skip(request.from).take(request.size);
    let hit = |one: &Fused| {
        let (shard, segment, doc) = one.place;
        let sort = match &request.sort[..] {
            [] => Vec::new(),
            keys => vec![SortValue::Score(one.score); keys.len()],
        };
        let hit = ShardHit {
            segment,
            doc,
            score: Some(one.score),
            sort,
            group: None,
        };
        MergedHit { shard, hit }
    };
    window.map(hit).collect()
}

/// Says of each hit of a ranking's window where its score comes from.
pub(super) fn explain_hits(
    (request, hybrid): (&SearchRequest, &Hybrid),
    ranking: &[Fused],
    answered: &[&PinnedShard],
    now_ms: i64,
    hits: &mut [Hit],
) -> Result<(), EngineError> {
    for (hit, fused) in hits.iter_mut().zip(ranking.iter().skip(request.from)) {
        let (shard, segment, doc) = fused.place;
        let target = answered[shard];
        let knn = ViewKnn {
            view: &target.view,
            ef_search: target.index.settings().ef_search,
            profiles: None,
        };
        let mut details = Vec::new();
        for (query, part) in hybrid.queries.iter().zip(&fused.parts) {
            let Some(part) = part else {
                continue;
            };
            let snapshot = &target.view.snapshot;
            let inner = explain(snapshot, query, &knn, now_ms, (segment, doc))?;
            let inner = inner.into_iter().collect();
            details.push(Explained::new(*part, hybrid.fusion.normalized(), inner));
        }
        let explained = Explained::new(fused.score, hybrid.fusion.combined(), details);
        hit.explanation = Some(explained);
    }
    Ok(())
}
