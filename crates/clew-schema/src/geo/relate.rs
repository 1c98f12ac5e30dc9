//! How the shapes of documents lie to a shape that is asked for, with the conventions of Lucene: what touches intersects,
//! what is inside may lie on the edge, and what contains must not touch the edge.
//!
//! Costs the bounds for most documents, and for the others the edges near both shapes, sorted, times those beside them.

use super::area::{GeoArea, GeoRelation};
use super::plane::{Bounds, Position, Segment, Spot};
use super::point::GeoPoint;
use super::shape::{GeoPart, Grid, PartKind, ShapeReader, parts, whole};
use crate::pieces::{is_piece, joined_pieces};

/// Asked once for each part of a shape, of which there may be many: whether to leave off, with an answer that means nothing.
pub type IsOver<'o> = dyn FnMut() -> bool + 'o;

/// A shape that documents are held against.
#[derive(Clone, Debug)]
pub struct AskedShape {
    relation: GeoRelation,
    parts: Vec<GeoPart>,
    circles: Vec<Circle>,
    /// Around all of it; `None` where a circle has none on a map.
    bounds: Option<Bounds>,
}

#[derive(Clone, Copy, Debug)]
struct Circle {
    center: GeoPoint,
    metres: f64,
}

impl AskedShape {
    /// What lies to the area as wanted.
    ///
    /// # Errors
    /// When nothing can be within it, because it has lines.
    pub fn new(area: &GeoArea, relation: GeoRelation) -> Result<Self, String> {
        let parts = parts(area, Grid::Asked);
        let has_lines = parts.iter().any(|part| part.kind == PartKind::Line);
        if relation == GeoRelation::Within && has_lines {
            return Err(
                "LatLonShapeQuery does not support WITHIN queries with line geometries".to_string(),
            );
        }
        let mut circles = Vec::new();
        gather_circles(area, &mut circles);
        let bounds = parts.iter().map(|part| part.bounds).reduce(Bounds::with);
        Ok(AskedShape {
            relation,
            bounds: bounds.filter(|_| circles.is_empty()),
            parts,
            circles,
        })
    }

    /// Whether a document of several shapes needs every one of them to lie as wanted.
    pub fn is_about_all(&self) -> bool {
        matches!(self.relation, GeoRelation::Within | GeoRelation::Disjoint)
    }

    /// Whether the shape in a column's value lies to this one as wanted; `None` of a piece of a shape.
    pub fn judge(&self, value: &[u8], is_over: &mut IsOver<'_>) -> Option<bool> {
        match is_piece(value) {
            true => None,
            false => Some(whole(value).is_some_and(|bytes| self.relates(bytes, is_over))),
        }
    }

    /// The same of a shape whose pieces a document has, in any order.
    pub fn judge_pieces(&self, pieces: Vec<Vec<u8>>, is_over: &mut IsOver<'_>) -> bool {
        self.relates(&joined_pieces(pieces), is_over)
    }

    /// Whether a shape lies to this one as wanted; bytes that are none of a shape never do.
    fn relates(&self, bytes: &[u8], is_over: &mut IsOver<'_>) -> bool {
        let Some((bounds, reader)) = ShapeReader::open(bytes) else {
            return false;
        };
        if self.bounds.is_some_and(|own| !own.meets(&bounds)) {
            return self.relation == GeoRelation::Disjoint;
        }
        let Some(parts) = reader.parts() else {
            return false;
        };
        match self.relation {
            GeoRelation::Intersects => self.meets(&parts, is_over),
            GeoRelation::Disjoint => !self.meets(&parts, is_over),
            GeoRelation::Within => parts.iter().all(|part| !is_over() && self.encloses(part)),
            GeoRelation::Contains => self.is_covered_by(&parts, is_over),
        }
    }

    /// Whether it has a place in common with the parts of a document.
    pub(super) fn meets(&self, parts: &[GeoPart], is_over: &mut IsOver<'_>) -> bool {
        parts.iter().any(|part| {
            is_over()
                || self.parts.iter().any(|own| meet(part, own))
                || self.circles.iter().any(|circle| circle.meets(part))
        })
    }

    /// Whether a part lies within one of those of this shape.
    fn encloses(&self, part: &GeoPart) -> bool {
        self.parts.iter().any(|own| lies_within(part, own))
            || self.circles.iter().any(|circle| circle.encloses(part))
    }

    /// Whether each part of this shape lies within the parts of a document.
    pub(super) fn is_covered_by(&self, parts: &[GeoPart], is_over: &mut IsOver<'_>) -> bool {
        let is_empty = self.parts.is_empty() && self.circles.is_empty();
        !is_empty
            && self
                .parts
                .iter()
                .all(|own| !is_over() && covers(parts, own))
            && self.circles.iter().all(|circle| circle.is_within(parts))
    }
}

fn gather_circles(area: &GeoArea, found: &mut Vec<Circle>) {
    match area {
        GeoArea::Circle { center, metres } => found.push(Circle {
            center: *center,
            metres: *metres,
        }),
        GeoArea::Union(areas) => {
            for area in areas {
                gather_circles(area, found);
            }
        }
        GeoArea::Rectangle { .. }
        | GeoArea::Polygon { .. }
        | GeoArea::Line(_)
        | GeoArea::Point(_) => {}
    }
}

/// Whether two parts have a place in common.
fn meet(one: &GeoPart, other: &GeoPart) -> bool {
    if !one.bounds.meets(&other.bounds) {
        return false;
    }
    any_pair(one, other, Segment::touches)
        || holds_first_of(one, other)
        || holds_first_of(other, one)
}

