//! Searches by several queries at once: every shard gives the best of each, and the fused ranking
//! is what the search finds. Totals and aggregations are those of the queries' union.

use clew_query::{Order, SortKey, SortValue};
use clew_search::{
    Explained, MergedHit, MergedHits, ShardHit, ShardResult, VectorAnswers, explain, merge_hits,
};

use crate::base::error::EngineError;
use crate::search::fusion::{Fused, FusedPlace};
use crate::search::pinned::PinnedShard;
use crate::search::request::{Hit, Hybrid, SearchRequest};

/// What the shards found as one: the hits of the search's window. With several queries at once these are the window of
/// their ranking, which comes along.
pub(super) fn merged(
    request: &SearchRequest,
    results: Vec<ShardResult>,
    parts: &[Vec<Vec<ShardHit>>],
) -> Result<(MergedHits, Vec<Fused>), EngineError> {
    let window = request.from..request.from + request.size;
    let mut merged = merge_hits(results, &request.sort, window, request.track_total);
    // Hits that were found to be scored again, and are not shown, have no best score.
    merged.max_score = merged.max_score.filter(|_| request.from + request.size > 0);
    let Some(hybrid) = &request.control.hybrid else {
        return Ok((merged, Vec::new()));
    };
    let ranking = match request.size {
        0 => Vec::new(),
        _ => ranking(request, hybrid, parts)?,
    };
    merged.hits = hits(request, &ranking);
    merged.max_score = ranking.iter().map(|one| one.score).max_by(f32::total_cmp);
    Ok((merged, ranking))
}

/// What the shards found, as one ranking, in the order that the search asks for.
fn ranking(
    request: &SearchRequest,
    hybrid: &Hybrid,
    shards: &[Vec<Vec<ShardHit>>],
) -> Result<Vec<Fused>, EngineError> {
    let mut rankings: Vec<Vec<(FusedPlace, f32)>> = vec![Vec::new(); hybrid.queries.len()];
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
fn hits(request: &SearchRequest, ranking: &[Fused]) -> Vec<MergedHit> {
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
        let knn = target.knn();
        let stage = knn.stage(now_ms);
        let mut vectors = VectorAnswers::default();
        let mut details = Vec::new();
        for (query, part) in hybrid.queries.iter().zip(&fused.parts) {
            let Some(part) = part else {
                continue;
            };
            let snapshot = &target.view.snapshot;
            stage.add(&mut vectors, query, None)?;
            let inner = explain(snapshot, query, &vectors, now_ms, (segment, doc))?;
            let inner = inner.into_iter().collect();
            details.push(Explained::new(*part, hybrid.fusion.normalized(), inner));
        }
        let explained = Explained::new(fused.score, hybrid.fusion.combined(), details);
        hit.explanation = Some(explained);
    }
    Ok(())
}
