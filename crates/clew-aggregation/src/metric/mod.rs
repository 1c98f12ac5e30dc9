//! Metrics: numbers per bucket. A file holds one of them, or those that are counted alike: its plan, its collector and
//! its result. The list of all is here.

pub(crate) mod cardinality;
pub(crate) mod extended_stats;
pub(crate) mod geo;
pub(crate) mod matrix_stats;
pub(crate) mod percentiles;
pub(crate) mod scripted;
pub(crate) mod simple;
pub(crate) mod top_hits;
pub(crate) mod value_count;
pub(crate) mod values;
pub(crate) mod weighted_avg;

use clew_query::AggError;
use clew_query::aggregation::MetricSpec;

use crate::collect::{Block, Collect, Level, Planned, Segment};
use crate::counted::Partial;
use crate::field::ValuePlan;
use crate::field::column::ValueColumn;
use crate::field::context::AggContext;
use crate::field::rows::{Repeats, Rows};
use crate::limits::Account;
use crate::metric::cardinality::{CardinalityPlan, plan_cardinality};
use crate::metric::extended_stats::{ExtendedPlan, plan_extended_stats};
use crate::metric::geo::{GeoBoundsPlan, GeoCentroidPlan, plan_geo_bounds, plan_geo_centroid};
use crate::metric::matrix_stats::{MatrixPlan, plan_matrix};
use crate::metric::percentiles::{QuantilePlan, plan_median_deviation, plan_percentiles};
use crate::metric::scripted::{ScriptedPlan, plan_scripted};
use crate::metric::simple::{MomentKind, plan_moments};
use crate::metric::top_hits::{TopHitsPlan, plan_top_hits};
use crate::metric::value_count::{ValueCountPlan, plan_value_count};
use crate::metric::weighted_avg::{WeightedAvgPlan, plan_weighted_avg};
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::AggResult;

/// What the tree asks of a metric, each of which is described in its own file.
pub(crate) trait Metric {
    /// Its collector of a segment.
    fn open(&self, segment: Segment<'_>, plan: &dyn Planned) -> Result<Box<dyn Collect>, AggError>;
    /// Nothing counted.
    fn empty(&self) -> Partial;
    /// Its result in one bucket.
    fn result(&self, of: InBucket<'_>, budget: &mut Budget<'_>) -> AggResult;
    /// The number that an order's path names.
    fn property(&self, name: Option<&str>) -> Option<Property>;
    /// What OpenSearch calls that which counts so.
    fn profiled_as(&self) -> &'static str;
    /// Whether it reads the documents' scores.
    fn wants_scores(&self) -> bool {
        false
    }
    /// Goes on from what was counted, once all documents were seen that are to be.
    fn conclude(&self, _partial: &mut Partial, _seen: Seen) -> Result<(), AggError> {
        Ok(())
    }
    /// What each bucket's result takes besides, in bytes.
    fn result_bytes(&self) -> usize {
        0
    }
}

/// Whose documents were all seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Those of a shard, of which a metric has one bucket in any case where it lies in no other.
    Shard(Level),
    /// Those of all shards.
    All,
}

/// What was counted in one bucket.
#[derive(Clone, Copy)]
pub(crate) struct InBucket<'a> {
    /// What the values mean.
    pub(crate) values: &'a ValuePlan,
    /// What was counted in all buckets.
    pub(crate) partial: &'a Partial,
    /// The bucket's number; one made to fill a gap has none.
    pub(crate) bucket: Option<u32>,
}

/// The metrics there are; another one is another line here.
macro_rules! metrics {
    ($($name:ident($plan:ty),)*) => {
        /// A metric, ready to run.
        #[allow(
            clippy::large_enum_variant,
            reason = "there is one per aggregation, not one per bucket"
        )]
        #[derive(Clone, Debug)]
        pub(crate) enum MetricPlan {
            $($name($plan),)*
        }

        impl MetricPlan {
            /// The one that it is.
            pub(crate) fn as_metric(&self) -> &dyn Metric {
                match self {
                    $(MetricPlan::$name(plan) => plan,)*
                }
            }
        }

        $(impl From<$plan> for MetricPlan {
            fn from(plan: $plan) -> Self {
                MetricPlan::$name(plan)
            }
        })*
    };
}

metrics! {
    Moments(MomentKind),
    Extended(ExtendedPlan),
    ValueCount(ValueCountPlan),
    Cardinality(CardinalityPlan),
    Quantiles(QuantilePlan),
    WeightedAvg(WeightedAvgPlan),
    Matrix(MatrixPlan),
    GeoBounds(GeoBoundsPlan),
    GeoCentroid(GeoCentroidPlan),
    TopHits(TopHitsPlan),
    Scripted(ScriptedPlan),
}

/// The plan of a metric with a name, and the values that it is of; another metric is another line here too.
///
/// # Errors
/// [`AggError`] naming what is wrong.
pub(crate) fn plan_metric(
    name: &str,
    spec: MetricSpec<'_>,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, MetricPlan), AggError> {
    fn of<P: Into<MetricPlan>>((values, plan): (ValuePlan, P)) -> (ValuePlan, MetricPlan) {
        (values, plan.into())
    }
    let moments = |source, kind| plan_moments(kind, source, context).map(of);
    match spec {
        MetricSpec::Min(source) => moments(source, MomentKind::Min),
        MetricSpec::Max(source) => moments(source, MomentKind::Max),
        MetricSpec::Avg(source) => moments(source, MomentKind::Avg),
        MetricSpec::Sum(source) => moments(source, MomentKind::Sum),
        MetricSpec::Stats(source) => moments(source, MomentKind::Stats),
        MetricSpec::ValueCount(source) => plan_value_count(source, context).map(of),
        MetricSpec::ExtendedStats(spec) => plan_extended_stats(spec, context).map(of),
        MetricSpec::Cardinality(spec) => plan_cardinality(spec, context).map(of),
        MetricSpec::GeoBounds(spec) => plan_geo_bounds(spec, context).map(of),
        MetricSpec::GeoCentroid(source) => plan_geo_centroid(source, context).map(of),
        MetricSpec::Percentiles(spec) => plan_percentiles(spec, context).map(of),
        MetricSpec::MedianDeviation(spec) => plan_median_deviation(spec, context).map(of),
        MetricSpec::WeightedAvg(spec) => plan_weighted_avg(spec, context).map(of),
        MetricSpec::Matrix(spec) => plan_matrix(spec, context).map(of),
        MetricSpec::TopHits(spec) => plan_top_hits(name, spec, context).map(of),
        MetricSpec::Scripted(spec) => plan_scripted(spec, context).map(of),
    }
}

/// The state of a bucket, where something was counted in it.
fn of_bucket<T>(states: &[T], bucket: Option<u32>) -> Option<&T> {
    states.get(bucket? as usize)
}

/// Partial results come from the plan that reads them.
const SHAPE: &str = "a partial result has the shape of its plan";

/// Reads a block and calls `add` with each value's bucket and the account.
pub(crate) fn each_value(
    column: &ValueColumn,
    rows: &mut Rows,
    (block, account): (Block<'_>, &mut Account),
    mut add: impl FnMut(u32, u64, &mut Account) -> Result<(), AggError>,
) -> Result<(), AggError> {
    if column.is_empty() {
        return Ok(());
    }
    column.read_scored(block.docs, account, Repeats::Kept, rows)?;
    for (entry, raw) in rows.entries.iter().zip(&rows.values) {
        add(block.parents[*entry as usize], *raw, account)?;
    }
    Ok(())
}
