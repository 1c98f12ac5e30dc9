//! The query that waits for documents, as it is asked for, and what reads the stored ones.

use std::fmt;
use std::sync::Arc;

use clew_schema::UnfitKind;

use super::named::PercolateNamed;
use super::tree::Query;

/// Reads a query from the text that a document has of it; the error is told to the client.
#[derive(Clone, Copy)]
pub struct QueryReader(pub fn(&[u8]) -> Result<Query, NoQuery>);

/// Why something is no query that could be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoQuery {
    /// What kind of refusal it is.
    pub kind: UnfitKind,
    /// Why.
    pub reason: String,
}

impl QueryReader {
    /// Reads a query.
    ///
    /// # Errors
    /// Why it is none.
    pub fn read(self, text: &[u8]) -> Result<Query, NoQuery> {
        (self.0)(text)
    }
}

impl fmt::Debug for QueryReader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("QueryReader")
    }
}

impl PartialEq for QueryReader {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

/// The stored queries that documents match.
#[derive(Clone, Debug, PartialEq)]
pub struct PercolateQuery {
    /// The path of the field with the queries.
    pub field: String,
    /// A document of an index that it is about; what it holds takes the documents' place.
    pub named: Option<PercolateNamed>,
    /// The documents, as JSON.
    pub documents: Arc<Vec<Vec<u8>>>,
    /// What tells it from others in one search.
    pub name: Option<String>,
    /// Reads the stored queries.
    pub reader: QueryReader,
}

/// A query for stored queries has no serialized form: what reads them is a function of the protocol that asked.
pub(super) mod unwritten {
    use serde::de::{Deserializer, Error as _};
    use serde::ser::{Error as _, Serializer};

    use super::PercolateQuery;

    const WHY: &str = "a percolate query cannot be serialized: it holds a function";

    pub(crate) fn serialize<S: Serializer>(_: &PercolateQuery, _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom(WHY))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(_: D) -> Result<PercolateQuery, D::Error> {
        Err(D::Error::custom(WHY))
    }
}
