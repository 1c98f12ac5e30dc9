//! Exact scores by the distance of a vector, under a mapping.

use std::sync::Arc;

use clew_query::{BoostMode, QueryError, ScoreMode, VectorMeasure, VectorScore};
use clew_schema::FieldKind;
use clew_vector::Element;

use super::compound::all;
use super::{Compiler, Node, Plan, rescored};
use crate::query::function::query::{FunctionQuery, Joining};
use crate::query::leaf::ScoredDocs;
use crate::query::matching_plan_of_rows;
use crate::query::resolver::SegmentHits;

impl Compiler<'_> {
    pub(super) fn vector_score(
        &mut self,
        query: &VectorScore,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let snapshot = self.context.snapshot;
        let path = &query.field;
        let Some((field, column)) = snapshot.mapping.field(path).and_then(|field| {
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
        let filter = self.node(&query.query, 1.0)?;
        if filter.is_nothing() {
            return Ok(filter);
        }
        let plan = Plan {
            query: filter.query.box_clone(),
            scored_fields: Vec::new(),
            at_least: filter.at_least,
            exact: filter.exact,
            constant: filter.constant,
            ranked: None,
            set: None,
        };
        let bits = matching_plan_of_rows(snapshot, &plan, self.scope.is_some())?;
        let mut found: Vec<SegmentHits> = vec![SegmentHits::new(); snapshot.readers.len()];
        self.context
            .knn
            .each_vector(field.id, &bits, &mut |segment, doc, vector| {
                let measured = query.measure.between(&query.vector, vector);
                found[segment].push((doc, query.formula.apply(measured)));
            })?;
        if let Some((_, negative)) = found.iter().flatten().find(|(_, score)| *score < 0.0) {
            return Err(QueryError::illegal(format!(
                "script_score script returned an invalid score [{negative:?}]. Must be a \
                 non-negative score!"
            )));
        }
        let node = self.with_scores(filter, found, query.boost * factor);
        Ok(match query.min_score {
            None => node,
            Some(least) => at_least(node, least),
        })
    }

    /// The filter's documents, those that were found with their scores, the others with none.
    fn with_scores(&self, filter: Node, found: Vec<SegmentHits>, boost: f32) -> Node {
        let readers = &self.context.snapshot.readers;
        let hits = readers
            .iter()
            .map(|reader| reader.segment_id())
            .zip(found)
            .collect();
        let scored = Node::scored(Box::new(ScoredDocs(Arc::new(hits))), boost);
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
        joining,
    };
    Node::scored(Box::new(query), 1.0)
}
