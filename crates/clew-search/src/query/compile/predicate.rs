//! Tests of documents themselves, under a shard's segments.

use clew_query::{PredicateQuery, QueryError};

use super::{Compiler, Node};
use crate::query::matching::matching_within;
use crate::query::predicate::Tested;

impl Compiler<'_> {
    /// What narrows the test is searched first, for all segments.
    pub(super) fn predicate(
        &self,
        query: &PredicateQuery,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let within = match &query.within {
            None => None,
            Some(within) => {
                let found = matching_within(&self.context, within, self.scope.as_deref())?;
                let readers = self.context.snapshot.readers.iter();
                let ids = readers.map(|reader| reader.segment_id());
                Some(ids.zip(found).collect())
            }
        };
        Ok(Node::set(
            Tested::new(&query.test, &self.context.snapshot.mapping, within)?,
            query.boost * factor,
        ))
    }
}
