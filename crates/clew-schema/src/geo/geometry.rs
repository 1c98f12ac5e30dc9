//! Shapes as documents and `geo_shape` queries write them: GeoJSON and well-known text, checked with OpenSearch's words.
//!
//! What is read lies between -180 and 180 degrees: points beyond are brought back, lines and polygons cut at the date line.

use serde_json::{Map, Value};

use super::area::GeoArea;
use super::date_line::{LON_MAX, cut_line, cut_polygon};
use super::distance::{DistanceUnit, parse_distance};
use super::point::GeoPoint;
use super::rings::{check, is_to_the_left, ring};
use super::wkt::as_geojson;

/// Points of one shape.
const POINTS_MAX: usize = 100_000;
/// Collections inside each other.
const DEPTH_MAX: usize = 16;

/// What a shape is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeUse {
    /// To be kept: it must be one that areas can be made of, and points beyond the map are brought back to it.
    Kept,
    /// To be asked for: it may be a circle as well.
    Asked,
}

/// How shapes are read.
#[derive(Clone, Copy, Debug)]
pub struct ShapeRules {
    /// What they are read for.
    pub read_for: ShapeUse,
    /// Whether polygons that say nothing of it go to the right around what they enclose.
    pub clockwise: bool,
    /// Whether rings that do not end where they begin are closed.
    pub closes: bool,
    /// Whether a third coordinate is passed over instead of refused.
    pub ignores_height: bool,
}

impl ShapeRules {
    /// As shapes that are asked for are read.
    pub fn asked() -> Self {
        ShapeRules {
            read_for: ShapeUse::Asked,
            clockwise: false,
            closes: false,
            ignores_height: true,
        }
    }
}

/// The direction that the word of an `orientation` stands for: true is clockwise.
///
/// # Errors
/// When it is none of the words.
pub fn clockwise(word: &str) -> Result<bool, String> {
    match word.to_ascii_lowercase().as_str() {
        "right" | "counterclockwise" | "ccw" => Ok(false),
        "left" | "clockwise" | "cw" => Ok(true),
        _ => Err(format!("Unknown orientation [{word}]")),
    }
}

impl GeoArea {
    /// Reads a shape; `None` when it is an empty one. Several in an array are one together.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn shape_from_json(value: &Value, rules: ShapeRules) -> Result<Option<Self>, String> {
        let mut reader = Reader {
            rules,
            points_left: POINTS_MAX,
        };
        match value {
            Value::Array(values) if rules.read_for == ShapeUse::Kept => {
                let read = values.iter().filter(|value| !value.is_null());
                let read: Result<Vec<_>, String> = read.map(|value| reader.one(value)).collect();
                let areas: Vec<GeoArea> = read?.into_iter().flatten().collect();
                Ok((!areas.is_empty()).then_some(GeoArea::Union(areas)))
            }
            one => reader.one(one),
        }
    }
}

/// Shapes that have coordinates.
const SHAPES: [&str; 8] = [
    "point",
    "multipoint",
    "linestring",
    "multilinestring",
    "polygon",
    "multipolygon",
    "envelope",
    "circle",
];

struct Reader {
    rules: ShapeRules,
    points_left: usize,
}

impl Reader {
    fn one(&mut self, value: &Value) -> Result<Option<GeoArea>, String> {
        match value {
            Value::Object(object) => self.object(object, 0).map(Some),
            Value::String(text) => match as_geojson(text)? {
                Some(Value::Object(object)) => self.object(&object, 0).map(Some),
                _ => Ok(None),
            },
            _ => Err("shape must be an object consisting of type and coordinates".to_string()),
        }
    }

