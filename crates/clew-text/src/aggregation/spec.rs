//! What is asked for: a tree of named aggregations, as any protocol may build it. Nothing here is
//! checked against a mapping yet; `plan` does that.

use std::any::Any;
use std::num::NonZeroI64;
use std::sync::Arc;

use crate::search::{Mode, SortKey};

use super::grid::Grid;
use super::pipeline::PipelineSpec;
use super::quantile::Method;
use super::result::EndKind;
use super::significance::Heuristic;
use crate::geo::GeoPoint;
use crate::query::Query;

/// A value written in a request, before the field's type is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A whole number.
    Integer(i64),
    /// A whole number too large for the one above.
    Unsigned(u64),
    /// Another number.
    Float(f64),
    /// A string; dates and addresses come as strings too.
    Text(String),
    /// A boolean.
    Boolean(bool),
}

/// Where an aggregation's values come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The field's path.
    pub field: String,
    /// The value of documents that have none; without it they are left out.
    pub missing: Option<Scalar>,
    /// How values are printed, instead of the field's own format.
    pub format: Option<String>,
    /// What kind of values an unmapped field would have.
    pub value_type: Option<String>,
}

impl Source {
    /// The values of a field, nothing else said.
    pub fn field(field: impl Into<String>) -> Self {
        Source {
            field: field.into(),
            missing: None,
            format: None,
            value_type: None,
        }
    }
}

/// One aggregation with its name and what is computed inside each of its buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedAgg {
    /// The name the result is found by.
    pub name: String,
    /// What is computed.
    pub spec: AggSpec,
    /// Computed inside each bucket; metrics have none.
    pub subs: Vec<NamedAgg>,
    /// Handed back with the result, untouched.
    pub meta: Option<serde_json::Value>,
}

/// What is computed.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one per aggregation, not one per bucket"
)]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AggSpec {
    /// A bucket per distinct value.
    Terms(TermsSpec),
    /// A bucket per interval of time.
    DateHistogram(DateHistogramSpec),
    /// A bucket per interval of numbers.
    Histogram(HistogramSpec),
    /// A bucket per given range of numbers or dates.
    Range(RangeSpec),
    /// One bucket: the documents without a value.
    Missing(Source),
    /// The least value.
    Min(Source),
    /// The greatest value.
    Max(Source),
    /// The mean.
    Avg(Source),
    /// The sum.
    Sum(Source),
    /// How many values there are.
    ValueCount(Source),
    /// Count, min, max, mean and sum.
    Stats(Source),
    /// The same, with squares, variance and deviation.
    ExtendedStats {
        /// Where the values come from.
        source: Source,
        /// How many deviations the reported bounds are away from the mean.
        sigma: f64,
    },
    /// One bucket: the nested objects of a path inside the documents.
    Nested {
        /// The path.
        path: String,
    },
    /// One bucket: the documents around nested objects, or the objects of a path around them.
    ReverseNested {
        /// The path; the whole documents without it.
        path: Option<String>,
    },
    /// One bucket: the children of the documents, or their parents, by a `join` field.
    Relatives {
        /// Which of them.
        way: Generation,
        /// The kind of the children.
        kind: String,
    },
    /// The first documents themselves.
    TopHits(TopHitsSpec),
    /// How many distinct values there are: exact up to the threshold, then estimated.
    Cardinality {
        /// Where the values come from.
        source: Source,
        /// Up to this many values are counted exactly.
        precision_threshold: u32,
    },
    /// The values at given percentages, or the percentages of given values.
    Percentiles(PercentilesSpec),
    /// The median of the distances from the median.
    MedianDeviation {
        /// Where the values come from.
        source: Source,
        /// How exact.
        compression: f64,
    },
    /// The mean of values, each counted by its weight.
    WeightedAvg {
        /// Where the values come from.
        value: Source,
        /// Where the weights come from.
        weight: Source,
    },
    /// Buckets of the documents that queries match.
    Filters(FiltersSpec),
    /// One bucket of all documents, whatever the search matched.
    Global,
    /// Buckets per combination of values, page by page.
    Composite(CompositeSpec),
    /// The most frequent combinations of values.
    MultiTerms(MultiTermsSpec),
    /// The least frequent values.
    RareTerms(RareTermsSpec),
    /// The box around points.
    GeoBounds {
        /// Where the points come from.
        source: Source,
        /// Whether the box may lie across the line where east meets west.
        wrap: bool,
    },
    /// The middle of points.
    GeoCentroid(Source),
    /// Cells of a grid, most documents first.
    GeoGrid(GridSpec),
    /// Values that are more frequent here than elsewhere.
    SignificantTerms(SignificantSpec),
    /// Buckets where the values are.
    VariableWidth {
        /// Where the values come from.
        source: Source,
        /// At most so many buckets.
        buckets: u32,
    },
    /// Buckets of time whose length the data chooses.
    AutoDateHistogram(AutoDateSpec),
    /// One bucket: the best documents of each shard.
    Sample(SampleSpec),
    /// How several fields are distributed, and how they vary together.
    Matrix {
        /// Where the values come from.
        fields: Vec<Source>,
        /// Which of several values of a document counts.
        mode: Mode,
    },
    /// Computed from what other aggregations found.
    Pipeline(PipelineSpec),
}

