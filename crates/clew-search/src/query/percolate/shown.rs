//! What a hit's stored query matched, looked up once the hits are known.

use std::sync::Arc;

use clew_query::{Query, QueryError};
use tantivy::DocId;

use super::stored::Waiting;
use crate::snapshot::Snapshot;

/// What one percolation found through one hit.
#[derive(Clone, Debug, PartialEq)]
pub struct Percolated {
    /// The percolation's name, where there are several.
    pub name: Option<String>,
    /// The hit's query.
    pub query: Query,
    /// Places of the documents that it matches.
    pub slots: Vec<usize>,
    /// All documents that were asked about, as JSON.
    pub documents: Arc<Vec<Vec<u8>>>,
}

/// The percolations of one search, over one shard.
pub struct Percolations<'a>(Vec<(&'a clew_query::PercolateQuery, Waiting<'a>)>);

impl<'a> Percolations<'a> {
    /// Those in a query.
    ///
    /// # Errors
    /// When documents do not fit the mapping.
    pub fn of(query: &'a Query, snapshot: &'a Snapshot) -> Result<Self, QueryError> {
        let all = query.all().filter_map(|query| match query {
            Query::Percolate(percolate) => Some(percolate),
            _ => None,
        });
        let waiting = all.map(|one| Ok((one, Waiting::new(one, &snapshot.mapping)?)));
        waiting.collect::<Result<_, QueryError>>().map(Percolations)
    }

    /// Whether the query has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What they found through a document.
    ///
    /// # Errors
    /// When a column cannot be read.
    pub fn through(
        &self,
        snapshot: &Snapshot,
        (segment, doc): (usize, DocId),
        now_ms: i64,
    ) -> Result<Vec<Percolated>, QueryError> {
        let mut found = Vec::new();
        for (percolate, waiting) in &self.0 {
            let Some(reader) = snapshot.readers.get(segment) else {
                continue;
            };
            let Some(column) = waiting.column(reader)? else {
                continue;
            };
            let Some(query) = waiting.query(&column, doc)? else {
                continue;
            };
            let matched = waiting.matches(&query, now_ms)?;
            if !matched.is_empty() {
                found.push(Percolated {
                    name: percolate.name.clone().filter(|_| self.0.len() > 1),
                    query,
                    slots: matched.iter().map(|matched| matched.slot).collect(),
                    documents: percolate.documents.clone(),
                });
            }
        }
        Ok(found)
    }
}
