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
use clew_query::aggregation::{
    AggFamily, AggSpec, BucketSpec, MetricSpec, NamedAgg, NestedSpec, RelativesSpec,
    ReverseNestedSpec, Source, VariableWidthSpec,
};

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
    match agg.spec.family() {
        AggFamily::Metric(MetricSpec::TopHits(spec)) => {
            let plan = TopHitsPlan::new(&agg.name, spec, context)?;
            Ok((ValuePlan::none(), Op::TopHits(plan)))
        }
        AggFamily::Metric(spec) => Ok(Op::of(plan_metric(spec, context)?, Op::Metric)),
        AggFamily::Bucket(spec) => plan_buckets(spec, &agg.name, context, subs),
        // Those are planned apart.
        AggFamily::Pipeline(_) => Err(AggError::invalid(format!(
            "Aggregator [{}] makes no buckets",
            agg.name
        ))),
    }
}

/// The plan of an aggregation that is not a metric.
#[allow(
    clippy::too_many_lines,
    reason = "one arm for each kind of aggregation"
)]
fn plan_buckets(
    spec: BucketSpec<'_>,
    name: &str,
    context: &AggContext<'_>,
    subs: &[Plan],
) -> Result<(ValuePlan, Op), AggError> {
    let values_of = |source: &Source, aggregation| plan_values(source, aggregation, context);
    Ok(match spec {
        BucketSpec::Terms(spec) => {
            let values = values_of(&spec.source, "terms")?;
            check_patterns(&spec.filter, &values, name)?;
            let op = Op::Terms(plan_terms(spec, &values, subs)?);
            (values, op)
        }
        BucketSpec::DateHistogram(spec) => {
            Op::of(plan_date_histogram(spec, context, subs)?, Op::DateHistogram)
        }
        BucketSpec::Histogram(spec) => {
            let values = values_of(&spec.source, "histogram")?;
            (values, Op::Histogram(plan_histogram(spec, subs)?))
        }
        BucketSpec::Range(spec) => Op::of(plan_range(spec, context)?, Op::Range),
        BucketSpec::Missing(source) => (values_of(source, "missing")?, Op::Missing),
        BucketSpec::RareTerms(spec) => {
            let values = values_of(&spec.source, "rare_terms")?;
            let op = Op::Terms(plan_rare_terms(spec, &values)?);
            (values, op)
        }
        BucketSpec::GeoGrid(spec) => (ValuePlan::none(), Op::Grid(plan_grid(spec, context)?)),
        BucketSpec::SignificantTerms(spec) => {
            Op::of(plan_significant_terms(spec, context, name)?, Op::Terms)
        }
        BucketSpec::VariableWidth(VariableWidthSpec { source, buckets }) => {
            Op::of(plan_clusters(source, *buckets, context)?, Op::Clusters)
        }
        BucketSpec::Filters(spec) => (ValuePlan::none(), Op::Filters(plan_filters(spec, context)?)),
        BucketSpec::Nested(NestedSpec { path }) => {
            let join = JoinPlan::inwards(path, context);
            (ValuePlan::none(), Op::Join(join))
        }
        BucketSpec::ReverseNested(ReverseNestedSpec { path }) => {
            let join = JoinPlan::outwards(name, path.as_deref(), context)?;
            (ValuePlan::none(), Op::Join(join))
        }
        BucketSpec::Relatives(RelativesSpec { way, kind }) => {
            let plan = RelativesPlan::new(*way, kind, context)?;
            (ValuePlan::none(), Op::Relatives(plan))
        }
        BucketSpec::Global(_) => (ValuePlan::none(), Op::Global),
        BucketSpec::Sample(spec) => Op::of(plan_sample(spec, context)?, Op::Sample),
        BucketSpec::Composite(spec) => (
            ValuePlan::none(),
            Op::Composite(plan_composite(spec, context)?),
        ),
        BucketSpec::MultiTerms(spec) => (
            ValuePlan::none(),
            Op::MultiTerms(plan_multi_terms(spec, context, subs)?),
        ),
        BucketSpec::AutoDateHistogram(spec) => Op::of(plan_auto_date(spec, context)?, Op::AutoDate),
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
