//! What a shard finds for a query, or for several that rank together: then the best of each.

use clew_query::{Query, QueryError};
use clew_search::{
    CompileContext, QueryRecorder, ShardHit, ShardRequest, ShardResult, TrackTotal, VectorAnswers,
    VectorStage, in_time, rescore,
};

use super::boosted;
use crate::base::error::EngineError;
use crate::search::pinned::PinnedShard;
use crate::search::request::{Hybrid, SearchRequest};

/// What all queries of one shard share.
pub(super) struct ShardQueries<'a> {
    pub(super) target: &'a PinnedShard,
    pub(super) request: &'a SearchRequest,
    /// What answers the clauses that need vectors, before anything else is asked.
    pub(super) stage: VectorStage<'a>,
    pub(super) only: Option<&'a [clew_search::SegmentBits]>,
    /// Notes what the queries cost, if somebody asks.
    pub(super) recorder: Option<&'a QueryRecorder>,
}

impl ShardQueries<'_> {
    /// What the shard found for the request's query, and the best of each of the queries that rank
    /// together.
    pub(super) fn found(
        &self,
        request: ShardRequest<'_>,
    ) -> Result<(ShardResult, Vec<Vec<ShardHit>>), EngineError> {
        let snapshot = &self.target.view.snapshot;
        let control = &self.request.control;
        let ranked = control.hybrid.as_ref().filter(|_| self.request.size > 0);
        let vectors = || self.vectors(&request, ranked);
        let vectors = in_time(|| match self.recorder {
            Some(recorder) => recorder.rewriting(vectors),
            None => vectors(),
        })?;
        let Some(vectors) = vectors else {
            let parts = ranked.map_or(0, |hybrid| hybrid.queries.len());
            let nothing = ShardResult::too_late(request.track_total);
            return Ok((nothing, vec![Vec::new(); parts]));
        };
        let mut found = clew_search::search(snapshot, request, &vectors)?;
        if control.hybrid.is_some() {
            let parts = ranked.map(|hybrid| best_of_each(self, hybrid, &vectors));
            return Ok((found, parts.transpose()?.unwrap_or_default()));
        }
        self.rescored(&mut found, &vectors)?;
        Ok((found, Vec::new()))
    }

    /// Scores the best of what was found again, round by round.
    fn rescored(&self, found: &mut ShardResult, vectors: &VectorAnswers) -> Result<(), QueryError> {
        let context = CompileContext {
            snapshot: &self.target.view.snapshot,
            now_ms: self.stage.now_ms,
            vectors,
        };
        let mut rounds = self.request.control.rescore.iter();
        rounds.try_for_each(|round| rescore(&context, found, round, self.recorder))
    }

    /// What vectors answer of all queries of the search.
    fn vectors(
        &self,
        request: &ShardRequest<'_>,
        ranked: Option<&Hybrid>,
    ) -> Result<VectorAnswers, QueryError> {
        let mut vectors = VectorAnswers::default();
        self.stage.add_order(&mut vectors, request.sort)?;
        let control = &self.request.control;
        // Of queries that rank together only what they find is scored again.
        let is_rescored = control.hybrid.is_none() || ranked.is_some();
        let rounds = control.rescore.iter().filter(|_| is_rescored);
        let queries = std::iter::once(request.query)
            .chain(request.filter)
            .chain(request.post_filter)
            .chain(ranked.iter().flat_map(|hybrid| &hybrid.queries))
            .chain(rounds.map(|round| &round.query));
        for query in queries {
            self.stage.add(&mut vectors, query, None)?;
        }
        Ok(vectors)
    }
}

/// The best documents of each query in one shard.
fn best_of_each(
    part: &ShardQueries<'_>,
    hybrid: &Hybrid,
    vectors: &VectorAnswers,
) -> Result<Vec<Vec<ShardHit>>, EngineError> {
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
            now_ms: part.stage.now_ms,
            recorder: part.recorder,
            ..ShardRequest::new(boosted.as_ref().unwrap_or(query))
        };
        let mut found = clew_search::search(snapshot, request, vectors)?;
        part.rescored(&mut found, vectors)?;
        Ok(found.hits)
    };
    hybrid.queries.iter().map(search).collect()
}
