//! Ways into results that do not depend on which aggregation they are of: their buckets, and their
//! numbers by name.

use super::format::ValueFormat;
use super::key::Key;
use super::result::{
    AggResult, Bucket, EndKind, ExtendedStats, NamedResult, PercentilesResult, SingleKind, Stats,
    TermsKind,
};

/// A bucket of any aggregation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BucketView<'a> {
    pub(crate) key: &'a Key,
    pub(crate) doc_count: u64,
    pub(crate) subs: &'a [NamedResult],
}

impl AggResult {
    fn list(&self) -> Option<&Vec<Bucket>> {
        match self {
            AggResult::Terms(terms)
            | AggResult::MultiTerms { terms, .. }
            | AggResult::Significant { terms, .. } => Some(&terms.buckets),
            AggResult::DateHistogram(histogram)
            | AggResult::Histogram(histogram)
            | AggResult::VariableWidth(histogram)
            | AggResult::AutoDateHistogram { histogram, .. } => Some(&histogram.buckets),
            AggResult::Filters { buckets, .. }
            | AggResult::Adjacency(buckets)
            | AggResult::Cells { buckets, .. } => Some(buckets),
            AggResult::Composite(composite) => Some(&composite.buckets),
            _ => None,
        }
    }

    fn list_mut(&mut self) -> Option<&mut Vec<Bucket>> {
        match self {
            AggResult::Terms(terms)
            | AggResult::MultiTerms { terms, .. }
            | AggResult::Significant { terms, .. } => Some(&mut terms.buckets),
            AggResult::DateHistogram(histogram)
            | AggResult::Histogram(histogram)
            | AggResult::VariableWidth(histogram)
            | AggResult::AutoDateHistogram { histogram, .. } => Some(&mut histogram.buckets),
            AggResult::Filters { buckets, .. }
            | AggResult::Adjacency(buckets)
            | AggResult::Cells { buckets, .. } => Some(buckets),
            AggResult::Composite(composite) => Some(&mut composite.buckets),
            _ => None,
        }
    }