    fn object(&mut self, object: &Map<String, Value>, depth: usize) -> Result<GeoArea, String> {
        if depth > DEPTH_MAX {
            return Err(format!(
                "a geometry collection may be nested at most [{DEPTH_MAX}] deep"
            ));
        }
        let written = match object.get("type") {
            Some(Value::String(kind)) => kind,
            Some(_) => return Err("type doesn't support values of this type".to_string()),
            None => return Err("Required [type]".to_string()),
        };
        let kind = written.to_ascii_lowercase();
        if kind == "geometrycollection" {
            let geometries = match object.get("geometries") {
                Some(Value::Array(geometries)) => geometries.as_slice(),
                Some(Value::Object(_)) => return Err("geometries must be an array".to_string()),
                _ => return Err("geometries not included".to_string()),
            };
            return several(geometries, |geometry| match geometry {
                Value::Object(object) => self.object(object, depth + 1),
                _ => Err("shape must be an object consisting of type and coordinates".to_string()),
            });
        }
        let clockwise = match object.get("orientation") {
            Some(Value::String(word)) => clockwise(word)?,
            _ => self.rules.clockwise,
        };
        let unknown = || format!("unknown geo_shape [{written}]");
        let Some(coordinates) = object.get("coordinates") else {
            return Err(match SHAPES.contains(&kind.as_str()) {
                true => "coordinates not included".to_string(),
                false => unknown(),
            });
        };
        if kind != "circle" && object.contains_key("radius") {
            return Err(format!("parameter radius is not supported for type {kind}"));
        }
        match kind.as_str() {
            "point" => self.point(coordinates).and_then(|point| self.place(point)),
            "multipoint" => several(list(coordinates)?, |one| {
                self.point(one).and_then(|point| self.place(point))
            }),
            "linestring" => self.line(coordinates),
            "multilinestring" => several(list(coordinates)?, |one| self.line(one)),
            "polygon" => self.polygon(coordinates, clockwise),
            "multipolygon" => several(list(coordinates)?, |one| self.polygon(one, clockwise)),
            "envelope" => self.envelope(coordinates),
            "circle" => self.circle(coordinates, object.get("radius")),
            _ => Err(unknown()),
        }
    }

    /// The numbers of a point.
    fn point(&mut self, value: &Value) -> Result<GeoPoint, String> {
        let no_numbers = || "geo coordinates must be numbers".to_string();
        let Value::Array(numbers) = value else {
            return Err(no_numbers());
        };
        if numbers.first().is_none_or(Value::is_array) {
            return Err("expected a single points but got a list".to_string());
        }
        if numbers.len() > 3 {
            return Err("geo coordinates greater than 3 dimensions are not supported".to_string());
        }
        self.points_left = self
            .points_left
            .checked_sub(1)
            .ok_or_else(|| format!("a shape may have at most [{POINTS_MAX}] points"))?;
        let number = |at: usize| numbers.get(at).and_then(Value::as_f64);
        let height = number(2);
        if numbers.len() == 3 && height.is_none() {
            return Err(no_numbers());
        }
        if let (Some(height), false) = (height, self.rules.ignores_height) {
            return Err(format!(
                "Exception parsing coordinates: found Z value [{height:?}] but [ignore_z_value] parameter is [false]"
            ));
        }
        match (number(0), number(1)) {
            (Some(lon), Some(lat)) if lon.is_finite() && lat.is_finite() => {
                Ok(GeoPoint { lat, lon })
            }
            _ => Err(no_numbers()),
        }
    }

    /// A point by itself.
    fn place(&self, point: GeoPoint) -> Result<GeoArea, String> {
        let point = match self.rules.read_for {
            ShapeUse::Kept => on_the_map(point),
            ShapeUse::Asked => in_range(point, 180.0)?,
        };
        Ok(GeoArea::Point(point))
    }

    /// The points of a line or ring, which may go over the date line.
    fn points(&mut self, value: &Value) -> Result<Vec<GeoPoint>, String> {
        let points = list(value)?.iter();
        points
            .map(|one| self.point(one).and_then(|point| in_range(point, LON_MAX)))
            .collect()
    }

    fn line(&mut self, value: &Value) -> Result<GeoArea, String> {
        let points = self.points(value)?;
        if points.len() < 2 {
            return Err("not enough points to build a line".to_string());
        }
        Ok(cut_line(points))
    }

    fn polygon(&mut self, value: &Value, clockwise: bool) -> Result<GeoArea, String> {
        let closes = self.rules.closes;
        let rings = list(value)?.iter();
        let rings: Result<Vec<_>, String> = rings
            .map(|one| self.points(one).and_then(|points| ring(points, closes)))
            .collect();
        let mut rings = rings?.into_iter();
        let Some(mut outer) = rings.next() else {
            return Err("a polygon must have a ring".to_string());
        };
        let mut holes: Vec<Vec<GeoPoint>> = rings.collect();
        let is_left = is_to_the_left(&outer)?;
        for hole in &holes {
            is_to_the_left(hole)?;
        }
        // What goes around the wrong way and is wide is the narrower part behind the date line.
        let width = width(&outer);
        if width > 180.0 && width < 360.0 && is_left == clockwise {
            for ring in std::iter::once(&mut outer).chain(&mut holes) {
                for point in ring.iter_mut().filter(|point| point.lon < 0.0) {
                    point.lon += 360.0;
                }
            }
        }
        if self.rules.read_for == ShapeUse::Kept {
            check(&outer, &holes)?;
        }
        Ok(cut_polygon(outer, holes))
    }

