//! Geographical queries under a mapping.

use clew_query::{GeoQuery, QueryError};
use clew_schema::geo::{AskedShape, GeoRelation};
use clew_schema::{FieldKind, MappedField};

use super::{Compiler, Node};
use crate::query::points::PointsInArea;
use crate::query::shapes::ShapesInArea;

impl Compiler<'_> {
    pub(super) fn geo(&self, query: &GeoQuery, factor: f32) -> Result<Node, QueryError> {
        if let Some(indexed) = &query.indexed {
            return Err(indexed.document.not_read());
        }
        let snapshot = self.context.snapshot;
        let Some(mapped) = snapshot.mapping.field(&query.field) else {
            if query.ignore_unmapped {
                return Ok(Node::nothing());
            }
            return Err(QueryError::create(format!(
                "failed to find geo field [{}]",
                query.field
            )));
        };
        let score = query.boost * factor;
        match mapped.kind {
            FieldKind::GeoPoint => among_points(mapped, query, score),
            FieldKind::GeoShape => {
                let asked = AskedShape::new(&query.area, query.relation);
                let asked = asked.map_err(QueryError::create)?;
                let Some(field) = snapshot.searchable(mapped) else {
                    return Ok(Node::nothing());
                };
                let column = mapped.column();
                let set = ShapesInArea {
                    field,
                    column,
                    asked,
                };
                Ok(Node::set(set, score))
            }
            _ => Err(QueryError::create(format!(
                "Field [{}] is of type [{}], only geo_point and geo_shape fields have places",
                query.field,
                mapped.kind.type_name()
            ))),
        }
    }
}

fn among_points(mapped: &MappedField, query: &GeoQuery, score: f32) -> Result<Node, QueryError> {
    if query.area.has_lines() && query.relation != GeoRelation::Disjoint {
        return Err(QueryError::unmapped(format!(
            "Field [{}] does not support linestring queries",
            mapped.path
        )));
    }
    let set = PointsInArea {
        column: mapped.column(),
        area: query.area.clone().quantized(),
        relation: query.relation,
    };
    Ok(Node::set(set, score))
}
