//! Collections of shapes as one shape that can be held against others by its edges: areas, lines and points that lie apart. A part
//! that lies within another one says nothing of its own. Takes no areas together that overlap or have an edge in common, and cuts no
//! line where it leaves an area.

use ::geo::{
    Geometry, GeometryCollection, LineString, MultiLineString, MultiPoint, MultiPolygon, Point,
    Polygon, Relate, Validation,
};

/// The parts of a collection, and of collections in it.
#[derive(Default)]
struct Parts {
    areas: Vec<Polygon<f64>>,
    lines: Vec<LineString<f64>>,
    points: Vec<Point<f64>>,
}

impl Parts {
    fn take(&mut self, shape: &Geometry<f64>) {
        match shape {
            Geometry::Point(point) => self.points.push(*point),
            Geometry::LineString(line) => self.lines.push(line.clone()),
            Geometry::Polygon(area) => self.areas.push(area.clone()),
            Geometry::MultiPoint(points) => self.points.extend(points.iter()),
            Geometry::MultiLineString(lines) => self.lines.extend(lines.iter().cloned()),
            Geometry::MultiPolygon(areas) => self.areas.extend(areas.iter().cloned()),
            Geometry::GeometryCollection(shapes) => {
                shapes.iter().for_each(|shape| self.take(shape));
            }
            // No text is read as one of these.
            Geometry::Line(_) | Geometry::Rect(_) | Geometry::Triangle(_) => {}
        }
    }

    /// What there is, of many dimensions first.
    fn shapes(self) -> impl Iterator<Item = Geometry<f64>> {
        let Parts {
            areas,
            lines,
            points,
        } = self;
        let all = [
            (!areas.is_empty()).then(|| Geometry::MultiPolygon(MultiPolygon::new(areas))),
            (!lines.is_empty()).then(|| Geometry::MultiLineString(MultiLineString::new(lines))),
            (!points.is_empty()).then(|| Geometry::MultiPoint(MultiPoint::new(points))),
        ];
        all.into_iter().flatten()
    }
}

/// The shape that a collection is; none where its parts lie partly in each other, or are not valid.
///
/// Costs the edges of the parts, held against each other.
pub(super) fn together(collection: &Geometry<f64>) -> Option<Geometry<f64>> {
    let mut parts = Parts::default();
    parts.take(collection);
    let mut kept: Vec<Geometry<f64>> = Vec::new();
    for shape in parts.shapes() {
        if !shape.is_valid() {
            return None;
        }
        let mut is_in_another = false;
        for larger in &kept {
            let matrix = shape.relate(larger);
            is_in_another = matrix.is_coveredby();
            if is_in_another {
                break;
            }
            if !matrix.is_disjoint() {
                return None;
            }
        }
        if !is_in_another {
            kept.push(shape);
        }
    }
    match kept.len() {
        1 => kept.pop(),
        _ => Some(Geometry::GeometryCollection(GeometryCollection::from(kept))),
    }
}
