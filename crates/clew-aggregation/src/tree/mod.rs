//! The tree that collectors are built from: fields are resolved, settings are checked, order paths
//! point at sub-aggregations. Every aggregation has its variant here, and its line in every list.

pub(crate) mod nesting;
pub(crate) mod open;
pub(crate) mod passes;
pub(crate) mod planned;
pub(crate) mod profile;
pub(crate) mod property;
pub(crate) mod results;
pub(crate) mod unify;

use std::sync::Arc;

use clew_query::AggError;
use clew_query::aggregation::{AggSpec, NamedAgg, Source};

use crate::bucket::auto_date::{AutoDatePlan, plan_auto_date};
use crate::bucket::composite::{CompositePlan, plan_composite};
use crate::bucket::date_histogram::{DatePlan, plan_date_histogram};
use crate::bucket::filters::{FiltersPlan, plan_filters};
use crate::bucket::grid::{GridPlan, plan_grid};
use crate::bucket::histogram::{NumberPlan, plan_histogram};
use crate::bucket::multi_terms::{MultiTermsPlan, plan_multi_terms};
use crate::bucket::nested::JoinPlan;
use crate::bucket::range::{RangePlan, plan_range};
use crate::bucket::relatives::RelativesPlan;
use crate::bucket::sampler::{SamplePlan, plan_sample};
use crate::bucket::significant::plan_significant_terms;
use crate::bucket::terms::{TermsPlan, plan_rare_terms, plan_terms};
use crate::bucket::variable_width::{ClustersPlan, plan_clusters};
use crate::collect::timed::Figures;
use crate::field::ValuePlan;
use crate::field::context::AggContext;
use crate::field::values::{check_patterns, plan_values};
use crate::metric::MetricPlan;
use crate::metric::plan::plan_metric;
use crate::metric::top_hits::TopHitsPlan;
use crate::order::PlannedOrder;
use crate::pipeline::PipelinePlan;
use crate::tree::nesting::check_nesting;

/// How deep aggregations may be nested.
const DEPTH_MAX: usize = 32;

/// One aggregation, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) name: String,
    pub(crate) op: Op,
    pub(crate) values: ValuePlan,
    pub(crate) subs: Vec<Plan>,
    /// Computed over the buckets, or inside each of them.
    pub(crate) pipelines: Vec<PipelinePlan>,
    /// Where is noted what it costs, when somebody asks.
    pub(crate) figures: Option<Arc<Figures>>,
}

/// What is computed.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one per aggregation, not one per bucket"
)]
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Terms(TermsPlan),
    DateHistogram(DatePlan),
    Histogram(NumberPlan),
    Range(RangePlan),
    Missing,
    Metric(MetricPlan),
    Join(JoinPlan),
    Relatives(RelativesPlan),
    TopHits(TopHitsPlan),
    Filters(FiltersPlan),
    Global,
    Sample(SamplePlan),
    Composite(CompositePlan),
    MultiTerms(MultiTermsPlan),
    AutoDate(AutoDatePlan),
    Grid(GridPlan),
    Clusters(ClustersPlan),
}

/// Resolves a tree of aggregations.
///
/// # Errors
/// [`AggError`] naming the first thing that is wrong.
pub(crate) fn plan_all(
    specs: &[NamedAgg],
    context: &AggContext<'_>,
    depth: usize,
) -> Result<Vec<Plan>, AggError> {
    if depth > DEPTH_MAX {
        return Err(AggError::invalid(format!(
            "aggregations are nested more than [{DEPTH_MAX}] levels deep"
        )));
    }
    specs
        .iter()
        .filter(|spec| !matches!(spec.spec, AggSpec::Pipeline(_)))
        .map(|spec| plan_one(spec, context, depth))
        .collect()
}

fn plan_one(agg: &NamedAgg, context: &AggContext<'_>, depth: usize) -> Result<Plan, AggError> {
    check_nesting(agg, depth)?;
    let inside = AggContext {
        scope: agg.spec.scope_inside(context.scope),
        ..*context
    };
    let subs = match plan_all(&agg.subs, &inside, depth + 1) {
        Ok(subs) => subs,
        // What is wrong further out is told first.
        Err(inner) => {
            let outer = plan_values_of(agg, context, &[]).err();
            let is_outer = matches!(outer, Some(AggError::Unsupported { .. }));
            return Err(outer.filter(|_| is_outer).unwrap_or(inner));
        }
    };
    let (values, op) = plan_values_of(agg, context, &subs)?;
    let pipelines = PipelinePlan::all(&agg.subs, Some(agg))?;
    if !agg.subs.is_empty() && !op.has_buckets() {
        return Err(AggError::invalid(format!(
            "Aggregator [{}] cannot accept sub-aggregations",
            agg.name
        )));
    }
    Ok(Plan {
        name: agg.name.clone(),
        op,
        values,
        subs,
        pipelines,
        figures: context.stopwatch.map(Figures::new).map(Arc::new),
    })
}

/// What an aggregation computes, and of which values.
fn plan_values_of(
    agg: &NamedAgg,
    context: &AggContext<'_>,
    subs: &[Plan],
) -> Result<(ValuePlan, Op), AggError> {
    match plan_metric(&agg.spec, context)? {
        Some(planned) => Ok(Op::of(planned, Op::Metric)),
        None => plan_buckets(agg, context, subs),
    }
}

