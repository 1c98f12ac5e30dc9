//! Shapes on a plane, as well-known text (WKT), and how they lie to each other: by the nine intersections of their insides,
//! edges and outsides (DE-9IM, OGC 06-103r4), in double precision.
//!
//! Shapes on the earth are `clew_schema::geo`'s. Refuses empty shapes, and points of more than two numbers.

mod together;
mod within;

use std::fmt::Write;
use std::sync::OnceLock;

use ::geo::{
    BoundingRect, Coord, CoordsIter, Distance, Euclidean, Geometry, Intersects, LineString, Point,
    Polygon, Rect, Relate, Validation,
};
use serde::{Deserialize, Serialize};
use wkt::TryFromWkt;

/// Longest text of a shape: some ten thousand points, the edges of which are held against each other.
const TEXT_BYTES_MAX: usize = 256 << 10;
/// Brackets inside brackets, of collections too.
const DEPTH_MAX: usize = 16;
/// Greatest coordinate, far enough from where products of coordinates have no digits any more.
const COORDINATE_MAX: f64 = 1e100;
/// What shapes are called.
const NAMES: [&str; 7] = [
    "POINT",
    "LINESTRING",
    "POLYGON",
    "MULTIPOINT",
    "MULTILINESTRING",
    "MULTIPOLYGON",
    "GEOMETRYCOLLECTION",
];
/// The earth's radius, and the length of a degree of latitude, in metres, as Milvus has them.
const EARTH_RADIUS_METRES: f64 = 6_371_000.0;
const DEGREE_METRES: f64 = 111_320.0;

/// How a shape must lie to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanarRelation {
    /// Both are the same points.
    Equals,
    /// They have edges in common, and nothing inside.
    Touches,
    /// They have insides in common, as large as both, and neither is all of the other.
    Overlaps,
    /// They have insides in common, of fewer dimensions than one of them has.
    Crosses,
    /// The other one lies in it.
    Contains,
    /// They have a point in common.
    Intersects,
    /// It lies in the other one.
    Within,
}

/// What a shape is tested for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ShapeTest {
    /// How it lies to another one, which is well-known text.
    Relates(PlanarRelation, String),
    /// Whether it is so near to a point, whose coordinates are degrees.
    Near {
        /// Longitude.
        x: f64,
        /// Latitude.
        y: f64,
        /// In metres: between points along the sphere, else by the length of a degree at the point.
        metres: f64,
    },
    /// Whether its edges make a shape: rings do not cross themselves, holes lie inside.
    IsValid,
}

/// A test of shapes that is ready.
#[derive(Clone, Debug)]
pub struct PlanarCheck {
    test: ShapeTest,
    /// The shape that others are held against, where there is one.
    other: Option<PlanarShape>,
}

impl PlanarCheck {
    /// # Errors
    /// What is wrong with the text of the shape.
    pub fn of(test: &ShapeTest) -> Result<Self, String> {
        let other = match test {
            ShapeTest::Relates(_, text) => Some(PlanarShape::read(text)?),
            ShapeTest::Near { .. } | ShapeTest::IsValid => None,
        };
        Ok(PlanarCheck {
            test: test.clone(),
            other,
        })
    }

    /// Whether a shape passes; none where that is unknown, as of what is no shape.
    pub fn holds(&self, text: &str) -> Option<bool> {
        let shape = PlanarShape::read(text).ok()?;
        match (&self.test, &self.other) {
            (ShapeTest::Relates(relation, _), Some(other)) => shape.relates(*relation, other),
            (ShapeTest::Near { x, y, metres }, _) => Some(shape.metres_to(*x, *y) <= *metres),
            (ShapeTest::IsValid, _) => Some(shape.geometry.is_valid()),
            (ShapeTest::Relates(..), None) => None,
        }
    }
}

/// A shape on a plane.
#[derive(Clone, Debug)]
pub struct PlanarShape {
    geometry: Geometry<f64>,
    bounds: Rect<f64>,
    /// What of it can be held against others by their edges.
    plain: OnceLock<Plain>,
}

