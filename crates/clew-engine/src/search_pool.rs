//! The fixed pool of search threads. A search never runs on an asynchronous thread, the time it
//! waits for the pool is counted apart, and the number that may wait is bounded.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clew_platform::Clock;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::error::EngineError;

/// Figures of the search pool, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchStats {
    /// Searches done.
    pub searches_total: u64,
    /// Searches refused because too many were waiting.
    pub rejected_total: u64,
    /// Searches running or waiting now.
    pub active: u64,
    /// Time between asking for a thread and getting one, summed.
    pub queue_wait_us_total: u64,
    /// Time on the threads, summed.
    pub run_us_total: u64,
    /// Threads of the pool.
    pub threads: u64,
    /// Searches that may wait for one.
    pub waiting_max: u64,
}

#[derive(Debug, Default)]
struct Counters {
    searches: AtomicU64,
    rejected: AtomicU64,
    queue_wait_us: AtomicU64,
    run_us: AtomicU64,
}

/// The pool.
pub(crate) struct SearchPool {
    threads: rayon::ThreadPool,
    places: Arc<Semaphore>,
    places_max: usize,
    counters: Arc<Counters>,
}

impl SearchPool {
    pub(crate) fn new(threads: usize, waiting_max: usize) -> Result<Self, EngineError> {
        let threads = threads.max(1);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|number| format!("clew-search-{number}"))
            .build()
            .map_err(|error| EngineError::Io {
                action: "start the threads of",
                path: PathBuf::from("the search pool"),
                source: std::io::Error::other(error),
            })?;
        let places_max = threads + waiting_max;
        let places = Arc::new(Semaphore::new(places_max));
        Ok(SearchPool {
            threads: pool,
            places,
            places_max,
            counters: Arc::default(),
        })
    }

    pub(crate) fn stats(&self) -> SearchStats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SearchStats {
            searches_total: read(&self.counters.searches),
            rejected_total: read(&self.counters.rejected),
            active: (self.places_max - self.places.available_permits()) as u64,
            queue_wait_us_total: read(&self.counters.queue_wait_us),
            run_us_total: read(&self.counters.run_us),
            threads: self.threads.current_num_threads() as u64,
            waiting_max: (self.places_max - self.threads.current_num_threads()) as u64,
        }
    }

    /// Runs something on the pool. Inside it, parallel iterators use the same threads.
    ///
    /// # Errors
    /// [`EngineError::Overloaded`] when too many wait already.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        clock: Arc<dyn Clock>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            self.counters.rejected.fetch_add(1, Ordering::Relaxed);
            let max = self.places_max;
            return Err(EngineError::Overloaded {
                what: "search queue",
                max,
            });
        };
        self.run_at(place, clock, work).await
    }

    /// Runs something that can wait for as long as the queue is full. Whoever calls this bounds how
    /// many do at once.
    ///
    /// # Errors
    /// [`EngineError::Closed`].
    pub(crate) async fn run_patiently<T: Send + 'static>(
        &self,
        clock: Arc<dyn Clock>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let place = self.places.clone().acquire_owned().await;
        let place = place.map_err(|_| EngineError::Closed)?;
        self.run_at(place, clock, work).await
    }

    async fn run_at<T: Send + 'static>(
        &self,
        place: OwnedSemaphorePermit,
        clock: Arc<dyn Clock>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let (sender, receiver) = oneshot::channel::<std::thread::Result<T>>();
        let counters = self.counters.clone();
        let asked = clock.monotonic();
        self.threads.spawn(move || {
            let _place = place;
            let started = clock.monotonic();
            // A pool whose job panics ends the process. What the job held is dropped, and nothing that
            // outlives it is changed by searches but counters and caches behind locks of their own.
            let result = catch_unwind(AssertUnwindSafe(work));
            let micros = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(0);
            let waited = micros(started.saturating_sub(asked));
            counters.queue_wait_us.fetch_add(waited, Ordering::Relaxed);
            let ran = micros(clock.monotonic().saturating_sub(started));
            counters.run_us.fetch_add(ran, Ordering::Relaxed);
            counters.searches.fetch_add(1, Ordering::Relaxed);
            // Nobody waits any more when the client has gone.
            let _ = sender.send(result);
        });
        match receiver.await {
            Ok(result) => result.map_err(|_| EngineError::Panicked),
            Err(_) => Err(EngineError::Closed),
        }
    }
}

#[cfg(test)]
mod tests {
    use clew_platform::RealClock;

    use super::*;

    #[test]
    fn a_search_that_panics_is_an_error_and_the_next_one_runs() {
        let pool = SearchPool::new(1, 1).unwrap();
        let clock: Arc<dyn Clock> = Arc::new(RealClock::default());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let panics = || -> u32 { panic!("as it must") };
        let answer = runtime.block_on(pool.run(clock.clone(), panics));
        assert!(matches!(answer, Err(EngineError::Panicked)));
        assert_eq!(runtime.block_on(pool.run(clock, || 7)).unwrap(), 7);
        assert_eq!(pool.stats().active, 0);
    }
}
