//! Places and straight lines on a grid of whole numbers, where it is exact whether lines meet.
//!
//! What documents have falls on the steps of a column; what is asked for lies between them as well, as in Lucene, which
//! keeps the one and not the other in 32 bits. Degrees are a plane here: lines are straight on a map.

use std::cmp::Ordering;

use super::point::{GeoPoint, LAT_STEP, LON_STEP};

/// Places between two steps of a column, as a power of two: with it a whole turn has 52 bits, which an f64 holds.
const FINE_BITS: u32 = 20;
const FINE: f64 = 1_048_576.0;

/// A place on the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// To the east.
    pub(super) x: i64,
    /// To the north.
    pub(super) y: i64,
}

impl Spot {
    /// The place of a column's steps.
    pub(super) fn of_steps((x, y): (i32, i32)) -> Self {
        Spot {
            x: i64::from(x) << FINE_BITS,
            y: i64::from(y) << FINE_BITS,
        }
    }

    /// The steps of a column that it lies on or behind.
    pub(super) fn steps(self) -> (i32, i32) {
        // What was made of steps fits them again.
        let step = |place: i64| i32::try_from(place >> FINE_BITS).unwrap_or(i32::MAX);
        (step(self.x), step(self.y))
    }

    /// The place of a point as finely as the grid has it.
    pub(super) fn fine(point: GeoPoint) -> Self {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "degrees in range have 52 bits, and others saturate"
        )]
        let place = |degrees: f64, step: f64| (degrees / step * FINE).round() as i64;
        Spot {
            x: place(point.lon, LON_STEP),
            y: place(point.lat, LAT_STEP),
        }
    }

    /// The point in degrees.
    pub(super) fn degrees(self) -> GeoPoint {
        #[allow(
            clippy::cast_precision_loss,
            reason = "a place has 52 bits, which are exact"
        )]
        let degrees = |place: i64, step: f64| place as f64 / FINE * step;
        GeoPoint {
            lat: degrees(self.y, LAT_STEP),
            lon: degrees(self.x, LON_STEP),
        }
    }
}

/// To which side of the way from `a` to `b` a third place lies: `Greater` is left, `Equal` on the line through both.
fn side(a: Spot, b: Spot, c: Spot) -> Ordering {
    let product = |one: i64, other: i64| i128::from(one) * i128::from(other);
    let turn = product(b.x - a.x, c.y - a.y) - product(b.y - a.y, c.x - a.x);
    turn.cmp(&0)
}

/// What two parallels and two meridians enclose, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The south-western corner.
    pub(super) low: Spot,
    /// The north-eastern corner.
    pub(super) high: Spot,
}

impl Bounds {
    /// Around places; `None` of none.
    pub(super) fn around(spots: impl IntoIterator<Item = Spot>) -> Option<Self> {
        let of_one = |spot| Bounds {
            low: spot,
            high: spot,
        };
        spots.into_iter().map(of_one).reduce(Bounds::with)
    }

    /// Around both.
    #[must_use]
    pub(super) fn with(self, other: Bounds) -> Self {
        Bounds {
            low: Spot {
                x: self.low.x.min(other.low.x),
                y: self.low.y.min(other.low.y),
            },
            high: Spot {
                x: self.high.x.max(other.high.x),
                y: self.high.y.max(other.high.y),
            },
        }
    }

    /// Whether both have a place in common.
    pub(super) fn meets(&self, other: &Bounds) -> bool {
        self.low.x <= other.high.x
            && other.low.x <= self.high.x
            && self.low.y <= other.high.y
            && other.low.y <= self.high.y
    }

    /// Whether the other one lies in it.
    pub(super) fn encloses(&self, other: &Bounds) -> bool {
        self.with(*other) == *self
    }
}

/// The straight line between two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) from: Spot,
    pub(super) to: Spot,
}

impl Segment {
    pub(super) fn bounds(self) -> Bounds {
        let [from, to] = [self.from, self.to].map(|spot| Bounds {
            low: spot,
            high: spot,
        });
        from.with(to)
    }