/// The best documents of each shard.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleSpec {
    /// How many of each shard.
    pub size: u32,
    /// Few documents with the same value of a field: where the values come from, and how many.
    pub diverse: Option<(Source, u32)>,
}

/// Percentiles of values, or ranks of values among them.
#[derive(Clone, Debug, PartialEq)]
pub struct PercentilesSpec {
    /// Where the values come from.
    pub source: Source,
    /// Percentages, or values where `ranks` are asked for.
    pub points: Vec<f64>,
    /// Whether the points are values whose ranks are wanted.
    pub ranks: bool,
    /// Whether results are shown by name.
    pub keyed: bool,
    /// How the distribution is kept.
    pub method: Method,
}

/// Buckets of the documents that queries match.
#[derive(Clone, Debug, PartialEq)]
pub struct FiltersSpec {
    /// The queries by name.
    pub filters: Vec<(String, Query)>,
    /// What the buckets are.
    pub shape: FilterShape,
}

/// What a bucket of queries is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterShape {
    /// There is one query and one bucket.
    Single,
    /// A bucket per query.
    Named {
        /// Whether buckets are shown by name.
        keyed: bool,
        /// The name of the bucket for documents that no query matches.
        other: Option<String>,
    },
    /// A bucket per query and one per pair of them.
    Adjacency {
        /// Stands between the names of a pair.
        separator: String,
    },
}

/// Buckets per combination of values, page by page.
#[derive(Clone, Debug, PartialEq)]
pub struct CompositeSpec {
    /// What is combined, most significant first.
    pub sources: Vec<CompositeSource>,
    /// Buckets per page.
    pub size: u32,
    /// The last combination of the page before, by name of source.
    pub after: Option<Vec<(String, Option<Scalar>)>>,
}

/// One source of a combination.
#[derive(Clone, Debug, PartialEq)]
pub struct CompositeSource {
    /// Its name in keys.
    pub name: String,
    /// What of a document is combined.
    pub kind: CompositeKind,
    /// Whether documents without a value have a bucket.
    pub missing_bucket: bool,
    /// Where that bucket comes.
    pub missing_order: MissingOrder,
    /// Which end comes first.
    pub direction: Direction,
}

/// What of a document is combined.
#[derive(Clone, Debug, PartialEq)]
pub enum CompositeKind {
    /// Its values.
    Terms(Source),
    /// Intervals of numbers.
    Histogram {
        /// Where the values come from.
        source: Source,
        /// How long.
        interval: f64,
    },
    /// Intervals of time.
    DateHistogram {
        /// Where the values come from.
        source: Source,
        /// How long.
        interval: DateInterval,
        /// An IANA name or a fixed offset; UTC without it.
        time_zone: Option<String>,
        /// Moves each interval's start.
        offset_ms: i64,
    },
    /// Cells of a grid.
    Cells {
        /// Where the points come from.
        source: Source,
        /// Which cells.
        grid: Grid,
    },
}

/// Where the bucket of documents without a value comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingOrder {
    /// First when ascending.
    #[default]
    Default,
    /// First.
    First,
    /// Last.
    Last,
}

/// The most frequent combinations of values.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiTermsSpec {
    /// What is combined.
    pub sources: Vec<Source>,
    /// How many buckets are returned.
    pub size: u32,
    /// How many buckets each shard keeps.
    pub shard_size: Option<u32>,
    /// Buckets with fewer documents are left out.
    pub min_doc_count: u64,
    /// First criterion first; empty means most documents first.
    pub order: Vec<OrderBy>,
    /// Whether each bucket says how wrong its count may be.
    pub show_error: bool,
}

