//! `sampler` and `diversified_sampler`: the best documents of each shard.

use clew_query::AggError;
use clew_query::aggregation::SampleSpec;

use crate::bucket::only::{only_count, single_result};
use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, Feed, InParent, Opening};
use crate::collect::Collect;
use crate::collect::places::{Counted, Everything};
use crate::field::ValuePlan;
use crate::field::context::AggContext;
use crate::field::values::plan_values;
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
    let sample = SamplePlan {
        size: spec.size as usize,
        per_value: spec.diverse.as_ref().map(|(_, most)| *most as usize),
    };
    Ok((values, sample))
}

/// How a sample is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SamplePlan {
    /// How many documents of each shard.
    pub(crate) size: usize,
    /// At most so many with the same value; any number where none is said.
    pub(crate) per_value: Option<usize>,
}

impl AskedBuckets for SampleSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let (values, plan) = plan_sample(self, asking.context)?;
        Ok((values, plan.into()))
    }

    fn only_at_the_top(&self, name: &str) -> Option<String> {
        Some(format!(
            "Aggregation [{name}]: samples can only be taken at the top level"
        ))
    }

    fn factory_name(&self) -> &'static str {
        "SamplerAggregatorFactory"
    }
}

impl BucketAgg for SamplePlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening { segment, plan, .. } = opening;
        let counted = Counted::WhatTheyStandFor;
        Ok(Box::new(Everything::open(segment, plan, counted)?))
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        single_result(of, SingleKind::Sample, budget)
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        "SamplerAggregator"
    }

    fn feed(&self) -> Feed {
        Feed::Best(*self)
    }

    fn wants_scores(&self) -> bool {
        true
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        only_count(name)
    }
}
