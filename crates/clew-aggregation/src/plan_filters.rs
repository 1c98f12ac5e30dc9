//! Aggregations whose buckets are queries, and which aggregations may lie in which.

use std::fmt;
use std::sync::Arc;

use clew_query::{AggError, Query};
use clew_search::{CompileContext, KnnResolver, SegmentBits, Snapshot, matching_within};

use super::collector::AggContext;
use clew_query::aggregation::{AggSpec, FilterShape, FiltersSpec, NamedAgg};

/// What finds the documents that a query matches.
#[derive(Clone, Copy)]
pub struct AggSearcher<'a> {
    /// The shard's segments, as the aggregation will see them.
    pub snapshot: &'a Snapshot,
    /// Answers nearest-neighbour clauses.
    pub knn: &'a dyn KnnResolver,
    /// What the search may see at all; global aggregations see no more either.
    pub visible: Option<&'a Query>,
}

impl fmt::Debug for AggSearcher<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AggSearcher")
            .field("segments", &self.snapshot.readers.len())
            .finish_non_exhaustive()
    }
}

/// Buckets of queries.
#[derive(Clone, Debug)]
pub(crate) struct FiltersPlan {
    pub(crate) names: Vec<String>,
    /// Per query: its documents in each segment.
    pub(crate) sets: Vec<Arc<Vec<SegmentBits>>>,
    pub(crate) shape: FilterShape,
}

/// Runs the queries; their documents are known before any is counted.
///
/// # Errors
/// [`AggError::Query`] when a query is refused.
pub(crate) fn plan_filters(
    spec: &FiltersSpec,
    context: &AggContext<'_>,
) -> Result<FiltersPlan, AggError> {
    let set = |(_, query): &(String, Query)| documents_of(query, context).map(Arc::new);
    Ok(FiltersPlan {
        names: spec.filters.iter().map(|(name, _)| name.clone()).collect(),
        sets: spec.filters.iter().map(set).collect::<Result<_, _>>()?,
        shape: spec.shape.clone(),
    })
}

/// The documents of a query in each segment.
///
/// # Errors
/// [`AggError::Query`] when the query is refused.
pub(crate) fn documents_of(
    query: &Query,
    context: &AggContext<'_>,
) -> Result<Vec<SegmentBits>, AggError> {
    let Some(searcher) = context.searcher else {
        return Err(AggError::invalid(
            "queries are not available to aggregations here",
        ));
    };
    let compile = CompileContext {
        snapshot: searcher.snapshot,
        now_ms: context.now_ms,
        knn: searcher.knn,
    };
    matching_within(&compile, query, context.scope)
        .map_err(|error| AggError::Query(Box::new(error)))
}

/// Some aggregations only make sense at the top, or inside a few others.
///
/// # Errors
/// [`AggError::Invalid`].
pub(crate) fn check_nesting(agg: &NamedAgg, depth: usize) -> Result<(), AggError> {
    if depth > 0 && matches!(agg.spec, AggSpec::Global) {
        return Err(AggError::invalid(format!(
            "Aggregation [{}] cannot have a global sub-aggregation: global aggregations can only \
             be at the top level",
            agg.name
        )));
    }
    if depth > 0 && matches!(agg.spec, AggSpec::Sample(_)) {
        return Err(AggError::invalid(format!(
            "Aggregation [{}]: samples can only be taken at the top level",
            agg.name
        )));
    }
    let single = match &agg.spec {
        AggSpec::Filters(filters) => filters.shape == FilterShape::Single,
        AggSpec::Nested { .. } | AggSpec::ReverseNested { .. } | AggSpec::Relatives { .. } => true,
        _ => false,
    };
    let composite = |sub: &NamedAgg| matches!(sub.spec, AggSpec::Composite(_));
    if !single && agg.subs.iter().any(composite) {
        return Err(AggError::invalid(format!(
            "[composite] aggregation cannot be used with a parent aggregation of type: [{}]",
            factory_name(&agg.spec)
        )));
    }
    Ok(())
}

/// The name OpenSearch gives the thing that builds such aggregators, seen in its messages.
fn factory_name(spec: &AggSpec) -> &'static str {
    match spec {
        AggSpec::Terms(_) => "TermsAggregatorFactory",
        AggSpec::DateHistogram(_) => "DateHistogramAggregatorFactory",
        AggSpec::Histogram(_) => "HistogramAggregatorFactory",
        AggSpec::Range(_) => "RangeAggregatorFactory",
        AggSpec::Filters(_) => "FiltersAggregatorFactory",
        AggSpec::Global => "GlobalAggregatorFactory",
        AggSpec::Sample(_) => "SamplerAggregatorFactory",
        AggSpec::Missing(_) => "MissingAggregatorFactory",
        AggSpec::Composite(_) => "CompositeAggregationFactory",
        AggSpec::MultiTerms(_) => "MultiTermsAggregationFactory",
        _ => "AggregatorFactory",
    }
}
