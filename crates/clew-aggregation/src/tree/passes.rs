//! What is done to all buckets of a shard, or of all shards, once they are counted.

use clew_query::AggError;
use tantivy::SegmentReader;

use crate::bucket::BucketAgg;
use crate::collect::Level;
use crate::counted::Partial;
use crate::counted::buckets::Buckets;
use crate::limits::Account;
use crate::metric::Seen;
use crate::tree::{Op, Plan};

/// The aggregations of a list that make buckets, with these.
fn with_buckets<'a>(
    plans: &'a [Plan],
    partials: &'a mut [Partial],
) -> impl Iterator<Item = (&'a Plan, &'a dyn BucketAgg, &'a mut Buckets)> {
    let pairs = plans.iter().zip(partials);
    pairs.filter_map(|(plan, partial)| match (&plan.op, partial) {
        (Op::Bucket(bucket), Partial::Buckets(buckets)) => {
            Some((plan, bucket.as_bucket(), buckets))
        }
        _ => None,
    })
}

/// Makes the buckets that the data as a whole decides on, at any depth.
pub(crate) fn settle(plans: &[Plan], partials: &mut [Partial]) -> Result<(), AggError> {
    for (plan, bucket, buckets) in with_buckets(plans, partials) {
        *buckets = bucket.settle(plan, std::mem::take(buckets))?;
        settle(&plan.subs, &mut buckets.subs)?;
    }
    Ok(())
}

/// Counts documents that are only known once a shard's were all seen, outer aggregations first.
pub(crate) fn count_late(
    plans: &[Plan],
    partials: &mut [Partial],
    account: &mut Account,
) -> Result<(), AggError> {
    for (plan, bucket, buckets) in with_buckets(plans, partials) {
        bucket.count_late(plan, buckets, account)?;
        count_late(&plan.subs, &mut buckets.subs, account)?;
    }
    Ok(())
}

/// Cuts every aggregation to what its shard reports, outer ones first: what is dropped takes along
/// what is nested in it.
///
/// # Errors
/// Once the request is over; what was counted is of no use then.
pub(crate) fn cut_buckets(
    plans: &[Plan],
    partials: &mut [Partial],
    parent_count: usize,
) -> Result<(), AggError> {
    for (plan, bucket, buckets) in with_buckets(plans, partials) {
        bucket.cut(buckets, parent_count)?;
        cut_buckets(&plan.subs, &mut buckets.subs, buckets.table.len())?;
    }
    Ok(())
}

/// Whether any aggregation needs a background.
pub(crate) fn wants_background(plans: &[Plan]) -> bool {
    plans.iter().any(|plan| match &plan.op {
        Op::Bucket(bucket) => bucket.as_bucket().wants_background() || wants_background(&plan.subs),
        Op::Metric(_) => false,
    })
}

/// Counts the background of the buckets that were seen, over all segments of a shard.
///
/// # Errors
/// [`AggError::Column`] when a column cannot be read.
pub(crate) fn count_backgrounds(
    plans: &[Plan],
    partials: &mut [Partial],
    readers: &[SegmentReader],
) -> Result<(), AggError> {
    for (plan, bucket, buckets) in with_buckets(plans, partials) {
        bucket.count_background(plan, buckets, readers)?;
        count_backgrounds(&plan.subs, &mut buckets.subs, readers)?;
    }
    Ok(())
}

/// Has every metric go on from what was counted, at any depth, once all documents were seen that are to be.
///
/// # Errors
/// What a metric's script fails for; once the request is over.
pub(crate) fn conclude(
    plans: &[Plan],
    partials: &mut [Partial],
    seen: Seen,
) -> Result<(), AggError> {
    let inside = match seen {
        Seen::Shard(_) => Seen::Shard(Level::Nested),
        Seen::All => Seen::All,
    };
    for (plan, partial) in plans.iter().zip(partials) {
        match (&plan.op, partial) {
            (Op::Metric(metric), partial) => metric.as_metric().conclude(partial, seen)?,
            (Op::Bucket(_), Partial::Buckets(buckets)) => {
                conclude(&plan.subs, &mut buckets.subs, inside)?;
            }
            (Op::Bucket(_), _) => {}
        }
    }
    Ok(())
}
