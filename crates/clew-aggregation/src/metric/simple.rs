//! `min`, `max`, `avg`, `sum` and `stats`: all are shown of one count of values, extremes and sum.

use clew_query::AggError;

use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::ValuePlan;
use crate::field::column::ValueColumn;
use crate::field::rows::Rows;
use crate::limits::{Account, grow};
use crate::metric::{Metric, SHAPE, each_value, of_bucket};
use crate::numbers::moments::Moments;
use crate::order::Property;
use crate::result::{AggResult, Metric as MetricResult, Stats};
use crate::value::format::ValueFormat;

/// Count, extremes and sum: all that the simple metrics show.
pub(crate) struct Basic {
    column: ValueColumn,
    rows: Rows,
    moments: Vec<Moments>,
}

impl Basic {
    pub(crate) fn open(segment: Segment<'_>, plan: &dyn Planned) -> Result<Self, AggError> {
        Ok(Basic {
            column: ValueColumn::open(segment.reader, plan.values())?,
            rows: Rows::default(),
            moments: Vec::new(),
        })
    }
}

impl Collect for Basic {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let (column, moments) = (&self.column, &mut self.moments);
        each_value(column, &mut self.rows, block, |parent, raw| {
            grow(moments, parent, account)?;
            moments[parent as usize].add(column.number(raw));
            Ok(())
        })
    }

    fn finish(self: Box<Self>, _: &mut Account) -> Result<Partial, AggError> {
        Ok(Partial::Moments(self.moments))
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

pub(crate) fn moments_result(
    kind: MomentKind,
    moments: &Moments,
    format: &ValueFormat,
) -> AggResult {
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
        Ok(Box::new(Basic::open(segment, plan)?))
    }

    fn empty(&self) -> Partial {
        Partial::Moments(Vec::new())
    }

    fn result(&self, values: &ValuePlan, partial: &Partial, bucket: Option<u32>) -> AggResult {
        let Partial::Moments(moments) = partial else {
            unreachable!("{SHAPE}");
        };
        let moments = of_bucket(moments, bucket).copied();
        moments_result(*self, &moments.unwrap_or_default(), &values.format)
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
