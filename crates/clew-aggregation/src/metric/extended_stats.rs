//! `extended_stats`: stats with squares, variance and deviation.

use clew_query::AggError;

use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::column::ValueColumn;
use crate::field::rows::Rows;
use crate::limits::{Account, grow};
use crate::metric::each_value;
use crate::metric::simple::stats_of;
use crate::numbers::moments::ExtendedMoments;
use crate::result::ExtendedStats;
use crate::value::format::ValueFormat;

/// The same with squares.
pub(crate) struct Extended {
    column: ValueColumn,
    rows: Rows,
    moments: Vec<ExtendedMoments>,
}

impl Extended {
    pub(crate) fn open(segment: Segment<'_>, plan: &dyn Planned) -> Result<Self, AggError> {
        Ok(Extended {
            column: ValueColumn::open(segment.reader, plan.values())?,
            rows: Rows::default(),
            moments: Vec::new(),
        })
    }
}

impl Collect for Extended {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let (column, moments) = (&self.column, &mut self.moments);
        each_value(column, &mut self.rows, block, |parent, raw| {
            grow(moments, parent, account)?;
            moments[parent as usize].add(column.number(raw));
            Ok(())
        })
    }

    fn finish(self: Box<Self>, _: &mut Account) -> Result<Partial, AggError> {
        Ok(Partial::Extended(self.moments))
    }
}

pub(crate) fn extended_result(
    moments: &ExtendedMoments,
    sigma: f64,
    format: &ValueFormat,
) -> ExtendedStats {
    let any = moments.basic.count > 0;
    ExtendedStats {
        stats: stats_of(&moments.basic, format),
        sum_of_squares: any.then(|| moments.squares.value()),
        variance: any.then(|| moments.variance()),
        variance_sampling: any.then(|| moments.variance_sampling()),
        sigma,
    }
}
