//! Shapes on a plane, as well-known text (WKT), and how they lie to each other: by the nine intersections of their insides,
//! edges and outsides (DE-9IM, OGC 06-103r4), in double precision.
//!
//! Shapes on the earth are `clew_schema::geo`'s. Refuses empty shapes, and points of more than two numbers.

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
    /// Whether it can be held against others by their edges.
    is_plain: OnceLock<bool>,
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
            is_plain: OnceLock::new(),
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

    /// Whether it lies so to another one. Unknown of what is not valid, and of collections by another relation than
    /// [`PlanarRelation::Intersects`].
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
        if !(self.is_plain() && other.is_plain()) {
            return None;
        }
        let matrix = self.geometry.relate(&other.geometry);
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

    fn is_plain(&self) -> bool {
        let is_one = !matches!(self.geometry, Geometry::GeometryCollection(_));
        *self
            .is_plain
            .get_or_init(|| is_one && self.geometry.is_valid())
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
mod tests {
    use super::*;

    fn relates(one: &str, relation: PlanarRelation, other: &str) -> Option<bool> {
        let [one, other] = [one, other].map(|text| PlanarShape::read(text).unwrap());
        one.relates(relation, &other)
    }

    #[test]
    fn shapes_lie_to_each_other_as_their_points_do() {
        use PlanarRelation::*;
        let square = "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))";
        for (one, other, holding) in [
            (square, "POINT (5 5)", vec![Contains, Intersects]),
            (square, "POINT (10 5)", vec![Touches, Intersects]),
            (square, "POINT (11 5)", vec![]),
            ("POINT (5 5)", square, vec![Intersects, Within]),
            (square, "LINESTRING (-5 5, 5 5)", vec![Crosses, Intersects]),
            (
                square,
                "POLYGON ((5 5, 15 5, 15 15, 5 15, 5 5))",
                vec![Overlaps, Intersects],
            ),
            (
                square,
                "POLYGON ((10 10, 10 0, 0 0, 0 10, 10 10))",
                vec![Equals, Contains, Intersects, Within],
            ),
            (
                "POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0), (2 2, 7 2, 7 7, 2 7, 2 2))",
                "POINT (4 4)",
                vec![],
            ),
            (
                "LINESTRING (0 0, 4 4)",
                "LINESTRING (0 4, 4 0)",
                vec![Crosses, Intersects],
            ),
            // Far outside of what degrees are.
            (
                "POINT (1000 -2000)",
                "POINT (1000 -2000)",
                vec![Equals, Contains, Intersects, Within],
            ),
        ] {
            for relation in [
                Equals, Touches, Overlaps, Crosses, Contains, Intersects, Within,
            ] {
                let want = Some(holding.contains(&relation));
                assert_eq!(
                    relates(one, relation, other),
                    want,
                    "{one} {relation:?} {other}"
                );
            }
        }
    }

    #[test]
    fn of_what_is_no_shape_by_its_edges_little_is_known() {
        let bow = "POLYGON ((0 0, 4 4, 4 0, 0 4, 0 0))";
        let several = "GEOMETRYCOLLECTION (POINT (1 1), LINESTRING (0 0, 2 2))";
        for shape in [bow, several] {
            let known = |relation| relates(shape, relation, "POLYGON ((0 0, 3 0, 3 3, 0 3, 0 0))");
            assert_eq!(known(PlanarRelation::Within), None, "{shape}");
            assert_eq!(known(PlanarRelation::Intersects), Some(true), "{shape}");
        }
        let valid = PlanarCheck::of(&ShapeTest::IsValid).unwrap();
        assert_eq!(valid.holds(bow), Some(false));
        assert_eq!(valid.holds(several), Some(true));
        assert_eq!(valid.holds("no shape"), None);
    }

    #[test]
    fn texts_are_written_in_one_way() {
        for (text, want) in [
            ("point(1.50 -2)", "POINT (1.5 -2)"),
            ("POLYGON((0 0,1 0,1 1))", "POLYGON ((0 0, 1 0, 1 1, 0 0))"),
            ("MULTIPOINT ((1 2), (3 4))", "MULTIPOINT (1 2, 3 4)"),
            (
                "MULTILINESTRING((0 0,1e2 1))",
                "MULTILINESTRING ((0 0, 100 1))",
            ),
            (
                "MultiPolygon (((0 0, 1 0, 1 1, 0 0)))",
                "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)))",
            ),
            (
                " GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1)) ",
                "GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (0 0, 1 1))",
            ),
        ] {
            let shape = PlanarShape::read(text).unwrap();
            assert_eq!(shape.text(), want, "{text}");
            let again = PlanarShape::read(want).unwrap();
            assert_eq!(again.text(), want);
        }
    }

    #[test]
    fn what_is_no_text_of_a_shape_is_refused() {
        let deep = format!(
            "{}POINT (1 2){}",
            "GEOMETRYCOLLECTION (".repeat(20),
            ")".repeat(20)
        );
        let long = format!("LINESTRING (0 0{})", ", 1 1".repeat(TEXT_BYTES_MAX / 5));
        for wrong in [
            "",
            "POINT",
            "POINT (1)",
            "POINT (1 2",
            "POINT (1 2))",
            "POINT (1 2) POINT (3 4)",
            "POINT (1 2)\0 POINT (3 4)",
            "POINT (x y)",
            "POINT (1e300 2)",
            "POINT (1e999 2)",
            "POINT EMPTY",
            "GEOMETRYCOLLECTION (POINT EMPTY)",
            "POINT Z (1 2 3)",
            "CIRCLE (1 2 3)",
            &deep,
            &long,
        ] {
            let start: String = wrong.chars().take(40).collect();
            assert!(PlanarShape::read(wrong).is_err(), "{start}");
        }
    }

    #[test]
    fn metres_are_along_the_sphere_between_points() {
        let near = |metres: f64| ShapeTest::Near {
            x: 0.0,
            y: 0.0,
            metres,
        };
        for (shape, metres) in [
            ("POINT (0 1)", 111_194.926),
            ("POINT (180 0)", 20_015_086.796),
            ("LINESTRING (1 -1, 1 1)", 111_320.0),
            ("POLYGON ((-1 -1, 1 -1, 1 1, -1 1, -1 -1))", 0.0),
        ] {
            for (by, want) in [(-0.01, false), (0.01, true)] {
                let check = PlanarCheck::of(&near(metres + by)).unwrap();
                assert_eq!(check.holds(shape), Some(want), "{shape} {by}");
            }
        }
    }
}
