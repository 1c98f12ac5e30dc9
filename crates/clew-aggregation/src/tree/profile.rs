//! What aggregations cost a shard: how long each took and over how many documents.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clew_query::aggregation::{FilterShape, Generation, Grid};

use crate::bucket::grid::GridPlan;
use crate::bucket::nested::Way;
use crate::bucket::terms::TermsShape;
use crate::collect::timed::add;
use crate::counted::Partial;
use crate::field::ValueKind;
use crate::tree::{Op, Plan};

/// What one aggregation cost a shard; what is inside it is counted too.
#[derive(Clone, Debug, PartialEq)]
pub struct AggProfile {
    /// Its name.
    pub name: String,
    /// What OpenSearch calls that which counts so.
    pub kind: &'static str,
    /// Opening columns, once for each segment.
    pub opening: Duration,
    /// Counting documents.
    pub collecting: Duration,
    /// Making buckets of what was counted, once for each segment.
    pub building: Duration,
    /// Segments looked at.
    pub segments: u64,
    /// Documents counted; one in several buckets of the aggregation around counts for each.
    pub docs: u64,
    /// Buckets made, of which a shard reports the best only.
    pub buckets: u64,
    /// What values the buckets are of, where they are of values.
    pub strategy: Option<&'static str>,
    /// Whether some values are left out, where that can be asked for.
    pub has_filter: Option<bool>,
    /// What is inside it.
    pub children: Vec<AggProfile>,
}

/// Notes how many buckets there are, before a shard cuts them to what it reports.
pub(crate) fn count_buckets(plans: &[Plan], partials: &[Partial]) {
    for (plan, partial) in plans.iter().zip(partials) {
        if let (Some(figures), Partial::Buckets(buckets)) = (&plan.figures, partial) {
            add(&figures.buckets, buckets.counts.len() as u64);
            count_buckets(&plan.subs, &buckets.subs);
        }
    }
}

/// What aggregations cost; nothing of those that nobody asked about.
pub(crate) fn profiles(plans: &[Plan]) -> Vec<AggProfile> {
    let profile = |plan: &Plan| {
        let figures = plan.figures.as_ref()?;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let time = |counter: &AtomicU64| Duration::from_nanos(read(counter));
        let terms = match &plan.op {
            Op::Terms(terms) => Some(terms),
            _ => None,
        };
        Some(AggProfile {
            name: plan.name.clone(),
            kind: kind_of(plan),
            opening: time(&figures.opening_ns),
            collecting: time(&figures.collecting_ns),
            building: time(&figures.building_ns),
            segments: read(&figures.segments),
            docs: read(&figures.docs),
            buckets: read(&figures.buckets),
            strategy: terms.and_then(|terms| strategy(&terms.shape, plan.values.kind)),
            has_filter: terms
                .map(|terms| terms.filter.include.is_some() || terms.filter.exclude.is_some()),
            children: profiles(&plan.subs),
        })
    };
    plans.iter().filter_map(profile).collect()
}

fn kind_of(plan: &Plan) -> &'static str {
    match &plan.op {
        Op::Terms(terms) => terms_kind(&terms.shape, plan.values.kind),
        Op::DateHistogram(_) => "DateHistogramAggregator",
        Op::Histogram(_) => "NumericHistogramAggregator",
        Op::Range(_) => "RangeAggregator",
        Op::Missing => "MissingAggregator",
        Op::Metric(metric) => metric.as_metric().profiled_as(),
        Op::Join(join) if join.way == Way::Inwards => "NestedAggregator",
        Op::Join(_) => "ReverseNestedAggregator",
        Op::Relatives(relatives) => match relatives.way {
            Generation::Children => "ParentToChildrenAggregator",
            Generation::Parents => "ChildrenToParentAggregator",
        },
        Op::TopHits(_) => "TopHitsAggregator",
        Op::Filters(filters) => match filters.shape {
            FilterShape::Single => "FilterAggregator",
            FilterShape::Named { .. } => "FiltersAggregator",
            FilterShape::Adjacency { .. } => "AdjacencyMatrixAggregator",
        },
        Op::Global => "GlobalAggregator",
        Op::Sample(_) => "SamplerAggregator",
        Op::Composite(_) => "CompositeAggregator",
        Op::MultiTerms(_) => "MultiTermsAggregator",
        Op::AutoDate(_) => "AutoDateHistogramAggregator.FromSingle",
        Op::Grid(GridPlan { grid, .. }) => match grid {
            Grid::Geohash { .. } => "GeoHashGridAggregator",
            Grid::Geotile { .. } => "GeoTileGridAggregator",
        },
        Op::Clusters(_) => "VariableWidthHistogramAggregator",
    }
}

fn strategy(shape: &TermsShape, kind: ValueKind) -> Option<&'static str> {
    if matches!(shape, TermsShape::Significant(_)) {
        return Some("significant_terms");
    }
    Some(match kind {
        ValueKind::Keyword | ValueKind::Ip => "terms",
        ValueKind::Double => "double_terms",
        ValueKind::Unsigned => "unsigned_long_terms",
        ValueKind::Unmapped | ValueKind::Geo => return None,
        _ => "long_terms",
    })
}

fn terms_kind(shape: &TermsShape, kind: ValueKind) -> &'static str {
    let is_text = matches!(kind, ValueKind::Keyword | ValueKind::Ip);
    match shape {
        TermsShape::Rare { .. } if is_text => "StringRareTermsAggregator",
        TermsShape::Rare { .. } => "LongRareTermsAggregator",
        TermsShape::Significant(significant) if significant.words.is_some() => {
            "MapStringTermsAggregator"
        }
        _ if kind == ValueKind::Unmapped => "NonCollectingAggregator",
        _ if is_text => "GlobalOrdinalsStringTermsAggregator",
        _ => "NumericTermsAggregator",
    }
}
