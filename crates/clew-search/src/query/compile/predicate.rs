//! Tests of documents themselves, or of nested objects, under a shard's segments.

use clew_query::{PredicateQuery, Query, QueryError};
use tantivy::index::SegmentId;

use super::{Compiler, Node};
use crate::query::matching::matching_within;
use crate::query::predicate::Tested;
use crate::segments::{Scope, SegmentBits};

impl Compiler<'_> {
    /// What narrows the test is searched first, for all segments.
    pub(super) fn predicate(
        &self,
        query: &PredicateQuery,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let rows = self.tested_rows(query.within.as_deref())?;
        let mapping = &self.context.snapshot.mapping;
        Ok(Node::set(
            Tested::new(&query.test, mapping, (self.scope.as_deref(), rows))?,
            query.boost * factor,
        ))
    }

    /// The rows that are tested; none where all living documents are. Nested objects are no documents, so they are named
    /// always.
    fn tested_rows(
        &self,
        within: Option<&Query>,
    ) -> Result<Option<Vec<(SegmentId, SegmentBits)>>, QueryError> {
        let snapshot = self.context.snapshot;
        let scope = self.scope.as_deref();
        let found = match within {
            Some(within) => Some(matching_within(&self.context, within, scope)?),
            None => None,
        };
        let Some(path) = scope else {
            let ids = snapshot.readers.iter().map(|reader| reader.segment_id());
            return Ok(found.map(|found| ids.zip(found).collect()));
        };
        let mut rows = Vec::with_capacity(snapshot.readers.len());
        for (at, reader) in snapshot.readers.iter().enumerate() {
            let found = found.as_ref().and_then(|found| found.get(at));
            let mut bits = SegmentBits::empty(reader.max_doc());
            let blocks = snapshot.blocks(at);
            if let Some(objects) = blocks.and_then(|blocks| blocks.of(Scope::Nested(path))) {
                let is_found = |row: &u32| found.is_none_or(|found| found.contains(*row));
                objects
                    .iter()
                    .filter(is_found)
                    .for_each(|row| bits.insert(row));
            }
            rows.push((reader.segment_id(), bits));
        }
        Ok(Some(rows))
    }
}
