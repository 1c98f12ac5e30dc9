//! `geo_bounds` and `geo_centroid`: the box around points, and their middle.

use clew_query::aggregation::{AggSpec, GeoBoundsSpec};
use clew_schema::geo::GeoPoint;
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::render::TypeName;
use crate::aggs::table::{PLACES, Row, SHAPES};

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("geo_bounds", SHAPES, bounds),
    Row::new("geo_centroid", PLACES, |body| {
        body.source().map(AggSpec::GeoCentroid)
    }),
];

fn bounds(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    Ok(AggSpec::GeoBounds(GeoBoundsSpec {
        wrap: body.flag_or("wrap_longitude", true)?,
        source: body.source()?,
    }))
}

fn point_value(point: &GeoPoint) -> Value {
    json!({"lat": point.lat, "lon": point.lon})
}

/// Writes a box, and says its type.
pub(crate) fn write_bounds(
    body: &mut Map<String, Value>,
    corners: Option<&(GeoPoint, GeoPoint)>,
) -> TypeName {
    if let Some((first, last)) = corners {
        let bounds = json!({"top_left": point_value(first), "bottom_right": point_value(last)});
        body.insert("bounds".to_string(), bounds);
    }
    "geo_bounds"
}

/// Writes a middle, and says its type.
pub(crate) fn write_centroid(
    body: &mut Map<String, Value>,
    middle: Option<&GeoPoint>,
    count: u64,
) -> TypeName {
    if let Some(middle) = middle {
        body.insert("location".to_string(), point_value(middle));
    }
    body.insert("count".to_string(), json!(count));
    "geo_centroid"
}