/// The plan of an aggregation that is not a metric.
#[warn(clippy::wildcard_enum_match_arm)]
#[allow(
    clippy::too_many_lines,
    reason = "one arm for each kind of aggregation"
)]
fn plan_buckets(
    agg: &NamedAgg,
    context: &AggContext<'_>,
    subs: &[Plan],
) -> Result<(ValuePlan, Op), AggError> {
    let values_of = |source: &Source, aggregation| plan_values(source, aggregation, context);
    Ok(match &agg.spec {
        AggSpec::Terms(spec) => {
            let values = values_of(&spec.source, "terms")?;
            check_patterns(&spec.filter, &values, &agg.name)?;
            let op = Op::Terms(plan_terms(spec, &values, subs)?);
            (values, op)
        }
        AggSpec::DateHistogram(spec) => {
            Op::of(plan_date_histogram(spec, context, subs)?, Op::DateHistogram)
        }
        AggSpec::Histogram(spec) => {
            let values = values_of(&spec.source, "histogram")?;
            (values, Op::Histogram(plan_histogram(spec, subs)?))
        }
        AggSpec::Range(spec) => Op::of(plan_range(spec, context)?, Op::Range),
        AggSpec::Missing(source) => (values_of(source, "missing")?, Op::Missing),
        AggSpec::RareTerms(spec) => {
            let values = values_of(&spec.source, "rare_terms")?;
            let op = Op::Terms(plan_rare_terms(spec, &values)?);
            (values, op)
        }
        AggSpec::GeoGrid(spec) => (ValuePlan::none(), Op::Grid(plan_grid(spec, context)?)),
        AggSpec::SignificantTerms(spec) => {
            Op::of(plan_significant_terms(spec, context, &agg.name)?, Op::Terms)
        }
        AggSpec::VariableWidth { source, buckets } => {
            Op::of(plan_clusters(source, *buckets, context)?, Op::Clusters)
        }
        AggSpec::Filters(spec) => (ValuePlan::none(), Op::Filters(plan_filters(spec, context)?)),
        AggSpec::Nested { path } => {
            let join = JoinPlan::inwards(path, context);
            (ValuePlan::none(), Op::Join(join))
        }
        AggSpec::ReverseNested { path } => {
            let join = JoinPlan::outwards(&agg.name, path.as_deref(), context)?;
            (ValuePlan::none(), Op::Join(join))
        }
        AggSpec::Relatives { way, kind } => {
            let plan = RelativesPlan::new(*way, kind, context)?;
            (ValuePlan::none(), Op::Relatives(plan))
        }
        AggSpec::TopHits(spec) => {
            let plan = TopHitsPlan::new(&agg.name, spec, context)?;
            (ValuePlan::none(), Op::TopHits(plan))
        }
        AggSpec::Global => (ValuePlan::none(), Op::Global),
        AggSpec::Sample(spec) => Op::of(plan_sample(spec, context)?, Op::Sample),
        AggSpec::Composite(spec) => (
            ValuePlan::none(),
            Op::Composite(plan_composite(spec, context)?),
        ),
        AggSpec::MultiTerms(spec) => (
            ValuePlan::none(),
            Op::MultiTerms(plan_multi_terms(spec, context, subs)?),
        ),
        AggSpec::AutoDateHistogram(spec) => Op::of(plan_auto_date(spec, context)?, Op::AutoDate),
        AggSpec::Min(_)
        | AggSpec::Max(_)
        | AggSpec::Avg(_)
        | AggSpec::Sum(_)
        | AggSpec::ValueCount(_)
        | AggSpec::Stats(_)
        | AggSpec::ExtendedStats { .. }
        | AggSpec::Cardinality { .. }
        | AggSpec::Percentiles(_)
        | AggSpec::MedianDeviation { .. }
        | AggSpec::WeightedAvg { .. }
        | AggSpec::GeoBounds { .. }
        | AggSpec::GeoCentroid(_)
        | AggSpec::Matrix { .. }
        | AggSpec::Pipeline(_) => {
            // Metrics and pipelines are planned apart.
            return Err(AggError::invalid(format!(
                "Aggregator [{}] makes no buckets",
                agg.name
            )));
        }
    })
}

impl Op {
    /// What an aggregation computes, and of which values.
    pub(crate) fn of<T>((values, plan): (ValuePlan, T), op: fn(T) -> Op) -> (ValuePlan, Op) {
        (values, op(plan))
    }

    /// How buckets are ordered, where that is a choice.
    pub(crate) fn order(&self) -> Option<&[PlannedOrder]> {
        match self {
            Op::Terms(terms)
            | Op::MultiTerms(MultiTermsPlan { terms, .. })
            | Op::Grid(GridPlan { terms, .. }) => Some(&terms.order),
            Op::DateHistogram(dates) => Some(&dates.order),
            Op::Histogram(numbers) => Some(&numbers.order),
            _ => None,
        }
    }

    pub(crate) fn has_buckets(&self) -> bool {
        match self {
            Op::Terms(_)
            | Op::DateHistogram(_)
            | Op::Histogram(_)
            | Op::Range(_)
            | Op::Missing
            | Op::Filters(_)
            | Op::Global
            | Op::Sample(_)
            | Op::Join(_)
            | Op::Relatives(_)
            | Op::Composite(_)
            | Op::MultiTerms(_)
            | Op::AutoDate(_)
            | Op::Clusters(_)
            | Op::Grid(_) => true,
            Op::Metric(_) | Op::TopHits(_) => false,
        }
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
