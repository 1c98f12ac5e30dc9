//! What aggregations cost a shard: how long each took and over how many documents. Collectors are
//! only timed when somebody asks, as reading the clock costs more than a small block.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clew_query::AggError;

use super::collect::{Block, Collect};
use super::limits::Account;
use super::partial::Partial;
use super::plan::{MomentKind, Op, Plan, TermsShape, ValueKind};
use super::plan_join::Way;
use super::plan_metrics::Wanted;
use clew_query::aggregation::Grid;
use clew_query::aggregation::{FilterShape, Generation, Method};

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

/// Tells the time that has passed since some moment.
#[derive(Clone)]
pub struct Stopwatch(Arc<dyn Fn() -> Duration + Send + Sync>);

impl Stopwatch {
    /// One that asks a clock.
    pub fn new(clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Stopwatch(Arc::new(clock))
    }
}

impl fmt::Debug for Stopwatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stopwatch")
    }
}

/// What an aggregation costs, while it is counted.
#[derive(Debug)]
pub(crate) struct Figures {
    stopwatch: Stopwatch,
    opening_ns: AtomicU64,
    collecting_ns: AtomicU64,
    building_ns: AtomicU64,
    segments: AtomicU64,
    docs: AtomicU64,
    buckets: AtomicU64,
}

fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

impl Figures {
    pub(crate) fn new(stopwatch: &Stopwatch) -> Self {
        Figures {
            stopwatch: stopwatch.clone(),
            opening_ns: AtomicU64::default(),
            collecting_ns: AtomicU64::default(),
            building_ns: AtomicU64::default(),
            segments: AtomicU64::default(),
            docs: AtomicU64::default(),
            buckets: AtomicU64::default(),
        }
    }

    /// Does something and notes how long it took.
    fn timed<T>(&self, counter: &AtomicU64, work: impl FnOnce() -> T) -> T {
        let started = (self.stopwatch.0)();
        let done = work();
        let took = (self.stopwatch.0)().saturating_sub(started);
        add(counter, u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        done
    }
}

/// A collector that is timed.
struct Timed {
    inner: Box<dyn Collect>,
    figures: Arc<Figures>,
}

impl Collect for Timed {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let figures = self.figures.clone();
        add(&figures.docs, block.docs.len() as u64);
        figures.timed(&figures.collecting_ns, || {
            self.inner.collect(block, account)
        })
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        let Timed { inner, figures } = *self;
        figures.timed(&figures.building_ns, || inner.finish(account))
    }
}

/// Opens a collector, timed where the plan is asked about.
pub(crate) fn opened(
    plan: &Plan,
    open: impl FnOnce() -> Result<Box<dyn Collect>, AggError>,
) -> Result<Box<dyn Collect>, AggError> {
    let Some(figures) = &plan.figures else {
        return open();
    };
    let inner = figures.timed(&figures.opening_ns, open)?;
    add(&figures.segments, 1);
    Ok(Box::new(Timed {
        inner,
        figures: figures.clone(),
    }))
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

fn kind_of(plan: &Plan) -> &'static str {
    match &plan.op {
        Op::Terms(terms) => terms_kind(&terms.shape, plan.values.kind),
        Op::DateHistogram(_) => "DateHistogramAggregator",
        Op::Histogram(_) => "NumericHistogramAggregator",
        Op::Range(_) => "RangeAggregator",
        Op::Missing => "MissingAggregator",
        Op::Moments(kind) => match kind {
            MomentKind::Min => "MinAggregator",
            MomentKind::Max => "MaxAggregator",
            MomentKind::Avg => "AvgAggregator",
            MomentKind::Sum => "SumAggregator",
            MomentKind::Stats => "StatsAggregator",
        },
        Op::Extended { .. } => "ExtendedStatsAggregator",
        Op::ValueCount => "ValueCountAggregator",
        Op::Join(join) if join.way == Way::Inwards => "NestedAggregator",
        Op::Join(_) => "ReverseNestedAggregator",
        Op::Relatives(relatives) => match relatives.way {
            Generation::Children => "ParentToChildrenAggregator",
            Generation::Parents => "ChildrenToParentAggregator",
        },
        Op::TopHits(_) => "TopHitsAggregator",
        Op::Cardinality { .. } => "CardinalityAggregator",
        Op::Quantiles(quantiles) => {
            let is_hdr = matches!(quantiles.method, Method::Hdr { .. });
            match (&quantiles.wanted, is_hdr) {
                (Wanted::MedianDeviation, _) => "MedianAbsoluteDeviationAggregator",
                (Wanted::Percentiles { .. }, false) => "TDigestPercentilesAggregator",
                (Wanted::Percentiles { .. }, true) => "HDRPercentilesAggregator",
                (Wanted::Ranks { .. }, false) => "TDigestPercentileRanksAggregator",
                (Wanted::Ranks { .. }, true) => "HDRPercentileRanksAggregator",
            }
        }
        Op::WeightedAvg { .. } => "WeightedAvgAggregator",
        Op::Filters(filters) => match filters.shape {
            FilterShape::Single => "FilterAggregator",
            FilterShape::Named { .. } => "FiltersAggregator",
            FilterShape::Adjacency { .. } => "AdjacencyMatrixAggregator",
        },
        Op::Global => "GlobalAggregator",
        Op::Sample(_) => "SamplerAggregator",
        Op::Matrix { .. } => "MatrixStatsAggregator",
        Op::Composite(_) => "CompositeAggregator",
        Op::MultiTerms { .. } => "MultiTermsAggregator",
        Op::AutoDate(_) => "AutoDateHistogramAggregator.FromSingle",
        Op::GeoBounds { .. } => "GeoBoundsAggregator",
        Op::GeoCentroid => "GeoCentroidAggregator",
        Op::Grid { grid, .. } => match grid {
            Grid::Geohash { .. } => "GeoHashGridAggregator",
            Grid::Geotile { .. } => "GeoTileGridAggregator",
        },
        Op::Clusters { .. } => "VariableWidthHistogramAggregator",
    }
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
