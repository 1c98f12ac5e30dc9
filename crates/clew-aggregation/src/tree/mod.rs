//! The tree that collectors are built from: fields are resolved, settings are checked, order paths
//! point at sub-aggregations. What each aggregation is, its own file says: nothing here knows one by name.

pub(crate) mod nesting;
pub(crate) mod open;
pub(crate) mod passes;
pub(crate) mod planned;
pub(crate) mod profile;
pub(crate) mod results;
pub(crate) mod unify;

use std::sync::Arc;

use clew_query::AggError;
use clew_query::aggregation::{AggFamily, AggSpec, NamedAgg};

use crate::bucket::{Asking, BucketPlan, asked_buckets};
use crate::collect::timed::Figures;
use crate::field::ValuePlan;
use crate::field::context::AggContext;
use crate::metric::{MetricPlan, plan_metric};
use crate::order::path::Ordered;
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
    Bucket(BucketPlan),
    Metric(MetricPlan),
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
    let began = context.stopwatch.map(|watch| (watch, watch.now()));
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
    if !agg.subs.is_empty() && matches!(op, Op::Metric(_)) {
        return Err(AggError::invalid(format!(
            "Aggregator [{}] cannot accept sub-aggregations",
            agg.name
        )));
    }
    let figures = began.map(|(watch, since)| {
        let figures = Figures::new(watch);
        figures.planned(since);
        Arc::new(figures)
    });
    Ok(Plan {
        name: agg.name.clone(),
        op,
        values,
        subs,
        pipelines,
        figures,
    })
}

/// What an aggregation computes, and of which values.
fn plan_values_of(
    agg: &NamedAgg,
    context: &AggContext<'_>,
    subs: &[Plan],
) -> Result<(ValuePlan, Op), AggError> {
    match agg.spec.family() {
        AggFamily::Bucket(spec) => {
            let subs: Vec<&dyn Ordered> = subs.iter().map(|sub| sub as &dyn Ordered).collect();
            let asking = Asking {
                name: &agg.name,
                context,
                subs: &subs,
            };
            let (values, plan) = asked_buckets(spec).plan(&asking)?;
            Ok((values, Op::Bucket(plan)))
        }
        AggFamily::Metric(spec) => {
            let (values, plan) = plan_metric(&agg.name, spec, context)?;
            Ok((values, Op::Metric(plan)))
        }
        AggFamily::Pipeline(_) => unreachable!("pipelines are planned apart"),
    }
}

/// What opening the collectors of aggregations takes for each document of a segment.
pub(crate) fn bytes_per_doc(plans: &[Plan]) -> usize {
    let of_plan = |plan: &Plan| {
        let special = match &plan.op {
            Op::Bucket(bucket) => bucket.as_bucket().bytes_per_doc(),
            Op::Metric(_) => 0,
        };
        plan.values.bytes_per_doc() + special + bytes_per_doc(&plan.subs)
    };
    plans.iter().map(of_plan).sum()
}

/// Whether any aggregation wants scores.
pub(crate) fn wants_scores(plans: &[Plan]) -> bool {
    plans.iter().any(|plan| {
        let by_kind = match &plan.op {
            Op::Bucket(bucket) => bucket.as_bucket().wants_scores() || wants_scores(&plan.subs),
            Op::Metric(metric) => metric.as_metric().wants_scores(),
        };
        by_kind || plan.values.wants_scores()
    })
}
