//! The results of aggregations, made of what all shards collected.

use clew_aggregation::{Intermediate, NamedResult};
use clew_platform::Reservation;
use clew_query::QueryError;
use clew_search::MergedHit;
use parking_lot::Mutex;

use crate::base::error::EngineError;
use crate::node::engine::Inner;
use crate::search::fetch::{Lookup, fetch};
use crate::search::inner;
use crate::search::named::NamedQueries;
use crate::search::pinned::PinnedShard;
use crate::search::request::{Hit, SearchRequest};
use crate::search::times::unless_stopped;

impl Inner {
    /// The results of aggregations, and the documents that their top hits name, each read.
    pub(super) fn agg_results(
        &self,
        partial: Intermediate,
        request: &SearchRequest,
        targets: &[PinnedShard],
        (now_ms, memory): (i64, &Mutex<Reservation>),
    ) -> Result<(Vec<NamedResult>, Vec<Hit>), EngineError> {
        let watch = self.stopwatch(request);
        let book = |bytes| memory.lock().grow(bytes);
        let all = partial.into_results(&book);
        let all = all.map_err(|error| QueryError::from(error).of_reducing())?;
        let mut named = NamedQueries::of(request, targets.len())?;
        let read = |merged: MergedHit| -> Result<Hit, EngineError> {
            unless_stopped()?;
            let target = &targets[merged.shard];
            let lookup = Lookup {
                source: true,
                vectors: true,
                explained: request.control.explain_top_hits.then_some(request),
                now_ms,
                memory,
                watch: watch.as_ref(),
            };
            let mut hits = [Hit {
                matched_queries: self.matched(&mut named, &merged, target, (request, now_ms))?,
                ..fetch(target, &merged.hit, lookup)?
            }];
            if hits[0].nested.is_empty() && !request.inner_hits.is_empty() {
                let places = [(0, merged.hit.segment, merged.hit.doc)];
                inner::fill(&[target], &request.inner_hits, &places, &mut hits, lookup)?;
            }
            let [hit] = hits;
            Ok(hit)
        };
        let hits = all.hits.into_iter().map(read).collect::<Result<_, _>>()?;
        Ok((all.results, hits))
    }
}
