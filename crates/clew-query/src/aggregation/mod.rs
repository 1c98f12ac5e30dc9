//! What aggregations are asked for: a tree of named aggregations, as any protocol may build it; plain data, with the queries
//! inside. Nothing here is checked against a mapping; what each means is said where it is computed, in `clew-aggregation`.
//! The list of all stands in `tree.rs`, what each asks for in the file of those that are much like it.

mod buckets;
mod combinations;
mod documents;
mod grid;
mod heuristic;
mod metrics;
mod parts;
mod pipelines;
mod source;
mod tree;

pub use buckets::{
    AutoDateSpec, Bounds, CalendarUnit, DateHistogramSpec, DateInterval, Direction, DistanceOrigin,
    EndKind, GridSpec, HistogramSpec, IncludeExclude, OrderBy, OrderKey, RangeItem, RangeSpec,
    RareTermsSpec, SignificantSpec, TermFilter, TermsSpec, VariableWidthSpec, WordsSpec,
};
pub use combinations::{
    CompositeKind, CompositeSource, CompositeSpec, MissingOrder, MultiTermsSpec,
};
pub use documents::{
    FilterShape, FiltersSpec, Generation, GlobalSpec, NestedSpec, RelativesSpec, ReverseNestedSpec,
    SampleSpec,
};
pub use grid::{GEOHASH_MAX, Grid, GridBounds, ZOOM_MAX};
pub use heuristic::{Comparison, Heuristic};
pub use metrics::{
    CardinalitySpec, ExtendedStatsSpec, GeoBoundsSpec, MatrixSpec, MedianDeviationSpec, Method,
    PercentilesSpec, ScriptedMetricSpec, TopHitsSpec, WeightedAvgSpec,
};
pub use pipelines::{GapPolicy, MovingAverage, PipelineKind, PipelineSpec, Sequence, Summary};
pub use source::{Scalar, Source};
pub use tree::{AggFamily, AggSpec, BucketSpec, MetricSpec, NamedAgg};