/// Whether a part covers the first place of another one: of parts whose edges do not touch, any place tells of all.
fn holds_first_of(part: &GeoPart, other: &GeoPart) -> bool {
    other.spots().next().is_some_and(|spot| part.covers(spot))
}

/// Whether two edges, one of each part, are such.
fn any_pair(one: &GeoPart, other: &GeoPart, test: fn(Segment, Segment) -> bool) -> bool {
    let near = |part: &GeoPart, bounds: &Bounds| -> Vec<(Bounds, Segment)> {
        part.edges()
            .map(|edge| (edge.bounds(), edge))
            .filter(|(around, _)| around.meets(bounds))
            .collect()
    };
    let mut others = near(other, &one.bounds);
    if others.is_empty() {
        return false;
    }
    others.sort_unstable_by_key(|(bounds, _)| bounds.low.x);
    near(one, &other.bounds).iter().any(|(bounds, edge)| {
        let mut beside = others
            .iter()
            .take_while(|(around, _)| around.low.x <= bounds.high.x);
        beside.any(|(around, next)| around.meets(bounds) && test(*edge, *next))
    })
}

/// Whether a part of a document lies within an area, on whose edge it may be.
fn lies_within(part: &GeoPart, area: &GeoPart) -> bool {
    match area.kind {
        PartKind::Point => part.kind == PartKind::Point && holds_first_of(area, part),
        // Nothing is asked to be within lines.
        PartKind::Line => false,
        PartKind::Area => {
            if !area.bounds.encloses(&part.bounds) {
                return false;
            }
            if part.kind == PartKind::Point || !any_pair(part, area, Segment::touches) {
                return holds_first_of(area, part) && !holds_a_hole(part, area);
            }
            part.spots().all(|spot| area.covers(spot))
                && !any_pair(part, area, Segment::crosses)
                && !touches_a_hole(part, area)
                && !holds_a_hole(part, area)
        }
    }
}

/// Whether something is left out of the area in the middle of a part.
fn holds_a_hole(part: &GeoPart, area: &GeoPart) -> bool {
    let is_in_the_middle = |hole: &[Spot]| {
        hole.iter()
            .any(|spot| part.position(*spot) == Position::Inside)
    };
    part.kind == PartKind::Area && area.holes().any(is_in_the_middle)
}

fn touches_a_hole(part: &GeoPart, area: &GeoPart) -> bool {
    let holes = GeoPart {
        kind: area.kind,
        lines: area.holes().map(<[Spot]>::to_vec).collect(),
        bounds: area.bounds,
    };
    any_pair(part, &holes, Segment::touches)
}

/// Whether the parts of a document contain one that is asked for, and none of their edges touches it; a point may lie on
/// an edge, and on a point or a line.
fn covers(parts: &[GeoPart], asked: &GeoPart) -> bool {
    if asked.kind == PartKind::Point {
        return parts.iter().any(|part| holds_first_of(part, asked));
    }
    let is_in_the_way = |part: &GeoPart| match part.kind {
        PartKind::Area => {
            part.bounds.meets(&asked.bounds)
                && (any_pair(part, asked, Segment::touches)
                    || asked.kind == PartKind::Area && part.spots().any(|spot| asked.covers(spot)))
        }
        PartKind::Point | PartKind::Line => asked.kind == PartKind::Area && meet(part, asked),
    };
    if parts.iter().any(is_in_the_way) {
        return false;
    }
    let mut areas = parts.iter().filter(|part| part.kind == PartKind::Area);
    areas.any(|area| holds_first_of(area, asked))
}

impl Circle {
    /// The shortest way to an edge, in metres. Edges are straight on a map that is true near the circle's middle.
    fn metres_to(&self, edge: Segment) -> f64 {
        let [from, to] = [edge.from, edge.to].map(Spot::degrees);
        let narrow = self.center.lat.to_radians().cos();
        // The nearer way around the earth.
        let east = (from.lon - self.center.lon + 540.0).rem_euclid(360.0) - 180.0;
        let (x, y) = (east * narrow, from.lat - self.center.lat);
        let (along_x, along_y) = ((to.lon - from.lon) * narrow, to.lat - from.lat);
        let length = along_x * along_x + along_y * along_y;
        let share = match length > 0.0 {
            true => (-(x * along_x + y * along_y) / length).clamp(0.0, 1.0),
            false => 0.0,
        };
        self.center.metres_to(GeoPoint {
            lat: from.lat + share * (to.lat - from.lat),
            lon: from.lon + share * (to.lon - from.lon),
        })
    }

    fn is_near(&self, spot: Spot) -> bool {
        self.center.metres_to(spot.degrees()) <= self.metres
    }

    fn meets(&self, part: &GeoPart) -> bool {
        part.covers(Spot::fine(self.center))
            || part.spots().any(|spot| self.is_near(spot))
            || part.edges().any(|edge| self.metres_to(edge) <= self.metres)
    }

    fn encloses(&self, part: &GeoPart) -> bool {
        part.spots().all(|spot| self.is_near(spot))
    }

    /// Whether it lies in one area, and nothing else reaches into it.
    fn is_within(&self, parts: &[GeoPart]) -> bool {
        let is_in_the_way = |part: &GeoPart| match part.kind {
            PartKind::Area => part.edges().any(|edge| self.metres_to(edge) <= self.metres),
            PartKind::Point | PartKind::Line => self.meets(part),
        };
        if parts.iter().any(is_in_the_way) {
            return false;
        }
        let center = Spot::fine(self.center);
        let mut areas = parts.iter().filter(|part| part.kind == PartKind::Area);
        areas.any(|area| area.position(center) == Position::Inside)
    }
}

#[cfg(test)]
mod tests;
