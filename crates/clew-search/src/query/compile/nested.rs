//! Queries over nested objects, joined to what they are part of.

use std::sync::Arc;

use clew_query::{JoinScore, NestedQuery, QueryError};
use tantivy::index::SegmentId;

use super::{Compiler, Node};
use crate::query::join::ToParent;
use crate::segments::Blocks;
use crate::snapshot::Snapshot;

impl Compiler<'_> {
    pub(super) fn nested(&mut self, nested: &NestedQuery, factor: f32) -> Result<Node, QueryError> {
        let snapshot = self.context.snapshot;
        let path = &nested.path;
        if !snapshot.mapping.has_object(path) {
            if nested.ignore_unmapped {
                return Ok(Node::nothing());
            }
            return Err(QueryError::create(format!(
                "[nested] failed to find nested object under path [{path}]"
            )));
        }
        if !snapshot.mapping.is_nested(path) {
            return Err(QueryError::create(format!(
                "[nested] nested object under path [{path}] is not of nested type"
            )));
        }
        let outer = self.scope.replace(path.clone());
        let child = self.node(&nested.query, factor * nested.boost);
        self.scope = outer;
        let child = child?;
        let around = self.scope.clone();
        // Said of objects that are asked about already, as in a filter of their vectors, it is about themselves.
        if around.as_ref() == Some(path) {
            return Ok(child);
        }
        if child.is_nothing()
            || around
                .as_deref()
                .is_some_and(|around| !is_inside(path, around))
        {
            return Ok(Node::nothing());
        }
        let join = ToParent {
            child: child.query,
            blocks: blocks_of(snapshot),
            path: path.clone(),
            around,
            score: nested.score,
        };
        let constant = (nested.score == JoinScore::None).then_some(0.0);
        Ok(Node {
            constant,
            ..Node::scored(Box::new(join), 1.0)
        })
    }
}

/// Which rows are nested objects, of the segments that have any.
pub(super) fn blocks_of(snapshot: &Snapshot) -> Arc<Vec<(SegmentId, Arc<Blocks>)>> {
    let ids = snapshot.readers.iter().map(|reader| reader.segment_id());
    let blocks = ids
        .enumerate()
        .filter_map(|(at, id)| Some((id, snapshot.blocks(at)?.clone())))
        .collect();
    Arc::new(blocks)
}

fn is_inside(path: &str, around: &str) -> bool {
    path.strip_prefix(around)
        .is_some_and(|rest| rest.starts_with('.'))
}
