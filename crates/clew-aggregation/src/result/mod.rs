//! Finished results, typed; protocols decide how to write them.

pub(crate) mod access;

pub use crate::numbers::matrix::MatrixField;

use std::ops::Range;

use clew_query::aggregation::{EndKind, Grid};
use clew_schema::geo::GeoPoint;
use clew_search::MergedHit;
use serde_json::Value;

use crate::value::format::ValueFormat;
use crate::value::key::Key;

/// What a request's aggregations found.
#[derive(Clone, Debug, Default)]
pub struct AggResults {
    /// The results, in the order of the request.
    pub results: Vec<NamedResult>,
    /// The documents of all top hits; every result of them names its own by their places.
    pub hits: Vec<MergedHit>,
}

/// One aggregation's result with its name.
#[derive(Clone, Debug)]
pub struct NamedResult {
    /// The name it was asked for by.
    pub name: String,
    /// The result.
    pub result: AggResult,
}

/// The result of one aggregation.
#[derive(Clone, Debug)]
pub enum AggResult {
    /// A bucket per distinct value.
    Terms(TermsResult),
    /// A bucket per interval of time.
    DateHistogram(HistogramResult),
    /// A bucket per interval of numbers.
    Histogram(HistogramResult),
    /// A bucket per given range.
    Range {
        /// In order of their ends.
        buckets: Vec<RangeBucket>,
        /// Whether they are shown by name.
        keyed: bool,
        /// What the ends are.
        kind: EndKind,
        /// How ends that are numbers are printed.
        format: ValueFormat,
    },
    /// The documents without a value.
    Missing {
        /// How many.
        doc_count: u64,
        /// What was computed over them.
        subs: Vec<NamedResult>,
    },
    /// What is inside or around the documents.
    Joined {
        /// Whether these are nested objects inside; else what is around them.
        is_nested: bool,
        /// How many.
        doc_count: u64,
        /// What was computed over them.
        subs: Vec<NamedResult>,
    },
    /// The first documents.
    TopHits(TopHitsResult),
    /// The least value.
    Min(Metric),
    /// The greatest value.
    Max(Metric),
    /// The mean.
    Avg(Metric),
    /// The sum.
    Sum(Metric),
    /// How many values there are.
    ValueCount(u64),
    /// How many distinct values there are.
    Cardinality(u64),
    /// Count, min, max, mean and sum.
    Stats(Stats),
    /// The same, with squares, variance and deviation.
    ExtendedStats(ExtendedStats),
    /// Values at percentages, or percentages of values.
    Percentiles(PercentilesResult),
    /// The median of the distances from the median.
    MedianDeviation(Metric),
    /// The mean of weighted values.
    WeightedAvg(Metric),
    /// One bucket.
    Single {
        /// Which aggregation it is of.
        kind: SingleKind,
        /// How many documents.
        doc_count: u64,
        /// What was computed over them.
        subs: Vec<NamedResult>,
    },
    /// A bucket per query.
    Filters {
        /// In order of the request.
        buckets: Vec<Bucket>,
        /// Whether they have names; by place otherwise.
        keyed: bool,
    },
    /// A bucket per query and per pair of queries; empty ones are left out.
    Adjacency(Vec<Bucket>),
    /// Buckets per combination of values.
    Composite(CompositeResult),
    /// The most frequent combinations of values.
    MultiTerms {
        /// Keys are combinations.
        terms: TermsResult,
        /// How each source's values are printed.
        formats: Vec<ValueFormat>,
    },
    /// Buckets of time whose length the data chose.
    AutoDateHistogram {
        /// The buckets.
        histogram: HistogramResult,
        /// How long one is: a number and a unit.
        interval: String,
    },
    /// How several fields are distributed, and how they vary together.
    Matrix(MatrixResult),
    /// What scripts made; null where there were no documents.
    Scripted(Value),
    /// The upper left and the lower right corner of the box around points; `None` of nothing.
    GeoBounds(Option<(GeoPoint, GeoPoint)>),
    /// The middle of points.
    GeoCentroid {
        /// `None` of nothing.
        middle: Option<GeoPoint>,
        /// How many points.
        count: u64,
    },
    /// Cells of a grid.
    Cells {
        /// Which.
        grid: Grid,
        /// Most documents first.
        buckets: Vec<Bucket>,
    },
    /// Buckets where the values are.
    VariableWidth(HistogramResult),
    /// Terms that are more frequent here than elsewhere.
    Significant {
        /// Best score first.
        terms: TermsResult,
        /// Documents here.
        doc_count: u64,
        /// Documents in the background.
        background: u64,
    },
    /// What a pipeline computed.
    SimpleValue(Metric),
    /// A difference.
    Derivative {
        /// The difference.
        metric: Metric,
        /// The difference per unit of time.
        normalized: Option<Metric>,
    },
    /// The greatest or least number of all buckets, and where it is.
    BucketValue {
        /// The number.
        metric: Metric,
        /// The keys of the buckets that have it.
        keys: Vec<String>,
    },
    /// Stats of buckets.
    StatsBucket(Stats),
    /// Extended stats of buckets.
    ExtendedStatsBucket(ExtendedStats),
}

/// How several fields are distributed, and how they vary together.
#[derive(Clone, Debug)]
pub struct MatrixResult {
    /// Documents that have all fields.
    pub doc_count: u64,
    /// The fields' names.
    pub names: Vec<String>,
    /// How each is distributed; nothing without documents.
    pub fields: Vec<MatrixField>,
    /// How each two vary together.
    pub covariance: Vec<Vec<f64>>,
    /// The same, as shares of how they vary alone.
    pub correlation: Vec<Vec<f64>>,
}

