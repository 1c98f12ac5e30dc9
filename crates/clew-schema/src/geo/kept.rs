//! Shapes of documents as they are read again, to be held against one area after the other.

use super::area::{GeoArea, GeoRelation};
use super::plane::{Bounds, Spot};
use super::point::GeoPoint;
use super::relate::AskedShape;
use super::shape::{GeoPart, ShapeReader, whole};
use crate::pieces::{is_piece, joined_pieces};

/// A shape that a document has.
#[derive(Clone, Debug)]
pub struct KeptShape {
    bounds: Bounds,
    parts: Vec<GeoPart>,
}

impl KeptShape {
    /// The shape in a document's values of a column: in the only one, or in pieces in any order; `None` of bytes that are
    /// none of a shape.
    pub fn read(values: Vec<Vec<u8>>) -> Option<Self> {
        let is_cut = values.first().is_some_and(|value| is_piece(value));
        let bytes = match is_cut {
            true => joined_pieces(values),
            false => whole(values.first()?)?.to_vec(),
        };
        let (bounds, reader) = ShapeReader::open(&bytes)?;
        let parts = reader.parts()?;
        Some(KeptShape { bounds, parts })
    }

    /// The south-western and the north-eastern corner of its bounds.
    pub fn corners(&self) -> [GeoPoint; 2] {
        [self.bounds.low, self.bounds.high].map(Spot::degrees)
    }

    /// Whether it has a place in common with an area, edges included. Costs its edges near the area, sorted.
    pub fn touches(&self, area: &GeoArea) -> bool {
        let asked = AskedShape::new(area, GeoRelation::Intersects);
        asked.is_ok_and(|asked| asked.meets(&self.parts, &mut || false))
    }

    /// Whether all of an area lies in it, and not at its edge.
    pub fn covers(&self, area: &GeoArea) -> bool {
        let asked = AskedShape::new(area, GeoRelation::Contains);
        asked.is_ok_and(|asked| asked.is_covered_by(&self.parts, &mut || false))
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::shape_values;
    use super::*;

    fn square(west: f64, east: f64) -> GeoArea {
        GeoArea::Rectangle {
            top: 1.0,
            left: west,
            bottom: 0.0,
            right: east,
        }
    }

    #[test]
    fn shapes_that_are_read_again_touch_what_they_touched() {
        let points = (0..30_000).map(|n| GeoPoint {
            lat: 0.0,
            lon: f64::from(n % 45),
        });
        for (area, pieces) in [(square(0.0, 45.0), 1), (GeoArea::Line(points.collect()), 5)] {
            let mut values = shape_values(&area);
            assert_eq!(values.len(), pieces);
            values.reverse();
            let shape = KeptShape::read(values).unwrap();
            let [low, high] = shape.corners();
            assert!(low.lon.abs() < 1e-6 && low.lat.abs() < 1e-6, "{low:?}");
            assert!(high.lon > 43.9 && high.lat < 1.1, "{high:?}");
            for (west, east, touches) in [
                (43.5, 50.0, true),
                (-1.0, 0.0, true),
                (46.0, 50.0, false),
                (170.0, 1.0, true),
            ] {
                assert_eq!(shape.touches(&square(west, east)), touches, "{west}");
                assert!(!shape.covers(&square(west, east)), "{west}");
            }
            let inner = GeoArea::Rectangle {
                top: 0.9,
                left: 1.0,
                bottom: 0.1,
                right: 2.0,
            };
            assert_eq!(shape.covers(&inner), pieces == 1);
        }
        for values in [vec![], vec![vec![]], vec![vec![0, 1]], vec![vec![1, 0, 0]]] {
            assert!(KeptShape::read(values).is_none());
        }
    }
}
