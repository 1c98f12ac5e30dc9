//! Aggregations that make buckets. A file holds one of them, or those that are counted alike: how it is planned, its
//! collector, what is done to its counts, and its result. The list of all is here.

pub(crate) mod auto_date;
pub(crate) mod chain;
pub(crate) mod composite;
pub(crate) mod cut;
pub(crate) mod date_histogram;
pub(crate) mod filters;
pub(crate) mod global;
pub(crate) mod grid;
pub(crate) mod histogram;
pub(crate) mod missing;
pub(crate) mod multi_terms;
pub(crate) mod nested;
pub(crate) mod only;
pub(crate) mod range;
pub(crate) mod rare_terms;
pub(crate) mod relatives;
pub(crate) mod sampled;
pub(crate) mod sampler;
pub(crate) mod shown_terms;
pub(crate) mod significant;
pub(crate) mod steps;
pub(crate) mod terms;
pub(crate) mod variable_width;
pub(crate) mod words;

use clew_query::AggError;
use clew_query::aggregation::BucketSpec;
use tantivy::SegmentReader;

use crate::bucket::auto_date::AutoDatePlan;
use crate::bucket::composite::CompositePlan;
use crate::bucket::date_histogram::DatePlan;
use crate::bucket::filters::FiltersPlan;
use crate::bucket::global::GlobalPlan;
use crate::bucket::grid::GridPlan;
use crate::bucket::histogram::NumberPlan;
use crate::bucket::missing::MissingPlan;
use crate::bucket::multi_terms::MultiTermsPlan;
use crate::bucket::nested::JoinPlan;
use crate::bucket::range::RangePlan;
use crate::bucket::relatives::RelativesPlan;
use crate::bucket::sampler::SamplePlan;
use crate::bucket::terms::TermsPlan;
use crate::bucket::variable_width::ClustersPlan;
use crate::collect::{Collect, Level, Planned, Segment};
use crate::counted::buckets::Buckets;
use crate::field::ValuePlan;
use crate::field::context::AggContext;
use crate::limits::Account;
use crate::order::path::Ordered;
use crate::order::{PlannedOrder, Property, Row};
use crate::reduce::{Budget, Node, rows_of};
use crate::result::AggResult;

/// What a plan is made of besides what is asked for.
pub(crate) struct Asking<'a> {
    /// What the aggregation is called.
    pub(crate) name: &'a str,
    pub(crate) context: &'a AggContext<'a>,
    /// What is inside, which its buckets may be ordered by.
    pub(crate) subs: &'a [&'a dyn Ordered],
}

/// What the tree asks of an aggregation that a request asks for.
pub(crate) trait AskedBuckets {
    /// How it is counted, and of which values.
    ///
    /// # Errors
    /// [`AggError`] naming what is wrong.
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError>;
    /// What is told to who asks for it inside another, where it can only be at the top.
    fn only_at_the_top(&self, _name: &str) -> Option<String> {
        None
    }
    /// Whether its buckets come page by page, which they cannot inside several buckets.
    fn has_pages(&self) -> bool {
        false
    }
    /// Whether there is one bucket of it for each of its parent, so that what has pages can be inside.
    fn takes_pages(&self) -> bool {
        false
    }
    /// What OpenSearch calls that which builds it, seen in its messages.
    fn factory_name(&self) -> &'static str {
        "AggregatorFactory"
    }
}

/// What the tree asks of a planned aggregation, each of which is described in its own file.
pub(crate) trait BucketAgg {
    /// Its collector of a segment.
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError>;
    /// Its result in one bucket of its parent.
    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError>;
    /// What OpenSearch calls that which counts so.
    fn profiled_as(&self, values: &ValuePlan) -> &'static str;
    /// What a profile tells of it besides.
    fn profile_details(&self, _values: &ValuePlan) -> ProfileDetails {
        ProfileDetails::default()
    }
    /// Which documents are counted.
    fn feed(&self) -> Feed {
        Feed::Matches
    }
    /// Whether it reads the documents' scores, whatever is inside.
    fn wants_scores(&self) -> bool {
        false
    }
    /// What reading its values takes for each document of a segment, beside those of its plan.
    fn bytes_per_doc(&self) -> usize {
        0
    }
    /// The number that an order's path names.
    fn property(&self, _name: Option<&str>) -> Option<Property> {
        None
    }
    /// How buckets are ordered, where that is a choice.
    fn order(&self) -> Option<&[PlannedOrder]> {
        None
    }
    /// Counts documents that are only known once a shard's were all seen.
    fn count_late(
        &self,
        _plan: &dyn Planned,
        _buckets: &mut Buckets,
        _account: &mut Account,
    ) -> Result<(), AggError> {
        Ok(())
    }
    /// Whether its buckets are compared with documents beside those that match.
    fn wants_background(&self) -> bool {
        false
    }
    /// Counts what its buckets are compared with, over all segments of a shard.
    fn count_background(
        &self,
        _plan: &dyn Planned,
        _buckets: &mut Buckets,
        _readers: &[SegmentReader],
    ) -> Result<(), AggError> {
        Ok(())
    }
    /// Cuts the buckets of so many parents to those that a shard reports.
    fn cut(&self, _buckets: &mut Buckets, _parent_count: usize) -> Result<(), AggError> {
        Ok(())
    }
    /// Whether keys are values of the field, so that all shards must have the same type of them.
    fn has_values_for_keys(&self) -> bool {
        false
    }
    /// Takes over what another shard's mapping says and this one's does not.
    fn adopt(&mut self, _theirs: &Self)
    where
        Self: Sized,
    {
    }
    /// Makes the buckets to be shown, once all shards are merged.
    fn settle(&self, _plan: &dyn Planned, buckets: Buckets) -> Result<Buckets, AggError> {
        Ok(buckets)
    }
}