/// The least frequent values.
#[derive(Clone, Debug, PartialEq)]
pub struct RareTermsSpec {
    /// Where the values come from.
    pub source: Source,
    /// Values with more documents are not rare.
    pub max_doc_count: u64,
    /// Which values count at all.
    pub filter: TermFilter,
}

/// The first documents themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct TopHitsSpec {
    /// Documents to skip.
    pub from: usize,
    /// Documents wanted.
    pub size: usize,
    /// Their order; empty means by score.
    pub sort: Vec<SortKey>,
    /// Scores also when the order is not by score.
    pub track_scores: bool,
    /// Everything the request said, for whoever shows the documents.
    pub body: serde_json::Value,
    /// What was made of that; handed back with the result, untouched.
    pub attached: Option<Attached>,
}

/// Something that is handed through without being looked at.
#[derive(Clone, Debug)]
pub struct Attached(pub Arc<dyn Any + Send + Sync>);

impl PartialEq for Attached {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl AggSpec {
    /// Whether it tells of documents that do not match, so that no shard may be left out.
    pub fn needs_every_shard(&self) -> bool {
        match self {
            AggSpec::Global => true,
            AggSpec::Terms(terms) => terms.min_doc_count == 0,
            _ => false,
        }
    }
}

/// Which relatives of documents are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// Their children of a kind.
    Children,
    /// Their parents.
    Parents,
}

/// A bucket per distinct value.
#[derive(Clone, Debug, PartialEq)]
pub struct TermsSpec {
    /// Where the values come from.
    pub source: Source,
    /// How many buckets are returned.
    pub size: u32,
    /// How many buckets each shard keeps; 1.5 times `size` and 10 more unless said otherwise.
    pub shard_size: Option<u32>,
    /// Buckets with fewer documents are left out; 0 also lists values that no document matched.
    pub min_doc_count: u64,
    /// First criterion first; empty means most documents first. Ties are broken by key.
    pub order: Vec<OrderBy>,
    /// Which values count at all.
    pub filter: TermFilter,
    /// Whether each bucket says how wrong its count may be.
    pub show_error: bool,
}

impl TermsSpec {
    /// The ten most frequent values of a field.
    pub fn of(field: impl Into<String>) -> Self {
        TermsSpec {
            source: Source::field(field),
            size: 10,
            shard_size: None,
            min_doc_count: 1,
            order: Vec::new(),
            filter: TermFilter::default(),
            show_error: false,
        }
    }
}

/// Which terms count. A term must be included and must not be excluded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TermFilter {
    /// Only these; `None` means all.
    pub include: Option<IncludeExclude>,
    /// Never these.
    pub exclude: Option<IncludeExclude>,
}

/// A set of terms.
#[derive(Clone, Debug, PartialEq)]
pub enum IncludeExclude {
    /// Exactly these.
    Values(Vec<Scalar>),
    /// Those that a regular expression matches as a whole.
    Pattern(String),
    /// One of several parts that the terms are divided into by their hashes.
    Partition {
        /// Which part.
        part: u32,
        /// How many there are.
        count: u32,
    },
}

/// A sort criterion.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderBy {
    /// What is compared.
    pub key: OrderKey,
    /// Which end comes first.
    pub direction: Direction,
}

/// What buckets are compared by.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderKey {
    /// The number of documents.
    Count,
    /// The key.
    Key,
    /// A metric inside the bucket: its name, and a property after a dot where it has several.
    Metric(String),
}

/// Which end of an order comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

/// Units of a calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalendarUnit {
    /// Seconds.
    Second,
    /// Minutes.
    Minute,
    /// Hours.
    Hour,
    /// Days, from one local midnight to the next.
    Day,
    /// Weeks from Monday.
    Week,
    /// Months.
    Month,
    /// Quarters of a year.
    Quarter,
    /// Years.
    Year,
}

/// How long an interval of time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateInterval {
    /// Always the same number of milliseconds of local time.
    Fixed {
        /// The length; positive.
        step_ms: NonZeroI64,
    },
    /// As the calendar has it.
    Calendar(CalendarUnit),
}

/// Both ends of a range of keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Lower end.
    pub min: Option<Scalar>,
    /// Upper end.
    pub max: Option<Scalar>,
}

