//! What a hit's document holds, and where its score comes from.

use bytes::Bytes;
use clew_text::{Combine, Explained, ShardHit, explain};

use crate::error::EngineError;
use crate::knn::ViewKnn;
use crate::pinned::PinnedShard;
use crate::request::{Hit, SearchRequest};

/// What hits are looked up for.
#[derive(Clone, Copy)]
pub(crate) struct Lookup<'a> {
    pub(crate) request: &'a SearchRequest,
    pub(crate) now_ms: i64,
}

/// Reads what a hit's document holds.
pub(crate) fn fetch(
    target: &PinnedShard,
    hit: &ShardHit,
    lookup: Lookup<'_>,
) -> Result<Hit, EngineError> {
    let request = lookup.request;
    let segment = &target.view.segments[hit.segment];
    let row = segment.row(hit.doc);
    let source = if request.source {
        let mapping = &target.view.snapshot.mapping;
        let source = segment.source(hit.doc, mapping, request.vectors);
        Some(Bytes::from(
            source.map_err(|source| target.shard.tantivy_error(source))?,
        ))
    } else {
        None
    };
    let explanation = if request.control.explain {
        explanation(target, hit, lookup)?
    } else {
        None
    };
    Ok(Hit {
        index: target.index.clone(),
        id: row.id.to_string(),
        score: hit.score,
        sort: hit.sort.clone(),
        version: row.version,
        seq_no: row.seq_no,
        routing: row.routing.map(str::to_string),
        source,
        shard: target.number(),
        explanation,
        matched_queries: Vec::new(),
    })
}

fn explanation(
    target: &PinnedShard,
    hit: &ShardHit,
    lookup: Lookup<'_>,
) -> Result<Option<Explained>, EngineError> {
    let knn = ViewKnn {
        view: &target.view,
        ef_search: target.index.settings().ef_search,
        profiles: None,
    };
    let place = (hit.segment, hit.doc);
    let snapshot = &target.view.snapshot;
    let query = &lookup.request.query;
    let Some(mut explained) = explain(snapshot, query, &knn, lookup.now_ms, place)? else {
        return Ok(None);
    };
    for round in &lookup.request.control.rescore {
        let weighted = |explained: Explained, weight: f32, name: &str| {
            let value = explained.value * weight;
            let factor = Explained::new(weight, name, Vec::new());
            Explained::new(value, "product of:", vec![explained, factor])
        };
        let first = weighted(explained, round.query_weight, "primaryWeight");
        // Hits behind the window keep their first score: their second one was never asked for.
        let in_window = hit
            .score
            .is_none_or(|score| (score - first.value).abs() > f32::EPSILON);
        let second = if in_window {
            explain(snapshot, &round.query, &knn, lookup.now_ms, place)?
        } else {
            None
        };
        explained = match second {
            None => first,
            Some(second) => {
                let second = weighted(second, round.rescore_weight, "secondaryWeight");
                let value = round.combine.apply(first.value, second.value);
                Explained::new(value, described(round.combine), vec![first, second])
            }
        };
    }
    Ok(Some(explained))
}

fn described(combine: Combine) -> &'static str {
    match combine {
        Combine::Total => "sum of:",
        Combine::Multiply => "product of:",
        Combine::Avg => "avg of:",
        Combine::Max => "max of:",
        Combine::Min => "min of:",
    }
}