    /// The buckets, of aggregations that can have several.
    pub(crate) fn buckets(&self) -> Option<Vec<BucketView<'_>>> {
        if let AggResult::Range { buckets, .. } = self {
            let view = buckets.iter().map(|bucket| BucketView {
                key: &bucket.name,
                doc_count: bucket.doc_count,
                subs: &bucket.subs,
            });
            return Some(view.collect());
        }
        let view = self.list()?.iter().map(|bucket| BucketView {
            key: &bucket.key,
            doc_count: bucket.doc_count,
            subs: &bucket.subs,
        });
        Some(view.collect())
    }

    /// What was computed inside each bucket, also where there is only one.
    pub(crate) fn subs_mut(&mut self) -> Vec<&mut Vec<NamedResult>> {
        match self {
            AggResult::Missing { subs, .. } | AggResult::Single { subs, .. } => vec![subs],
            AggResult::Range { buckets, .. } => {
                buckets.iter_mut().map(|bucket| &mut bucket.subs).collect()
            }
            _ => match self.list_mut() {
                Some(buckets) => buckets.iter_mut().map(|bucket| &mut bucket.subs).collect(),
                None => Vec::new(),
            },
        }
    }

    /// The only bucket's documents and what was computed over them.
    pub(crate) fn single_bucket(&self) -> Option<(u64, &[NamedResult])> {
        match self {
            AggResult::Missing { doc_count, subs }
            | AggResult::Single {
                doc_count, subs, ..
            } => Some((*doc_count, subs)),
            _ => None,
        }
    }

    /// Keeps the buckets at these places, in this order.
    pub(crate) fn keep(&mut self, places: &[usize]) {
        fn pick<T>(all: &mut Vec<T>, places: &[usize]) {
            let mut old: Vec<Option<T>> = std::mem::take(all).into_iter().map(Some).collect();
            let picked = places
                .iter()
                .filter_map(|place| old.get_mut(*place)?.take());
            all.extend(picked);
        }
        match self {
            AggResult::Range { buckets, .. } => pick(buckets, places),
            _ => {
                if let Some(buckets) = self.list_mut() {
                    pick(buckets, places);
                }
            }
        }
    }

    /// A key as a text.
    pub(crate) fn key_text(&self, key: &Key) -> String {
        let format = match self {
            AggResult::Terms(terms) | AggResult::Significant { terms, .. } => &terms.format,
            AggResult::DateHistogram(histogram)
            | AggResult::Histogram(histogram)
            | AggResult::VariableWidth(histogram)
            | AggResult::AutoDateHistogram { histogram, .. } => &histogram.format,
            _ => &ValueFormat::Raw,
        };
        format.text_of_key(key).unwrap_or_else(|| key.to_string())
    }

    /// A number of a metric; the outer `None` where there is no such number.
    #[allow(
        clippy::cast_precision_loss,
        reason = "2^53 values will not be counted"
    )]
    pub(crate) fn number(&self, property: Option<&str>) -> Option<Option<f64>> {
        let plain = matches!(property, None | Some("value"));
        match self {
            AggResult::Min(metric)
            | AggResult::Max(metric)
            | AggResult::Avg(metric)
            | AggResult::Sum(metric)
            | AggResult::MedianDeviation(metric)
            | AggResult::WeightedAvg(metric)
            | AggResult::SimpleValue(metric)
            | AggResult::BucketValue { metric, .. } => plain.then_some(metric.value),
            AggResult::Derivative { metric, normalized } => match property {
                Some("normalized_value") => normalized.as_ref().map(|metric| metric.value),
                _ => plain.then_some(metric.value),
            },
            AggResult::ValueCount(count) | AggResult::Cardinality(count) => {
                plain.then_some(Some(*count as f64))
            }
            AggResult::Stats(stats) | AggResult::StatsBucket(stats) => stats.number(property?),
            AggResult::ExtendedStats(stats) | AggResult::ExtendedStatsBucket(stats) => {
                stats.number(property?)
            }
            AggResult::Percentiles(percentiles) => percentiles.number(property?),
            _ => None,
        }
    }

    /// The name messages give to results of this kind.
    pub(crate) fn class_name(&self) -> &'static str {
        match self {
            AggResult::Terms(terms) => match terms.kind {
                TermsKind::Text => "StringTerms",
                TermsKind::Integer => "LongTerms",
                TermsKind::Unsigned => "UnsignedLongTerms",
                TermsKind::Float => "DoubleTerms",
                TermsKind::Unmapped => "UnmappedTerms",
            },
            AggResult::MultiTerms { .. } => "InternalMultiTerms",
            AggResult::DateHistogram(_) => "InternalDateHistogram",
            AggResult::AutoDateHistogram { .. } => "InternalAutoDateHistogram",
            AggResult::Histogram(_) => "InternalHistogram",
            AggResult::VariableWidth(_) => "InternalVariableWidthHistogram",
            AggResult::Significant { .. } => "InternalSignificantTerms",
            AggResult::Range { kind, .. } => match kind {
                EndKind::Numbers => "InternalRange",
                EndKind::Dates => "InternalDateRange",
                EndKind::Addresses => "InternalBinaryRange",
                EndKind::Distances => "InternalGeoDistance",
            },
            AggResult::Filters { .. } => "InternalFilters",
            AggResult::Adjacency(_) => "InternalAdjacencyMatrix",
            AggResult::Composite(_) => "InternalComposite",
            AggResult::Cells { .. } => "InternalGeoGrid",
            AggResult::Missing { .. } => "InternalMissing",
            AggResult::Single {
                kind: SingleKind::Filter,
                ..
            } => "InternalFilter",
            AggResult::Single {
                kind: SingleKind::Global,
                ..
            } => "InternalGlobal",
            AggResult::Single { .. } => "InternalSampler",
            AggResult::Matrix(_) => "InternalMatrixStats",
            _ => "InternalNumericMetricsAggregation",
        }
    }
}

impl Stats {
    #[allow(
        clippy::cast_precision_loss,
        reason = "2^53 values will not be counted"
    )]
    fn number(&self, property: &str) -> Option<Option<f64>> {
        Some(match property {
            "count" => Some(self.count as f64),
            "min" => self.min,
            "max" => self.max,
            "avg" => self.avg,
            "sum" => Some(self.sum),
            _ => return None,
        })
    }
}

impl ExtendedStats {
    fn number(&self, property: &str) -> Option<Option<f64>> {
        let root = |variance: Option<f64>| variance.map(f64::sqrt);
        Some(match property {
            "sum_of_squares" => self.sum_of_squares,
            "variance" | "variance_population" => self.variance,
            "variance_sampling" => self.variance_sampling,
            "std_deviation" | "std_deviation_population" => root(self.variance),
            "std_deviation_sampling" => root(self.variance_sampling),
            property => return self.stats.number(property),
        })
    }
}

impl PercentilesResult {
    fn number(&self, property: &str) -> Option<Option<f64>> {
        let wanted: f64 = property.parse().ok()?;
        let mut points = self.points.iter();
        let found = points.find(|(point, _)| point.total_cmp(&wanted).is_eq());
        found.map(|(_, value)| *value)
    }
}
