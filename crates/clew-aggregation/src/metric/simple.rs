//! `min`, `max`, `avg`, `sum` and `stats`: all are shown of one count of values, extremes and sum.

use clew_query::AggError;
use clew_query::aggregation::Source;

use crate::collect::{Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::ValuePlan;
use crate::field::column::ValueColumn;
use crate::field::context::AggContext;
use crate::field::values::plan_values;
use crate::metric::values::{KeptValues, Values};
use crate::metric::{InBucket, Metric, SHAPE, of_bucket};
use crate::numbers::moments::Moments;
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::{AggResult, Metric as MetricResult, Stats};
use crate::value::format::ValueFormat;

impl KeptValues for Moments {
    fn add_raw(&mut self, column: &ValueColumn, raw: u64) {
        self.add(column.number(raw));
    }

    fn partial(kept: Vec<Self>) -> Partial {
        Partial::Moments(kept)
    }
}

/// Which of the moments a result shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MomentKind {
    Min,
    Max,
    Avg,
    Sum,
    Stats,
}

/// The plan of one of them.
///
/// # Errors
/// [`AggError`] when the field cannot serve.
pub(crate) fn plan_moments(
    kind: MomentKind,
    source: &Source,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, MomentKind), AggError> {
    let name = match kind {
        MomentKind::Min => "min",
        MomentKind::Max => "max",
        MomentKind::Avg => "avg",
        MomentKind::Sum => "sum",
        MomentKind::Stats => "stats",
    };
    Ok((plan_values(source, name, context)?, kind))
}

pub(crate) fn stats_of(moments: &Moments, format: &ValueFormat) -> Stats {
    let any = moments.count > 0;
    Stats {
        count: moments.count,
        min: any.then_some(moments.min),
        max: any.then_some(moments.max),
        avg: any.then(|| moments.mean()),
        sum: moments.sum.value(),
        format: format.clone(),
    }
}

fn moments_result(kind: MomentKind, moments: &Moments, format: &ValueFormat) -> AggResult {
    let stats = stats_of(moments, format);
    let metric = |value| MetricResult {
        value,
        format: format.clone(),
    };
    match kind {
        MomentKind::Min => AggResult::Min(metric(stats.min)),
        MomentKind::Max => AggResult::Max(metric(stats.max)),
        MomentKind::Avg => AggResult::Avg(metric(stats.avg)),
        MomentKind::Sum => AggResult::Sum(metric(Some(stats.sum))),
        MomentKind::Stats => AggResult::Stats(stats),
    }
}

impl Metric for MomentKind {
    fn open(&self, segment: Segment<'_>, plan: &dyn Planned) -> Result<Box<dyn Collect>, AggError> {
        Values::<Moments>::open(segment, plan)
    }

    fn empty(&self) -> Partial {
        Partial::Moments(Vec::new())
    }

    fn result(&self, of: InBucket<'_>, _: &mut Budget<'_>) -> AggResult {
        let Partial::Moments(moments) = of.partial else {
            unreachable!("{SHAPE}");
        };
        let moments = of_bucket(moments, of.bucket).copied();
        moments_result(*self, &moments.unwrap_or_default(), &of.values.format)
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        let property = match self {
            MomentKind::Min => Property::Min,
            MomentKind::Max => Property::Max,
            MomentKind::Avg => Property::Avg,
            MomentKind::Sum => Property::Sum,
            MomentKind::Stats => return stats_property(name?),
        };
        matches!(name, None | Some("value")).then_some(property)
    }

    fn profiled_as(&self) -> &'static str {
        match self {
            MomentKind::Min => "MinAggregator",
            MomentKind::Max => "MaxAggregator",
            MomentKind::Avg => "AvgAggregator",
            MomentKind::Sum => "SumAggregator",
            MomentKind::Stats => "StatsAggregator",
        }
    }
}

/// The number of stats that is called so.
pub(crate) fn stats_property(name: &str) -> Option<Property> {
    Some(match name {
        "count" => Property::Count,
        "min" => Property::Min,
        "max" => Property::Max,
        "avg" => Property::Avg,
        "sum" => Property::Sum,
        _ => return None,
    })
}
