//! From typed results to the `aggregations` object of a reply.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeMap;

use clew_aggregation::{AggResult, Metric, NamedResult, TopHitsResult};
use serde_json::{Map, Value, json};

use super::bucket::{
    composite, date_histogram, filters, geo_grid, multi_terms, only, range, significant_terms,
    terms,
};
use super::metric::{geo, matrix_stats, percentiles, scripted_metric, stats};
use super::path::AggPath;
use super::pipeline::{sequence, summary};
use super::shown::{histogram_body, metric_body, named_buckets_body};
use crate::http::error::ApiError;

/// What a result's type is called in its name, where names say it.
pub(super) type TypeName = &'static str;

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
        let mut body = Map::new();
        let path = AggPath::new(&named.name, how.above);
        if !how.meta.is_empty()
            && let Some(meta) = how.meta.get(&path.to_string())
        {
            body.insert("meta".to_string(), meta.clone());
        }
        let type_name = render(&mut body, &named.result, &path, how)?;
        let name = if how.typed_keys {
            format!("{type_name}#{}", named.name)
        } else {
            named.name.clone()
        };
        object.insert(name, Value::Object(body));
    }
    Ok(())
}

/// Writes a result, and says its type, which clients choose their parser by. Every result has its line here; how it is
/// written, the file of its aggregation says.
#[allow(
    clippy::too_many_lines,
    reason = "a table, which the compiler holds complete while it is one match"
)]
fn render(
    body: &mut Map<String, Value>,
    result: &AggResult,
    path: &AggPath<'_>,
    how: Rendering<'_>,
) -> Result<TypeName, ApiError> {
    let how = Rendering {
        above: Some(path),
        ..how
    };
    match result {
        AggResult::Terms(terms) => terms::write(body, terms, how),
        AggResult::MultiTerms { terms, formats } => multi_terms::write(body, terms, formats, how),
        AggResult::Significant {
            terms,
            doc_count,
            background,
        } => significant_terms::write(body, terms, (*doc_count, *background), how),
        AggResult::DateHistogram(buckets) => {
            histogram_body(body, buckets, how).map(|()| "date_histogram")
        }
        AggResult::Histogram(buckets) => histogram_body(body, buckets, how).map(|()| "histogram"),
        AggResult::VariableWidth(buckets) => {
            histogram_body(body, buckets, how).map(|()| "variable_width_histogram")
        }
        AggResult::AutoDateHistogram {
            histogram,
            interval,
        } => date_histogram::write_auto(body, histogram, interval, how),
        AggResult::Range {
            buckets,
            keyed,
            kind,
            format,
        } => range::write(body, (buckets, format), (*keyed, *kind), how),
        AggResult::Missing { doc_count, subs } => {
            only::write(body, "missing", (*doc_count, subs), how)
        }
        AggResult::Joined {
            is_nested,
            doc_count,
            subs,
        } => {
            let name = if *is_nested {
                "nested"
            } else {
                "reverse_nested"
            };
            only::write(body, name, (*doc_count, subs), how)
        }
        AggResult::Single {
            kind,
            doc_count,
            subs,
        } => only::write(body, only::type_name(*kind), (*doc_count, subs), how),
        AggResult::Filters { buckets, keyed } => filters::write(body, buckets, *keyed, how),
        AggResult::Adjacency(buckets) => {
            named_buckets_body(body, buckets, how).map(|()| "adjacency_matrix")
        }
        AggResult::Cells { grid, buckets } => geo_grid::write(body, *grid, buckets, how),
        AggResult::Composite(page) => composite::write(body, page, how),
        AggResult::TopHits(hits) => {
            body.insert("hits".to_string(), (how.top_hits)(path, hits)?);
            Ok("top_hits")
        }
        AggResult::Min(metric) => Ok(number(body, metric, "min")),
        AggResult::Max(metric) => Ok(number(body, metric, "max")),
        AggResult::Avg(metric) => Ok(number(body, metric, "avg")),
        AggResult::Sum(metric) => Ok(number(body, metric, "sum")),
        AggResult::WeightedAvg(metric) => Ok(number(body, metric, "weighted_avg")),
        AggResult::MedianDeviation(metric) => Ok(number(body, metric, "median_absolute_deviation")),
        AggResult::SimpleValue(metric) => Ok(number(body, metric, "simple_value")),
        AggResult::ValueCount(count) => Ok(whole(body, *count, "value_count")),
        AggResult::Cardinality(count) => Ok(whole(body, *count, "cardinality")),
        AggResult::Stats(stats) => Ok(stats::write(body, stats, "stats")),
        AggResult::StatsBucket(stats) => Ok(stats::write(body, stats, "stats_bucket")),
        AggResult::ExtendedStats(all) => Ok(stats::write_extended(body, all, "extended_stats")),
        AggResult::ExtendedStatsBucket(all) => {
            Ok(stats::write_extended(body, all, "extended_stats_bucket"))
        }
        AggResult::Percentiles(percentiles) => Ok(percentiles::write(body, percentiles)),
        AggResult::Matrix(matrix) => Ok(matrix_stats::write(body, matrix)),
        AggResult::Scripted(value) => Ok(scripted_metric::write(body, value)),
        AggResult::GeoBounds(corners) => Ok(geo::write_bounds(body, corners.as_ref())),
        AggResult::GeoCentroid { middle, count } => {
            Ok(geo::write_centroid(body, middle.as_ref(), *count))
        }
        AggResult::Derivative { metric, normalized } => {
            Ok(sequence::write(body, metric, normalized.as_ref()))
        }
        AggResult::BucketValue { metric, keys } => Ok(summary::write(body, metric, keys)),
    }
}

/// Writes a number under the name of its type.
fn number(body: &mut Map<String, Value>, metric: &Metric, name: TypeName) -> TypeName {
    metric_body(body, metric);
    name
}

/// The same for a count.
fn whole(body: &mut Map<String, Value>, count: u64, name: TypeName) -> TypeName {
    body.insert("value".to_string(), json!(count));
    name
}
