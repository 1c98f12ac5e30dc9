//! What is asked for: a tree of named aggregations, as any protocol may build it. Nothing here is
//! checked against a mapping yet; `plan` does that.

use serde::{Deserialize, Serialize};

use crate::Query;

use super::buckets::{
    AutoDateSpec, DateHistogramSpec, GridSpec, HistogramSpec, RangeSpec, RareTermsSpec,
    SignificantSpec, TermsSpec, VariableWidthSpec,
};
use super::combinations::{CompositeSpec, MultiTermsSpec};
use super::documents::{
    FiltersSpec, GlobalSpec, NestedSpec, RelativesSpec, ReverseNestedSpec, SampleSpec,
};
use super::metrics::{
    CardinalitySpec, ExtendedStatsSpec, GeoBoundsSpec, MatrixSpec, MedianDeviationSpec,
    PercentilesSpec, ScriptedMetricSpec, TopHitsSpec, WeightedAvgSpec,
};
use super::parts::SpecParts;
use super::pipelines::PipelineSpec;
use super::source::Source;

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

    /// Visits every query of this aggregation and of those inside it; each may be replaced.
    ///
    /// # Errors
    /// The first that `visit` has.
    pub fn for_each_query_mut<E>(
        &mut self,
        visit: &mut dyn FnMut(&mut Query) -> Result<(), E>,
    ) -> Result<(), E> {
        self.spec.for_each_query_mut(visit)?;
        self.subs
            .iter_mut()
            .try_for_each(|sub| sub.for_each_query_mut(visit))
    }
}

/// Makes the enum of all aggregations, those of its two large families, and the walks over them.
macro_rules! specs {
    (
        buckets { $($(#[$about_bucket:meta])* $bucket:ident($buckets:ty),)* }
        metrics { $($(#[$about_metric:meta])* $metric:ident($metrics:ty),)* }
    ) => {
        /// What is computed.
        #[allow(
            clippy::large_enum_variant,
            reason = "there is one per aggregation, not one per bucket"
        )]
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum AggSpec {
            $($(#[$about_bucket])* $bucket($buckets),)*
            $($(#[$about_metric])* $metric($metrics),)*
            /// Computed from what other aggregations found.
            Pipeline(PipelineSpec),
        }

        /// One of those that make buckets.
        #[derive(Clone, Copy, Debug)]
        pub enum BucketSpec<'a> {
            $($(#[$about_bucket])* $bucket(&'a $buckets),)*
        }

        /// One of those that tell a few numbers, or documents.
        #[derive(Clone, Copy, Debug)]
        pub enum MetricSpec<'a> {
            $($(#[$about_metric])* $metric(&'a $metrics),)*
        }

        impl AggSpec {
            /// The family that it is of: whoever computes one family names its own alone.
            pub fn family(&self) -> AggFamily<'_> {
                match self {
                    $(AggSpec::$bucket(spec) => AggFamily::Bucket(BucketSpec::$bucket(spec)),)*
                    $(AggSpec::$metric(spec) => AggFamily::Metric(MetricSpec::$metric(spec)),)*
                    AggSpec::Pipeline(spec) => AggFamily::Pipeline(spec),
                }
            }

            fn for_each_query_mut<E>(
                &mut self,
                visit: &mut dyn FnMut(&mut Query) -> Result<(), E>,
            ) -> Result<(), E> {
                match self {
                    $(AggSpec::$bucket(spec) => spec.for_each_query_mut(visit),)*
                    $(AggSpec::$metric(spec) => spec.for_each_query_mut(visit),)*
                    AggSpec::Pipeline(spec) => spec.for_each_query_mut(visit),
                }
            }

            /// What the aggregations inside see, when it is something else.
            pub fn scope_inside<'a>(&'a self, outside: Option<&'a str>) -> Option<&'a str> {
                match self {
                    $(AggSpec::$bucket(spec) => spec.scope_inside(outside),)*
                    $(AggSpec::$metric(spec) => spec.scope_inside(outside),)*
                    AggSpec::Pipeline(spec) => spec.scope_inside(outside),
                }
            }

            fn tells_of_others(&self) -> bool {
                match self {
                    $(AggSpec::$bucket(spec) => spec.tells_of_others(),)*
                    $(AggSpec::$metric(spec) => spec.tells_of_others(),)*
                    AggSpec::Pipeline(spec) => spec.tells_of_others(),
                }
            }
        }
    };
}

// The aggregations there are. Another one is another line here; what is special about it is said beside what it asks for.
specs! {
    buckets {
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
        /// One bucket: the nested objects of a path inside the documents.
        Nested(NestedSpec),
        /// One bucket: the documents around nested objects, or the objects of a path around them.
        ReverseNested(ReverseNestedSpec),
        /// One bucket: the children of the documents, or their parents, by a `join` field.
        Relatives(RelativesSpec),
        /// Buckets of the documents that queries match.
        Filters(FiltersSpec),
        /// One bucket of all documents, whatever the search matched.
        Global(GlobalSpec),
        /// Buckets per combination of values, page by page.
        Composite(CompositeSpec),
        /// The most frequent combinations of values.
        MultiTerms(MultiTermsSpec),
        /// The least frequent values.
        RareTerms(RareTermsSpec),
        /// Cells of a grid, most documents first.
        GeoGrid(GridSpec),
        /// Values that are more frequent here than elsewhere.
        SignificantTerms(SignificantSpec),
        /// Buckets where the values are.
        VariableWidth(VariableWidthSpec),
        /// Buckets of time whose length the data chooses.
        AutoDateHistogram(AutoDateSpec),
        /// One bucket: the best documents of each shard.
        Sample(SampleSpec),
    }
    metrics {
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
        ExtendedStats(ExtendedStatsSpec),
        /// The first documents themselves.
        TopHits(TopHitsSpec),
        /// How many distinct values there are: exact up to the threshold, then estimated.
        Cardinality(CardinalitySpec),
        /// The values at given percentages, or the percentages of given values.
        Percentiles(PercentilesSpec),
        /// The median of the distances from the median.
        MedianDeviation(MedianDeviationSpec),
        /// The mean of values, each counted by its weight.
        WeightedAvg(WeightedAvgSpec),
        /// The box around points.
        GeoBounds(GeoBoundsSpec),
        /// The middle of points.
        GeoCentroid(Source),
        /// How several fields are distributed, and how they vary together.
        Matrix(MatrixSpec),
        /// What scripts gather of documents.
        Scripted(ScriptedMetricSpec),
    }
}

/// An aggregation by its family.
#[derive(Clone, Copy, Debug)]
pub enum AggFamily<'a> {
    /// It makes buckets.
    Bucket(BucketSpec<'a>),
    /// It tells a few numbers, or documents.
    Metric(MetricSpec<'a>),
    /// It is computed from what others found.
    Pipeline(&'a PipelineSpec),
}
