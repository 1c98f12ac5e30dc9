//! `histogram`: a bucket per interval of numbers.

use clew_query::AggError;
use clew_query::aggregation::{HistogramSpec, Scalar};
use clew_schema::{RangeKind, Span};
use tantivy::columnar::MonotonicallyMappableToU64;

use crate::bucket::steps::{
    Ends, Steps, enough, fill, histogram_buckets, read_ends, start_of_step, step_of_number,
};
use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, InParent, Opening};
use crate::collect::slots::Slots;
use crate::collect::{Block, Collect, Level, Planned, Segment};
use crate::counted::Partial;
use crate::field::column::ValueColumn;
use crate::field::values::{bound_number, plan_values};
use crate::field::{ValueKind, ValuePlan};
use crate::limits::Account;
use crate::order::path::{Ordered, plan_order};
use crate::order::{PlannedOrder, Row};
use crate::reduce::Budget;
use crate::result::{AggResult, HistogramResult};
use crate::value::key::Key;

/// Buckets of numbers. While collecting and merging, a bucket's key is its whole number of steps.
pub(crate) struct NumberHistogram {
    steps: Steps,
    interval: f64,
    offset: f64,
    hard: Option<Ends<f64>>,
    /// The field and what its ranges are of, where its values are ranges.
    ranges: Option<(String, RangeKind)>,
}

impl NumberHistogram {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &dyn Planned,
        numbers: &NumberPlan,
        level: Level,
    ) -> Result<Self, AggError> {
        let column = ValueColumn::open(segment.reader, plan.values())?;
        let ranges = match plan.values().kind {
            ValueKind::Range(kind) => Some((plan.values().field.clone(), kind)),
            _ => None,
        };
        let known = column.range().filter(|_| ranges.is_none());
        let range = known.map(|(min, max)| {
            let step = |raw| step_of_number(column.number(raw), numbers.interval, numbers.offset);
            (step(min).to_u64(), step(max).to_u64())
        });
        Ok(NumberHistogram {
            steps: Steps::open(column, Slots::for_range(range, level), (segment, plan))?,
            interval: numbers.interval,
            offset: numbers.offset,
            hard: numbers.hard,
            ranges,
        })
    }
}

impl Collect for NumberHistogram {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let (interval, offset, hard) = (self.interval, self.offset, self.hard);
        if let Some((field, kind)) = &self.ranges {
            let step = |number| step_of_number(number, interval, offset);
            let steps_of = |span: Span| {
                let (from, to) = span.numbers(*kind)?;
                let (min, max) = hard.map_or((None, None), |hard| (hard.min, hard.max));
                let from = min.map_or(from, |min: f64| min.max(from));
                let to = max.map_or(to, |max: f64| max.min(to));
                // Bounds beside a range still touch the step that its end is in.
                Some((step(from), step(to)))
            };
            let next = |step: i64| step.saturating_add(1);
            return self
                .steps
                .collect_ranges((block, field), account, steps_of, next);
        }
        self.steps.collect(block, account, |column, raw| {
            let step = step_of_number(column.number(raw), interval, offset);
            // Bounds are for the place among the intervals, whatever the offset.
            let within =
                hard.is_none_or(|hard| hard.holds_both(start_of_step(step, interval, 0.0)));
            within.then_some(step)
        })
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        self.steps.finish(Key::I64, account)
    }
}

/// The buckets of numbers to show, by step.
///
/// # Errors
/// [`AggError::TooManyBuckets`], before the buckets are made.
fn filled_numbers(
    plan: &NumberPlan,
    rows: Vec<Row>,
    budget: &mut Budget,
) -> Result<Vec<Row>, AggError> {
    if plan.min_doc_count > 0 {
        return enough(rows, plan.min_doc_count, budget);
    }
    let step = |bound: f64| step_of_number(bound, plan.interval, plan.offset);
    let span = plan.extended.map_or(
        Ends {
            min: None,
            max: None,
        },
        |ends| Ends {
            min: ends.min.map(step),
            max: ends.max.map(step),
        },
    );
    fill(rows, span, |step| step.saturating_add(1), budget)
}

#[derive(Clone, Debug)]
pub(crate) struct NumberPlan {
    pub(crate) interval: f64,
    pub(crate) offset: f64,
    pub(crate) min_doc_count: u64,
    pub(crate) extended: Option<Ends<f64>>,
    pub(crate) hard: Option<Ends<f64>>,
    pub(crate) order: Vec<PlannedOrder>,
    pub(crate) keyed: bool,
}

fn plan_histogram(
    spec: &HistogramSpec,
    name: &str,
    subs: &[&dyn Ordered],
) -> Result<NumberPlan, AggError> {
    if !(spec.interval > 0.0 && spec.interval.is_finite()) {
        return Err(AggError::invalid(format!(
            "interval must be positive, got: {:?}",
            spec.interval
        )));
    }
    let shown =
        |end: &Scalar| bound_number(end).map_or_else(|_| String::new(), |end| format!("{end:?}"));
    let written = (&spec.extended_bounds, &spec.hard_bounds);
    let [extended, hard] = read_ends(written, name, bound_number, shown)?;
    Ok(NumberPlan {
        interval: spec.interval,
        offset: spec.offset,
        min_doc_count: spec.min_doc_count,
        extended,
        hard,
        order: plan_order(&spec.order, subs)?,
        keyed: spec.keyed,
    })
}

impl AskedBuckets for HistogramSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let values = plan_values(&self.source, "histogram", asking.context)?;
        Ok((
            values,
            plan_histogram(self, asking.name, asking.subs)?.into(),
        ))
    }

    fn factory_name(&self) -> &'static str {
        "HistogramAggregatorFactory"
    }
}

impl BucketAgg for NumberPlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening {
            segment,
            plan,
            level,
        } = opening;
        Ok(Box::new(NumberHistogram::open(segment, plan, self, level)?))
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        let node = of.node;
        let rows = of.rows();
        let rows = filled_numbers(self, rows, budget)?;
        let start = |step| Key::F64(start_of_step(step, self.interval, self.offset));
        let buckets = histogram_buckets(node, &self.order, rows, start, budget)?;
        Ok(AggResult::Histogram(HistogramResult {
            buckets,
            keyed: self.keyed,
            format: node.plan.values().format.clone(),
        }))
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        "NumericHistogramAggregator"
    }

    fn order(&self) -> Option<&[PlannedOrder]> {
        Some(&self.order)
    }
}
