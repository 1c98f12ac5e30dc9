//! From typed results to the `aggregations` object of a reply.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeMap;

use clew_aggregation::{
    AggResult, NamedResult, PercentilesKind, SingleKind, TermsKind, TermsResult, TopHitsResult,
};
use clew_query::aggregation::{EndKind, Grid};
use serde_json::{Map, Value, json};

use super::path::AggPath;
use super::render_buckets::{
    auto_date_body, buckets_body, composite_body, histogram_body, multi_terms_body,
    named_buckets_body, range_body, significant_body, terms_body,
};
use super::render_metrics::{
    bounds_body, bucket_value_body, centroid_body, derivative_body, extended_body, matrix_body,
    metric_body, percentiles_body, stats_body, stats_text,
};
use crate::http::error::ApiError;

/// Writes the `hits` of the `top_hits` aggregation at a path.
pub(crate) type TopHitsWriter<'a> =
    dyn Fn(&AggPath<'_>, &TopHitsResult) -> Result<Value, ApiError> + 'a;

/// How results are written.
#[derive(Clone, Copy)]
pub(crate) struct Rendering<'a> {
    /// Whether each name says its type.
    pub(super) typed_keys: bool,
    /// Documents look like those of the search around them.
    pub(super) top_hits: &'a TopHitsWriter<'a>,
    /// What is handed back with results, by the paths of their aggregations.
    pub(super) meta: &'a BTreeMap<String, Value>,
    /// The aggregation whose buckets are being written.
    pub(super) above: Option<&'a AggPath<'a>>,
}

impl<'a> Rendering<'a> {
    /// Of a request's results; `top_hits` writes documents.
    pub(crate) fn new(
        typed_keys: bool,
        meta: &'a BTreeMap<String, Value>,
        top_hits: &'a TopHitsWriter<'a>,
    ) -> Self {
        Rendering {
            typed_keys,
            top_hits,
            meta,
            above: None,
        }
    }
}

/// Writes results as OpenSearch does.
///
/// # Errors
/// That of a document that cannot be shown.
pub(crate) fn render_aggs(results: &[NamedResult], how: Rendering<'_>) -> Result<Value, ApiError> {
    let mut object = Map::new();
    add_all(&mut object, results, how)?;
    Ok(Value::Object(object))
}

pub(super) fn add_all(
    object: &mut Map<String, Value>,
    results: &[NamedResult],
    how: Rendering<'_>,
) -> Result<(), ApiError> {
    for named in results {
        let name = if how.typed_keys {
            format!("{}#{}", type_name(&named.result), named.name)
        } else {
            named.name.clone()
        };
        let mut body = Map::new();
        let path = AggPath::new(&named.name, how.above);
        if !how.meta.is_empty()
            && let Some(meta) = how.meta.get(&path.to_string())
        {
            body.insert("meta".to_string(), meta.clone());
        }
        render(&mut body, &named.result, &path, how)?;
        object.insert(name, Value::Object(body));
    }
    Ok(())
}

/// The type of a result in a name, which clients choose their parser by.
fn type_name(result: &AggResult) -> &'static str {
    match result {
        AggResult::Terms(terms) => terms_type(terms),
        AggResult::MultiTerms { .. } => "multi_terms",
        AggResult::DateHistogram(_) => "date_histogram",
        AggResult::AutoDateHistogram { .. } => "auto_date_histogram",
        AggResult::Histogram(_) => "histogram",
        AggResult::VariableWidth(_) => "variable_width_histogram",
        AggResult::Significant { terms, .. } => match terms.kind {
            TermsKind::Text => "sigsterms",
            TermsKind::Unmapped => "umsigterms",
            TermsKind::Integer | TermsKind::Unsigned | TermsKind::Float => "siglterms",
        },
        AggResult::Range { kind, .. } => match kind {
            EndKind::Numbers => "range",
            EndKind::Dates => "date_range",
            EndKind::Addresses => "ip_range",
            EndKind::Distances => "geo_distance",
        },
        AggResult::Missing { .. } => "missing",
        AggResult::Joined {
            is_nested: true, ..
        } => "nested",
        AggResult::Joined { .. } => "reverse_nested",
        AggResult::TopHits(_) => "top_hits",
        AggResult::Single { kind, .. } => match kind {
            SingleKind::Filter => "filter",
            SingleKind::Global => "global",
            SingleKind::Children => "children",
            SingleKind::Parents => "parent",
            SingleKind::Sample => "sampler",
        },
        AggResult::Filters { .. } => "filters",
        AggResult::Adjacency(_) => "adjacency_matrix",
        AggResult::Composite(_) => "composite",
        AggResult::Cells { grid, .. } => match grid {
            Grid::Geohash { .. } => "geohash_grid",
            Grid::Geotile { .. } => "geotile_grid",
        },
        AggResult::GeoBounds(_) => "geo_bounds",
        AggResult::GeoCentroid { .. } => "geo_centroid",
        AggResult::Min(_) => "min",
        AggResult::Max(_) => "max",
        AggResult::Avg(_) => "avg",
        AggResult::Sum(_) => "sum",
        AggResult::ValueCount(_) => "value_count",
        AggResult::Cardinality(_) => "cardinality",
        AggResult::Stats(_) => "stats",
        AggResult::ExtendedStats(_) => "extended_stats",
        AggResult::Percentiles(percentiles) => match percentiles.kind {
            PercentilesKind::TDigest => "tdigest_percentiles",
            PercentilesKind::Hdr => "hdr_percentiles",
            PercentilesKind::TDigestRanks => "tdigest_percentile_ranks",
            PercentilesKind::HdrRanks => "hdr_percentile_ranks",
            PercentilesKind::Buckets => "percentiles_bucket",
        },
        AggResult::MedianDeviation(_) => "median_absolute_deviation",
        AggResult::WeightedAvg(_) => "weighted_avg",
        AggResult::Matrix(_) => "matrix_stats",
        AggResult::SimpleValue(_) => "simple_value",
        AggResult::Derivative { .. } => "derivative",
        AggResult::BucketValue { .. } => "bucket_metric_value",
        AggResult::StatsBucket(_) => "stats_bucket",
        AggResult::ExtendedStatsBucket(_) => "extended_stats_bucket",
    }
}

