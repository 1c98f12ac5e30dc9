//! What walks over a tree of aggregations ask of each of its own.

use crate::Query;

/// Sees a query, and may replace it.
pub(super) type QueryVisitor<'a, E> = dyn FnMut(&mut Query) -> Result<(), E> + 'a;

/// What walks over the tree ask of an aggregation. Most have no answer of their own.
pub(super) trait SpecParts {
    /// Visits the queries in it.
    fn for_each_query_mut<E>(&mut self, _visit: &mut QueryVisitor<'_, E>) -> Result<(), E> {
        Ok(())
    }

    /// What the aggregations inside see: the path of nested objects, or whole documents.
    fn scope_inside<'a>(&'a self, outside: Option<&'a str>) -> Option<&'a str> {
        outside
    }

    /// Whether its answer tells of documents that the search does not match: of values that none of the matches has,
    /// or of how frequent a value is in all documents.
    fn tells_of_others(&self) -> bool {
        false
    }
}
