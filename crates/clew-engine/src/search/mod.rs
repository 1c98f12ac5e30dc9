//! The way of a query: its root (`root`) asks the leaf of every shard (`leaf`) and joins the answers.

use std::sync::atomic::Ordering;
use std::time::Duration;

use clew_platform::CancellationToken;
use clew_profile::Spent;

use crate::base::error::EngineError;
use crate::node::engine::Engine;
use crate::search::request::{SearchRequest, SearchResponse};

mod inner;
mod leaf;
mod root;
mod times;

pub(crate) use inner::{document_of, part_of};

impl Engine {
    /// Changes how many buckets the aggregations of one search may have.
    pub fn set_buckets_max(&self, max: usize) {
        self.inner.buckets_max.store(max, Ordering::Relaxed);
    }

    /// Searches; runs on the engine's search threads. A request whose spans somebody wants is told when each shard did what.
    ///
    /// # Errors
    /// When the request is wrong, too many searches wait, or every shard failed. A part of the
    /// shards failing is told in the response.
    pub fn search(
        &self,
        request: impl Into<Box<SearchRequest>>,
    ) -> impl Future<Output = Result<SearchResponse, EngineError>> + Send {
        // Else each of the futures around this one would have room for it, and be copied with it.
        self.search_boxed(request.into())
    }

    async fn search_boxed(
        &self,
        mut request: Box<SearchRequest>,
    ) -> Result<SearchResponse, EngineError> {
        let Some(trace) = Spent::recorded() else {
            return self.search_untold(request).await;
        };
        request.time_phases();
        let found = self.search_untold(request).await?;
        for shard in &found.shard_profiles {
            let place = (shard.index.as_str(), shard.shard);
            let hits = Some(("clew.total_hits", shard.total.value.into()));
            shard.query.tell(&trace, "query", place, hits.clone());
            if let Some(fetch) = shard.fetch {
                fetch.tell(&trace, "fetch", place, hits);
            }
        }
        Ok(found)
    }

    async fn search_untold(
        &self,
        request: Box<SearchRequest>,
    ) -> Result<SearchResponse, EngineError> {
        if root::is_small(&request) {
            let work = || self.inner.search(&request);
            return self.inner.pool.run_here(work)?;
        }
        let inner = self.inner.clone();
        let work = move || inner.search(&request);
        self.inner.pool.run(work).await?
    }

    /// The token of whoever asks, that stops by itself after some time, too.
    pub fn stopping_after(&self, time: Duration) -> CancellationToken {
        let clock = &self.inner.clock;
        CancellationToken::current().until(clock.clone(), clock.monotonic() + time)
    }

    /// Runs something that may take long, or wait for the disk, on a thread where it may, under the token of whoever
    /// asks. Once it has taken a millisecond it yields to searches that come.
    ///
    /// # Errors
    /// [`EngineError::Panicked`], or when the system has no thread to give.
    pub async fn run_beside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        self.inner.pool.run_beside(work).await
    }

    /// The same for what merges because somebody asked for it: a few of them run at once, others wait for their turn.
    ///
    /// # Errors
    /// As [`Engine::run_beside`].
    pub async fn run_merge<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        self.inner.pool.run_merge(work).await
    }
}

pub(crate) mod columns;
pub(crate) mod completions;
pub(crate) mod depth;
pub(crate) mod fetch;
pub(crate) mod foreseen;
pub(crate) mod fusion;
pub(crate) mod get;
pub(crate) mod inspect;
pub(crate) mod knn;
pub(crate) mod named;
pub(crate) mod nearest;
pub(crate) mod other_space;
pub(crate) mod pinned;
pub(crate) mod place;
pub(crate) mod recall;
pub(crate) mod request;
pub(crate) mod scratch;
pub(crate) mod scripts;
pub(crate) mod segment_stats;
pub(crate) mod together;
