//! Ways into results that do not depend on which aggregation they are of: their buckets, and their
//! numbers by name.

use clew_query::aggregation::EndKind;
use clew_schema::geo::GeoPoint;

use crate::result::{
    AggResult, Bucket, BucketExtra, ExtendedStats, NamedResult, PercentilesResult, RangeBucket,
    SingleKind, Stats, TermsKind,
};
use crate::value::format::ValueFormat;
use crate::value::key::Key;

/// A bucket of any aggregation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BucketView<'a> {
    pub(crate) key: &'a Key,
    pub(crate) doc_count: u64,
    pub(crate) subs: &'a [NamedResult],
}

impl<'a> From<&'a Bucket> for BucketView<'a> {
    fn from(bucket: &'a Bucket) -> Self {
        BucketView {
            key: &bucket.key,
            doc_count: bucket.doc_count,
            subs: &bucket.subs,
        }
    }
}

impl<'a> From<&'a RangeBucket> for BucketView<'a> {
    fn from(bucket: &'a RangeBucket) -> Self {
        BucketView {
            key: &bucket.name,
            doc_count: bucket.doc_count,
            subs: &bucket.subs,
        }
    }
}

/// What a result has inside, looked at or to be changed.
enum Inside<Buckets, Ranges, Subs> {
    /// A bucket for each of something.
    Buckets(Buckets),
    /// A bucket for each range.
    Ranges(Ranges),
    /// The only bucket: how many documents, and what was computed over them.
    One(u64, Subs),
    /// It is a metric.
    Nothing,
}

/// What a result has inside; with `mut` it can be changed.
macro_rules! inside {
    ($result:expr $(, $mut:tt)?) => {
        match $result {
            AggResult::Terms(terms)
            | AggResult::MultiTerms { terms, .. }
            | AggResult::Significant { terms, .. } => Inside::Buckets(& $($mut)? terms.buckets),
            AggResult::DateHistogram(histogram)
            | AggResult::Histogram(histogram)
            | AggResult::VariableWidth(histogram)
            | AggResult::AutoDateHistogram { histogram, .. } => Inside::Buckets(& $($mut)? histogram.buckets),
            AggResult::Filters { buckets, .. }
            | AggResult::Adjacency(buckets)
            | AggResult::Cells { buckets, .. } => Inside::Buckets(buckets),
            AggResult::Composite(composite) => Inside::Buckets(& $($mut)? composite.buckets),
            AggResult::Range { buckets, .. } => Inside::Ranges(buckets),
            AggResult::Missing { doc_count, subs }
            | AggResult::Single {
                doc_count, subs, ..
            }
            | AggResult::Joined {
                doc_count, subs, ..
            } => Inside::One(*doc_count, subs),
            AggResult::TopHits(_)
            | AggResult::Min(_)
            | AggResult::Max(_)
            | AggResult::Avg(_)
            | AggResult::Sum(_)
            | AggResult::ValueCount(_)
            | AggResult::Cardinality(_)
            | AggResult::Stats(_)
            | AggResult::ExtendedStats(_)
            | AggResult::Percentiles(_)
            | AggResult::MedianDeviation(_)
            | AggResult::WeightedAvg(_)
            | AggResult::Matrix(_)
            | AggResult::Scripted(_)
            | AggResult::GeoBounds(_)
            | AggResult::GeoCentroid { .. }
            | AggResult::SimpleValue(_)
            | AggResult::Derivative { .. }
            | AggResult::BucketValue { .. }
            | AggResult::StatsBucket(_)
            | AggResult::ExtendedStatsBucket(_) => Inside::Nothing,
        }
    };
}

/// What a result is made of, for whoever books the memory that showing it takes.
#[derive(Debug)]
pub struct ResultParts<'a> {
    /// How many buckets there are in a list.
    pub buckets: usize,
    /// How many numbers or names there are in one, where that is more than a few.
    pub members: usize,
    /// What was computed over each bucket.
    pub subs: Vec<&'a [NamedResult]>,
}

