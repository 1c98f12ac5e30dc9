//! `sampler` and `diversified_sampler`: the best documents of each shard, in each bucket of the parent.

use std::sync::Arc;

use clew_query::AggError;
use clew_query::aggregation::SampleSpec;
use tantivy::SegmentReader;

use crate::bucket::only::{only_count, single_result};
use crate::bucket::sampled::{Sampling, count_sampled};
use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, InParent, Opening};
use crate::collect::{Collect, Planned};
use crate::counted::buckets::Buckets;
use crate::field::context::AggContext;
use crate::field::values::plan_values;
use crate::field::{ValueKind, ValuePlan};
use crate::limits::Account;
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::{AggResult, SingleKind};

fn plan_sample(
    spec: &SampleSpec,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, SamplePlan), AggError> {
    let values = match &spec.diverse {
        Some((source, _)) => plan_values(source, "diversified_sampler", context)?,
        None => ValuePlan::none(),
    };
    let unmapped = values.kind == ValueKind::Unmapped && values.made.is_none();
    let differs_in_nothing = spec.diverse.is_some() && unmapped;
    let wanted = Wanted {
        // Where no document has the field that they are to differ in, OpenSearch samples none.
        size: if differs_in_nothing {
            0
        } else {
            spec.size as usize
        },
        per_value: spec.diverse.as_ref().map(|(_, most)| *most as usize),
    };
    let readers = context.snapshot.map(|snapshot| snapshot.readers.clone());
    let sample = SamplePlan {
        wanted,
        readers: Arc::new(readers.unwrap_or_default()),
    };
    Ok((values, sample))
}

/// How a sample is taken.
#[derive(Clone, Debug)]
pub(crate) struct SamplePlan {
    pub(crate) wanted: Wanted,
    /// The segments of the shard.
    pub(crate) readers: Arc<Vec<SegmentReader>>,
}

/// Which documents a sample has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// How many of each shard.
    pub(crate) size: usize,
    /// At most so many with the same value; any number where none is said.
    pub(crate) per_value: Option<usize>,
}

impl AskedBuckets for SampleSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let (values, plan) = plan_sample(self, asking.context)?;
        Ok((values, plan.into()))
    }

    fn factory_name(&self) -> &'static str {
        "SamplerAggregatorFactory"
    }
}

impl BucketAgg for SamplePlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening { segment, plan, .. } = opening;
        Ok(Box::new(Sampling::open(segment, plan, self.wanted)))
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        single_result(of, SingleKind::Sample, budget)
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        "SamplerAggregator"
    }

    fn count_late(
        &self,
        plan: &dyn Planned,
        buckets: &mut Buckets,
        account: &mut Account,
    ) -> Result<(), AggError> {
        count_sampled((plan, self), buckets, account)
    }

    fn wants_scores(&self) -> bool {
        true
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        only_count(name)
    }
}
