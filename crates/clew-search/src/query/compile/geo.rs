//! Geographical queries under a mapping.

use clew_query::{GeoQuery, QueryError};
use clew_schema::FieldKind;

use super::{Compiler, Node};
use crate::query::points::PointsInArea;

impl Compiler<'_> {
    pub(super) fn geo(&self, query: &GeoQuery, factor: f32) -> Result<Node, QueryError> {
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
        if !matches!(mapped.kind, FieldKind::GeoPoint) {
            return Err(QueryError::create(format!(
                "Field [{}] is of type [{}], only geo_point fields have points",
                query.field,
                mapped.kind.type_name()
            )));
        }
        let set = PointsInArea {
            column: mapped.column(),
            area: query.area.clone().quantized(),
            relation: query.relation,
        };
        Ok(Node::set(set, query.boost * factor))
    }
}
