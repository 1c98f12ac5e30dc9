//! What makes points the ring of a polygon, with OpenSearch's words where they are none.

use std::cmp::Ordering;

use super::plane::{Bounds, Position, Segment, Spot, position, segments};
use super::point::GeoPoint;

/// Pairs of edges that are looked at for one polygon: one that winds so much that it has more is taken as it is.
const PAIRS_MAX: usize = 20_000_000;

/// A ring, which must end where it begins, or is closed where that may be done for it.
pub(super) fn ring(mut points: Vec<GeoPoint>, closes: bool) -> Result<Vec<GeoPoint>, String> {
    let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) else {
        return Err("not enough points to build a line".to_string());
    };
    if points.len() < 2 {
        return Err("not enough points to build a line".to_string());
    }
    if first != last && closes {
        points.push(first);
    } else if first != last {
        let end = points.len() - 1;
        return Err(format!(
            "first and last points of the linear ring must be the same (it must close itself): \
             x[0]={:?} x[{end}]={:?} y[0]={:?} y[{end}]={:?}",
            first.lon, last.lon, first.lat, last.lat
        ));
    }
    if points.len() < 4 {
        return Err("at least 4 polygon points required".to_string());
    }
    Ok(points)
}

/// Whether a ring goes to the left around what it encloses, as it turns in its southernmost point (the western one of
/// two), where a ring can only turn around something.
///
/// # Errors
/// When it does not turn there.
pub(super) fn is_to_the_left(ring: &[GeoPoint]) -> Result<bool, String> {
    let open = ring.split_last().map_or(ring, |(_, open)| open);
    let lowest = open.iter().enumerate().min_by(|(_, a), (_, b)| {
        // Points are finite, so that all compare.
        let place = |point: &GeoPoint| (point.lat, point.lon);
        place(a).partial_cmp(&place(b)).unwrap_or(Ordering::Equal)
    });
    let Some((at, here)) = lowest else {
        return Err("not enough points to build a line".to_string());
    };
    let before = open.get((at + open.len() - 1) % open.len()).unwrap_or(here);
    let after = open.get((at + 1) % open.len()).unwrap_or(here);
    let turn = (here.lon - before.lon) * (after.lat - before.lat)
        - (here.lat - before.lat) * (after.lon - before.lon);
    if turn == 0.0 {
        return Err(format!(
            "Cannot determine orientation: edges adjacent to ({:?},{:?}) coincide",
            here.lon, here.lat
        ));
    }
    Ok(turn > 0.0)
}

/// Refuses rings of which no area can be made.
pub(super) fn check(outer: &[GeoPoint], holes: &[Vec<GeoPoint>]) -> Result<(), String> {
    let rings = || std::iter::once(outer).chain(holes.iter().map(Vec::as_slice));
    for ring in rings() {
        let mut pairs = ring.iter().zip(ring.iter().skip(1));
        if let Some((twice, _)) = pairs.find(|(from, to)| from == to) {
            return Err(format!(
                "Provided shape has duplicate consecutive coordinates at: (POINT ({:?} {:?}))",
                twice.lon, twice.lat
            ));
        }
    }
    let spots: Vec<Vec<Spot>> = rings()
        .map(|ring| ring.iter().copied().map(Spot::fine).collect())
        .collect();
    if cross_themselves(&spots) {
        return Err("Unable to Tessellate shape. Possible malformed shape detected.".to_string());
    }
    check_holes(&spots)
}

/// Refuses holes that are not inside of the first ring.
fn check_holes(rings: &[Vec<Spot>]) -> Result<(), String> {
    let Some((outer, holes)) = rings.split_first() else {
        return Ok(());
    };
    let mut left = PAIRS_MAX;
    for hole in holes {
        if hole == outer {
            return Err(
                "Invalid polygon, interior cannot share more than one point with the exterior"
                    .to_string(),
            );
        }
        left = left.saturating_sub(outer.len());
        let is_outside = |spot: &Spot| position(outer, *spot) == Position::Outside;
        if left > 0 && hole.first().is_some_and(is_outside) {
            return Err("Invalid shape: Hole is not within polygon".to_string());
        }
    }
    Ok(())
}

/// Whether two edges of a polygon go through each other.
fn cross_themselves(rings: &[Vec<Spot>]) -> bool {
    let mut edges: Vec<(Bounds, Segment)> = rings
        .iter()
        .flat_map(|ring| segments(ring))
        .map(|edge| (edge.bounds(), edge))
        .collect();
    edges.sort_unstable_by_key(|(bounds, _)| bounds.low.x);
    let mut left = PAIRS_MAX;
    for (at, (bounds, edge)) in edges.iter().enumerate() {
        let behind = edges.iter().skip(at + 1);
        for (around, next) in behind.take_while(|(around, _)| around.low.x <= bounds.high.x) {
            left -= 1;
            if left == 0 {
                return false;
            }
            if around.meets(bounds) && edge.crosses(*next) {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(places: &[(f64, f64)]) -> Vec<GeoPoint> {
        let at = |&(lon, lat): &(f64, f64)| GeoPoint { lat, lon };
        places.iter().map(at).collect()
    }

    #[test]
    fn what_is_no_ring_is_said() {
        let open = points(&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]);
        let reason = ring(open.clone(), false).unwrap_err();
        assert!(
            reason.ends_with("x[0]=0.0 x[3]=0.0 y[0]=0.0 y[3]=1.0"),
            "{reason}"
        );
        assert_eq!(ring(open, true).unwrap().len(), 5);
        let few = points(&[(0.0, 0.0), (1.0, 0.0), (0.0, 0.0)]);
        assert_eq!(
            ring(few, false).unwrap_err(),
            "at least 4 polygon points required"
        );
        assert!(ring(Vec::new(), true).is_err());
    }

    #[test]
    fn rings_turn_at_their_southern_end() {
        let left = points(&[(0.0, 0.0), (9.0, 1.0), (9.0, 9.0), (0.0, 9.0), (0.0, 0.0)]);
        let right: Vec<GeoPoint> = left.iter().rev().copied().collect();
        assert_eq!(is_to_the_left(&left), Ok(true));
        assert_eq!(is_to_the_left(&right), Ok(false));
        let flat = points(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (0.0, 0.0)]);
        let reason = "Cannot determine orientation: edges adjacent to (0.0,0.0) coincide";
        assert_eq!(is_to_the_left(&flat), Err(reason.to_string()));
        assert!(is_to_the_left(&[]).is_err());
    }

    #[test]
    fn areas_that_cannot_be_are_refused() {
        let square = points(&[(0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 9.0), (0.0, 0.0)]);
        let hole = points(&[(1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (1.0, 1.0)]);
        let beside = points(&[(11.0, 1.0), (12.0, 1.0), (12.0, 2.0), (11.0, 1.0)]);
        let over = points(&[(8.0, 1.0), (12.0, 1.0), (12.0, 2.0), (8.0, 1.0)]);
        let bow = points(&[(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)]);
        let twice = points(&[(0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)]);
        let cases = [
            (&square, vec![], true),
            (&square, vec![hole], true),
            (&square, vec![beside], false),
            (&square, vec![over], false),
            (&square, vec![square.clone()], false),
            (&bow, vec![], false),
            (&twice, vec![], false),
        ];
        for (outer, holes, wanted) in &cases {
            assert_eq!(check(outer, holes).is_ok(), *wanted, "{outer:?} {holes:?}");
        }
    }
}
