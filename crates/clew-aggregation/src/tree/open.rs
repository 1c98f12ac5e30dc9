//! The collectors of plans.

use clew_platform::book;
use clew_query::{AggError, unless_overdue};

use crate::bucket::Opening;
use crate::collect::timed::opened;
use crate::collect::{Collect, Level, Segment};
use crate::tree::{Op, Plan};

/// Roughly what an opened column has for itself: its pages are mapped.
const COLUMN_BYTES: usize = 512;

/// The collectors of a list of aggregations, which are booked without what they count.
///
/// # Errors
/// When a column cannot be read; when there is no memory for them; once nobody wants what they count.
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
    let all = plans.iter();
    let all = all.map(|plan| opened(plan.figures.as_ref(), || open(plan)));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    let own = all.iter().map(|one| size_of_val(&**one) + COLUMN_BYTES);
    book(own.sum()).map_err(AggError::Memory)?;
    Ok(all)
}
