//! What aggregations are asked for: a tree of named aggregations, as any protocol may build it; plain data, with the queries
//! inside. Nothing here is checked against a mapping; what each means is said where it is computed, in `clew-aggregation`.

mod buckets;
mod expression;
mod grid;
mod heuristic;
mod moving;
mod pipelines;
mod queries;
mod tree;

pub use buckets::{
    AutoDateSpec, Bounds, CalendarUnit, DateHistogramSpec, DateInterval, Direction, DistanceOrigin,
    EndKind, GridSpec, HistogramSpec, IncludeExclude, OrderBy, OrderKey, RangeItem, RangeSpec,
    SignificantSpec, TermFilter, TermsSpec, WordsSpec,
};
pub use expression::Expression;
pub use grid::{GEOHASH_MAX, Grid, ZOOM_MAX};
pub use heuristic::{Comparison, Heuristic};
pub use moving::MovingFunction;
pub use pipelines::{GapPolicy, PipelineKind, PipelineSpec, Summary};
pub use tree::{
    AggSpec, CompositeKind, CompositeSource, CompositeSpec, FilterShape, FiltersSpec, Generation,
    Method, MissingOrder, MultiTermsSpec, NamedAgg, PercentilesSpec, RareTermsSpec, SampleSpec,
    Scalar, Source, TopHitsSpec,
};
