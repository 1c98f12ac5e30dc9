//! Which named queries a hit matches. They are run once more, without scores, over the shards that
//! have hits, and only when a request has names at all.

use clew_query::{Query, QueryError};
use clew_search::{MergedHit, SegmentBits};

use crate::search::request::SearchRequest;

/// Named queries of one request.
const NAMES_MAX: usize = 1024;

/// The named queries of a request and where they match.
pub(crate) struct NamedQueries<'a> {
    queries: Vec<(&'a str, &'a Query)>,
    /// By shard: the documents of each query, in the queries' order.
    found: Vec<Option<Vec<Vec<SegmentBits>>>>,
}

impl<'a> NamedQueries<'a> {
    /// The names in a request, for so many shards.
    pub(crate) fn of(request: &'a SearchRequest, shards: usize) -> Result<Self, QueryError> {
        let mut queries = Vec::new();
        let roots = std::iter::once(&request.query).chain(&request.post_filter);
        for root in roots {
            gather(root, &mut queries)?;
        }
        Ok(NamedQueries {
            queries,
            found: (0..shards).map(|_| None).collect(),
        })
    }

    /// Whether the request has none.
    pub(crate) fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    /// The names that a hit matches, and their queries; `run` gives a query's documents in the hit's shard.
    pub(crate) fn matched(
        &mut self,
        hit: &MergedHit,
        run: impl Fn(&Query) -> Result<Vec<SegmentBits>, QueryError>,
    ) -> Result<Vec<(&'a str, &'a Query)>, QueryError> {
        if self.queries.is_empty() {
            return Ok(Vec::new());
        }
        let slot = &mut self.found[hit.shard];
        if slot.is_none() {
            let found = self.queries.iter().map(|(_, query)| run(query));
            *slot = Some(found.collect::<Result<_, _>>()?);
        }
        let found = slot.iter().flatten();
        Ok(self
            .queries
            .iter()
            .zip(found)
            .filter(|(_, bits)| {
                bits.get(hit.hit.segment)
                    .is_some_and(|bits| bits.contains(hit.hit.doc))
            })
            .map(|(named, _)| *named)
            .collect())
    }
}

fn gather<'a>(root: &'a Query, found: &mut Vec<(&'a str, &'a Query)>) -> Result<(), QueryError> {
    for query in root.all() {
        if let Query::Named { name, query } = query {
            if found.len() == NAMES_MAX {
                return Err(QueryError::illegal(format!(
                    "a search may have at most [{NAMES_MAX}] named queries"
                )));
            }
            found.push((name, query));
        }
    }
    Ok(())
}