/// A bucket per interval of time.
#[derive(Clone, Debug, PartialEq)]
pub struct DateHistogramSpec {
    /// Where the values come from.
    pub source: Source,
    /// How long a bucket is.
    pub interval: DateInterval,
    /// An IANA name or a fixed offset; UTC without it.
    pub time_zone: Option<String>,
    /// Moves each bucket's start.
    pub offset_ms: i64,
    /// Buckets with fewer documents are left out; 0 fills the gaps.
    pub min_doc_count: u64,
    /// Buckets to show even without documents, as far as these.
    pub extended_bounds: Option<Bounds>,
    /// No buckets beyond these.
    pub hard_bounds: Option<Bounds>,
    /// First criterion first; empty means by key.
    pub order: Vec<OrderBy>,
    /// Whether buckets are shown by name.
    pub keyed: bool,
}

impl DateHistogramSpec {
    /// A histogram of a field in UTC, gaps filled.
    pub fn of(field: impl Into<String>, interval: DateInterval) -> Self {
        DateHistogramSpec {
            source: Source::field(field),
            interval,
            time_zone: None,
            offset_ms: 0,
            min_doc_count: 0,
            extended_bounds: None,
            hard_bounds: None,
            order: Vec::new(),
            keyed: false,
        }
    }
}

/// A bucket per interval of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramSpec {
    /// Where the values come from.
    pub source: Source,
    /// How long a bucket is.
    pub interval: f64,
    /// Moves each bucket's start.
    pub offset: f64,
    /// Buckets with fewer documents are left out; 0 fills the gaps.
    pub min_doc_count: u64,
    /// Buckets to show even without documents, as far as these.
    pub extended_bounds: Option<Bounds>,
    /// No buckets beyond these.
    pub hard_bounds: Option<Bounds>,
    /// First criterion first; empty means by key.
    pub order: Vec<OrderBy>,
    /// Whether buckets are shown by name.
    pub keyed: bool,
}

impl HistogramSpec {
    /// A histogram of a field, gaps filled.
    pub fn of(field: impl Into<String>, interval: f64) -> Self {
        HistogramSpec {
            source: Source::field(field),
            interval,
            offset: 0.0,
            min_doc_count: 0,
            extended_bounds: None,
            hard_bounds: None,
            order: Vec::new(),
            keyed: false,
        }
    }
}

/// A bucket per given range; ranges may overlap.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeSpec {
    /// Where the values come from.
    pub source: Source,
    /// The ranges; results come sorted by their ends.
    pub ranges: Vec<RangeItem>,
    /// Whether buckets are shown by name.
    pub keyed: bool,
    /// What the ends are, and how they are read and printed.
    pub kind: EndKind,
    /// Time zone of dates given as text and printed; UTC without it.
    pub time_zone: Option<String>,
    /// Where distances are measured from, and how long one of their units is in metres.
    pub origin: Option<(GeoPoint, f64)>,
}

/// One range: from its lower end, up to but without its upper end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RangeItem {
    /// Its name, made of its ends if not given.
    pub key: Option<String>,
    /// Lower end, inclusive.
    pub from: Option<Scalar>,
    /// Upper end, exclusive.
    pub to: Option<Scalar>,
    /// A network of addresses instead of ends.
    pub mask: Option<String>,
}

/// Buckets of time whose length the data chooses.
#[derive(Clone, Debug, PartialEq)]
pub struct AutoDateSpec {
    /// Where the values come from.
    pub source: Source,
    /// At most so many buckets.
    pub buckets: u32,
    /// An IANA name or a fixed offset; UTC without it.
    pub time_zone: Option<String>,
    /// No shorter than one of these.
    pub minimum: Option<CalendarUnit>,
}

/// Values that are more frequent here than elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct SignificantSpec {
    /// Where the values come from.
    pub source: Source,
    /// How many buckets are returned.
    pub size: u32,
    /// How many buckets each shard keeps.
    pub shard_size: Option<u32>,
    /// Buckets with fewer documents are left out.
    pub min_doc_count: u64,
    /// Which values count at all.
    pub filter: TermFilter,
    /// How significant a difference is.
    pub heuristic: Heuristic,
    /// What is compared with; all documents without it.
    pub background: Option<Query>,
    /// How words are taken from texts; the values of a column without it.
    pub words: Option<WordsSpec>,
}

/// How words are taken from texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WordsSpec {
    /// Whether rows of words that were there before do not count again.
    pub drops_copies: bool,
    /// Paths in the source that have the text; the field's own where there are none.
    pub paths: Vec<String>,
}

/// Cells of a grid, most documents first.
#[derive(Clone, Debug, PartialEq)]
pub struct GridSpec {
    /// Where the points come from.
    pub source: Source,
    /// Which cells.
    pub grid: Grid,
    /// How many buckets are returned.
    pub size: u32,
    /// How many buckets each shard keeps.
    pub shard_size: Option<u32>,
}