/// What a collector is opened for.
#[derive(Clone, Copy)]
pub(crate) struct Opening<'a> {
    pub(crate) segment: Segment<'a>,
    /// The aggregation as its collector sees it.
    pub(crate) plan: &'a dyn Planned,
    /// Whether there is one parent bucket or many.
    pub(crate) level: Level,
}

/// What was counted inside one bucket of the parent.
#[derive(Clone, Copy)]
pub(crate) struct InParent<'a> {
    pub(crate) node: &'a Node<'a>,
    /// Its buckets, those of all other parents too.
    pub(crate) buckets: &'a Buckets,
    /// The parent's number; one made to fill a gap has none.
    pub(crate) parent: Option<u32>,
}

impl InParent<'_> {
    /// The parent's buckets whose keys are whole numbers, in the order of these.
    pub(crate) fn rows(&self) -> Vec<Row> {
        rows_of(self.node.numbers(self.parent), self.buckets)
    }
}

/// Which documents an aggregation counts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Feed {
    /// Those that the search matches.
    Matches,
    /// All that the search may see.
    Everything,
}

/// What a profile tells of an aggregation over values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProfileDetails {
    /// What values the buckets are of.
    pub(crate) strategy: Option<&'static str>,
    /// Whether some values are left out, where that can be asked for.
    pub(crate) has_filter: Option<bool>,
}

/// The ways of counting there are; another one is another line here.
macro_rules! buckets {
    ($($name:ident($plan:ty),)*) => {
        /// An aggregation that makes buckets, ready to run.
        #[allow(
            clippy::large_enum_variant,
            reason = "there is one per aggregation, not one per bucket"
        )]
        #[derive(Clone, Debug)]
        pub(crate) enum BucketPlan {
            $($name($plan),)*
        }

        impl BucketPlan {
            /// The one that it is.
            pub(crate) fn as_bucket(&self) -> &dyn BucketAgg {
                match self {
                    $(BucketPlan::$name(plan) => plan,)*
                }
            }

            /// Takes over what another shard's mapping says and this one's does not.
            pub(crate) fn adopt(&mut self, theirs: &BucketPlan) {
                match (self, theirs) {
                    $((BucketPlan::$name(mine), BucketPlan::$name(theirs)) => mine.adopt(theirs),)*
                    _ => unreachable!("plans of one request have the same shape"),
                }
            }
        }

        $(impl From<$plan> for BucketPlan {
            fn from(plan: $plan) -> Self {
                BucketPlan::$name(plan)
            }
        })*
    };
}

buckets! {
    Terms(TermsPlan),
    DateHistogram(DatePlan),
    Histogram(NumberPlan),
    Range(RangePlan),
    Missing(MissingPlan),
    Join(JoinPlan),
    Relatives(RelativesPlan),
    Filters(FiltersPlan),
    Global(GlobalPlan),
    Sample(SamplePlan),
    Composite(CompositePlan),
    MultiTerms(MultiTermsPlan),
    AutoDate(AutoDatePlan),
    Grid(GridPlan),
    Clusters(ClustersPlan),
}

/// What a request asks for, as the tree asks about it; another aggregation is another line here too.
pub(crate) fn asked_buckets(spec: BucketSpec<'_>) -> &dyn AskedBuckets {
    match spec {
        BucketSpec::Terms(spec) => spec,
        BucketSpec::DateHistogram(spec) => spec,
        BucketSpec::Histogram(spec) => spec,
        BucketSpec::Range(spec) => spec,
        BucketSpec::Missing(source) => source,
        BucketSpec::Nested(spec) => spec,
        BucketSpec::ReverseNested(spec) => spec,
        BucketSpec::Relatives(spec) => spec,
        BucketSpec::Filters(spec) => spec,
        BucketSpec::Global(spec) => spec,
        BucketSpec::Composite(spec) => spec,
        BucketSpec::MultiTerms(spec) => spec,
        BucketSpec::RareTerms(spec) => spec,
        BucketSpec::GeoGrid(spec) => spec,
        BucketSpec::SignificantTerms(spec) => spec,
        BucketSpec::VariableWidth(spec) => spec,
        BucketSpec::AutoDateHistogram(spec) => spec,
        BucketSpec::Sample(spec) => spec,
    }
}
