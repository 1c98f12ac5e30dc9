//! `geo_bounds` and `geo_centroid`: the box around points, and their middle.

use clew_query::AggError;
use clew_schema::geo::GeoPoint;

use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::ValuePlan;
use crate::field::column::ValueColumn;
use crate::field::rows::{Repeats, Rows};
use crate::limits::{Account, grow};
use crate::metric::{Metric, SHAPE, of_bucket};
use crate::numbers::moments::Points;
use crate::order::Property;
use crate::result::AggResult;

/// Whether the box may lie across the line where east meets west.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GeoBoundsPlan {
    pub(crate) wrap: bool,
}

/// Nothing is said but whose points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GeoCentroidPlan;

pub(crate) struct GeoMetric {
    column: ValueColumn,
    rows: Rows,
    points: Vec<Points>,
}

impl GeoMetric {
    pub(crate) fn open(segment: Segment<'_>, plan: &dyn Planned) -> Result<Self, AggError> {
        Ok(GeoMetric {
            column: ValueColumn::open(segment.reader, plan.values())?,
            rows: Rows::default(),
            points: Vec::new(),
        })
    }
}

impl Collect for GeoMetric {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        if self.column.is_empty() {
            return Ok(());
        }
        self.column.read(block.docs, Repeats::Kept, &mut self.rows);
        for (entry, raw) in self.rows.entries.iter().zip(&self.rows.values) {
            let parent = block.parents[*entry as usize];
            grow(&mut self.points, parent, account)?;
            self.points[parent as usize].add(GeoPoint::decode(*raw));
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &mut Account) -> Result<Partial, AggError> {
        Ok(Partial::Points(self.points))
    }
}

impl Metric for GeoBoundsPlan {
    fn open(&self, segment: Segment<'_>, plan: &dyn Planned) -> Result<Box<dyn Collect>, AggError> {
        Ok(Box::new(GeoMetric::open(segment, plan)?))
    }

    fn empty(&self) -> Partial {
        Partial::Points(Vec::new())
    }

    fn result(&self, _: &ValuePlan, partial: &Partial, bucket: Option<u32>) -> AggResult {
        let Partial::Points(points) = partial else {
            unreachable!("{SHAPE}");
        };
        let points = of_bucket(points, bucket).copied();
        AggResult::GeoBounds(points.unwrap_or_default().corners(self.wrap))
    }

    fn property(&self, _: Option<&str>) -> Option<Property> {
        None
    }

    fn profiled_as(&self) -> &'static str {
        "GeoBoundsAggregator"
    }
}

impl Metric for GeoCentroidPlan {
    fn open(&self, segment: Segment<'_>, plan: &dyn Planned) -> Result<Box<dyn Collect>, AggError> {
        Ok(Box::new(GeoMetric::open(segment, plan)?))
    }

    fn empty(&self) -> Partial {
        Partial::Points(Vec::new())
    }

    fn result(&self, _: &ValuePlan, partial: &Partial, bucket: Option<u32>) -> AggResult {
        let Partial::Points(points) = partial else {
            unreachable!("{SHAPE}");
        };
        let points = of_bucket(points, bucket).copied().unwrap_or_default();
        AggResult::GeoCentroid {
            middle: points.middle(),
            count: points.count,
        }
    }

    fn property(&self, _: Option<&str>) -> Option<Property> {
        None
    }

    fn profiled_as(&self) -> &'static str {
        "GeoCentroidAggregator"
    }
}
