//! The documents of a job, page by page: of indexes of this node as they are at one moment, or of another cluster by its scroll.

use std::sync::Arc;

use axum::http::StatusCode;
use bytes::Bytes;
use clew_engine::{EngineError, Index, SearchControl, SearchRequest, SearchResponse, ShardFailure};
use clew_platform::Reservation;
use clew_query::SortValue;
use clew_search::TrackTotal;
use serde_json::{Value, json};

use super::remote::Scroll;
use super::retries::Retries;
use super::spec::{Here, Job, Origin, Verb};
use crate::http::error::ApiError;
use crate::search::on_first;
use crate::state::call::Call;

/// A document as it was found.
pub(super) struct FoundDocument {
    /// The name of the index that it was found in.
    pub(super) index: Arc<str>,
    /// That very index, where it is one of this node.
    pub(super) found_in: Option<Arc<Index>>,
    pub(super) id: String,
    pub(super) routing: Option<String>,
    pub(super) version: u64,
    /// Of its last write; 0 where it comes from elsewhere.
    pub(super) seq_no: u64,
    /// Empty where it was not asked for.
    pub(super) source: Bytes,
}

/// Documents that are read at once.
pub(super) struct Page {
    pub(super) found: Vec<FoundDocument>,
    /// How many there are in all; of the first page alone.
    pub(super) total: Option<u64>,
    /// What could not be looked through, each with its status.
    pub(super) failures: Vec<(StatusCode, Value)>,
    pub(super) timed_out: bool,
    /// What the documents take, where their sources do not know it.
    pub(super) _memory: Option<Reservation>,
}

/// How far a job has read.
pub(super) enum Reading<'j> {
    Here(Searches<'j>),
    Elsewhere(Scroll<'j>),
}

impl<'j> Reading<'j> {
    /// Nothing read yet.
    pub(super) fn begin(call: &'j Call, job: &'j Job) -> Self {
        match &job.origin {
            Origin::Here(here) => Reading::Here(Searches {
                call,
                job,
                here,
                after: None,
                size: job.page,
                retries: Retries::default(),
            }),
            Origin::Elsewhere(remote) => Reading::Elsewhere(Scroll::new(call, job, remote)),
        }
    }

    /// The next documents, at most so many; `None` where they are to be asked for again, unless the job is to end.
    ///
    /// # Errors
    /// Documents that cannot be read.
    pub(super) async fn next(&mut self, left: usize) -> Result<Option<Page>, ApiError> {
        match self {
            Reading::Here(searches) => searches.next(left).await,
            Reading::Elsewhere(scroll) => scroll.next(left).await,
        }
    }

    /// Why nothing more could be read or written, as it is told beside what was done before.
    pub(super) fn failure(&self, error: &ApiError) -> Value {
        let mut shown = json!({"status": error.status().as_u16(), "reason": error.cause()});
        if let Reading::Here(searches) = self {
            shown["node"] = searches.call.api.node_id.clone().into();
        }
        shown
    }

    /// How often something was asked for again that had been refused for the moment.
    pub(super) fn retries(&self) -> u64 {
        match self {
            Reading::Here(searches) => searches.retries.all(),
            Reading::Elsewhere(scroll) => scroll.retries(),
        }
    }

    /// Lets go of what is kept for the job elsewhere.
    pub(super) async fn end(self) {
        match self {
            Reading::Here(_) => {}
            Reading::Elsewhere(scroll) => scroll.clear().await,
        }
    }
}

/// Searches of one moment, each for what comes behind the last one.
pub(super) struct Searches<'j> {
    call: &'j Call,
    job: &'j Job,
    here: &'j Here,
    after: Option<Vec<SortValue>>,
    /// Documents asked for at once.
    size: usize,
    retries: Retries,
}

impl Searches<'_> {
    async fn next(&mut self, left: usize) -> Result<Option<Page>, ApiError> {
        let engine = &self.call.api.engine;
        let response = loop {
            match engine.search(self.request(left)).await {
                Err(EngineError::Cancelled { .. }) => return Ok(None),
                // Documents are longer than pages of so many may be: fewer at once do as well.
                Err(EngineError::Memory(_)) if self.size > 1 => self.size /= 2,
                Err(error @ EngineError::Overloaded { .. }) => {
                    return match self.retries.wait().await {
                        // Whoever asks sees first whether the job was ended meanwhile.
                        true => Ok(None),
                        false => Err(error.into()),
                    };
                }
                // Clients look for what is wrong where searches have it.
                Err(error @ EngineError::Query(_)) => {
                    let indices = self.here.pinned.indices();
                    return Err(on_first(self.call, &indices, error.into()));
                }
                response => break response?,
            }
        };
        let SearchResponse {
            total,
            hits,
            failures,
            timed_out,
            memory,
            ..
        } = response;
        self.retries.succeeded();
        let is_first = self.after.is_none();
        if let Some(last) = hits.last() {
            self.after = Some(last.sort.clone());
        }
        let found = hits.into_iter().map(|hit| FoundDocument {
            index: hit.index.name().into(),
            found_in: Some(hit.index),
            id: hit.id,
            routing: hit.routing,
            version: hit.version,
            seq_no: hit.seq_no,
            source: hit.source.unwrap_or_default(),
        });
        Ok(Some(Page {
            found: found.collect(),
            total: is_first.then(|| total.map_or(0, |total| total.value)),
            failures: failures
                .iter()
                .map(|failure| self.missed(failure))
                .collect(),
            timed_out,
            _memory: Some(memory),
        }))
    }

    /// A shard that could not be searched.
    fn missed(&self, failure: &ShardFailure) -> (StatusCode, Value) {
        let error = ApiError::from(&failure.error);
        let shown = json!({
            "index": failure.index,
            "shard": failure.shard,
            "node": self.call.api.node_id,
            "status": error.status().as_u16(),
            "reason": error.cause(),
        });
        (error.status(), shown)
    }

    fn request(&self, left: usize) -> SearchRequest {
        let Here {
            pinned,
            parts,
            query,
            sort,
        } = self.here;
        let has_sources = self.job.verb != Verb::Delete;
        SearchRequest {
            parts: parts.clone(),
            sort: sort.clone(),
            size: self.size.min(left),
            track_total: match self.after {
                None => TrackTotal::Exact,
                Some(_) => TrackTotal::No,
            },
            search_after: self.after.clone(),
            control: SearchControl {
                slice: self.job.slice,
                ..SearchControl::default()
            },
            source: has_sources,
            vectors: has_sources,
            ..SearchRequest::new(pinned.clone(), query.clone())
        }
    }
}