    /// The corners at the upper left and the lower right.
    fn envelope(&mut self, value: &Value) -> Result<GeoArea, String> {
        let corners = list(value)?;
        let [upper, lower] = corners else {
            return Err(format!(
                "invalid number of points [{}] provided for geo_shape [ENVELOPE] when expecting an array of 2 coordinates",
                corners.len()
            ));
        };
        let [upper, lower] = [self.point(upper)?, self.point(lower)?];
        let (upper, lower) = (in_range(upper, 180.0)?, in_range(lower, 180.0)?);
        if upper.lat < lower.lat {
            return Err("max y cannot be less than min x".to_string());
        }
        let is_flat = upper.lat <= lower.lat || upper.lon == lower.lon;
        if is_flat && self.rules.read_for == ShapeUse::Kept {
            return Err("at least three non-collinear points required".to_string());
        }
        Ok(GeoArea::Rectangle {
            top: upper.lat,
            left: upper.lon,
            bottom: lower.lat,
            right: lower.lon,
        })
    }

    fn circle(&mut self, value: &Value, radius: Option<&Value>) -> Result<GeoArea, String> {
        let radius = radius.ok_or("radius is not specified")?;
        if self.rules.read_for == ShapeUse::Kept {
            return Err("circle geometry is not supported".to_string());
        }
        let text = crate::text_of(radius);
        let metres = parse_distance(&text, DistanceUnit::metres())?;
        if metres <= 0.0 {
            return Err(format!("radiusMeters: '{metres:?}' is invalid"));
        }
        let center = in_range(self.point(value)?, 180.0)?;
        Ok(GeoArea::Circle { center, metres })
    }
}

/// The members of a list of points, or of lists.
fn list(value: &Value) -> Result<&[Value], String> {
    match value {
        Value::Array(values) if values.first().is_some_and(Value::is_number) => {
            Err("expected a list of points but got a point".to_string())
        }
        Value::Array(values) => Ok(values),
        _ => Err("geo coordinates must be numbers".to_string()),
    }
}

/// Several of a kind together.
fn several(
    values: &[Value],
    read: impl FnMut(&Value) -> Result<GeoArea, String>,
) -> Result<GeoArea, String> {
    if values.is_empty() {
        return Err("the list of shapes cannot be null or empty".to_string());
    }
    let areas: Result<Vec<GeoArea>, String> = values.iter().map(read).collect();
    areas.map(GeoArea::Union)
}

/// Degrees from the westernmost point to the easternmost one.
fn width(points: &[GeoPoint]) -> f64 {
    let lons = || points.iter().map(|point| point.lon);
    lons().fold(f64::NEG_INFINITY, f64::max) - lons().fold(f64::INFINITY, f64::min)
}

fn in_range(point: GeoPoint, lon_max: f64) -> Result<GeoPoint, String> {
    if !(-90.0..=90.0).contains(&point.lat) {
        return Err(format!(
            "invalid latitude {:?}; must be between -90.0 and 90.0",
            point.lat
        ));
    }
    if !(-lon_max..=lon_max).contains(&point.lon) {
        return Err(format!(
            "invalid longitude {:?}; must be between -180.0 and 180.0",
            point.lon
        ));
    }
    Ok(point)
}

/// The place on the map that a point beyond its ends means: over a pole it goes down on the other side.
fn on_the_map(point: GeoPoint) -> GeoPoint {
    let GeoPoint { mut lat, mut lon } = point;
    if !(-90.0..=90.0).contains(&lat) {
        let up = (lat + 90.0).rem_euclid(360.0);
        if up > 180.0 {
            lat = 270.0 - up;
            lon += 180.0;
        } else {
            lat = up - 90.0;
        }
    }
    if !(-180.0..=180.0).contains(&lon) {
        lon = (lon + 180.0).rem_euclid(360.0) - 180.0;
    }
    GeoPoint { lat, lon }
}

#[cfg(test)]
mod tests;
