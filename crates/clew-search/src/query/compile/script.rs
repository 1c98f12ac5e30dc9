//! Exact scores by the distance of a vector, under a mapping.

use clew_query::{
    BoostMode, Query, QueryError, ScoreFormula, ScoreMode, ScriptMeasure, VectorMeasure,
    VectorScore,
};
use clew_schema::{FieldId, FieldKind, Mapping};
use clew_vector::Element;

use super::compound::all;
use super::{Compiler, Node, rescored};
use crate::query::function::query::{FunctionQuery, Joining};
use crate::query::leaf::ScoredDocs;
use crate::query::vectors::ClauseHits;

impl Compiler<'_> {
    pub(super) fn vector_score(
        &mut self,
        query: &VectorScore,
        factor: f32,
    ) -> Result<Node, QueryError> {
        measured_field(query, &self.context.snapshot.mapping)?;
        let filter = self.node(&query.query, 1.0)?;
        if filter.is_nothing() {
            return Ok(filter);
        }
        let scope = self.scope.as_deref();
        let found = self.context.vectors.scored(query, scope);
        let found = found.cloned().unwrap_or_default();
        let node = Self::with_scores(filter, found, query.boost * factor);
        Ok(match query.min_score {
            None => node,
            Some(least) => at_least(node, least),
        })
    }

    /// The filter's documents, those that were found with their scores, the others with none.
    fn with_scores(filter: Node, found: ClauseHits, boost: f32) -> Node {
        let scored = Node::scored(Box::new(ScoredDocs::answered(found)), boost);
        let (count, exact) = (filter.at_least, filter.exact);
        let rest = rescored(filter, 0.0);
        Node {
            query: Box::new(tantivy::query::BooleanQuery::new(vec![
                (tantivy::query::Occur::Must, all(vec![rest]).query),
                (tantivy::query::Occur::Should, scored.query),
            ])),
            at_least: count,
            exact,
            constant: None,
            ranked: None,
            set: None,
        }
    }
}

/// The clause that measures the vectors of a query's documents for a script.
pub(crate) fn measure_clause(query: &Query, measure: &ScriptMeasure) -> VectorScore {
    VectorScore {
        query: Box::new(query.clone()),
        field: measure.field.clone(),
        vector: measure.vector.clone(),
        measure: measure.measure,
        formula: ScoreFormula::Plus(0.0),
        min_score: None,
        boost: 1.0,
    }
}

/// The field whose vectors are measured.
pub(crate) fn measured_field(
    query: &VectorScore,
    mapping: &Mapping,
) -> Result<FieldId, QueryError> {
    let path = &query.field;
    let Some((field, column)) = mapping.field(path).and_then(|field| {
        let FieldKind::Vector(vector) = &field.kind else {
            return None;
        };
        Some((field, &vector.column))
    }) else {
        return Err(QueryError::create(format!(
            "Field '{path}' is not knn_vector type."
        )));
    };
    let (expected, actual) = (column.element.numbers(column.dimension), query.vector.len());
    if expected != actual {
        return Err(QueryError::illegal(format!(
            "query vector and field vector dimensions must match: query vector has \
             [{actual}], field [{path}] has [{expected}]"
        )));
    }
    let is_binary = column.element == Element::Bit;
    if is_binary != (query.measure == VectorMeasure::Hamming) {
        return Err(QueryError::illegal(format!(
            "field [{path}] of [data_type] [{}] cannot be scored by this space",
            column.element.name()
        )));
    }
    Ok(field.id)
}

/// Only documents that score enough.
fn at_least(node: Node, least: f32) -> Node {
    let joining = Joining {
        score_mode: ScoreMode::Multiply,
        boost_mode: BoostMode::Multiply,
        max_boost: f64::MAX,
        min_score: Some(least),
    };
    let query = FunctionQuery {
        inner: node.query,
        parts: Vec::new(),
        scope: None,
        joining,
    };
    Node::scored(Box::new(query), 1.0)
}
