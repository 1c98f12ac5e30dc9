//! The aggregations of a search: what they are collected in on a shard, and their results.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use clew_aggregation::{
    AggCollector, AggContext, AggLimits, AggSearcher, Intermediate, NamedResult, Stopwatch,
};
use clew_platform::{Clock, Reservation};
use clew_query::QueryError;
use clew_search::MergedHit;
use parking_lot::Mutex;

use super::inner;
use super::times::unless_stopped;
use crate::base::error::EngineError;
use crate::node::engine::Inner;
use crate::search::fetch::{Lookup, fetch};
use crate::search::pinned::PinnedShard;
use crate::search::request::{Hit, SearchRequest};

impl Inner {
    /// What a shard's aggregations are planned against.
    pub(super) fn agg_context<'a>(
        &'a self,
        target: &'a PinnedShard,
        now_ms: i64,
        (shard, searcher): (usize, AggSearcher<'a>),
    ) -> AggContext<'a> {
        let snapshot = &target.view.snapshot;
        AggContext {
            mapping: &snapshot.mapping,
            index: target.index.name(),
            memory: Some(&self.memory),
            stopwatch: None,
            now_ms,
            limits: AggLimits {
                buckets_max: self.buckets_max.load(Ordering::Relaxed),
                ..AggLimits::default()
            },
            snapshot: Some(snapshot),
            scope: None,
            shard,
            searcher: Some(searcher),
        }
    }

    /// The results of aggregations, and the documents that their top hits name, each read.
    pub(super) fn agg_results(
        &self,
        partial: Intermediate,
        request: &SearchRequest,
        targets: &[PinnedShard],
        (now_ms, memory): (i64, &Mutex<Reservation>),
    ) -> Result<(Vec<NamedResult>, Vec<Hit>), EngineError> {
        let book = |bytes| memory.lock().grow(bytes);
        let all = partial.into_results(&book).map_err(QueryError::from)?;
        let read = |merged: MergedHit| -> Result<Hit, EngineError> {
            unless_stopped()?;
            let target = &targets[merged.shard];
            let lookup = Lookup {
                source: true,
                vectors: true,
                explained: None,
                now_ms,
                memory,
            };
            let mut hits = [fetch(target, &merged.hit, lookup)?];
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

/// What the aggregations of a search collect on a shard; `None` when none is asked for.
pub(super) fn collector_of(
    request: &SearchRequest,
    context: AggContext<'_>,
    clock: &Arc<dyn Clock>,
) -> Result<Option<AggCollector>, QueryError> {
    let stopwatch = request.profile.then(|| {
        let clock = clock.clone();
        Stopwatch::new(move || clock.monotonic())
    });
    let context = AggContext {
        stopwatch: stopwatch.as_ref(),
        ..context
    };
    match &request.aggs[..] {
        [] => Ok(None),
        specs => Ok(Some(AggCollector::new(specs, context)?)),
    }
}
