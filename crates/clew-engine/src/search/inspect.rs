//! Questions to a pinned shard that are no searches: whether a query is one, why it finds a document, which words and
//! texts there are. What holds for searches holds here: a shard that has failed, or turns out to be damaged while it is
//! read, does not answer.

use clew_query::{Query, QueryError};
use clew_search::{
    CompileContext, Completed, CompletionWish, Explained, FieldFigures, ShardRequest, SimilarTerm,
    Snapshot, Spelling, TermFigures, TrackTotal, Vocabulary, explain_miss, explain_search,
};
use serde_json::Value;

use crate::base::error::EngineError;
use crate::search::pinned::PinnedShard;

/// What a query has to do with a document.
#[derive(Debug)]
pub enum Explanation {
    /// There is no document of that id.
    NoDocument,
    /// The query does not find it, and why.
    NoMatch(Explained),
    /// Where its score comes from.
    Match(Explained),
}

impl PinnedShard {
    /// Checks whether a query can be run here. Costs what its nearest-neighbour clauses cost.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn validate(&self, query: &Query, now_ms: i64) -> Result<(), EngineError> {
        let knn = self.knn();
        self.sound(|snapshot| {
            let vectors = knn.stage(now_ms).answers(query)?;
            let context = CompileContext {
                snapshot,
                now_ms,
                vectors: &vectors,
            };
            clew_search::compile(query, &context).map(drop)
        })
    }

    /// Whether a query finds any document here.
    ///
    /// # Errors
    /// When the query does not fit the mapping, or reading fails.
    pub fn finds(&self, query: &Query, now_ms: i64) -> Result<bool, EngineError> {
        let knn = self.knn();
        self.sound(|snapshot| {
            let vectors = knn.stage(now_ms).answers(query)?;
            let request = ShardRequest {
                limit: 1,
                track_total: TrackTotal::No,
                now_ms,
                ..ShardRequest::new(query)
            };
            let found = clew_search::search(snapshot, request, &vectors)?;
            Ok(!found.hits.is_empty())
        })
    }

    /// Explains the score of a document.
    ///
    /// # Errors
    /// When the query does not fit the mapping, or reading fails.
    pub fn explain(
        &self,
        query: &Query,
        now_ms: i64,
        id: &str,
    ) -> Result<Explanation, EngineError> {
        let Some(place) = self.find(id)? else {
            return Ok(Explanation::NoDocument);
        };
        let knn = self.knn();
        self.sound(|snapshot| {
            let vectors = knn.stage(now_ms).answers(query)?;
            if let Some(told) = explain_search(snapshot, query, &vectors, now_ms, place)? {
                return Ok(Explanation::Match(told));
            }
            let missed = explain_miss(snapshot, query, &vectors, now_ms, place)?;
            Ok(missed.map_or(Explanation::NoDocument, Explanation::NoMatch))
        })
    }

    /// Texts that begin with what was typed, in no order.
    ///
    /// # Errors
    /// When the field is none for this, contexts are missing, or reading fails.
    pub(crate) fn complete(&self, wish: &CompletionWish) -> Result<Vec<Completed>, EngineError> {
        let source = |place| -> Option<Value> {
            let bytes = self.stored_source(place).ok()?;
            serde_json::from_slice(&bytes).ok()
        };
        self.sound(|snapshot| clew_search::complete(snapshot, wish, &source))
    }

    /// Terms of a field that are written like a word.
    ///
    /// # Errors
    /// When reading fails.
    pub fn similar_terms(
        &self,
        field: &str,
        word: &str,
        spelling: Spelling,
    ) -> Result<Vec<SimilarTerm>, EngineError> {
        self.sound(|snapshot| clew_search::similar_terms(snapshot, field, word, spelling))
    }

    /// How many documents have a term in a field.
    ///
    /// # Errors
    /// When reading fails.
    pub fn term_docs(&self, field: &str, term: &str) -> Result<u64, EngineError> {
        self.sound(|snapshot| clew_search::term_docs(snapshot, field, term))
    }

    /// What is known of a field's terms.
    ///
    /// # Errors
    /// When reading fails.
    pub fn field_figures(&self, field: &str) -> Result<FieldFigures, EngineError> {
        self.sound(|snapshot| clew_search::field_figures(snapshot, field))
    }

    /// How large a field's vocabulary is.
    ///
    /// # Errors
    /// When reading fails.
    pub fn vocabulary(&self, field: &str) -> Result<Vocabulary, EngineError> {
        self.sound(|snapshot| clew_search::vocabulary(snapshot, field))
    }

    /// How often a term is in a field.
    ///
    /// # Errors
    /// When reading fails.
    pub fn term_figures(&self, field: &str, term: &str) -> Result<TermFigures, EngineError> {
        self.sound(|snapshot| clew_search::term_figures(snapshot, field, term))
    }

    /// Documents that are not deleted.
    pub fn live_docs(&self) -> u64 {
        self.view.snapshot.live_docs()
    }

    /// What is read counts only if the shard's files are sound, as far as they were read.
    fn sound<T>(
        &self,
        work: impl FnOnce(&Snapshot) -> Result<T, QueryError>,
    ) -> Result<T, EngineError> {
        let snapshot = self.snapshot()?;
        let answer = self.telling(|| work(snapshot));
        self.check_readable()?;
        answer.map_err(EngineError::from)
    }
}
