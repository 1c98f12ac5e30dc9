//! `geo_bounds` and `geo_centroid`: the box around points, and their middle.

use clew_query::AggError;
use clew_query::aggregation::{GeoBoundsSpec, Source};
use clew_schema::geo::GeoPoint;

use crate::collect::{Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::ValuePlan;
use crate::field::column::ValueColumn;
use crate::field::context::AggContext;
use crate::field::values::plan_values;
use crate::metric::values::{KeptValues, Values};
use crate::metric::{InBucket, Metric, SHAPE, of_bucket};
use crate::numbers::moments::Points;
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::AggResult;

/// Whether the box may lie across the line where east meets west.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GeoBoundsPlan {
    pub(crate) wrap: bool,
}

/// Nothing is said but whose points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GeoCentroidPlan;

/// The plan of `geo_bounds`.
///
/// # Errors
/// [`AggError`] when the field has no points.
pub(crate) fn plan_geo_bounds(
    spec: &GeoBoundsSpec,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, GeoBoundsPlan), AggError> {
    let values = plan_values(&spec.source, "geo_bounds", context)?;
    Ok((values, GeoBoundsPlan { wrap: spec.wrap }))
}

/// The plan of `geo_centroid`.
///
/// # Errors
/// [`AggError`] when the field has no points.
pub(crate) fn plan_geo_centroid(
    source: &Source,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, GeoCentroidPlan), AggError> {
    let values = plan_values(source, "geo_centroid", context)?;
    Ok((values, GeoCentroidPlan))
}

impl KeptValues for Points {
    fn add_raw(&mut self, _: &ValueColumn, raw: u64) {
        self.add(GeoPoint::decode(raw));
    }

    fn partial(kept: Vec<Self>) -> Partial {
        Partial::Points(kept)
    }
}

impl Metric for GeoBoundsPlan {
    fn open(&self, segment: Segment<'_>, plan: &dyn Planned) -> Result<Box<dyn Collect>, AggError> {
        Values::<Points>::open(segment, plan)
    }

    fn empty(&self) -> Partial {
        Partial::Points(Vec::new())
    }

    fn result(&self, of: InBucket<'_>, _: &mut Budget<'_>) -> AggResult {
        let Partial::Points(points) = of.partial else {
            unreachable!("{SHAPE}");
        };
        let points = of_bucket(points, of.bucket).copied();
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
        Values::<Points>::open(segment, plan)
    }

    fn empty(&self) -> Partial {
        Partial::Points(Vec::new())
    }

    fn result(&self, of: InBucket<'_>, _: &mut Budget<'_>) -> AggResult {
        let Partial::Points(points) = of.partial else {
            unreachable!("{SHAPE}");
        };
        let points = of_bucket(points, of.bucket).copied().unwrap_or_default();
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
