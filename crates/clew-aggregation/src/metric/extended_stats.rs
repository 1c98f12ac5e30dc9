//! `extended_stats`: stats with squares, variance and deviation.

use clew_query::AggError;

use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::ValuePlan;
use crate::field::column::ValueColumn;
use crate::field::rows::Rows;
use crate::limits::{Account, grow};
use crate::metric::simple::{stats_of, stats_property};
use crate::metric::{Metric, SHAPE, each_value, of_bucket};
use crate::numbers::moments::ExtendedMoments;
use crate::order::Property;
use crate::result::{AggResult, ExtendedStats};
use crate::value::format::ValueFormat;

/// How many deviations the bounds are away from the mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExtendedPlan {
    pub(crate) sigma: f64,
}

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

impl Metric for ExtendedPlan {
    fn open(&self, segment: Segment<'_>, plan: &dyn Planned) -> Result<Box<dyn Collect>, AggError> {
        Ok(Box::new(Extended::open(segment, plan)?))
    }

    fn empty(&self) -> Partial {
        Partial::Extended(Vec::new())
    }

    fn result(&self, values: &ValuePlan, partial: &Partial, bucket: Option<u32>) -> AggResult {
        let Partial::Extended(moments) = partial else {
            unreachable!("{SHAPE}");
        };
        let moments = of_bucket(moments, bucket).copied();
        let moments = moments.unwrap_or_default();
        AggResult::ExtendedStats(extended_result(&moments, self.sigma, &values.format))
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        Some(match name? {
            "sum_of_squares" => Property::SumOfSquares,
            "variance" | "variance_population" => Property::Variance,
            "variance_sampling" => Property::VarianceSampling,
            "std_deviation" | "std_deviation_population" => Property::Deviation,
            "std_deviation_sampling" => Property::DeviationSampling,
            name => return stats_property(name),
        })
    }

    fn profiled_as(&self) -> &'static str {
        "ExtendedStatsAggregator"
    }
}
