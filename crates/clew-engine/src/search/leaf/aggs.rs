//! What the aggregations of a search collect on a shard.

use std::sync::atomic::Ordering;

use clew_aggregation::{AggCollector, AggContext, AggLimits, AggSearcher};
use clew_query::QueryError;
use clew_search::Stopwatch;

use crate::node::engine::Inner;
use crate::search::pinned::PinnedShard;
use crate::search::request::SearchRequest;

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
            derived: &[],
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
}

/// What the aggregations of a search collect on a shard; `None` when none is asked for.
pub(super) fn collector_of(
    request: &SearchRequest,
    context: AggContext<'_>,
    stopwatch: Option<&Stopwatch>,
) -> Result<Option<AggCollector>, QueryError> {
    let context = AggContext {
        stopwatch,
        derived: &request.derived,
        ..context
    };
    match &request.aggs[..] {
        [] => Ok(None),
        specs => Ok(Some(AggCollector::new(specs, context)?)),
    }
}