    /// Whether a place lies on it.
    pub(super) fn holds(self, spot: Spot) -> bool {
        let bounds = self.bounds();
        let at = Bounds {
            low: spot,
            high: spot,
        };
        bounds.encloses(&at) && side(self.from, self.to, spot) == Ordering::Equal
    }

    /// On which sides of it the ends of another one lie.
    fn sides(self, other: Segment) -> [Ordering; 2] {
        [other.from, other.to].map(|end| side(self.from, self.to, end))
    }

    /// Whether both go through each other, each with its ends on both sides of the other one.
    pub(super) fn crosses(self, other: Segment) -> bool {
        let parted = |sides: [Ordering; 2]| {
            matches!(
                sides,
                [Ordering::Less, Ordering::Greater] | [Ordering::Greater, Ordering::Less]
            )
        };
        parted(self.sides(other)) && parted(other.sides(self))
    }

    /// Whether both have a place in common.
    pub(super) fn touches(self, other: Segment) -> bool {
        self.crosses(other)
            || self.holds(other.from)
            || self.holds(other.to)
            || other.holds(self.from)
            || other.holds(self.to)
    }
}

/// The lines from each place to the next.
pub(super) fn segments(line: &[Spot]) -> impl Iterator<Item = Segment> {
    line.iter()
        .zip(line.iter().skip(1))
        .map(|(from, to)| Segment {
            from: *from,
            to: *to,
        })
}

/// Where a place lies to a ring or an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    Inside,
    Edge,
    Outside,
}

/// Where a place lies to a ring, which ends where it begins.
pub(super) fn position(ring: &[Spot], spot: Spot) -> Position {
    let mut inside = false;
    for segment in segments(ring) {
        if segment.holds(spot) {
            return Position::Edge;
        }
        let Segment { from, to } = segment;
        // A line of the ring that passes east of the place turns outside into inside.
        if (from.y > spot.y) != (to.y > spot.y) {
            let is_left = side(from, to, spot) == Ordering::Greater;
            inside ^= is_left == (to.y > from.y);
        }
    }
    match inside {
        true => Position::Inside,
        false => Position::Outside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i64, y: i64) -> Spot {
        Spot { x, y }
    }

    #[test]
    fn places_lie_inside_outside_or_on_the_edge() {
        let ring = [
            at(0, 0),
            at(10, 0),
            at(10, 10),
            at(5, 5),
            at(0, 10),
            at(0, 0),
        ];
        let cases = [
            (at(5, 1), Position::Inside),
            (at(5, 5), Position::Edge),
            (at(5, 6), Position::Outside),
            (at(0, 3), Position::Edge),
            (at(10, 10), Position::Edge),
            (at(11, 0), Position::Outside),
            (at(-1, 10), Position::Outside),
        ];
        for (spot, wanted) in cases {
            assert_eq!(position(&ring, spot), wanted, "{spot:?}");
        }
    }

    #[test]
    fn lines_cross_or_only_touch() {
        let line = |a, b| Segment { from: a, to: b };
        let across = line(at(0, 0), at(10, 10));
        let cases = [
            (line(at(0, 10), at(10, 0)), true, true),
            (line(at(5, 5), at(10, 0)), true, false),
            (line(at(10, 10), at(20, 20)), true, false),
            (line(at(2, 2), at(3, 3)), true, false),
            (line(at(11, 11), at(20, 20)), false, false),
            (line(at(0, 1), at(10, 11)), false, false),
            (line(at(5, 5), at(5, 5)), true, false),
        ];
        for (other, touches, crosses) in cases {
            assert_eq!(across.touches(other), touches, "{other:?}");
            assert_eq!(other.touches(across), touches, "{other:?}");
            assert_eq!(across.crosses(other), crosses, "{other:?}");
        }
    }

    #[test]
    fn the_ends_of_the_earth_are_on_the_grid() {
        for (lat, lon) in [(90.0, 180.0), (-90.0, -180.0), (0.1, -0.1)] {
            let point = GeoPoint { lat, lon };
            let back = Spot::fine(point).degrees();
            assert!((back.lat - lat).abs() < 1e-12 && (back.lon - lon).abs() < 1e-12);
            let kept = Spot::of_steps(point.steps()).degrees();
            assert_eq!(kept, point.quantized());
        }
    }
}
