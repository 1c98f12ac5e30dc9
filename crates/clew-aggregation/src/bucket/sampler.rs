//! `sampler` and `diversified_sampler`: the best documents of each shard.

use clew_query::AggError;
use clew_query::aggregation::SampleSpec;

use crate::field::ValuePlan;
use crate::field::context::AggContext;
use crate::field::values::plan_values;

pub(crate) fn plan_sample(
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
