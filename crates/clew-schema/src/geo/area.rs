//! Areas, and whether they hold a point.

use super::point::GeoPoint;

/// A part of the earth's surface.
#[derive(Clone, Debug, PartialEq)]
pub enum GeoArea {
    /// Everything near a point.
    Circle {
        /// The middle.
        center: GeoPoint,
        /// How far from it, in metres.
        metres: f64,
    },
    /// Between two parallels and two meridians; where `left` is greater than `right` it crosses
    /// the date line.
    Rectangle {
        /// Northern latitude.
        top: f64,
        /// Western longitude.
        left: f64,
        /// Southern latitude.
        bottom: f64,
        /// Eastern longitude.
        right: f64,
    },
    /// What a ring encloses, without what its holes do.
    Polygon {
        /// The ring.
        outer: Vec<GeoPoint>,
        /// The holes.
        holes: Vec<Vec<GeoPoint>>,
    },
    /// A line from point to point.
    Line(Vec<GeoPoint>),
    /// One point, as far as a column can tell.
    Point(GeoPoint),
    /// All of these together.
    Union(Vec<GeoArea>),
}

/// How a document's points or shapes must lie to an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GeoRelation {
    /// One of them is in it.
    #[default]
    Intersects,
    /// All of them are in it.
    Within,
    /// None of them is in it.
    Disjoint,
    /// They cover it; what points cover are points.
    Contains,
}

impl GeoArea {
    /// Whether it holds a point that came from a column.
    #[inline]
    pub fn holds(&self, point: GeoPoint) -> bool {
        match self {
            GeoArea::Circle { center, metres } => center.metres_to(point) <= *metres,
            GeoArea::Rectangle {
                top,
                left,
                bottom,
                right,
            } => {
                let across = if left <= right {
                    (*left..=*right).contains(&point.lon)
                } else {
                    point.lon >= *left || point.lon <= *right
                };
                across && (*bottom..=*top).contains(&point.lat)
            }
            GeoArea::Polygon { outer, holes } => {
                encloses(outer, point) && !holes.iter().any(|hole| encloses(hole, point))
            }
            GeoArea::Line(points) => points
                .iter()
                .zip(points.iter().skip(1))
                .any(|(from, to)| on_line(*from, *to, point)),
            GeoArea::Point(own) => own.quantized() == point,
            GeoArea::Union(areas) => areas.iter().any(|area| area.holds(point)),
        }
    }

    /// Whether there is a line in it.
    pub fn has_lines(&self) -> bool {
        match self {
            GeoArea::Line(_) => true,
            GeoArea::Union(areas) => areas.iter().any(GeoArea::has_lines),
            GeoArea::Circle { .. }
            | GeoArea::Rectangle { .. }
            | GeoArea::Polygon { .. }
            | GeoArea::Point(_) => false,
        }
    }

    /// The area as a column's precision sees it, so that a point on its edge is in it. Of a rectangle that is so in the north
    /// and east: points are kept a little farther south and west than they are, where Lucene's boxes end.
    #[must_use]
    pub fn quantized(self) -> Self {
        match self {
            GeoArea::Rectangle {
                top,
                left,
                bottom,
                right,
            } => {
                let high = GeoPoint {
                    lat: top,
                    lon: right,
                }
                .quantized();
                let corner = GeoPoint {
                    lat: bottom,
                    lon: left,
                };
                let (low, up) = (corner.quantized(), corner.quantized_up());
                // What is narrower than a step stays one.
                let is_narrow = left <= right && up.lon > high.lon;
                GeoArea::Rectangle {
                    top: high.lat,
                    left: if is_narrow { low.lon } else { up.lon },
                    bottom: if up.lat > high.lat { low.lat } else { up.lat },
                    right: high.lon,
                }
            }
            GeoArea::Polygon { outer, holes } => GeoArea::Polygon {
                outer: outer.into_iter().map(GeoPoint::quantized).collect(),
                holes: holes
                    .into_iter()
                    .map(|hole| hole.into_iter().map(GeoPoint::quantized).collect())
                    .collect(),
            },
            GeoArea::Union(areas) => {
                GeoArea::Union(areas.into_iter().map(GeoArea::quantized).collect())
            }
            other => other,
        }
    }

    /// Whether points lie to it as wanted; no points never do.
    pub fn relates(&self, relation: GeoRelation, points: &[GeoPoint]) -> bool {
        if points.is_empty() {
            return false;
        }
        match relation {
            GeoRelation::Intersects => points.iter().any(|point| self.holds(*point)),
            GeoRelation::Within => points.iter().all(|point| self.holds(*point)),
            GeoRelation::Disjoint => !points.iter().any(|point| self.holds(*point)),
            GeoRelation::Contains => self.covered_by(points),
        }
    }

