//! Lines and polygons that go over the date line, cut where it is: behind it they go on at the other end of the map.

use super::area::GeoArea;
use super::point::GeoPoint;

/// Degrees of a whole turn.
const TURN: f64 = 360.0;
/// Degrees to the east or west of the meridian that a line or polygon may reach.
pub(super) const LON_MAX: f64 = 4.0 * TURN;

/// The worlds beside each other that points reach into, 0 being the one from -180 to 180.
fn worlds(points: &[GeoPoint]) -> impl Iterator<Item = f64> {
    let lons = || points.iter().map(|point| point.lon);
    let west = lons().fold(f64::INFINITY, f64::min);
    let east = lons().fold(f64::NEG_INFINITY, f64::max);
    let first = ((west + 180.0) / TURN).floor();
    // What ends on the line does not go over it.
    let last = (((east + 180.0) / TURN).ceil() - 1.0).max(first);
    // Degrees are limited, so that there are few.
    std::iter::successors(Some(first), move |world| {
        Some(world + 1.0).filter(|next| *next <= last)
    })
}

/// Whether all points lie in the world as maps show it.
fn is_at_home(points: &[GeoPoint]) -> bool {
    points
        .iter()
        .all(|point| (-180.0..=180.0).contains(&point.lon))
}

/// Where the way between two points passes a meridian.
fn at_meridian(from: GeoPoint, to: GeoPoint, lon: f64) -> GeoPoint {
    let share = (lon - from.lon) / (to.lon - from.lon);
    GeoPoint {
        lat: from.lat + share * (to.lat - from.lat),
        lon,
    }
}

/// What of a line lies in which world.
pub(super) fn cut_line(points: Vec<GeoPoint>) -> GeoArea {
    if is_at_home(&points) {
        return GeoArea::Line(points);
    }
    let mut found = Vec::new();
    for world in worlds(&points) {
        let (west, east) = (world * TURN - 180.0, world * TURN + 180.0);
        let mut line: Vec<GeoPoint> = Vec::new();
        for (from, to) in points.iter().zip(points.iter().skip(1)) {
            let Some([from, to]) = between((*from, *to), (west, east)) else {
                continue;
            };
            let [from, to] = [from, to].map(|point| home(point, world));
            if line.last() != Some(&from) {
                finish(&mut line, &mut found);
                line.push(from);
            }
            line.push(to);
        }
        finish(&mut line, &mut found);
    }
    GeoArea::Union(found)
}

fn finish(line: &mut Vec<GeoPoint>, found: &mut Vec<GeoArea>) {
    let line = std::mem::take(line);
    if line.len() > 1 {
        found.push(GeoArea::Line(line));
    }
}

/// The point of another world in the one from -180 to 180.
fn home(point: GeoPoint, world: f64) -> GeoPoint {
    GeoPoint {
        lat: point.lat,
        lon: (point.lon - world * TURN).clamp(-180.0, 180.0),
    }
}

/// What of the way between two points lies between two meridians.
fn between((from, to): (GeoPoint, GeoPoint), (west, east): (f64, f64)) -> Option<[GeoPoint; 2]> {
    let end = |point: GeoPoint, other: GeoPoint| {
        if point.lon < west {
            (other.lon > west).then(|| at_meridian(point, other, west))
        } else if point.lon > east {
            (other.lon < east).then(|| at_meridian(point, other, east))
        } else {
            Some(point)
        }
    };
    Some([end(from, to)?, end(to, from)?])
}

/// What of a polygon lies in which world. Rings end where they begin.
pub(super) fn cut_polygon(outer: Vec<GeoPoint>, holes: Vec<Vec<GeoPoint>>) -> GeoArea {
    if is_at_home(&outer) {
        return GeoArea::Polygon { outer, holes };
    }
    let parts = worlds(&outer).filter_map(|world| {
        let outer = cut_ring(&outer, world)?;
        let holes = holes.iter().filter_map(|hole| cut_ring(hole, world));
        Some(GeoArea::Polygon {
            outer,
            holes: holes.collect(),
        })
    });
    GeoArea::Union(parts.collect())
}

/// What of a ring lies in a world: cut at one meridian, then at the other (Sutherland and Hodgman). Parts of one ring
/// stay joined by ways along the meridian, which enclose nothing.
fn cut_ring(ring: &[GeoPoint], world: f64) -> Option<Vec<GeoPoint>> {
    let west = world * TURN - 180.0;
    let cut = cut_at(ring, west, |lon| lon >= west);
    let east = world * TURN + 180.0;
    let cut = cut_at(&cut, east, |lon| lon <= east);
    let first = cut.first()?;
    let is_flat = cut.iter().all(|point| point.lon == first.lon);
    if is_flat {
        return None;
    }
    Some(cut.into_iter().map(|point| home(point, world)).collect())
}

fn cut_at(ring: &[GeoPoint], lon: f64, keeps: impl Fn(f64) -> bool) -> Vec<GeoPoint> {
    let mut found = Vec::with_capacity(ring.len());
    for (from, to) in ring.iter().zip(ring.iter().skip(1)) {
        let [starts, ends] = [from, to].map(|point| keeps(point.lon));
        if starts {
            found.push(*from);
        }
        if starts != ends {
            found.push(at_meridian(*from, *to, lon));
        }
    }
    found.extend(found.first().copied());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(places: &[(f64, f64)]) -> Vec<GeoPoint> {
        let at = |&(lon, lat): &(f64, f64)| GeoPoint { lat, lon };
        places.iter().map(at).collect()
    }

    #[test]
    fn lines_go_on_at_the_other_end() {
        let whole = points(&[(170.0, 0.0), (175.0, 1.0)]);
        assert_eq!(cut_line(whole.clone()), GeoArea::Line(whole));
        let cut = cut_line(points(&[(170.0, 0.0), (190.0, 2.0), (200.0, 2.0)]));
        let wanted = [
            points(&[(170.0, 0.0), (180.0, 1.0)]),
            points(&[(-180.0, 1.0), (-170.0, 2.0), (-160.0, 2.0)]),
        ];
        assert_eq!(cut, GeoArea::Union(wanted.map(GeoArea::Line).to_vec()));
    }

    #[test]
    fn polygons_are_cut_in_two() {
        let ring = points(&[
            (170.0, 0.0),
            (190.0, 0.0),
            (190.0, 10.0),
            (170.0, 10.0),
            (170.0, 0.0),
        ]);
        let hole = points(&[(172.0, 2.0), (173.0, 2.0), (173.0, 3.0), (172.0, 2.0)]);
        let GeoArea::Union(parts) = cut_polygon(ring, vec![hole]) else {
            panic!("it goes over the line");
        };
        let lons = |part: &GeoArea| match part {
            GeoArea::Polygon { outer, holes } => {
                let lons = outer.iter().map(|point| point.lon);
                let west = lons.clone().fold(f64::INFINITY, f64::min);
                (west, lons.fold(f64::NEG_INFINITY, f64::max), holes.len())
            }
            _ => panic!("a part of a polygon is one"),
        };
        let found: Vec<_> = parts.iter().map(lons).collect();
        assert_eq!(found, [(170.0, 180.0, 1), (-180.0, -170.0, 0)]);
    }
}
