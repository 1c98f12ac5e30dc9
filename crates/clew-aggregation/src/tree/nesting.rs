//! Which aggregations may lie in which.

use clew_query::AggError;
use clew_query::aggregation::{AggFamily, NamedAgg};

use crate::bucket::{AskedBuckets, asked_buckets};

/// Some aggregations only make sense at the top, or inside a few others.
///
/// # Errors
/// [`AggError::Invalid`].
pub(crate) fn check_nesting(agg: &NamedAgg, depth: usize) -> Result<(), AggError> {
    let asked = buckets_of(agg);
    let only_at_the_top = asked.and_then(|asked| asked.only_at_the_top(&agg.name));
    if let Some(reason) = only_at_the_top.filter(|_| depth > 0) {
        return Err(AggError::invalid(reason));
    }
    let takes_pages = asked.is_some_and(AskedBuckets::takes_pages);
    if !takes_pages && agg.subs.iter().any(holds_pages) {
        let factory = asked.map_or("AggregatorFactory", AskedBuckets::factory_name);
        return Err(AggError::invalid(format!(
            "[composite] aggregation cannot be used with a parent aggregation of type: [{factory}]"
        )));
    }
    Ok(())
}

/// Whether it has pages, or there are such inside of it and of what takes them.
fn holds_pages(agg: &NamedAgg) -> bool {
    let asked = buckets_of(agg);
    asked.is_some_and(AskedBuckets::has_pages)
        || asked.is_some_and(AskedBuckets::takes_pages) && agg.subs.iter().any(holds_pages)
}

/// An aggregation that makes buckets.
fn buckets_of(agg: &NamedAgg) -> Option<&dyn AskedBuckets> {
    match agg.spec.family() {
        AggFamily::Bucket(spec) => Some(asked_buckets(spec)),
        AggFamily::Metric(_) | AggFamily::Pipeline(_) => None,
    }
}
