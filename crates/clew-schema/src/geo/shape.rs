//! Shapes as a column keeps them: points, lines and areas on the grid of its steps, and their bytes.
//!
//! The bytes begin with the bounds, by which most shapes are told apart from what is asked for before the rest is read.

use super::area::GeoArea;
use super::plane::{Bounds, Position, Segment, Spot, position, segments};
use super::point::GeoPoint;
use crate::pieces::{in_piece, pieces};

/// What a part of a shape is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    Point,
    Line,
    Area,
}

/// A point, a line, or an area: what its first ring encloses without what the others do.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GeoPart {
    pub(super) kind: PartKind,
    /// One place, the places of a line, or rings that end where they begin. None is empty.
    pub(super) lines: Vec<Vec<Spot>>,
    pub(super) bounds: Bounds,
}

impl GeoPart {
    /// A part with places; `None` without.
    fn new(kind: PartKind, lines: Vec<Vec<Spot>>) -> Option<Self> {
        if lines.iter().any(Vec::is_empty) {
            return None;
        }
        let bounds = Bounds::around(lines.iter().flatten().copied())?;
        Some(GeoPart {
            kind,
            lines,
            bounds,
        })
    }

    pub(super) fn edges(&self) -> impl Iterator<Item = Segment> {
        self.lines.iter().flat_map(|line| segments(line))
    }

    pub(super) fn spots(&self) -> impl Iterator<Item = Spot> {
        self.lines.iter().flatten().copied()
    }

    /// The rings of an area that are left out of it.
    pub(super) fn holes(&self) -> impl Iterator<Item = &[Spot]> {
        self.lines.iter().skip(1).map(Vec::as_slice)
    }

    /// Where a place lies to an area.
    pub(super) fn position(&self, spot: Spot) -> Position {
        let Some((outer, holes)) = self.lines.split_first() else {
            return Position::Outside;
        };
        let found = position(outer, spot);
        if found != Position::Inside {
            return found;
        }
        for hole in holes {
            match position(hole, spot) {
                Position::Inside => return Position::Outside,
                Position::Edge => return Position::Edge,
                Position::Outside => {}
            }
        }
        Position::Inside
    }

    /// Whether a place is one of the part's, those of its edge among them.
    pub(super) fn covers(&self, spot: Spot) -> bool {
        match self.kind {
            PartKind::Point => self.spots().any(|own| own == spot),
            PartKind::Line => self.edges().any(|edge| edge.holds(spot)),
            PartKind::Area => self.position(spot) != Position::Outside,
        }
    }
}

/// How finely places are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grid {
    /// As a column keeps them.
    Column,
    /// As they were asked for; but single points as a column keeps them, so that they are found again.
    Asked,
}

/// The parts of an area; circles are none.
pub(super) fn parts(area: &GeoArea, grid: Grid) -> Vec<GeoPart> {
    let mut found = Vec::new();
    gather(area, grid, &mut found);
    found
}

fn gather(area: &GeoArea, grid: Grid, found: &mut Vec<GeoPart>) {
    let spot = |point: &GeoPoint| match grid {
        Grid::Column => Spot::of_steps(point.steps()),
        Grid::Asked => Spot::fine(*point),
    };
    let ring = |points: &[GeoPoint]| {
        let mut spots: Vec<Spot> = points.iter().map(spot).collect();
        if spots.first() != spots.last() {
            spots.extend(spots.first().copied());
        }
        spots
    };
    match area {
        GeoArea::Circle { .. } => {}
        GeoArea::Point(point) => {
            let at = Spot::of_steps(point.steps());
            found.extend(GeoPart::new(PartKind::Point, vec![vec![at]]));
        }
        GeoArea::Line(points) => {
            let line = points.iter().map(spot).collect();
            found.extend(GeoPart::new(PartKind::Line, vec![line]));
        }
        GeoArea::Polygon { outer, holes } => {
            let rings = std::iter::once(outer).chain(holes);
            let rings = rings.map(|points| ring(points)).collect();
            found.extend(GeoPart::new(PartKind::Area, rings));
        }
        GeoArea::Rectangle {
            top,
            left,
            bottom,
            right,
        } => {
            // What crosses the date line is two.
            let spans = match left <= right {
                true => vec![(*left, *right)],
                false => vec![(*left, 180.0), (-180.0, *right)],
            };
            for (left, right) in spans {
                let corner = |lat, lon| GeoPoint { lat, lon };
                let points = [
                    corner(*bottom, left),
                    corner(*bottom, right),
                    corner(*top, right),
                    corner(*top, left),
                ];
                found.extend(GeoPart::new(PartKind::Area, vec![ring(&points)]));
            }
        }
        GeoArea::Union(areas) => {
            for area in areas {
                gather(area, grid, found);
            }
        }
    }
}

/// The values of an area in a column, one unless it is large; none when it has no places.
///
/// A byte 0 and the shape, or its pieces. The shape: bounds as four whole numbers (west, south, east, north), then the
/// parts: a byte for the kind, the number of lines, and for each line the number of its places and the places. Numbers
/// have 32 bits, the highest first.
pub(crate) fn shape_values(area: &GeoArea) -> Vec<Vec<u8>> {
    let bytes = shape_bytes(area);
    if bytes.is_empty() {
        return Vec::new();
    }
    pieces(&bytes).unwrap_or_else(|| vec![[&[WHOLE][..], bytes.as_slice()].concat()])
}

/// What a value begins with that has all of a shape; pieces begin otherwise.
const WHOLE: u8 = 0;