    fn covered_by(&self, points: &[GeoPoint]) -> bool {
        match self {
            GeoArea::Point(own) => points.contains(&own.quantized()),
            GeoArea::Union(areas) => areas.iter().all(|area| area.covered_by(points)),
            _ => false,
        }
    }
}

/// Whether a ring encloses a point, or has it on its line.
fn encloses(ring: &[GeoPoint], point: GeoPoint) -> bool {
    let mut inside = false;
    let closing = ring.last().into_iter().chain(ring);
    for (from, to) in closing.zip(ring) {
        if on_line(*from, *to, point) {
            return true;
        }
        // A line of the ring that passes east of the point turns outside into inside.
        if (from.lat > point.lat) != (to.lat > point.lat) {
            let at = (to.lon - from.lon) * (point.lat - from.lat) / (to.lat - from.lat) + from.lon;
            inside ^= point.lon < at;
        }
    }
    inside
}

fn on_line(from: GeoPoint, to: GeoPoint, point: GeoPoint) -> bool {
    let between = |a: f64, b: f64, middle: f64| a.min(b) <= middle && middle <= a.max(b);
    let turn =
        (to.lon - from.lon) * (point.lat - from.lat) - (to.lat - from.lat) * (point.lon - from.lon);
    turn == 0.0 && between(from.lat, to.lat, point.lat) && between(from.lon, to.lon, point.lon)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(lat: f64, lon: f64) -> GeoPoint {
        GeoPoint { lat, lon }
    }

    #[test]
    fn areas_hold_what_lies_in_them() {
        let square = vec![at(0.0, 0.0), at(0.0, 10.0), at(10.0, 10.0), at(10.0, 0.0)];
        let hole = vec![at(4.0, 4.0), at(4.0, 6.0), at(6.0, 6.0), at(6.0, 4.0)];
        let ring = GeoArea::Polygon {
            outer: square,
            holes: vec![hole],
        };
        let dateline = GeoArea::Rectangle {
            top: 10.0,
            left: 170.0,
            bottom: -10.0,
            right: -170.0,
        };
        let circle = GeoArea::Circle {
            center: at(0.0, 0.0),
            metres: 120_000.0,
        };
        let cases = [
            (&ring, at(2.0, 2.0), true),
            (&ring, at(5.0, 5.0), false),
            (&ring, at(0.0, 5.0), true),
            (&ring, at(11.0, 5.0), false),
            (&dateline, at(0.0, 175.0), true),
            (&dateline, at(0.0, -175.0), true),
            (&dateline, at(0.0, 0.0), false),
            (&circle, at(1.0, 0.0), true),
            (&circle, at(1.0, 1.0), false),
        ];
        for (area, point, wanted) in cases {
            assert_eq!(area.holds(point), wanted, "{area:?} {point:?}");
        }
    }

    #[test]
    fn boxes_end_where_points_are_kept() {
        let area = |top, left, bottom, right| {
            let area = GeoArea::Rectangle {
                top,
                left,
                bottom,
                right,
            };
            area.quantized()
        };
        let north = area(75.0, 28.0, 73.0, 41.0);
        let whole = area(90.0, -180.0, -90.0, 180.0);
        for (area, point, wanted) in [
            (&north, at(74.0, 40.71), true),
            (&north, at(74.0, 41.0), true),
            (&north, at(75.0, 30.0), true),
            (&north, at(75.0, 28.0), false),
            (&north, at(73.0, 30.0), false),
            (&area(45.0, 45.0, 0.0, 90.0), at(0.0, 45.0), true),
            (&area(10.1, 10.1, 10.1, 10.1), at(10.1, 10.1), true),
            (&area(10.0, 170.0, 0.0, -170.0), at(5.0, 171.0), true),
            (&area(10.0, 170.0, 0.0, -170.0), at(5.0, 0.0), false),
            (&whole, at(90.0, 180.0), true),
            (&whole, at(-90.0, -180.0), true),
        ] {
            assert_eq!(area.holds(point.quantized()), wanted, "{area:?} {point:?}");
        }
    }

    #[test]
    fn relations_are_about_all_points() {
        let west = GeoArea::Rectangle {
            top: 90.0,
            left: -180.0,
            bottom: -90.0,
            right: 0.0,
        };
        let both = [at(0.0, -5.0), at(0.0, 5.0)];
        assert!(west.relates(GeoRelation::Intersects, &both));
        assert!(!west.relates(GeoRelation::Within, &both));
        assert!(west.relates(GeoRelation::Within, &both[..1]));
        assert!(west.relates(GeoRelation::Disjoint, &both[1..]));
        assert!(!west.relates(GeoRelation::Disjoint, &[]));
        let exactly = GeoArea::Point(at(0.0, 5.0));
        let stored = both.map(GeoPoint::quantized);
        assert!(exactly.relates(GeoRelation::Contains, &stored));
        assert!(!west.relates(GeoRelation::Contains, &stored));
    }
}
