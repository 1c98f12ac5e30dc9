//! Exact scores by the distance of a vector, under a mapping.

use std::sync::Arc;

use clew_vector::Space;

use super::compound::all;
use super::{Compiler, Node, Plan, rescored};
use crate::mapping::FieldKind;
use crate::query::error::QueryError;
use crate::query::function::query::{FunctionQuery, Joining};
use crate::query::function::{BoostMode, ScoreMode};
use crate::query::knn::SegmentHits;
use crate::query::leaf::ScoredDocs;
use crate::query::script::{VectorMeasure, VectorScore};
use crate::search::matching_plan_of_rows;

impl Compiler<'_> {
    pub(super) fn vector_score(
        &mut self,
        query: &VectorScore,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let snapshot = self.context.snapshot;
        let path = &query.vector.field;
        let space = match snapshot.mapping.field(path).map(|field| &field.kind) {
            Some(FieldKind::Vector(vector)) => vector.column.space,
            _ => {
                return Err(QueryError::create(format!(
                    "Field '{path}' is not knn_vector type."
                )));
            }
        };
        let wanted = match query.measure {
            VectorMeasure::Cosine => Space::Cosine,
            VectorMeasure::InnerProduct => Space::InnerProduct,
            VectorMeasure::L2Squared => Space::L2,
            VectorMeasure::Hamming => Space::Hamming,
        };
        if space != wanted {
            return Err(QueryError::create(format!(
                "field [{path}] was built for the space [{}] and cannot be scored by [{}]",
                space.name(),
                wanted.name()
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
        let mut found = self.context.knn.resolve(&query.vector, Some(&bits))?;
        for (_, score) in found.iter_mut().flatten() {
            let distance = space.distance(*score);
            let measure = match query.measure {
                VectorMeasure::Cosine => 1.0 - distance,
                VectorMeasure::InnerProduct => -distance,
                VectorMeasure::L2Squared | VectorMeasure::Hamming => distance,
            };
            *score = query.formula.apply(measure);
        }
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
