//! Which aggregations may lie in which.

use clew_query::AggError;
use clew_query::aggregation::{AggSpec, FilterShape, NamedAgg};

/// Some aggregations only make sense at the top, or inside a few others.
///
/// # Errors
/// [`AggError::Invalid`].
pub(crate) fn check_nesting(agg: &NamedAgg, depth: usize) -> Result<(), AggError> {
    if depth > 0 && matches!(agg.spec, AggSpec::Global(_)) {
        return Err(AggError::invalid(format!(
            "Aggregation [{}] cannot have a global sub-aggregation: global aggregations can only \
             be at the top level",
            agg.name
        )));
    }
    if depth > 0 && matches!(agg.spec, AggSpec::Sample(_)) {
        return Err(AggError::invalid(format!(
            "Aggregation [{}]: samples can only be taken at the top level",
            agg.name
        )));
    }
    let single = match &agg.spec {
        AggSpec::Filters(filters) => filters.shape == FilterShape::Single,
        AggSpec::Nested(_) | AggSpec::ReverseNested(_) | AggSpec::Relatives(_) => true,
        _ => false,
    };
    let composite = |sub: &NamedAgg| matches!(sub.spec, AggSpec::Composite(_));
    if !single && agg.subs.iter().any(composite) {
        return Err(AggError::invalid(format!(
            "[composite] aggregation cannot be used with a parent aggregation of type: [{}]",
            factory_name(&agg.spec)
        )));
    }
    Ok(())
}

/// The name OpenSearch gives the thing that builds such aggregators, seen in its messages.
fn factory_name(spec: &AggSpec) -> &'static str {
    match spec {
        AggSpec::Terms(_) => "TermsAggregatorFactory",
        AggSpec::DateHistogram(_) => "DateHistogramAggregatorFactory",
        AggSpec::Histogram(_) => "HistogramAggregatorFactory",
        AggSpec::Range(_) => "RangeAggregatorFactory",
        AggSpec::Filters(_) => "FiltersAggregatorFactory",
        AggSpec::Global(_) => "GlobalAggregatorFactory",
        AggSpec::Sample(_) => "SamplerAggregatorFactory",
        AggSpec::Missing(_) => "MissingAggregatorFactory",
        AggSpec::Composite(_) => "CompositeAggregationFactory",
        AggSpec::MultiTerms(_) => "MultiTermsAggregationFactory",
        _ => "AggregatorFactory",
    }
}
