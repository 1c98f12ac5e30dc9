//! What is asked for: a tree of named aggregations, as any protocol may build it. Nothing here is
//! checked against a mapping yet; `plan` does that.

use crate::Query;
use crate::{SortKey, SortMode};
use serde::{Deserialize, Serialize};

use super::buckets::{
    AutoDateSpec, DateHistogramSpec, DateInterval, Direction, GridSpec, HistogramSpec, OrderBy,
    RangeSpec, SignificantSpec, TermFilter, TermsSpec,
};
use super::grid::Grid;
use super::pipelines::PipelineSpec;

/// A value written in a request, before the field's type is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedAgg {
    /// The name the result is found by.
    pub name: String,
    /// What is computed.
    pub spec: AggSpec,
    /// Computed inside each bucket; metrics have none.
    pub subs: Vec<NamedAgg>,
}

impl NamedAgg {
    /// Whether it, or one inside it, tells of documents that do not match, so that no shard may be left out.
    pub fn needs_every_shard(&self) -> bool {
        self.spec.tells_of_others() || self.subs.iter().any(NamedAgg::needs_every_shard)
    }
}

/// What is computed.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one per aggregation, not one per bucket"
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
        mode: SortMode,
    },
    /// Computed from what other aggregations found.
    Pipeline(PipelineSpec),
}

/// The best documents of each shard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleSpec {
    /// How many of each shard.
    pub size: u32,
    /// Few documents with the same value of a field: where the values come from, and how many.
    pub diverse: Option<(Source, u32)>,
}

/// Percentiles of values, or ranks of values among them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// How a distribution is kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Method {
    /// Centroids; exact while there are few values.
    TDigest {
        /// More is exacter and takes more memory.
        compression: f64,
    },
    /// Counters with so many significant digits.
    Hdr {
        /// From 0 to 5.
        digits: u8,
    },
}

impl Default for Method {
    fn default() -> Self {
        Method::TDigest { compression: 100.0 }
    }
}

/// Buckets of the documents that queries match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FiltersSpec {
    /// The queries by name.
    pub filters: Vec<(String, Query)>,
    /// What the buckets are.
    pub shape: FilterShape,
}

/// What a bucket of queries is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompositeSpec {
    /// What is combined, most significant first.
    pub sources: Vec<CompositeSource>,
    /// Buckets per page.
    pub size: u32,
    /// The last combination of the page before, by name of source.
    pub after: Option<Vec<(String, Option<Scalar>)>>,
}

/// One source of a combination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RareTermsSpec {
    /// Where the values come from.
    pub source: Source,
    /// Values with more documents are not rare.
    pub max_doc_count: u64,
    /// Which values count at all.
    pub filter: TermFilter,
}

/// The first documents themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopHitsSpec {
    /// Documents to skip.
    pub from: usize,
    /// Documents wanted.
    pub size: usize,
    /// Their order; empty means by score.
    pub sort: Vec<SortKey>,
    /// Scores also when the order is not by score.
    pub track_scores: bool,
}

impl AggSpec {
    /// What the aggregations inside see, when it is something else.
    pub fn scope_inside<'a>(&'a self, outside: Option<&'a str>) -> Option<&'a str> {
        match self {
            AggSpec::Nested { path } => Some(path),
            AggSpec::ReverseNested { path } => path.as_deref(),
            AggSpec::Terms(_)
            | AggSpec::DateHistogram(_)
            | AggSpec::Histogram(_)
            | AggSpec::Range(_)
            | AggSpec::Missing(_)
            | AggSpec::Min(_)
            | AggSpec::Max(_)
            | AggSpec::Avg(_)
            | AggSpec::Sum(_)
            | AggSpec::ValueCount(_)
            | AggSpec::Stats(_)
            | AggSpec::ExtendedStats { .. }
            | AggSpec::Relatives { .. }
            | AggSpec::TopHits(_)
            | AggSpec::Cardinality { .. }
            | AggSpec::Percentiles(_)
            | AggSpec::MedianDeviation { .. }
            | AggSpec::WeightedAvg { .. }
            | AggSpec::Filters(_)
            | AggSpec::Global
            | AggSpec::Composite(_)
            | AggSpec::MultiTerms(_)
            | AggSpec::RareTerms(_)
            | AggSpec::GeoBounds { .. }
            | AggSpec::GeoCentroid(_)
            | AggSpec::GeoGrid(_)
            | AggSpec::SignificantTerms(_)
            | AggSpec::VariableWidth { .. }
            | AggSpec::AutoDateHistogram(_)
            | AggSpec::Sample(_)
            | AggSpec::Matrix { .. }
            | AggSpec::Pipeline(_) => outside,
        }
    }

    /// Whether its answer tells of documents that the search does not match: of values that none of the matches has,
    /// or of how frequent a value is in all documents.
    fn tells_of_others(&self) -> bool {
        match self {
            AggSpec::Global | AggSpec::SignificantTerms(_) => true,
            AggSpec::Terms(terms) => terms.min_doc_count == 0,
            AggSpec::DateHistogram(_)
            | AggSpec::Histogram(_)
            | AggSpec::Range(_)
            | AggSpec::Missing(_)
            | AggSpec::Min(_)
            | AggSpec::Max(_)
            | AggSpec::Avg(_)
            | AggSpec::Sum(_)
            | AggSpec::ValueCount(_)
            | AggSpec::Stats(_)
            | AggSpec::ExtendedStats { .. }
            | AggSpec::Nested { .. }
            | AggSpec::ReverseNested { .. }
            | AggSpec::Relatives { .. }
            | AggSpec::TopHits(_)
            | AggSpec::Cardinality { .. }
            | AggSpec::Percentiles(_)
            | AggSpec::MedianDeviation { .. }
            | AggSpec::WeightedAvg { .. }
            | AggSpec::Filters(_)
            | AggSpec::Composite(_)
            | AggSpec::MultiTerms(_)
            | AggSpec::RareTerms(_)
            | AggSpec::GeoBounds { .. }
            | AggSpec::GeoCentroid(_)
            | AggSpec::GeoGrid(_)
            | AggSpec::VariableWidth { .. }
            | AggSpec::AutoDateHistogram(_)
            | AggSpec::Sample(_)
            | AggSpec::Matrix { .. }
            | AggSpec::Pipeline(_) => false,
        }
    }
}

/// Which relatives of documents are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Generation {
    /// Their children of a kind.
    Children,
    /// Their parents.
    Parents,
}
