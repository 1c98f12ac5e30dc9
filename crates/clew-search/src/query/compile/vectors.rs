//! Clauses that vectors answer, whose answers are there already.

use clew_query::{KnnQuery, QueryError, SparseVector};
use clew_schema::FieldKind;

use super::{Compiler, Node};
use crate::query::leaf::ScoredDocs;
use crate::query::vectors::ClauseHits;

impl Compiler<'_> {
    pub(super) fn knn(&self, knn: &KnnQuery, factor: f32) -> Result<Node, QueryError> {
        let not_a_vector = || format!("Field '{}' is not knn_vector type.", knn.field);
        let mapping = &self.context.snapshot.mapping;
        let field = match mapping.field(&knn.field) {
            Some(field) if matches!(field.kind, FieldKind::Vector(_)) => field,
            None if knn.ignore_unmapped => return Ok(Node::nothing()),
            Some(_) | None => return Err(QueryError::create(not_a_vector())),
        };
        // Vectors of nested objects are none of the documents around them.
        if self.scope.is_none() && mapping.nested_scope(&field.path).is_some() {
            return Ok(Node::nothing());
        }
        // Where nobody answers, as among documents that are in no index, there are no vectors.
        let scope = self.scope.as_deref();
        let Some(hits) = self.context.vectors.nearest(knn, scope) else {
            return Err(QueryError::illegal(not_a_vector()));
        };
        Ok(answered(hits, factor * knn.boost))
    }

    /// Documents by the products of their sparse vectors with another.
    pub(super) fn products(&self, query: &SparseVector, factor: f32) -> Result<Node, QueryError> {
        let scope = self.scope.as_deref();
        let Some(hits) = self.context.vectors.products(query, scope) else {
            return Err(QueryError::illegal(format!(
                "[neural_sparse] query on field [{}] of sparse vectors needs an index",
                query.field
            )));
        };
        Ok(answered(hits, factor * query.boost))
    }
}

fn answered(hits: &ClauseHits, boost: f32) -> Node {
    let at_least = hits.iter().map(|(_, hits)| hits.len() as u64).sum();
    Node {
        at_least,
        exact: true,
        ..Node::scored(Box::new(ScoredDocs::answered(hits.clone())), boost)
    }
}
