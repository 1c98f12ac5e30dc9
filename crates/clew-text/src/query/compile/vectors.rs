//! Nearest-neighbour clauses: the filter is run here, the neighbours are the resolver's.

use std::sync::Arc;

use super::{Compiler, Node, Plan};
use crate::mapping::FieldKind;
use crate::query::error::QueryError;
use crate::query::knn::KnnQuery;
use crate::query::leaf::ScoredDocs;
use crate::search::matching_plan;

impl Compiler<'_> {
    pub(super) fn knn(&mut self, knn: &KnnQuery, factor: f32) -> Result<Node, QueryError> {
        let snapshot = self.context.snapshot;
        match snapshot.mapping.field(&knn.field) {
            Some(field) if matches!(field.kind, FieldKind::Vector(_)) => {}
            Some(_) => {
                return Err(QueryError::create(format!(
                    "Field '{}' is not knn_vector type.",
                    knn.field
                )));
            }
            None => return Ok(Node::nothing()),
        }
        let filter = match &knn.filter {
            Some(filter) => {
                let node = self.node(filter, 1.0)?;
                let plan = Plan {
                    query: node.query,
                    scored_fields: Vec::new(),
                    at_least: node.at_least,
                    exact: node.exact,
                    constant: node.constant,
                };
                Some(matching_plan(snapshot, &plan)?)
            }
            None => None,
        };
        let found = self.context.knn.resolve(knn, filter.as_deref())?;
        let at_least = found.iter().map(|hits| hits.len() as u64).sum();
        let hits = snapshot
            .readers
            .iter()
            .map(|reader| reader.segment_id())
            .zip(found)
            .collect();
        Ok(Node {
            at_least,
            exact: true,
            ..Node::scored(Box::new(ScoredDocs(Arc::new(hits))), factor * knn.boost)
        })
    }
}
