//! The threads that searches run on. Only what is known to be small runs where it was asked for, on an
//! asynchronous thread; how many others run and wait at once is bounded, and the time they wait is
//! counted apart.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clew_platform::{CancellationToken, Clock};
use clew_text::{Threads, share};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::EngineError;

/// A search that has run for so long gives its turn to the next one and goes on beside it: the system divides the
/// processors among them, so that short searches do not wait for long ones to end.
const LONG_AFTER: Duration = Duration::from_millis(10);
/// Long searches that go on so, for each thread of the pool. More of them keep their turns.
const LONG_PER_THREAD: usize = 1;

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

impl Counters {
    /// Runs something that was asked for at a moment, and counts it.
    fn of_run<T>(
        &self,
        clock: &dyn Clock,
        asked: Duration,
        work: impl FnOnce() -> T,
    ) -> Result<T, EngineError> {
        let started = clock.monotonic();
        // What the work held is dropped, and nothing that outlives it is changed by searches but
        // counters and caches behind locks of their own.
        let result = catch_unwind(AssertUnwindSafe(work));
        let ran = clock.monotonic().saturating_sub(started);
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(0);
        let waited = micros(started.saturating_sub(asked));
        self.queue_wait_us.fetch_add(waited, Ordering::Relaxed);
        self.run_us.fetch_add(micros(ran), Ordering::Relaxed);
        self.searches.fetch_add(1, Ordering::Relaxed);
        result.map_err(|_| EngineError::Panicked)
    }
}

/// The pool. A search takes a blocking thread of the runtime, of which so many are taken at once, long searches not counted. They
/// sleep at once when nothing is to do, where the threads that share the shards and segments of one search
/// keep looking for more work first: that costs more than many a search.
pub(crate) struct SearchPool {
    threads: usize,
    sharing: rayon::ThreadPool,
    running: Arc<Semaphore>,
    /// Turns of long searches.
    long: Arc<Semaphore>,
    turns: Arc<Turns>,
    /// Turns to help another search.
    helping: Arc<Semaphore>,
    places: Arc<Semaphore>,
    places_max: usize,
    counters: Arc<Counters>,
}

impl SearchPool {
    pub(crate) fn new(threads: usize, waiting_max: usize) -> Result<Self, EngineError> {
        let threads = threads.max(1);
        let sharing = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|number| format!("clew-search-{number}"))
            .build()
            .map_err(|error| EngineError::Io {
                action: "start the threads of",
                path: PathBuf::from("the search pool"),
                source: std::io::Error::other(error),
            })?;
        let places_max = threads + waiting_max;
        Ok(SearchPool {
            threads,
            sharing,
            running: Arc::new(Semaphore::new(threads)),
            long: Arc::new(Semaphore::new(threads * LONG_PER_THREAD)),
            turns: Arc::default(),
            helping: Arc::new(Semaphore::new(threads - 1)),
            places: Arc::new(Semaphore::new(places_max)),
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
            threads: self.threads as u64,
            waiting_max: (self.places_max - self.threads) as u64,
        }
    }

    /// Does something that nobody waits for, on the threads that help searches.
    pub(crate) fn spawn(&self, what: &'static str, work: impl FnOnce() + Send + 'static) {
        self.sharing.spawn(move || {
            // The thread may be one that waits for its part of a search.
            let _entered = CancellationToken::default().enter();
            if catch_unwind(AssertUnwindSafe(work)).is_err() {
                tracing::error!(what, "a thread has panicked");
            }
        });
    }

    /// Does something so many times, on as many threads as are free; the results in their order.
    pub(crate) fn each<T: Send>(&self, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let numbered = share(self, count, |left| {
            left.map(|at| (at, work(at))).collect::<Vec<_>>()
        });
        let mut all: Vec<(usize, T)> = numbered.into_iter().flatten().collect();
        all.sort_unstable_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, result)| result).collect()
    }

    /// Runs something on a thread where it may take its time.
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

    /// Runs something small on the thread that asks for it.
    ///
    /// # Errors
    /// [`EngineError::Panicked`].
    pub(crate) fn run_here<T>(
        &self,
        clock: &dyn Clock,
        work: impl FnOnce() -> T,
    ) -> Result<T, EngineError> {
        self.counters.of_run(clock, clock.monotonic(), work)
    }

    async fn run_at<T: Send + 'static>(
        &self,
        place: OwnedSemaphorePermit,
        clock: Arc<dyn Clock>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let asked = clock.monotonic();
        let permit = self.permit(&*clock).await?;
        let turn = self.turns.begin(permit, clock.monotonic());
        let (turns, counters) = (self.turns.clone(), self.counters.clone());
        let token = CancellationToken::current();
        let searching = tokio::task::spawn_blocking(move || {
            let _place = place;
            let _entered = token.enter();
            let done = counters.of_run(&*clock, asked, work);
            turns.end(&turn);
            done
        });
        searching.await.map_err(|_| EngineError::Closed)?
    }

    /// Waits for a turn. Only whoever waits looks for long searches: a timer for each search would cost more than many a
    /// search.
    async fn permit(&self, clock: &dyn Clock) -> Result<OwnedSemaphorePermit, EngineError> {
        if let Ok(permit) = self.running.clone().try_acquire_owned() {
            return Ok(permit);
        }
        let mut permit = pin!(self.running.clone().acquire_owned());
        loop {
            tokio::select! {
                biased;
                permit = &mut permit => return permit.map_err(|_| EngineError::Closed),
                () = tokio::time::sleep(LONG_AFTER) => {
                    let begun = clock.monotonic().saturating_sub(LONG_AFTER);
                    self.turns.let_go_on(begun, &self.long);
                }
            }
        }
    }
}