/// The shape in a value that has all of it.
pub(super) fn whole(value: &[u8]) -> Option<&[u8]> {
    value.strip_prefix(&[WHOLE])
}

/// The south-western and the north-eastern corner of a shape, by the value that has it or its first piece, as the numbers
/// of a column of points; `None` of bytes that are none of a shape.
pub fn shape_corners(value: &[u8]) -> Option<[u64; 2]> {
    let bytes = whole(value).or_else(|| in_piece(value))?;
    let (bounds, _) = ShapeReader::open(bytes)?;
    Some([bounds.low, bounds.high].map(|spot| GeoPoint::code_of_steps(spot.steps())))
}

fn shape_bytes(area: &GeoArea) -> Vec<u8> {
    let parts = parts(area, Grid::Column);
    let mut bytes = Vec::new();
    let Some(bounds) = parts.iter().map(|part| part.bounds).reduce(Bounds::with) else {
        return bytes;
    };
    put_spot(&mut bytes, bounds.low);
    put_spot(&mut bytes, bounds.high);
    for part in &parts {
        bytes.push(match part.kind {
            PartKind::Point => 0,
            PartKind::Line => 1,
            PartKind::Area => 2,
        });
        put_length(&mut bytes, part.lines.len());
        for line in &part.lines {
            put_length(&mut bytes, line.len());
            for spot in line {
                put_spot(&mut bytes, *spot);
            }
        }
    }
    bytes
}

fn put_spot(bytes: &mut Vec<u8>, spot: Spot) {
    let (x, y) = spot.steps();
    bytes.extend_from_slice(&x.to_be_bytes());
    bytes.extend_from_slice(&y.to_be_bytes());
}

fn put_length(bytes: &mut Vec<u8>, length: usize) {
    // Points of a shape are limited far below.
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&length.to_be_bytes());
}

/// Reads the bytes of a shape from their beginning; whatever is not such bytes ends it.
pub(super) struct ShapeReader<'b> {
    rest: &'b [u8],
}

impl<'b> ShapeReader<'b> {
    /// The bounds, and what reads the parts.
    pub(super) fn open(bytes: &'b [u8]) -> Option<(Bounds, Self)> {
        let mut reader = ShapeReader { rest: bytes };
        let bounds = Bounds {
            low: reader.spot()?,
            high: reader.spot()?,
        };
        Some((bounds, reader))
    }

    /// All parts; `None` when the bytes are none of a shape.
    pub(super) fn parts(mut self) -> Option<Vec<GeoPart>> {
        let mut parts = Vec::new();
        while let Some((kind, rest)) = self.rest.split_first() {
            self.rest = rest;
            let kind = match kind {
                0 => PartKind::Point,
                1 => PartKind::Line,
                2 => PartKind::Area,
                _ => return None,
            };
            let lines = self.number()?;
            let lines: Option<Vec<_>> = (0..lines).map(|_| self.line()).collect();
            parts.push(GeoPart::new(kind, lines?)?);
        }
        Some(parts)
    }

    fn line(&mut self) -> Option<Vec<Spot>> {
        let length = self.number()?;
        (0..length).map(|_| self.spot()).collect()
    }

    fn spot(&mut self) -> Option<Spot> {
        let [x, y] = [self.number()?, self.number()?];
        Some(Spot::of_steps((x.cast_signed(), y.cast_signed())))
    }

    fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        Some(u32::from_be_bytes(*number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::{is_piece, joined_pieces};

    fn at(lat: f64, lon: f64) -> GeoPoint {
        GeoPoint { lat, lon }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let square = vec![at(0.0, 0.0), at(0.0, 9.0), at(9.0, 9.0), at(9.0, 0.0)];
        let hole = vec![at(4.0, 4.0), at(4.0, 6.0), at(6.0, 6.0)];
        let area = GeoArea::Union(vec![
            GeoArea::Point(at(90.0, 180.0)),
            GeoArea::Line(vec![at(1.0, 2.0), at(-3.0, -4.5)]),
            GeoArea::Polygon {
                outer: square,
                holes: vec![hole],
            },
            GeoArea::Rectangle {
                top: 1.0,
                left: 170.0,
                bottom: 0.0,
                right: -170.0,
            },
        ]);
        let bytes = shape_bytes(&area);
        let (bounds, reader) = ShapeReader::open(&bytes).unwrap();
        let back = reader.parts().unwrap();
        assert_eq!(back, parts(&area, Grid::Column));
        assert_eq!(back.len(), 5);
        assert!(back.iter().all(|part| bounds.encloses(&part.bounds)));
        for end in 0..bytes.len() {
            let cut = ShapeReader::open(&bytes[..end]).and_then(|(_, reader)| reader.parts());
            // Only between two parts is a beginning a shape of its own.
            assert!(cut.is_none_or(|cut| cut.len() < 5), "{end}");
        }
        let values = shape_values(&area);
        assert_eq!(values.len(), 1);
        assert_eq!(whole(&values[0]), Some(bytes.as_slice()));
        assert!(shape_values(&GeoArea::Union(Vec::new())).is_empty());
    }

    #[test]
    fn large_shapes_lie_in_pieces() {
        let points = (0..30_000).map(|n| at(f64::from(n % 90), f64::from(n % 170)));
        let line = GeoArea::Line(points.collect());
        let mut values = shape_values(&line);
        assert_eq!(values.len(), 5);
        assert!(
            values
                .iter()
                .all(|value| is_piece(value) && whole(value).is_none())
        );
        values.reverse();
        assert_eq!(joined_pieces(values), shape_bytes(&line));
    }
}
