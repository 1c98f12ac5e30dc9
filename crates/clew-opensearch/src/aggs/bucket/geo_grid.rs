//! `geohash_grid`, `geotile_grid` and `geohex_grid`: cells of a grid, most documents first.

use clew_aggregation::Bucket;
use clew_query::aggregation::{AggSpec, GEOHASH_MAX, Grid, GridBounds, GridSpec, ZOOM_MAX};
use clew_schema::geo::{DistanceUnit, parse_distance};
use serde_json::{Map, Value};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::plain::whole_number;
use crate::aggs::render::{Rendering, TypeName};
use crate::aggs::settings::{shard_size, size};
use crate::aggs::shown::named_buckets_body;
use crate::aggs::table::{PLACES, Row, SHAPES};
use crate::dsl;
use crate::http::error::ApiError;

/// Cells shown unless the request says otherwise.
const CELLS: u64 = 10_000;

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("geohash_grid", SHAPES, |body| cells(body, geohash)),
    Row::new("geotile_grid", SHAPES, |body| cells(body, geotile)),
    Row::new("geohex_grid", PLACES, |body| cells(body, geohex)),
];

/// Cells of a kind that a reader of its own tells.
fn cells(
    body: &mut Body<'_>,
    grid: impl Fn(&mut Body<'_>) -> Result<Grid, AggDslError>,
) -> Result<AggSpec, AggDslError> {
    body.lack(&["format"])?;
    Ok(AggSpec::GeoGrid(GridSpec {
        grid: grid(body)?,
        bounds: bounds(body)?,
        size: size(body, CELLS)?,
        shard_size: shard_size(body)?,
        source: body.source()?,
    }))
}

/// The box that points must lie in.
pub(crate) fn bounds(body: &mut Body<'_>) -> Result<Option<GridBounds>, AggDslError> {
    let Some(value) = body.take("bounds") else {
        return Ok(None);
    };
    if !value.is_object() {
        return Err(body.wrong("bounds", value));
    }
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
    let asked = body.whole("precision")?.unwrap_or(i64::from(usual));
    let precision = within(asked, (least, most), (wrong, gap));
    precision.map_err(|error| body.in_field("precision", error))
}

fn within(
    asked: i64,
    (least, most): (u8, u8),
    (wrong, gap): (&str, &str),
) -> Result<u8, AggDslError> {
    let precision = u8::try_from(asked).ok();
    let precision = precision.filter(|precision| (least..=most).contains(precision));
    precision.ok_or_else(|| {
        AggDslError::illegal(format!(
            "Invalid {wrong} of {asked}{gap}. Must be between {least} and {most}."
        ))
    })
}

/// Cells by the letters of their names, or by how wide they may be (`1km`).
fn geohash(body: &mut Body<'_>) -> Result<Grid, AggDslError> {
    let called = ("geohash aggregation precision", "");
    let written = body.take("precision");
    let asked = match written {
        None => 5,
        Some(value) => match (value, value.as_str()) {
            (Value::Number(_), _) => {
                let letters = whole_number(value);
                letters.ok_or_else(|| body.wrong("precision", value))?
            }
            (_, Some(text)) => match text.parse::<i64>() {
                Ok(letters) => letters,
                Err(_) => letters_of(text).map_err(|error| body.in_field("precision", error))?,
            },
            (_, None) => return Err(body.wrong("precision", value)),
        },
    };
    let precision = within(asked, (1, GEOHASH_MAX), called);
    let precision = precision.map_err(|error| body.in_field("precision", error))?;
    Ok(Grid::Geohash { precision })
}

/// The circumference of the earth over its equator, and from pole to pole, in metres (WGS 84).
const EQUATOR: f64 = 2.0 * std::f64::consts::PI * 6_378_137.0;
const POLE_TO_POLE: f64 = std::f64::consts::PI * 6_356_752.314_245;

/// How many letters name cells that are no wider than a length. Two letters cut both sides into 32, the first of them
/// the longer side into 8.
fn letters_of(text: &str) -> Result<i64, AggDslError> {
    let metres = parse_distance(text, DistanceUnit::metres()).map_err(AggDslError::of_length)?;
    let cells = (EQUATOR * (1.0 + POLE_TO_POLE / EQUATOR) / metres.abs()).ceil();
    let mut bits = 0;
    while bits < 64 && 2_f64.powi(bits) < cells {
        bits += 1;
    }
    let (full, left) = (bits / 5, bits % 5);
    let letters = 2 * full + i32::from(left > 0) + i32::from(left > 3);
    Ok(i64::from(letters))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_may_be_told_by_their_width() {
        // As a real OpenSearch has them.
        for (width, letters) in [
            ("50000km", 1),
            ("5000km", 2),
            ("1000km", 3),
            ("157km", 4),
            ("10km", 5),
            ("4.9km", 6),
            ("1km", 7),
            ("1mi", 7),
            ("100m", 8),
            ("10m", 9),
            ("5m", 10),
            ("1m", 11),
            ("1.5", 11),
            ("10cm", 12),
            ("1cm", 13),
        ] {
            assert_eq!(letters_of(width).ok().unwrap(), letters, "{width}");
        }
        assert!(letters_of("0m").ok().unwrap() > 12);
        assert!(letters_of("abc").is_err());
    }
}
