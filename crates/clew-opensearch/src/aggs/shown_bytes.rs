//! What results of aggregations take while they are shown: as a tree of JSON, which is several times their text.

use clew_aggregation::{AggResult, Bucket, NamedResult, RangeBucket};

/// An object with some members: the least that a map of them takes, with their names.
const OBJECT_BYTES: usize = 1024;
/// A member more: its name, its value.
const MEMBER_BYTES: usize = 96;

/// Memory that results take at most while they are shown.
pub(crate) fn shown_bytes(results: &[NamedResult]) -> usize {
    results.iter().map(|named| of_result(&named.result)).sum()
}

fn of_result(result: &AggResult) -> usize {
    let inside = match result {
        AggResult::Terms(terms)
        | AggResult::MultiTerms { terms, .. }
        | AggResult::Significant { terms, .. } => of_buckets(&terms.buckets),
        AggResult::DateHistogram(histogram)
        | AggResult::Histogram(histogram)
        | AggResult::VariableWidth(histogram)
        | AggResult::AutoDateHistogram { histogram, .. } => of_buckets(&histogram.buckets),
        AggResult::Composite(composite) => of_buckets(&composite.buckets),
        AggResult::Filters { buckets, .. }
        | AggResult::Adjacency(buckets)
        | AggResult::Cells { buckets, .. } => of_buckets(buckets),
        AggResult::Range { buckets, .. } => of_ranges(buckets),
        AggResult::Missing { subs, .. }
        | AggResult::Joined { subs, .. }
        | AggResult::Single { subs, .. } => shown_bytes(subs),
        AggResult::Percentiles(percentiles) => percentiles.points.len() * MEMBER_BYTES,
        AggResult::BucketValue { keys, .. } => keys.len() * MEMBER_BYTES,
        // A few numbers; what hits of buckets take is booked as they are read.
        AggResult::TopHits(_)
        | AggResult::Min(_)
        | AggResult::Max(_)
        | AggResult::Avg(_)
        | AggResult::Sum(_)
        | AggResult::ValueCount(_)
        | AggResult::Cardinality(_)
        | AggResult::Stats(_)
        | AggResult::ExtendedStats(_)
        | AggResult::MedianDeviation(_)
        | AggResult::WeightedAvg(_)
        | AggResult::Matrix(_)
        | AggResult::GeoBounds(_)
        | AggResult::GeoCentroid { .. }
        | AggResult::SimpleValue(_)
        | AggResult::Derivative { .. }
        | AggResult::StatsBucket(_)
        | AggResult::ExtendedStatsBucket(_) => 0,
    };
    OBJECT_BYTES + inside
}

fn of_buckets(buckets: &[Bucket]) -> usize {
    let each = buckets.iter().map(|bucket| shown_bytes(&bucket.subs));
    buckets.len() * OBJECT_BYTES + each.sum::<usize>()
}

fn of_ranges(buckets: &[RangeBucket]) -> usize {
    let each = buckets.iter().map(|bucket| shown_bytes(&bucket.subs));
    buckets.len() * OBJECT_BYTES + each.sum::<usize>()
}
