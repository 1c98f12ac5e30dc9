//! Whether shapes that are not plain lie within plain ones: collections, by their parts, and areas whose rings cross
//! themselves, by these rings. Says nothing of how they touch, cross or overlap.

use ::geo::{Geometry, LineString, MultiLineString, Polygon, Relate, Validation};

/// Where a shape lies that is held against another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lies {
    /// A point of it is outside.
    Outside,
    /// No point of it is outside, and none inside.
    OnEdge,
    /// No point of it is outside.
    Inside,
}

/// Whether a shape lies within a plain one. Unknown of rings that cross themselves where the other one has holes or is no
/// area, or where they lie along its edge.
///
/// Costs the edges of all parts, held against those of the other one; collections are as deep as texts may be.
pub(super) fn within(one: &Geometry<f64>, plain: &Geometry<f64>) -> Option<bool> {
    lies(one, plain).map(|lies| lies == Lies::Inside)
}

fn lies(one: &Geometry<f64>, plain: &Geometry<f64>) -> Option<Lies> {
    let Geometry::GeometryCollection(parts) = one else {
        return match one.is_valid() {
            true => Some(plainly(one, plain)),
            false => by_rings(one, plain),
        };
    };
    let mut all = Some(Lies::OnEdge);
    for part in parts.iter() {
        match lies(part, plain) {
            // One part decides, whatever is unknown of others.
            Some(Lies::Outside) => return Some(Lies::Outside),
            Some(Lies::Inside) => all = all.map(|_| Lies::Inside),
            Some(Lies::OnEdge) => {}
            None => all = None,
        }
    }
    all
}

fn plainly(one: &impl Relate<f64>, plain: &Geometry<f64>) -> Lies {
    let matrix = one.relate(plain);
    if matrix.is_within() {
        return Lies::Inside;
    }
    match matrix.is_coveredby() {
        true => Lies::OnEdge,
        false => Lies::Outside,
    }
}

/// What rings go around lies within an area without holes if they do.
fn by_rings(one: &Geometry<f64>, plain: &Geometry<f64>) -> Option<Lies> {
    let rings = rings(one).filter(Validation::is_valid)?;
    let has_holes = match plain {
        Geometry::Polygon(area) => !area.interiors().is_empty(),
        // Several areas may go around what is in none of them.
        _ => true,
    };
    match plainly(&rings, plain) {
        Lies::Outside => Some(Lies::Outside),
        Lies::Inside if !has_holes => Some(Lies::Inside),
        Lies::Inside | Lies::OnEdge => None,
    }
}

fn rings(shape: &Geometry<f64>) -> Option<MultiLineString<f64>> {
    let areas: &[Polygon<f64>] = match shape {
        Geometry::Polygon(area) => std::slice::from_ref(area),
        Geometry::MultiPolygon(areas) => &areas.0,
        _ => return None,
    };
    let of_one = |area: &Polygon<f64>| -> Vec<LineString<f64>> {
        let outer = std::iter::once(area.exterior());
        outer.chain(area.interiors()).cloned().collect()
    };
    Some(MultiLineString::new(
        areas.iter().flat_map(of_one).collect(),
    ))
}
