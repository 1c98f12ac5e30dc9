//! What aggregations need that leave the documents they are given: for the objects inside them, the
//! documents around them, or the documents themselves.

use std::sync::Arc;

use clew_query::AggError;
use clew_query::{Order, SortKey};
use clew_search::{Blocks, CompileContext, Snapshot, SortObjects};
use tantivy::SegmentReader;
use tantivy::index::SegmentId;

use super::collector::AggContext;
use super::plan::{Op, Plan};
use clew_query::aggregation::TopHitsSpec;

/// Most documents a bucket of top hits may have, those skipped included.
const TOP_HITS_MAX: usize = 100;

/// Which way a join goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Inwards,
    Outwards,
}

/// A change of scope.
#[derive(Clone, Debug)]
pub(crate) struct JoinPlan {
    pub(crate) way: Way,
    /// The path of the objects that come; `None` for whole documents.
    pub(crate) to: Option<String>,
    /// The same of those that are given.
    pub(crate) from: Option<String>,
    /// Whether there is anything at the path.
    pub(crate) is_mapped: bool,
    segments: Segments,
}

/// The segments of a shard and their nested objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments(Arc<Vec<(SegmentId, Option<Arc<Blocks>>)>>);

impl Segments {
    fn of(context: &AggContext<'_>) -> Self {
        let Some(snapshot) = context.snapshot else {
            return Segments::default();
        };
        let readers = snapshot.readers.iter().enumerate();
        let segments =
            readers.map(|(at, reader)| (reader.segment_id(), snapshot.blocks(at).cloned()));
        Segments(Arc::new(segments.collect()))
    }

    pub(crate) fn blocks(&self, reader: &SegmentReader) -> Option<Arc<Blocks>> {
        let id = reader.segment_id();
        let mut segments = self.0.iter();
        segments.find(|(segment, _)| *segment == id)?.1.clone()
    }

    /// The place of a segment among those of the shard.
    pub(crate) fn place(&self, reader: &SegmentReader) -> usize {
        let id = reader.segment_id();
        let mut segments = self.0.iter();
        segments
            .position(|(segment, _)| *segment == id)
            .unwrap_or(0)
    }
}

impl JoinPlan {
    pub(crate) fn inwards(path: &str, context: &AggContext<'_>) -> Self {
        JoinPlan {
            way: Way::Inwards,
            to: Some(path.to_string()),
            from: context.scope.map(str::to_string),
            is_mapped: context.mapping.is_nested(path),
            segments: Segments::of(context),
        }
    }

    pub(crate) fn outwards(
        name: &str,
        path: Option<&str>,
        context: &AggContext<'_>,
    ) -> Result<Self, AggError> {
        if context.scope.is_none() {
            return Err(AggError::invalid(format!(
                "Reverse nested aggregation [{name}] can only be used inside a [nested] aggregation"
            )));
        }
        if let Some(path) = path
            && context.mapping.has_object(path)
            && !context.mapping.is_nested(path)
        {
            return Err(AggError::invalid(format!(
                "[reverse_nested] nested path [{path}] is not nested"
            )));
        }
        Ok(JoinPlan {
            way: Way::Outwards,
            to: path.map(str::to_string),
            from: context.scope.map(str::to_string),
            is_mapped: path.is_none_or(|path| context.mapping.is_nested(path)),
            segments: Segments::of(context),
        })
    }

    pub(crate) fn blocks(&self, reader: &SegmentReader) -> Option<Arc<Blocks>> {
        self.segments.blocks(reader).filter(|_| self.is_mapped)
    }
}

/// Which documents are kept, and in which order.
#[derive(Clone, Debug)]
pub(crate) struct TopHitsPlan {
    pub(crate) from: usize,
    pub(crate) limit: usize,
    /// Never empty.
    pub(crate) keys: Arc<Vec<SortKey>>,
    /// The nested objects that they are about.
    pub(crate) objects: Arc<SortObjects>,
    /// Whether the request named an order.
    pub(crate) is_sorted: bool,
    pub(crate) with_scores: bool,
    pub(crate) shard: usize,
    /// What sort keys are opened under; it has no segments.
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    pub(crate) segments: Segments,
}

impl TopHitsPlan {
    pub(crate) fn new(
        name: &str,
        spec: &TopHitsSpec,
        context: &AggContext<'_>,
    ) -> Result<Self, AggError> {
        let asked = spec.from.saturating_add(spec.size);
        if asked > TOP_HITS_MAX {
            return Err(AggError::invalid(format!(
                "Top hits result window is too large, the top hits aggregator [{name}]'s from + \
                 size must be less than or equal to: [{TOP_HITS_MAX}] but was [{asked}]. This limit \
                 can be set by changing the [index.max_inner_result_window] index level setting."
            )));
        }
        let by_score = |key: &SortKey| matches!(key, SortKey::Score { .. });
        let mut keys = spec.sort.clone();
        if keys.is_empty() {
            keys.push(SortKey::Score { order: Order::Desc });
        }
        let mut objects = SortObjects::default();
        if let Some(searcher) = context.searcher {
            let compile = CompileContext {
                snapshot: searcher.snapshot,
                now_ms: context.now_ms,
                knn: searcher.knn,
            };
            objects = SortObjects::find(&keys, &compile, context.scope)
                .map_err(|error| AggError::Query(Box::new(error)))?;
        }
        Ok(TopHitsPlan {
            from: spec.from,
            limit: asked,
            is_sorted: !spec.sort.is_empty(),
            with_scores: spec.track_scores || keys.iter().any(by_score),
            keys: Arc::new(keys),
            objects: Arc::new(objects),
            shard: context.shard,
            snapshot: context
                .snapshot
                .map(|snapshot| Arc::new(snapshot.without_segments())),
            segments: Segments::of(context),
        })
    }
}

/// Whether any aggregation wants scores.
pub(crate) fn wants_scores(plans: &[Plan]) -> bool {
    plans.iter().any(|plan| match &plan.op {
        Op::TopHits(top) => top.with_scores,
        Op::Sample(_) => true,
        _ => wants_scores(&plan.subs),
    })
}
