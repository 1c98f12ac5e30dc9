//! What a shard finds for a query, or for several that rank together: then the best of each.

use clew_query::Query;
use clew_search::{KnnResolver, ShardHit, ShardRequest, ShardResult, TrackTotal, rescore};

use super::boosted;
use crate::base::error::EngineError;
use crate::search::pinned::PinnedShard;
use crate::search::request::{Hybrid, SearchRequest};

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
        let boosted = seen.and_then(|seen| boosted(seen, query));
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