/// What of a shape can be held against others by their edges.
#[derive(Clone, Debug)]
enum Plain {
    /// It as it is.
    Itself,
    /// The shape that its parts are together.
    Together(Geometry<f64>),
    Nothing,
}

impl PlanarShape {
    /// Reads well-known text; rings that are open are closed.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        check_text(text)?;
        let geometry: Geometry<f64> =
            Geometry::try_from_wkt_str(text).map_err(|error| error.to_string())?;
        let fits = |number: f64| number.abs() <= COORDINATE_MAX;
        let is_far = |coord: Coord<f64>| !fits(coord.x) || !fits(coord.y);
        if geometry.coords_iter().any(is_far) {
            return Err(format!("coordinates must be within {COORDINATE_MAX:e}"));
        }
        let bounds = geometry.bounding_rect();
        let bounds = bounds.ok_or_else(|| "a shape must have points".to_string())?;
        Ok(PlanarShape {
            geometry,
            bounds,
            plain: OnceLock::new(),
        })
    }

    /// Its one point, `(x, y)`, where it is one.
    pub fn point(&self) -> Option<(f64, f64)> {
        match &self.geometry {
            Geometry::Point(point) => Some(point.x_y()),
            _ => None,
        }
    }

    /// As well-known text in one way of writing.
    pub fn text(&self) -> String {
        let mut out = String::new();
        write_shape(&self.geometry, &mut out);
        out
    }

    /// Whether it lies so to another one. Unknown of what is not valid, and of collections whose parts lie partly in each other, by
    /// another relation than [`PlanarRelation::Intersects`], but mostly for whether they lie within what is plain.
    ///
    /// Costs the bounds for most shapes; for others their edges sorted, and the pairs of them that lie near each other, and
    /// once, where one of them has rings, the pairs of its own edges.
    pub fn relates(&self, relation: PlanarRelation, other: &PlanarShape) -> Option<bool> {
        if !self.bounds.intersects(&other.bounds) {
            return Some(false);
        }
        if relation == PlanarRelation::Intersects {
            return Some(self.geometry.intersects(&other.geometry));
        }
        let matrix = match (self.plain(), other.plain(), relation) {
            (Some(one), Some(another), _) => one.relate(another),
            (None, Some(another), PlanarRelation::Within) => {
                return within::within(&self.geometry, another);
            }
            (Some(one), None, PlanarRelation::Contains) => {
                return within::within(&other.geometry, one);
            }
            _ => return None,
        };
        Some(match relation {
            PlanarRelation::Equals => matrix.is_equal_topo(),
            PlanarRelation::Touches => matrix.is_touches(),
            PlanarRelation::Overlaps => matrix.is_overlaps(),
            PlanarRelation::Crosses => matrix.is_crosses(),
            PlanarRelation::Contains => matrix.is_contains(),
            PlanarRelation::Intersects => matrix.is_intersects(),
            PlanarRelation::Within => matrix.is_within(),
        })
    }

    /// What can be held against others by their edges, where there is such a thing.
    fn plain(&self) -> Option<&Geometry<f64>> {
        let plain = self.plain.get_or_init(|| match &self.geometry {
            collection @ Geometry::GeometryCollection(_) => {
                together::together(collection).map_or(Plain::Nothing, Plain::Together)
            }
            one if one.is_valid() => Plain::Itself,
            _ => Plain::Nothing,
        });
        match plain {
            Plain::Itself => Some(&self.geometry),
            Plain::Together(shape) => Some(shape),
            Plain::Nothing => None,
        }
    }

    /// Metres to a point whose coordinates are degrees: along the sphere from a point, else by the length that a degree has
    /// on average at the latitude of the point.
    fn metres_to(&self, x: f64, y: f64) -> f64 {
        if let Some((own_x, own_y)) = self.point() {
            return along_the_sphere((own_x, own_y), (x, y));
        }
        let point = Geometry::Point(Point::new(x, y));
        let degrees = Euclidean.distance(&self.geometry, &point);
        let shrunk = y.to_radians().cos();
        degrees * DEGREE_METRES * ((1.0 + shrunk * shrunk) / 2.0).sqrt()
    }
}

