//! Metrics: numbers per bucket. A file holds one of them, or those that are counted alike: its plan, its collector and
//! its result.

pub(crate) mod cardinality;
pub(crate) mod extended_stats;
pub(crate) mod geo;
pub(crate) mod matrix_stats;
pub(crate) mod percentiles;
pub(crate) mod plan;
pub(crate) mod simple;
pub(crate) mod top_hits;
pub(crate) mod value_count;
pub(crate) mod weighted_avg;

use clew_query::AggError;

use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::ValuePlan;
use crate::field::column::ValueColumn;
use crate::field::rows::{Repeats, Rows};
use crate::metric::cardinality::CardinalityPlan;
use crate::metric::extended_stats::ExtendedPlan;
use crate::metric::geo::{GeoBoundsPlan, GeoCentroidPlan};
use crate::metric::matrix_stats::MatrixPlan;
use crate::metric::percentiles::QuantilePlan;
use crate::metric::simple::MomentKind;
use crate::metric::value_count::ValueCountPlan;
use crate::metric::weighted_avg::WeightedAvgPlan;
use crate::order::Property;
use crate::result::AggResult;

/// What the tree asks of a metric, each of which is described in its own file.
pub(crate) trait Metric {
    /// Its collector of a segment.
    fn open(&self, segment: Segment<'_>, plan: &dyn Planned) -> Result<Box<dyn Collect>, AggError>;
    /// Nothing counted.
    fn empty(&self) -> Partial;
    /// Its result in one bucket; a bucket made to fill a gap has no number.
    fn result(&self, values: &ValuePlan, partial: &Partial, bucket: Option<u32>) -> AggResult;
    /// The number that an order's path names.
    fn property(&self, name: Option<&str>) -> Option<Property>;
    /// What OpenSearch calls that which counts so.
    fn profiled_as(&self) -> &'static str;
    /// What each bucket's result takes besides, in bytes.
    fn result_bytes(&self) -> usize {
        0
    }
}

/// The metrics there are; another one is another line here.
macro_rules! metrics {
    ($($name:ident($plan:ty),)*) => {
        /// A metric, ready to run.
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
}

/// The state of a bucket, where something was counted in it.
fn of_bucket<T>(states: &[T], bucket: Option<u32>) -> Option<&T> {
    states.get(bucket? as usize)
}

/// Partial results come from the plan that reads them.
const SHAPE: &str = "a partial result has the shape of its plan";

/// Reads a block and calls `add` with each value's bucket.
pub(crate) fn each_value(
    column: &ValueColumn,
    rows: &mut Rows,
    block: Block<'_>,
    mut add: impl FnMut(u32, u64) -> Result<(), AggError>,
) -> Result<(), AggError> {
    if column.is_empty() {
        return Ok(());
    }
    column.read(block.docs, Repeats::Kept, rows);
    for (entry, raw) in rows.entries.iter().zip(&rows.values) {
        add(block.parents[*entry as usize], *raw)?;
    }
    Ok(())
}
