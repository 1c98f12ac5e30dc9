//! `min`, `max`, `avg`, `sum` and `stats`: all are shown of one count of values, extremes and sum.

use clew_query::AggError;

use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::column::ValueColumn;
use crate::field::rows::Rows;
use crate::limits::{Account, grow};
use crate::metric::each_value;
use crate::numbers::moments::Moments;
use crate::result::{AggResult, Metric, Stats};
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
    let metric = |value| Metric {
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
