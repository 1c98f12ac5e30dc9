//! `weighted_avg`: the mean of values, each counted by its weight.

use clew_query::AggError;
use clew_query::aggregation::WeightedAvgSpec;

use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::ValuePlan;
use crate::field::column::ValueColumn;
use crate::field::context::AggContext;
use crate::field::rows::{Repeats, Rows};
use crate::field::values::plan_values;
use crate::limits::{Account, grow};
use crate::metric::{InBucket, Metric, SHAPE, of_bucket};
use crate::numbers::moments::Weighted;
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::{AggResult, Metric as MetricResult};
use crate::value::format::ValueFormat;

/// Where the weights come from.
#[derive(Clone, Debug)]
pub(crate) struct WeightedAvgPlan {
    pub(crate) weight: ValuePlan,
}

/// The plan of `weighted_avg`.
///
/// # Errors
/// [`AggError`] when a field cannot serve.
pub(crate) fn plan_weighted_avg(
    spec: &WeightedAvgSpec,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, WeightedAvgPlan), AggError> {
    let weight = plan_values(&spec.weight, "weighted_avg", context)?;
    let mut values = plan_values(&spec.value, "weighted_avg", context)?;
    values.format = ValueFormat::of_numbers(spec.format.as_deref())?;
    Ok((values, WeightedAvgPlan { weight }))
}

/// Sums of values times weights, and of weights.
pub(crate) struct WeightedAvg {
    values: ValueColumn,
    weights: ValueColumn,
    value_rows: Rows,
    weight_rows: Rows,
    sums: Vec<Weighted>,
}

impl WeightedAvg {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &dyn Planned,
        weight: &ValuePlan,
    ) -> Result<Self, AggError> {
        Ok(WeightedAvg {
            values: ValueColumn::open(segment.reader, plan.values())?,
            weights: ValueColumn::open(segment.reader, weight)?,
            value_rows: Rows::default(),
            weight_rows: Rows::default(),
            sums: Vec::new(),
        })
    }
}

impl Collect for WeightedAvg {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        if self.values.is_empty() || self.weights.is_empty() {
            return Ok(());
        }
        let (values, weights) = (&mut self.value_rows, &mut self.weight_rows);
        self.values
            .read_scored(block.docs, account, Repeats::Kept, values)?;
        self.weights
            .read_scored(block.docs, account, Repeats::Kept, weights)?;
        let mut at = 0;
        for (entry, raw) in values.entries.iter().zip(&values.values) {
            while weights.entries.get(at).is_some_and(|other| other < entry) {
                at += 1;
            }
            if weights.entries.get(at) != Some(entry) {
                continue;
            }
            if weights.entries.get(at + 1) == Some(entry) {
                return Err(AggError::invalid(
                    "Encountered more than one weight for a single document. Use a script to \
                     combine multiple weights-per-doc into a single value.",
                ));
            }
            let parent = block.parents[*entry as usize];
            grow(&mut self.sums, parent, account)?;
            let weight = self.weights.number(weights.values[at]);
            self.sums[parent as usize].add(self.values.number(*raw), weight);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &mut Account) -> Result<Partial, AggError> {
        Ok(Partial::Weighted(self.sums))
    }
}

impl Metric for WeightedAvgPlan {
    fn open(&self, segment: Segment<'_>, plan: &dyn Planned) -> Result<Box<dyn Collect>, AggError> {
        Ok(Box::new(WeightedAvg::open(segment, plan, &self.weight)?))
    }

    fn empty(&self) -> Partial {
        Partial::Weighted(Vec::new())
    }

    fn result(&self, of: InBucket<'_>, _: &mut Budget<'_>) -> AggResult {
        let Partial::Weighted(sums) = of.partial else {
            unreachable!("{SHAPE}");
        };
        let mean = of_bucket(sums, of.bucket)
            .copied()
            .unwrap_or_default()
            .mean();
        AggResult::WeightedAvg(MetricResult {
            value: mean.is_finite().then_some(mean),
            format: of.values.format.clone(),
        })
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        matches!(name, None | Some("value")).then_some(Property::Value)
    }

    fn wants_scores(&self) -> bool {
        self.weight.wants_scores()
    }

    fn profiled_as(&self) -> &'static str {
        "WeightedAvgAggregator"
    }
}
