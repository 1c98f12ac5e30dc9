//! `global`: all documents, whatever the search matched.

use clew_query::AggError;
use clew_query::aggregation::GlobalSpec;

use crate::bucket::only::{only_count, single_result};
use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, Feed, InParent, Opening};
use crate::collect::Collect;
use crate::collect::places::Everything;
use crate::field::ValuePlan;
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::{AggResult, SingleKind};

/// Nothing is said about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GlobalPlan;

impl AskedBuckets for GlobalSpec {
    fn plan(&self, _: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        Ok((ValuePlan::none(), GlobalPlan.into()))
    }

    fn only_at_the_top(&self, name: &str) -> Option<String> {
        Some(format!(
            "Aggregation [{name}] cannot have a global sub-aggregation: global aggregations can only \
             be at the top level"
        ))
    }

    fn factory_name(&self) -> &'static str {
        "GlobalAggregatorFactory"
    }
}

impl BucketAgg for GlobalPlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening { segment, plan, .. } = opening;
        Ok(Box::new(Everything::open(segment, plan)?))
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        single_result(of, SingleKind::Global, budget)
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        "GlobalAggregator"
    }

    fn feed(&self) -> Feed {
        Feed::Everything
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        only_count(name)
    }
}