/// Aggregations with one bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleKind {
    /// The documents of a query.
    Filter,
    /// All documents.
    Global,
    /// Children of the documents.
    Children,
    /// Parents of the documents.
    Parents,
    /// The best documents.
    Sample,
}

/// Values at percentages, or percentages of values.
#[derive(Clone, Debug)]
pub struct PercentilesResult {
    /// What they are of.
    pub kind: PercentilesKind,
    /// Pairs of what was asked for and what was found; `None` of nothing.
    pub points: Vec<(f64, Option<f64>)>,
    /// Whether they are shown by name.
    pub keyed: bool,
    /// How values are printed.
    pub format: ValueFormat,
}

/// What percentiles are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PercentilesKind {
    /// Values of documents, from a t-digest.
    TDigest,
    /// Values of documents, from a histogram.
    Hdr,
    /// Ranks of values, from a t-digest.
    TDigestRanks,
    /// Ranks of values, from a histogram.
    HdrRanks,
    /// Numbers of buckets.
    Buckets,
}

/// Buckets per combination of values.
#[derive(Clone, Debug)]
pub struct CompositeResult {
    /// The sources' names.
    pub names: Vec<String>,
    /// How each source's values are printed.
    pub formats: Vec<ValueFormat>,
    /// One page, in order.
    pub buckets: Vec<Bucket>,
    /// The key that the page ended at, where pipelines took some of it away or changed the order.
    pub ended_at: Option<Key>,
}

/// The first documents of a bucket.
#[derive(Clone, Debug)]
pub struct TopHitsResult {
    /// How many documents there are.
    pub total: u64,
    /// The best score, when the order is by score alone.
    pub max_score: Option<f32>,
    /// The places of the first of them in [`AggResults::hits`].
    pub hits: Range<usize>,
}

/// A number; `None` of nothing.
#[derive(Clone, Debug)]
pub struct Metric {
    /// The number.
    pub value: Option<f64>,
    /// How it is printed.
    pub format: ValueFormat,
}

/// Count, min, max, mean and sum.
#[derive(Clone, Debug)]
pub struct Stats {
    /// How many values.
    pub count: u64,
    /// The least, `None` of nothing.
    pub min: Option<f64>,
    /// The greatest, `None` of nothing.
    pub max: Option<f64>,
    /// The mean, `None` of nothing.
    pub avg: Option<f64>,
    /// The sum.
    pub sum: f64,
    /// How they are printed.
    pub format: ValueFormat,
}

/// Stats with squares, variance and deviation; all `None` of nothing.
#[derive(Clone, Debug)]
pub struct ExtendedStats {
    /// The simple ones.
    pub stats: Stats,
    /// The sum of squares.
    pub sum_of_squares: Option<f64>,
    /// The variance of the values as a whole population.
    pub variance: Option<f64>,
    /// The variance of what they are a sample of; NaN of a single value.
    pub variance_sampling: Option<f64>,
    /// How many deviations the bounds are away from the mean.
    pub sigma: f64,
}

/// What kind of keys terms have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermsKind {
    /// Strings and addresses.
    Text,
    /// Whole numbers, dates, booleans.
    Integer,
    /// Unsigned whole numbers.
    Unsigned,
    /// Floating-point numbers.
    Float,
    /// The field is in no mapping.
    Unmapped,
}

/// A bucket per distinct value.
#[derive(Clone, Debug)]
pub struct TermsResult {
    /// What kind of keys.
    pub kind: TermsKind,
    /// In the order asked for.
    pub buckets: Vec<Bucket>,
    /// By how much a count may be too low; `None` when nothing can be said.
    pub doc_count_error_upper_bound: Option<u64>,
    /// Documents in buckets that are not shown.
    pub sum_other_doc_count: u64,
    /// Whether each bucket says how wrong its count may be.
    pub show_error: bool,
    /// How keys are printed.
    pub format: ValueFormat,
    /// Whether it is the rare ones that are shown.
    pub rare: bool,
}

/// Buckets of equal steps.
#[derive(Clone, Debug)]
pub struct HistogramResult {
    /// In the order asked for.
    pub buckets: Vec<Bucket>,
    /// Whether they are shown by name.
    pub keyed: bool,
    /// How keys are printed.
    pub format: ValueFormat,
}

/// One bucket.
#[derive(Clone, Debug)]
pub struct Bucket {
    /// Its key.
    pub key: Key,
    /// How many documents are in it.
    pub doc_count: u64,
    /// By how much that may be too low; `None` when nothing can be said. Terms only.
    pub doc_count_error: Option<u64>,
    /// What some aggregations say besides.
    pub extra: BucketExtra,
    /// What was computed over them.
    pub subs: Vec<NamedResult>,
}

/// What some aggregations say of a bucket besides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum BucketExtra {
    /// Nothing.
    #[default]
    None,
    /// Its least and greatest value.
    Extent {
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
    },
    /// How significant it is.
    Score {
        /// The score.
        score: f64,
        /// Documents of the background that have the term.
        background: u64,
    },
}

/// One given range.
#[derive(Clone, Debug)]
pub struct RangeBucket {
    /// Its name: the one it was given, or its ends.
    pub name: Key,
    /// Lower end, included; `None` when open.
    pub from: Option<RangeEnd>,
    /// Upper end, excluded; `None` when open.
    pub to: Option<RangeEnd>,
    /// How many documents are in it.
    pub doc_count: u64,
    /// What was computed over them.
    pub subs: Vec<NamedResult>,
}

/// One end of a range.
#[derive(Clone, Debug)]
pub enum RangeEnd {
    /// A number.
    Number(f64),
    /// An address.
    Address(String),
}