fn terms_type(terms: &TermsResult) -> &'static str {
    match (terms.rare, terms.kind) {
        (false, TermsKind::Text) => "sterms",
        (false, TermsKind::Integer) => "lterms",
        (false, TermsKind::Unsigned) => "ulterms",
        (false, TermsKind::Float) => "dterms",
        (false, TermsKind::Unmapped) => "umterms",
        (true, TermsKind::Text) => "srareterms",
        (true, TermsKind::Unmapped) => "umrareterms",
        (true, _) => "lrareterms",
    }
}

fn render(
    body: &mut Map<String, Value>,
    result: &AggResult,
    path: &AggPath<'_>,
    how: Rendering<'_>,
) -> Result<(), ApiError> {
    let how = Rendering {
        above: Some(path),
        ..how
    };
    match result {
        AggResult::Terms(terms) => terms_body(body, terms, how)?,
        AggResult::MultiTerms { terms, formats } => {
            multi_terms_body(body, terms, formats, how)?;
        }
        AggResult::Significant {
            terms,
            doc_count,
            background,
        } => significant_body(body, terms, (*doc_count, *background), how)?,
        AggResult::DateHistogram(histogram)
        | AggResult::Histogram(histogram)
        | AggResult::VariableWidth(histogram) => {
            histogram_body(body, histogram, how)?;
        }
        AggResult::AutoDateHistogram {
            histogram,
            interval,
        } => auto_date_body(body, histogram, interval, how)?,
        AggResult::Range { buckets, keyed, .. } => range_body(body, buckets, *keyed, how)?,
        AggResult::TopHits(hits) => {
            body.insert("hits".to_string(), (how.top_hits)(path, hits)?);
        }
        AggResult::Missing { doc_count, subs }
        | AggResult::Joined {
            doc_count, subs, ..
        }
        | AggResult::Single {
            doc_count, subs, ..
        } => {
            body.insert("doc_count".to_string(), json!(doc_count));
            add_all(body, subs, how)?;
        }
        AggResult::Filters { buckets, keyed } => buckets_body(body, buckets, *keyed, how)?,
        AggResult::GeoBounds(corners) => bounds_body(body, corners.as_ref()),
        AggResult::GeoCentroid { middle, count } => centroid_body(body, middle.as_ref(), *count),
        AggResult::Adjacency(buckets) | AggResult::Cells { buckets, .. } => {
            named_buckets_body(body, buckets, how)?;
        }
        AggResult::Matrix(matrix) => matrix_body(body, matrix),
        AggResult::Composite(composite) => composite_body(body, composite, how)?,
        AggResult::Min(metric)
        | AggResult::Max(metric)
        | AggResult::Avg(metric)
        | AggResult::Sum(metric)
        | AggResult::MedianDeviation(metric)
        | AggResult::WeightedAvg(metric)
        | AggResult::SimpleValue(metric) => metric_body(body, metric),
        AggResult::Derivative { metric, normalized } => {
            derivative_body(body, metric, normalized.as_ref());
        }
        AggResult::BucketValue { metric, keys } => bucket_value_body(body, metric, keys),
        AggResult::ValueCount(count) | AggResult::Cardinality(count) => {
            body.insert("value".to_string(), json!(count));
        }
        AggResult::Stats(stats) | AggResult::StatsBucket(stats) => {
            stats_body(body, stats);
            stats_text(body, stats);
        }
        AggResult::ExtendedStats(stats) | AggResult::ExtendedStatsBucket(stats) => {
            extended_body(body, stats);
        }
        AggResult::Percentiles(percentiles) => percentiles_body(body, percentiles),
    }
    Ok(())
}