/// The searches that run.
#[derive(Default)]
struct Turns(Mutex<Vec<Arc<Turn>>>);

/// A search's turn.
struct Turn {
    since: Duration,
    permit: Mutex<TurnPermit>,
}

struct TurnPermit {
    /// Dropped when the search ends.
    _permit: OwnedSemaphorePermit,
    is_long: bool,
}

impl Turns {
    fn begin(&self, permit: OwnedSemaphorePermit, since: Duration) -> Arc<Turn> {
        let permit = Mutex::new(TurnPermit {
            _permit: permit,
            is_long: false,
        });
        let turn = Arc::new(Turn { since, permit });
        self.0.lock().push(turn.clone());
        turn
    }

    fn end(&self, turn: &Arc<Turn>) {
        self.0.lock().retain(|other| !Arc::ptr_eq(other, turn));
    }

    /// Lets searches that were begun by this moment go on as long ones.
    fn let_go_on(&self, begun: Duration, long: &Arc<Semaphore>) {
        for turn in self.0.lock().iter().filter(|turn| turn.since <= begun) {
            let mut permit = turn.permit.lock();
            if !permit.is_long
                && let Ok(own) = long.clone().try_acquire_owned()
            {
                *permit = TurnPermit {
                    _permit: own,
                    is_long: true,
                };
            }
        }
    }
}

/// Only threads that no search runs on help another one, so that all together hardly use more than there are. When the
/// pool is busy everyone searches alone, which costs the least. Whoever helps keeps no search from beginning.
impl Threads for SearchPool {
    fn run(&self, more: usize, work: &(dyn Fn() + Sync)) {
        let free = || self.helping.clone().try_acquire_owned().ok();
        let idle = self.running.available_permits();
        let turns: Vec<_> = (0..more.min(idle).min(self.threads - 1))
            .map_while(|_| free())
            .collect();
        if turns.is_empty() {
            return work();
        }
        let token = CancellationToken::current();
        // There are as many threads as turns, so none of these waits for a thread.
        self.sharing.in_place_scope(|scope| {
            for turn in turns {
                let token = token.clone();
                scope.spawn(move |_| {
                    let _entered = token.enter();
                    work();
                    drop(turn);
                });
            }
            work();
        });
    }
}

#[cfg(test)]
mod tests {
    use clew_platform::{RealClock, stopped};

    use super::*;

    #[test]
    fn all_threads_work_under_the_token_of_the_one_who_asked() {
        let pool = SearchPool::new(3, 1).unwrap();
        let clock: Arc<dyn Clock> = Arc::new(RealClock::default());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let token = CancellationToken::new();
        token.cancel("by user request");
        let asked = token.clone().scope(pool.run(clock.clone(), stopped));
        assert!(runtime.block_on(asked).unwrap());
        assert!(!runtime.block_on(pool.run(clock, stopped)).unwrap());
        let begun = std::sync::Barrier::new(3);
        let waiting = |_| {
            begun.wait();
            stopped()
        };
        {
            let _entered = token.enter();
            assert_eq!(pool.each(3, waiting), [true; 3]);
        }
        assert_eq!(pool.each(3, waiting), [false; 3]);
    }

    #[test]
    fn a_search_that_panics_is_an_error_and_the_next_one_runs() {
        let pool = SearchPool::new(1, 1).unwrap();
        let clock: Arc<dyn Clock> = Arc::new(RealClock::default());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let panics = || -> u32 { panic!("as it must") };
        let answer = runtime.block_on(pool.run(clock.clone(), panics));
        assert!(matches!(answer, Err(EngineError::Panicked)));
        assert_eq!(runtime.block_on(pool.run(clock.clone(), || 7)).unwrap(), 7);
        assert!(matches!(
            pool.run_here(&*clock, panics),
            Err(EngineError::Panicked)
        ));
        assert_eq!(pool.stats().active, 0);
        assert_eq!(pool.stats().searches_total, 3);
    }

    #[test]
    fn a_long_search_keeps_no_short_one_waiting() {
        let pool = SearchPool::new(1, 1).unwrap();
        let clock: Arc<dyn Clock> = Arc::new(RealClock::default());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        let long = pool.run(clock.clone(), move || receiver.recv().unwrap());
        // Only once it has run does the other one end.
        let short = async {
            let found = pool.run(clock.clone(), || 7).await.unwrap();
            sender.send(found).unwrap();
        };
        let (found, ()) = runtime.block_on(async { tokio::join!(long, short) });
        assert_eq!(found.unwrap(), 7);
        let free = (
            pool.running.available_permits(),
            pool.long.available_permits(),
        );
        assert_eq!(free, (1, LONG_PER_THREAD));
    }

    #[test]
    fn free_threads_help_and_busy_ones_do_not() {
        let pool = SearchPool::new(3, 1).unwrap();
        let tasks = |more| {
            let threads = std::sync::Mutex::new(std::collections::BTreeSet::new());
            let begun = std::sync::Barrier::new(more);
            let work = |_| {
                begun.wait();
                let name = format!("{:?}", std::thread::current().id());
                threads.lock().unwrap().insert(name);
            };
            assert_eq!(pool.each(more, work).len(), more);
            threads.into_inner().unwrap().len()
        };
        // Three tasks that wait for each other need three threads.
        assert_eq!(tasks(3), 3);
        let busy = pool.running.clone().try_acquire_many_owned(3).unwrap();
        assert_eq!(tasks(1), 1);
        let alone = pool.each(5, |at| (at, std::thread::current().id()));
        assert!(
            alone
                .iter()
                .all(|(_, id)| *id == std::thread::current().id())
        );
        drop(busy);
        assert_eq!(pool.helping.available_permits(), 2);
    }
}