impl AggResult {
    /// What it is made of.
    pub fn parts(&self) -> ResultParts<'_> {
        let subs: Vec<&[NamedResult]> = match inside!(self) {
            Inside::Buckets(buckets) => buckets.iter().map(|bucket| &bucket.subs[..]).collect(),
            Inside::Ranges(buckets) => buckets.iter().map(|bucket| &bucket.subs[..]).collect(),
            Inside::One(_, subs) => {
                return ResultParts {
                    buckets: 0,
                    members: 0,
                    subs: vec![subs],
                };
            }
            Inside::Nothing => Vec::new(),
        };
        ResultParts {
            buckets: subs.len(),
            members: match self {
                AggResult::Percentiles(percentiles) => percentiles.points.len(),
                AggResult::BucketValue { keys, .. } => keys.len(),
                // What hits of buckets take is booked as they are read.
                _ => 0,
            },
            subs,
        }
    }

    /// The buckets, of aggregations that can have several.
    pub(crate) fn buckets(&self) -> Option<Vec<BucketView<'_>>> {
        match inside!(self) {
            Inside::Buckets(buckets) => Some(buckets.iter().map(BucketView::from).collect()),
            Inside::Ranges(buckets) => Some(buckets.iter().map(BucketView::from).collect()),
            Inside::One(..) | Inside::Nothing => None,
        }
    }

    /// What was computed inside each bucket, also where there is only one.
    pub(crate) fn subs_mut(&mut self) -> Vec<&mut Vec<NamedResult>> {
        match inside!(self, mut) {
            Inside::Buckets(buckets) => buckets.iter_mut().map(|one| &mut one.subs).collect(),
            Inside::Ranges(buckets) => buckets.iter_mut().map(|one| &mut one.subs).collect(),
            Inside::One(_, subs) => vec![subs],
            Inside::Nothing => Vec::new(),
        }
    }

    /// The only bucket's documents and what was computed over them.
    pub(crate) fn single_bucket(&self) -> Option<(u64, &[NamedResult])> {
        match inside!(self) {
            Inside::One(doc_count, subs) => Some((doc_count, subs)),
            Inside::Buckets(_) | Inside::Ranges(_) | Inside::Nothing => None,
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
        // The next page begins behind this one whatever is left of it.
        if let AggResult::Composite(page) = self
            && page.ended_at.is_none()
        {
            page.ended_at = page.buckets.last().map(|bucket| bucket.key.clone());
        }
        match inside!(self, mut) {
            Inside::Buckets(buckets) => pick(buckets, places),
            Inside::Ranges(buckets) => pick(buckets, places),
            Inside::One(..) | Inside::Nothing => {}
        }
    }

    /// Adds empty buckets behind the last one.
    pub(crate) fn add_empty(&mut self, keys: Vec<Key>) {
        if let Inside::Buckets(buckets) = inside!(self, mut) {
            buckets.extend(keys.into_iter().map(|key| Bucket {
                key,
                doc_count: 0,
                doc_count_error: None,
                extra: BucketExtra::None,
                subs: Vec::new(),
            }));
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
            AggResult::Scripted(value) => (plain && value.is_number()).then(|| value.as_f64()),
            AggResult::Stats(stats) | AggResult::StatsBucket(stats) => stats.number(property?),
            AggResult::ExtendedStats(stats) | AggResult::ExtendedStatsBucket(stats) => {
                stats.number(property?)
            }
            AggResult::Percentiles(percentiles) => percentiles.number(property?),
            AggResult::GeoBounds(corners) => {
                let of = |number: fn(&(GeoPoint, GeoPoint)) -> f64| corners.as_ref().map(number);
                Some(match property? {
                    "top" => of(|(first, _)| first.lat),
                    "left" => of(|(first, _)| first.lon),
                    "bottom" => of(|(_, last)| last.lat),
                    "right" => of(|(_, last)| last.lon),
                    _ => return None,
                })
            }
            AggResult::GeoCentroid { middle, count } => Some(match property? {
                "lat" => middle.as_ref().map(|point| point.lat),
                "lon" => middle.as_ref().map(|point| point.lon),
                "count" => Some(*count as f64),
                _ => return None,
            }),
            AggResult::Terms(_)
            | AggResult::DateHistogram(_)
            | AggResult::Histogram(_)
            | AggResult::Range { .. }
            | AggResult::Missing { .. }
            | AggResult::Joined { .. }
            | AggResult::TopHits(_)
            | AggResult::Single { .. }
            | AggResult::Filters { .. }
            | AggResult::Adjacency(_)
            | AggResult::Composite(_)
            | AggResult::MultiTerms { .. }
            | AggResult::AutoDateHistogram { .. }
            | AggResult::Matrix(_)
            | AggResult::Cells { .. }
            | AggResult::VariableWidth(_)
            | AggResult::Significant { .. } => None,
        }
    }

    /// Whether it is a metric of numbers of which one has to be named.
    pub(crate) fn has_several(&self) -> bool {
        matches!(
            self,
            AggResult::Stats(_)
                | AggResult::StatsBucket(_)
                | AggResult::ExtendedStats(_)
                | AggResult::ExtendedStatsBucket(_)
                | AggResult::Percentiles(_)
        )
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
            AggResult::Single {
                kind: SingleKind::Children,
                ..
            } => "InternalChildren",
            AggResult::Single {
                kind: SingleKind::Parents,
                ..
            } => "InternalParent",
            AggResult::Single {
                kind: SingleKind::Sample,
                ..
            } => "InternalSampler",
            AggResult::Joined {
                is_nested: true, ..
            } => "InternalNested",
            AggResult::Joined { .. } => "InternalReverseNested",
            AggResult::Matrix(_) => "InternalMatrixStats",
            AggResult::Scripted(_) => "InternalScriptedMetric",
            AggResult::TopHits(_) => "InternalTopHits",
            AggResult::GeoBounds(_) => "InternalGeoBounds",
            AggResult::GeoCentroid { .. } => "InternalGeoCentroid",
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
        let bound = |variance: Option<f64>, sign: f64| {
            Some(self.stats.avg? + sign * self.sigma * root(variance)?)
        };
        Some(match property {
            "sum_of_squares" => self.sum_of_squares,
            "variance" | "variance_population" => self.variance,
            "variance_sampling" => self.variance_sampling,
            "std_deviation" | "std_deviation_population" => root(self.variance),
            "std_deviation_sampling" => root(self.variance_sampling),
            "std_upper" | "std_upper_population" => bound(self.variance, 1.0),
            "std_lower" | "std_lower_population" => bound(self.variance, -1.0),
            "std_upper_sampling" => bound(self.variance_sampling, 1.0),
            "std_lower_sampling" => bound(self.variance_sampling, -1.0),
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