/// The distance of two points by the haversine formula.
fn along_the_sphere((x, y): (f64, f64), (other_x, other_y): (f64, f64)) -> f64 {
    let half_sine = |from: f64, to: f64| ((to - from).to_radians() / 2.0).sin();
    let (across, up) = (half_sine(x, other_x), half_sine(y, other_y));
    let shrunk = y.to_radians().cos() * other_y.to_radians().cos();
    let chord = up * up + shrunk * across * across;
    EARTH_RADIUS_METRES * 2.0 * chord.sqrt().atan2((1.0 - chord).max(0.0).sqrt())
}

/// Refuses what the reader of texts would take as far as it understands it, or for as deep as it goes.
fn check_text(text: &str) -> Result<(), String> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(format!(
            "a shape has at most {TEXT_BYTES_MAX} bytes of text, not {}",
            text.len()
        ));
    }
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mut words =
        words.filter(|word| word.starts_with(|first: char| first.is_ascii_alphabetic()));
    let is_known = |word: &str| NAMES.iter().any(|name| name.eq_ignore_ascii_case(word));
    if let Some(word) = words.find(|word| !is_known(word)) {
        return Err(format!("unexpected word {word} in a shape"));
    }
    let belongs = |letter: char| letter.is_ascii_alphanumeric() || " \t\r\n(),.+-".contains(letter);
    if let Some(letter) = text.chars().find(|letter| !belongs(*letter)) {
        return Err(format!("unexpected character {letter:?} in a shape"));
    }
    let text = text.trim_end();
    let mut depth = 0_usize;
    for (at, letter) in text.bytes().enumerate() {
        match letter {
            b'(' => depth += 1,
            b')' if depth == 0 => return Err("a bracket is closed that is not open".to_string()),
            b')' => depth -= 1,
            _ => continue,
        }
        if depth > DEPTH_MAX {
            return Err(format!("brackets are more than {DEPTH_MAX} deep"));
        }
        if depth == 0 && at + 1 < text.len() {
            return Err("there is more behind a shape".to_string());
        }
    }
    match depth == 0 && text.ends_with(')') {
        true => Ok(()),
        false => Err("a shape ends with its brackets".to_string()),
    }
}

fn write_shape(shape: &Geometry<f64>, out: &mut String) {
    match shape {
        Geometry::Point(point) => {
            out.push_str("POINT ");
            write_points(std::iter::once(point.0), out);
        }
        Geometry::LineString(line) => {
            out.push_str("LINESTRING ");
            write_line(line, out);
        }
        Geometry::Polygon(polygon) => {
            out.push_str("POLYGON ");
            write_polygon(polygon, out);
        }
        Geometry::MultiPoint(points) => {
            out.push_str("MULTIPOINT ");
            write_points(points.iter().map(|point| point.0), out);
        }
        Geometry::MultiLineString(lines) => {
            out.push_str("MULTILINESTRING ");
            write_list(lines.iter(), out, write_line);
        }
        Geometry::MultiPolygon(polygons) => {
            out.push_str("MULTIPOLYGON ");
            write_list(polygons.iter(), out, write_polygon);
        }
        Geometry::GeometryCollection(shapes) => {
            out.push_str("GEOMETRYCOLLECTION ");
            write_list(shapes.iter(), out, write_shape);
        }
        // No text is read as one of these.
        Geometry::Line(_) | Geometry::Rect(_) | Geometry::Triangle(_) => {}
    }
}

fn write_line(line: &LineString<f64>, out: &mut String) {
    write_points(line.coords().copied(), out);
}

fn write_polygon(polygon: &Polygon<f64>, out: &mut String) {
    let rings = std::iter::once(polygon.exterior()).chain(polygon.interiors());
    write_list(rings, out, write_line);
}

fn write_points(points: impl Iterator<Item = Coord<f64>>, out: &mut String) {
    write_list(points, out, |point, out| {
        // Writing to a text does not fail.
        let _ = write!(out, "{} {}", point.x, point.y);
    });
}

fn write_list<T>(items: impl Iterator<Item = T>, out: &mut String, each: impl Fn(T, &mut String)) {
    out.push('(');
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        each(item, out);
    }
    out.push(')');
}

#[cfg(test)]
mod tests;
