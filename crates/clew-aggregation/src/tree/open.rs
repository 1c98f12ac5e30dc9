//! The collectors of plans.

use clew_query::{AggError, unless_overdue};

use crate::bucket::Opening;
use crate::collect::timed::opened;
use crate::collect::{Collect, Level, Segment};
use crate::tree::{Op, Plan};

/// Roughly what a collector has for itself, and the column that it opens, whose pages are mapped.
const COLLECTOR_BYTES: usize = 1 << 10;

/// What the collectors of aggregations take in a segment, without what they count.
pub(crate) fn opened_bytes(plans: &[Plan]) -> usize {
    let of_plan = |plan: &Plan| COLLECTOR_BYTES + opened_bytes(&plan.subs);
    plans.iter().map(of_plan).sum()
}

/// The collectors of a list of aggregations.
///
/// # Errors
/// When a column cannot be read; once nobody wants what they count.
pub(crate) fn open_all(
    segment: Segment<'_>,
    plans: &[Plan],
    level: Level,
) -> Result<Vec<Box<dyn Collect>>, AggError> {
    let open = |plan: &Plan| {
        // Each may read a dictionary, or all changes of clocks of ten thousand years.
        unless_overdue()?;
        match &plan.op {
            Op::Bucket(bucket) => bucket.as_bucket().open(Opening {
                segment,
                plan,
                level,
            }),
            Op::Metric(metric) => metric.as_metric().open(segment, plan),
        }
    };
    plans
        .iter()
        .map(|plan| opened(plan.figures.as_ref(), || open(plan)))
        .collect()
}
