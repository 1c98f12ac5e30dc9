//! Aggregations over places.

use clew_query::aggregation::{
    AggSpec, DistanceOrigin, GEOHASH_MAX, GeoBoundsSpec, Grid, GridSpec, ZOOM_MAX,
};
use clew_schema::geo::{DistanceUnit, GeoPoint};

use super::body::Body;
use super::error::AggDslError;
use super::parse::small;

/// Cells shown unless the request says otherwise.
const CELLS: u64 = 10_000;

/// The aggregation of a type, if it is one of these.
pub(super) fn parse(kind: &str, body: &mut Body<'_>) -> Result<Option<AggSpec>, AggDslError> {
    Ok(Some(match kind {
        "geo_bounds" => AggSpec::GeoBounds(GeoBoundsSpec {
            wrap: body.flag_or("wrap_longitude", true)?,
            source: body.source()?,
        }),
        "geo_centroid" => AggSpec::GeoCentroid(body.source()?),
        "geohash_grid" => {
            let grid = geohash(body)?;
            AggSpec::GeoGrid(cells(body, grid)?)
        }
        "geotile_grid" => {
            let grid = geotile(body)?;
            AggSpec::GeoGrid(cells(body, grid)?)
        }
        _ => return Ok(None),
    }))
}

fn cells(body: &mut Body<'_>, grid: Grid) -> Result<GridSpec, AggDslError> {
    let size = body.count("size")?.unwrap_or(CELLS);
    if size == 0 {
        return Err(AggDslError::illegal(format!(
            "[size] must be greater than 0. Found [0] in [{}]",
            body.name
        )));
    }
    Ok(GridSpec {
        grid,
        size: small(size),
        shard_size: body.count("shard_size")?.map(small),
        source: body.source()?,
    })
}

fn precision(
    body: &mut Body<'_>,
    (usual, least, most): (u8, u8, u8),
    wrong: &str,
) -> Result<u8, AggDslError> {
    let asked = body.count("precision")?.unwrap_or(u64::from(usual));
    let precision = u8::try_from(asked).ok();
    let precision = precision.filter(|precision| (least..=most).contains(precision));
    precision.ok_or_else(|| {
        AggDslError::illegal(format!(
            "Invalid {wrong} of {asked}. Must be between {least} and {most}."
        ))
    })
}

fn geohash(body: &mut Body<'_>) -> Result<Grid, AggDslError> {
    let limits = (5, 1, GEOHASH_MAX);
    let precision = precision(body, limits, "geohash aggregation precision")?;
    Ok(Grid::Geohash { precision })
}

/// Tiles, by their zoom.
pub(super) fn geotile(body: &mut Body<'_>) -> Result<Grid, AggDslError> {
    let limits = (7, 0, ZOOM_MAX);
    let zoom = precision(body, limits, "geotile_grid precision")?;
    Ok(Grid::Geotile { zoom })
}

/// Where distances are measured from, and how long one of their units is in metres. Planes and arcs
/// are measured alike: along great circles.
pub(super) fn origin(body: &mut Body<'_>) -> Result<DistanceOrigin, AggDslError> {
    body.take("distance_type");
    let unit = match body.text("unit")? {
        None => DistanceUnit::metres(),
        Some(name) => DistanceUnit::parse(&name).map_err(AggDslError::illegal)?,
    };
    let given = ["origin", "center", "point", "por"];
    let value = given.iter().find_map(|name| body.take(name));
    let Some(value) = value else {
        return Err(AggDslError::illegal(format!(
            "Aggregation [{}] must define an [origin].",
            body.name
        )));
    };
    let point = GeoPoint::from_json(value).and_then(GeoPoint::checked);
    Ok(DistanceOrigin {
        place: point.map_err(AggDslError::parsing)?,
        unit_metres: unit.to_metres(1.0),
    })
}
