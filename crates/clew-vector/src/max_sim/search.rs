//! Max-sim over a column: which documents are scored, and where their vectors lie.

use std::ops::Deref;

use crate::max_sim::Best;
use crate::options::norm_squared;
use crate::{Column, Filter, MaxSimHit, MaxSimQuery, Scratch, SearchRequest, VectorError};

/// What to search for with a query of several vectors.
#[derive(Debug, Clone, Copy)]
pub struct MaxSimRequest<'a> {
    /// The query, of the column's dimension and space.
    pub query: &'a MaxSimQuery,
    /// Hits wanted.
    pub k: usize,
    /// Documents that each vector of the query brings to be scored, the nearest to it; never fewer
    /// than `k`. More is slower and better.
    pub candidates_per_vector: usize,
    /// Effort of the searches for them, as in [`SearchRequest::ef_search`].
    pub ef_search: usize,
    /// Documents that may be hits; `None` for all.
    pub filter: Option<Filter<'a>>,
    /// Scores every document that passes.
    pub exact: bool,
}

impl<'a> MaxSimRequest<'a> {
    /// The `k` best of all documents, out of the nearest to each vector of the query: `4 * k`, and no
    /// fewer than 100.
    pub fn new(query: &'a MaxSimQuery, k: usize) -> Self {
        MaxSimRequest {
            query,
            k,
            candidates_per_vector: k.saturating_mul(4).max(100),
            ef_search: 100,
            filter: None,
            exact: false,
        }
    }
}

/// The answer to a [`MaxSimRequest`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MaxSimOutcome {
    /// The hits, best first; equal scores by document id. `k` of them when `k` documents with a vector
    /// pass the filter.
    pub hits: Vec<MaxSimHit>,
    /// Documents scored.
    pub candidates: usize,
    /// Distances computed to find them, and similarities to score them.
    pub distances: u64,
}

impl<B: Deref<Target = [u8]> + Clone + Send + Sync> Column<B> {
    /// Finds the documents that are nearest to several vectors at once, by the sum over the query's
    /// vectors of the best similarity among the document's.
    ///
    /// Costs one search for each vector of the query, and then a similarity for each pair of a vector
    /// of the query and a vector of a candidate. The scores of the hits are exact; whether they are the
    /// best depends on the candidates: a document that is no candidate of any vector is missed, however
    /// great its sum. An exact request scores every document that passes the filter instead.
    ///
    /// Fails when the query is not of the column's dimension and space, or when the image is damaged.
    pub fn max_sim(
        &self,
        request: &MaxSimRequest<'_>,
        scratch: &mut Scratch,
    ) -> Result<MaxSimOutcome, VectorError> {
        let query = request.query;
        let (expected, actual) = (self.options().space, query.space);
        if expected != actual {
            let (expected, actual) = (expected.name(), actual.name());
            return Err(VectorError::OtherSpace { expected, actual });
        }
        for vector in query.given() {
            norm_squared(vector, self.options())?;
        }
        let mut outcome = MaxSimOutcome::default();
        if request.k == 0 {
            return Ok(outcome);
        }
        let mut best = Best::new(query, request.k);
        if request.exact {
            self.score_all(request, &mut best)?;
        } else {
            for doc in self.candidates(request, (scratch, &mut outcome))? {
                best.offer(doc, &self.vectors(doc)?)?;
            }
        }
        outcome.candidates = best.offered;
        outcome.distances += best.similarities;
        outcome.hits = best.finish();
        Ok(outcome)
    }

    /// Scores all documents that pass, in the order in which they lie.
    fn score_all(
        &self,
        request: &MaxSimRequest<'_>,
        best: &mut Best<'_>,
    ) -> Result<(), VectorError> {
        self.view()?.integrity.touch_rows()?;
        let mut end = 0;
        for (doc, count) in self.docs_with_counts() {
            let rows = end..end + count;
            end = rows.end;
            if request.filter.is_none_or(|filter| filter.contains(doc)) {
                best.offer(doc, &self.floats(rows)?)?;
            }
        }
        Ok(())
    }

    /// The documents that the searches for the query's vectors find, ascending and each once.
    fn candidates(
        &self,
        request: &MaxSimRequest<'_>,
        (scratch, outcome): (&mut Scratch, &mut MaxSimOutcome),
    ) -> Result<Vec<u32>, VectorError> {
        let mut docs = Vec::new();
        for vector in request.query.given() {
            let search = SearchRequest {
                ef_search: request.ef_search,
                filter: request.filter,
                ..SearchRequest::new(vector, request.candidates_per_vector.max(request.k))
            };
            let found = self.search(&search, scratch)?;
            outcome.distances += found.distances;
            docs.extend(found.hits.iter().map(|hit| hit.doc));
        }
        docs.sort_unstable();
        docs.dedup();
        Ok(docs)
    }
}
