//! What aggregations that make buckets ask for.

use serde::{Deserialize, Serialize};
use std::num::NonZeroI64;

use crate::Query;
use clew_schema::geo::GeoPoint;

use super::grid::{Grid, GridBounds};
use super::heuristic::Heuristic;
use super::parts::{QueryVisitor, SpecParts};
use super::source::{Scalar, Source};

/// A bucket per distinct value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TermsSpec {
    /// Where the values come from.
    pub source: Source,
    /// How many buckets are returned.
    pub size: u32,
    /// How many buckets each shard keeps; 1.5 times `size` and 10 more unless said otherwise.
    pub shard_size: Option<u32>,
    /// Buckets with fewer documents are left out; 0 also lists values that no document matched.
    pub min_doc_count: u64,
    /// How many documents of a shard a bucket must have for the shard to report it, at most as many as to be shown.
    pub shard_min_doc_count: u64,
    /// First criterion first; empty means most documents first. Ties are broken by key.
    pub order: Vec<OrderBy>,
    /// Which values count at all.
    pub filter: TermFilter,
    /// Whether each bucket says how wrong its count may be.
    pub show_error: bool,
}

impl SpecParts for TermsSpec {
    fn tells_of_others(&self) -> bool {
        self.min_doc_count == 0
    }
}

impl TermsSpec {
    /// The ten most frequent values of a field.
    pub fn of(field: impl Into<String>) -> Self {
        TermsSpec {
            source: Source::field(field),
            size: 10,
            shard_size: None,
            min_doc_count: 1,
            shard_min_doc_count: 0,
            order: Vec::new(),
            filter: TermFilter::default(),
            show_error: false,
        }
    }
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

impl SpecParts for RareTermsSpec {}

/// Which terms count. A term must be included and must not be excluded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TermFilter {
    /// Only these; `None` means all.
    pub include: Option<IncludeExclude>,
    /// Never these.
    pub exclude: Option<IncludeExclude>,
}

/// A set of terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderBy {
    /// What is compared.
    pub key: OrderKey,
    /// Which end comes first.
    pub direction: Direction,
}

/// What buckets are compared by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum OrderKey {
    /// The number of documents.
    Count,
    /// The key.
    Key,
    /// A metric inside the bucket: its name, and a property after a dot where it has several.
    Metric(String),
}

/// Which end of an order comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

/// Units of a calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Lower end.
    pub min: Option<Scalar>,
    /// Upper end.
    pub max: Option<Scalar>,
}

/// A bucket per interval of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

impl SpecParts for DateHistogramSpec {}

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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

impl SpecParts for HistogramSpec {}

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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// What distances are measured from.
    pub origin: Option<DistanceOrigin>,
}

impl SpecParts for RangeSpec {}

/// What distances are measured from, and in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DistanceOrigin {
    /// The place.
    #[serde(with = "GeoPointForm")]
    pub place: GeoPoint,
    /// How long their unit is, in metres.
    pub unit_metres: f64,
}

/// The serialized form of a place, which `clew-schema` has none of.
#[derive(Serialize, Deserialize)]
#[serde(remote = "GeoPoint")]
struct GeoPointForm {
    lat: f64,
    lon: f64,
}

/// What the ends of ranges are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndKind {
    /// Numbers.
    Numbers,
    /// Dates.
    Dates,
    /// Addresses.
    Addresses,
    /// Distances from a place.
    Distances,
}

/// One range: from its lower end, up to but without its upper end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

impl SpecParts for AutoDateSpec {}

/// Values that are more frequent here than elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignificantSpec {
    /// Where the values come from.
    pub source: Source,
    /// How many buckets are returned.
    pub size: u32,
    /// How many buckets each shard keeps.
    pub shard_size: Option<u32>,
    /// Buckets with fewer documents are left out.
    pub min_doc_count: u64,
    /// How many documents of a shard a bucket must have for the shard to report it, at most as many as to be shown.
    pub shard_min_doc_count: u64,
    /// Which values count at all.
    pub filter: TermFilter,
    /// How significant a difference is.
    pub heuristic: Heuristic,
    /// What is compared with; all documents without it.
    pub background: Option<Query>,
    /// How words are taken from texts; the values of a column without it.
    pub words: Option<WordsSpec>,
}

impl SpecParts for SignificantSpec {
    fn for_each_query_mut<E>(&mut self, visit: &mut QueryVisitor<'_, E>) -> Result<(), E> {
        self.background
            .iter_mut()
            .try_for_each(|query| query.for_each_mut(visit))
    }

    fn tells_of_others(&self) -> bool {
        true
    }
}

/// How words are taken from texts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WordsSpec {
    /// Whether rows of words that were there before do not count again.
    pub drops_copies: bool,
    /// Paths in the source that have the text; the field's own where there are none.
    pub paths: Vec<String>,
}

/// Cells of a grid, most documents first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridSpec {
    /// Where the points come from.
    pub source: Source,
    /// Which cells.
    pub grid: Grid,
    /// Only points in this box count.
    pub bounds: Option<GridBounds>,
    /// How many buckets are returned.
    pub size: u32,
    /// How many buckets each shard keeps.
    pub shard_size: Option<u32>,
}

impl SpecParts for GridSpec {}

/// Buckets where the values are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariableWidthSpec {
    /// Where the values come from.
    pub source: Source,
    /// At most so many buckets.
    pub buckets: u32,
}

impl SpecParts for VariableWidthSpec {}
