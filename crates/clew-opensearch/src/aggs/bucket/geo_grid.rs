//! `geohash_grid`, `geotile_grid` and `geohex_grid`: cells of a grid, most documents first.

use clew_aggregation::Bucket;
use clew_query::aggregation::{AggSpec, GEOHASH_MAX, Grid, GridBounds, GridSpec, ZOOM_MAX};
use serde_json::{Map, Value};

use crate::aggs::body::Body;
use crate::aggs::error::AggDslError;
use crate::aggs::render::{Rendering, TypeName};
use crate::aggs::settings::{size, small};
use crate::aggs::shown::named_buckets_body;
use crate::aggs::table::{PLACES, Row};
use crate::dsl;
use crate::http::error::ApiError;

/// Cells shown unless the request says otherwise.
const CELLS: u64 = 10_000;

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("geohash_grid", PLACES, |body| cells(body, geohash)),
    Row::new("geotile_grid", PLACES, |body| cells(body, geotile)),
    Row::new("geohex_grid", PLACES, |body| cells(body, geohex)),
];

/// Cells of a kind that a reader of its own tells.
fn cells(
    body: &mut Body<'_>,
    grid: impl Fn(&mut Body<'_>) -> Result<Grid, AggDslError>,
) -> Result<AggSpec, AggDslError> {
    Ok(AggSpec::GeoGrid(GridSpec {
        grid: grid(body)?,
        bounds: bounds(body)?,
        size: size(body, CELLS)?,
        shard_size: body.count("shard_size")?.map(small),
        source: body.source()?,
    }))
}

/// The box that points must lie in.
fn bounds(body: &mut Body<'_>) -> Result<Option<GridBounds>, AggDslError> {
    let Some(value) = body.take("bounds") else {
        return Ok(None);
    };
    let [top, left, bottom, right] = dsl::bounding_box(value)?;
    Ok(Some(GridBounds {
        top,
        left,
        bottom,
        right,
    }))
}

fn precision(
    body: &mut Body<'_>,
    (usual, least, most): (u8, u8, u8),
    (wrong, gap): (&str, &str),
) -> Result<u8, AggDslError> {
    let asked = body.count("precision")?.unwrap_or(u64::from(usual));
    let precision = u8::try_from(asked).ok();
    let precision = precision.filter(|precision| (least..=most).contains(precision));
    precision.ok_or_else(|| {
        AggDslError::illegal(format!(
            "Invalid {wrong} of {asked}{gap}. Must be between {least} and {most}."
        ))
    })
}

fn geohash(body: &mut Body<'_>) -> Result<Grid, AggDslError> {
    let limits = (5, 1, GEOHASH_MAX);
    let precision = precision(body, limits, ("geohash aggregation precision", ""))?;
    Ok(Grid::Geohash { precision })
}

/// Tiles, by their zoom.
pub(crate) fn geotile(body: &mut Body<'_>) -> Result<Grid, AggDslError> {
    let limits = (7, 0, ZOOM_MAX);
    let zoom = precision(body, limits, ("geotile_grid precision", ""))?;
    Ok(Grid::Geotile { zoom })
}

fn geohex(body: &mut Body<'_>) -> Result<Grid, AggDslError> {
    // The space before the full stop is OpenSearch's.
    let limits = (5, 0, Grid::RESOLUTION_MAX);
    let resolution = precision(body, limits, ("precision", " "))?;
    Ok(Grid::Geohex { resolution })
}

/// Writes its result, and says the type.
pub(crate) fn write(
    body: &mut Map<String, Value>,
    grid: Grid,
    buckets: &[Bucket],
    how: Rendering<'_>,
) -> Result<TypeName, ApiError> {
    named_buckets_body(body, buckets, how)?;
    Ok(match grid {
        Grid::Geohash { .. } => "geohash_grid",
        Grid::Geotile { .. } => "geotile_grid",
        Grid::Geohex { .. } => "geohex_grid",
    })
}
