//! What a pipeline beside other aggregations may go over: the buckets of one that has several.

use clew_query::aggregation::{AggSpec, FilterShape, Generation, NamedAgg};

/// Why the path of a pipeline leads to no such aggregation beside it, if it does not.
pub(super) fn refusal(name: &str, path: &str, siblings: &[NamedAgg]) -> Option<String> {
    // A bucket by its key is none that OpenSearch takes here.
    let first = path.split(['>', '.']).next().unwrap_or_default();
    let mut all = siblings.iter();
    let found = all.find(|agg| agg.name == first && !matches!(agg.spec, AggSpec::Pipeline(_)));
    let Some(found) = found else {
        return Some(format!(
            "buckets_path aggregation does not exist for aggregation [{name}]: {path}"
        ));
    };
    let class = class_of_one(&found.spec)?;
    Some(format!(
        "The first aggregation in buckets_path must be a multi-bucket aggregation for \
         aggregation [{name}] found :org.opensearch.{class}AggregationBuilder for buckets path: \
         {path}"
    ))
}

/// What OpenSearch calls an aggregation without a list of buckets, or whose buckets it does not take for such a list.
fn class_of_one(spec: &AggSpec) -> Option<&'static str> {
    Some(match spec {
        AggSpec::Terms(_)
        | AggSpec::DateHistogram(_)
        | AggSpec::Histogram(_)
        | AggSpec::Range(_)
        | AggSpec::MultiTerms(_)
        | AggSpec::RareTerms(_)
        | AggSpec::GeoGrid(_)
        | AggSpec::SignificantTerms(_)
        | AggSpec::VariableWidth(_)
        | AggSpec::AutoDateHistogram(_)
        | AggSpec::Pipeline(_) => return None,
        AggSpec::Filters(filters) => match filters.shape {
            FilterShape::Single => "search.aggregations.bucket.filter.Filter",
            FilterShape::Named { .. } | FilterShape::Adjacency { .. } => return None,
        },
        AggSpec::Missing(_) => "search.aggregations.bucket.missing.Missing",
        AggSpec::Nested(_) => "search.aggregations.bucket.nested.Nested",
        AggSpec::ReverseNested(_) => "search.aggregations.bucket.nested.ReverseNested",
        AggSpec::Relatives(relatives) => match relatives.way {
            Generation::Children => "join.aggregations.Children",
            Generation::Parents => "join.aggregations.Parent",
        },
        AggSpec::Global(_) => "search.aggregations.bucket.global.Global",
        AggSpec::Composite(_) => "search.aggregations.bucket.composite.Composite",
        AggSpec::Sample(sample) => match sample.diverse {
            Some(_) => "search.aggregations.bucket.sampler.Diversified",
            None => "search.aggregations.bucket.sampler.Sampler",
        },
        AggSpec::Min(_) => "search.aggregations.metrics.Min",
        AggSpec::Max(_) => "search.aggregations.metrics.Max",
        AggSpec::Avg(_) => "search.aggregations.metrics.Avg",
        AggSpec::Sum(_) => "search.aggregations.metrics.Sum",
        AggSpec::ValueCount(_) => "search.aggregations.metrics.ValueCount",
        AggSpec::Stats(_) => "search.aggregations.metrics.Stats",
        AggSpec::ExtendedStats(_) => "search.aggregations.metrics.ExtendedStats",
        AggSpec::TopHits(_) => "search.aggregations.metrics.TopHits",
        AggSpec::Cardinality(_) => "search.aggregations.metrics.Cardinality",
        AggSpec::Percentiles(_) => "search.aggregations.metrics.Percentiles",
        AggSpec::MedianDeviation(_) => "search.aggregations.metrics.MedianAbsoluteDeviation",
        AggSpec::WeightedAvg(_) => "search.aggregations.metrics.WeightedAvg",
        AggSpec::GeoBounds(_) => "geo.search.aggregations.metrics.GeoBounds",
        AggSpec::GeoCentroid(_) => "search.aggregations.metrics.GeoCentroid",
        AggSpec::Matrix(_) => "search.aggregations.matrix.stats.MatrixStats",
        AggSpec::Scripted(_) => "search.aggregations.metrics.ScriptedMetric",
    })
}
