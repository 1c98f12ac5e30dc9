//! The threads that searches run on. Only what is known to be small runs where it was asked for, on an
//! asynchronous thread; how many others run and wait at once is bounded, and the time they wait is
//! counted apart. Other work that takes long runs on threads beside them, and yields to them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use clew_platform::{CancellationToken, Clock, Work, Workers, whole_ns};
use clew_profile::{HandedOn, Waiting};
use clew_search::{Threads, share};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::base::error::EngineError;

/// A search that has run for so long while others wait gives its turn to the next one and goes on beside it, yielding to
/// all others: short searches do not wait for long ones to end. What that costs, a thread at worst, is lost where all take
/// about as long, so it is [`LONG_TIMES`] what searches take these days, between these two.
const LONG_AFTER_MIN: Duration = Duration::from_millis(1);
const LONG_AFTER_MAX: Duration = Duration::from_millis(4);
const LONG_TIMES: u32 = 3;
/// Long searches that go on so, for each thread of the pool. More of them keep their turns.
const LONG_PER_THREAD: usize = 4;

/// Searches come as long as the last one came so lately. What takes long yields then whenever anything else comes: should only
/// searches look for it, it would keep for the time between two of them what the threads need that take in the next one.
const SEARCHED_WITHIN: Duration = Duration::from_millis(100);

/// What is expected to take no longer is done where it was asked for: the way to another thread and back takes some tens of
/// microseconds on an idle machine, and others who wait for this thread hardly notice.
pub(crate) const HERE_MAX: Duration = Duration::from_micros(300);

/// What runs beside the searches at once.
const BESIDE_MAX: usize = 512;
/// Forced merges among that. They take minutes and mostly wait for each other: who asks again and again, because his patience
/// ends before a merge does, would leave nothing for writes.
const MERGES_MAX: usize = 16;

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
    /// Runs something that was asked for at a moment and begins at another, and counts it; beside what came of it, how long it ran.
    fn of_run<T>(
        &self,
        clock: &dyn Clock,
        (asked, started): (Duration, Duration),
        work: impl FnOnce() -> T,
    ) -> (Result<T, EngineError>, Duration) {
        // What the work held is dropped, and nothing that outlives it is changed by searches but
        // counters and caches behind locks of their own.
        let result = catch_unwind(AssertUnwindSafe(work));
        let ran = clock.monotonic().saturating_sub(started);
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(0);
        let waited = micros(started.saturating_sub(asked));
        self.queue_wait_us.fetch_add(waited, Ordering::Relaxed);
        self.run_us.fetch_add(micros(ran), Ordering::Relaxed);
        self.searches.fetch_add(1, Ordering::Relaxed);
        (result.map_err(|_| EngineError::Panicked), ran)
    }
}

/// The pool: so many searches have a turn at once, long ones not counted.
pub(crate) struct SearchPool {
    threads: usize,
    clock: Arc<dyn Clock>,
    workers: Workers,
    running: Arc<Semaphore>,
    /// Turns of long searches.
    long: Arc<Semaphore>,
    turns: Arc<Turns>,
    /// Turns to help another search.
    helping: Arc<Semaphore>,
    /// Turns of what is no search.
    beside: Arc<Semaphore>,
    /// Of these, turns of forced merges.
    merges: Arc<Semaphore>,
    places: Arc<Semaphore>,
    places_max: usize,
    counters: Arc<Counters>,
    aside: Arc<Mutex<Aside>>,
}

type Job = Box<dyn FnOnce() + Send>;

/// What nobody waits for, done one after the other.
#[derive(Default)]
struct Aside {
    waiting: VecDeque<(&'static str, Job)>,
    is_running: bool,
}

impl SearchPool {
    pub(crate) fn new(threads: usize, waiting_max: usize, clock: Arc<dyn Clock>) -> Self {
        let threads = threads.max(1);
        let places_max = threads + waiting_max;
        SearchPool {
            threads,
            clock,
            workers: Workers::new("clew-search"),
            running: Arc::new(Semaphore::new(threads)),
            long: Arc::new(Semaphore::new(threads * LONG_PER_THREAD)),
            turns: Arc::default(),
            helping: Arc::new(Semaphore::new(threads - 1)),
            beside: Arc::new(Semaphore::new(BESIDE_MAX)),
            merges: Arc::new(Semaphore::new(MERGES_MAX)),
            places: Arc::new(Semaphore::new(places_max)),
            places_max,
            counters: Arc::default(),
            aside: Arc::default(),
        }
    }

    /// So many searches have a turn at once, at least one.
    pub(crate) fn threads(&self) -> usize {
        self.threads
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

    /// Does something that nobody waits for, beside the searches.
    pub(crate) fn spawn(&self, what: &'static str, work: impl FnOnce() + Send + 'static) {
        let mut aside = self.aside.lock();
        aside.waiting.push_back((what, Box::new(work)));
        if aside.is_running {
            return;
        }
        let all = self.aside.clone();
        let started = self.workers.start(Arc::default(), move || Aside::run(&all));
        aside.is_running = started.is_ok();
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
        self.run_at(place, work).await
    }

    /// Runs something that can wait for as long as the queue is full. Whoever calls this bounds how
    /// many do at once.
    ///
    /// # Errors
    /// [`EngineError::Closed`].
    pub(crate) async fn run_patiently<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let place = self.places.clone().acquire_owned().await;
        let place = place.map_err(|_| EngineError::Closed)?;
        self.run_at(place, work).await
    }

    /// Runs something small on the thread that asks for it.
    ///
    /// # Errors
    /// [`EngineError::Panicked`].
    pub(crate) fn run_here<T>(&self, work: impl FnOnce() -> T) -> Result<T, EngineError> {
        let now = self.clock.monotonic();
        self.make_way(now);
        let (result, _) = self.counters.of_run(&*self.clock, (now, now), work);
        result
    }

    async fn run_at<T: Send + 'static>(
        &self,
        place: OwnedSemaphorePermit,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let (asked, waiting) = (self.clock.monotonic(), Waiting::begin());
        let permit = self.permit().await?;
        let turn = self.turns.begin(Some(permit), self.clock.monotonic());
        let (clock, counters) = (self.clock.clone(), self.counters.clone());
        let turns = self.turns.clone();
        let search = move || {
            let times = (asked, clock.monotonic());
            let (result, ran) = counters.of_run(&*clock, times, work);
            turns.usual.count(ran);
            result
        };
        self.on_thread((turn, place), waiting, search).await?
    }

    /// Runs what is no search, but may take long or wait for the disk, on a thread where it may.
    ///
    /// # Errors
    /// [`EngineError::Panicked`], or when the system has no thread to give.
    pub(crate) async fn run_beside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let work = || catch_unwind(AssertUnwindSafe(work)).map_err(|_| EngineError::Panicked);
        if Workers::is_here() {
            return work();
        }
        let waiting = Waiting::begin();
        let permit = self.beside.clone().acquire_owned().await;
        let permit = permit.map_err(|_| EngineError::Closed)?;
        let now = self.clock.monotonic();
        if self.turns.is_searched(now) {
            self.turns.let_go_on(now, &self.long);
        }
        let turn = self.turns.begin(None, now);
        self.on_thread((turn, permit), waiting, work).await?
    }

    /// Runs a forced merge beside the searches. As long as many others run it waits without a thread.
    ///
    /// # Errors
    /// As [`SearchPool::run_beside`].
    pub(crate) async fn run_merge<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let place = self.merges.clone().acquire_owned().await;
        let place = place.map_err(|_| EngineError::Closed)?;
        let merge = move || {
            // Until it has ended, whoever still waits for it.
            let _place = place;
            work()
        };
        self.run_beside(merge).await
    }

    /// Runs something under the token of whoever asks; what it holds it has given back when the result is there.
    async fn on_thread<T: Send + 'static>(
        &self,
        (turn, held): (TakenTurn, OwnedSemaphorePermit),
        waiting: Waiting,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let token = CancellationToken::current();
        let (done, answer) = oneshot::channel();
        let thread = turn.turn.work.clone();
        let run = move || {
            let result = {
                let (_entered, _at_work) = (token.enter(), waiting.end());
                work()
            };
            drop((turn, held));
            // Whoever asked may be gone.
            let _ = done.send(result);
        };
        let _handed_on = HandedOn::begin();
        let started = self.workers.start(thread, run);
        started.map_err(|source| EngineError::Io {
            action: "start a thread for",
            path: PathBuf::from("a request"),
            source,
        })?;
        answer.await.map_err(|_| EngineError::Closed)
    }

    /// Waits for a turn. Only whoever comes or waits looks for what takes long: a timer for each search would cost more
    /// than many a search.
    async fn permit(&self) -> Result<OwnedSemaphorePermit, EngineError> {
        let make_way = || self.make_way(self.clock.monotonic());
        let mut next = make_way();
        if let Ok(permit) = self.running.clone().try_acquire_owned() {
            return Ok(permit);
        }
        let mut permit = pin!(self.running.clone().acquire_owned());
        loop {
            tokio::select! {
                biased;
                permit = &mut permit => return permit.map_err(|_| EngineError::Closed),
                () = tokio::time::sleep(next) => next = make_way(),
            }
        }
    }

    /// Has what takes long already yield to whoever asks at this moment; when it is time to ask again.
    fn make_way(&self, now: Duration) -> Duration {
        let searched_ns = &self.turns.searched_ns;
        searched_ns.store(whole_ns(now), Ordering::Relaxed);
        self.turns.let_go_on(now, &self.long)
    }
}

impl Aside {
    fn run(all: &Mutex<Self>) {
        loop {
            let mut aside = all.lock();
            let Some((what, work)) = aside.waiting.pop_front() else {
                aside.is_running = false;
                return;
            };
            drop(aside);
            if catch_unwind(AssertUnwindSafe(work)).is_err() {
                tracing::error!(what, "a thread has panicked");
            }
        }
    }
}

/// The searches that run, the threads that help them, and what runs beside.
#[derive(Default)]
struct Turns {
    all: Mutex<Vec<Arc<Turn>>>,
    usual: Usual,
    /// When the last search came, in nanoseconds of the monotonic clock; 0 before the first.
    searched_ns: AtomicU64,
}

/// What searches usually take: half of those of late took less.
#[derive(Default)]
struct Usual(AtomicU64);

impl Usual {
    /// A step of a sixteenth towards what one took; where several threads count at once, one of them may do so for nothing.
    fn count(&self, took: Duration) {
        let (usual, took) = (self.0.load(Ordering::Relaxed), whole_ns(took));
        let step = usual / 16 + 1_000;
        let next = match took > usual {
            true => usual.saturating_add(step).min(took),
            false => usual.saturating_sub(step).max(took),
        };
        self.0.store(next, Ordering::Relaxed);
    }

    /// From when on one of them is long.
    fn long_after(&self) -> Duration {
        let usual = Duration::from_nanos(self.0.load(Ordering::Relaxed));
        usual
            .saturating_mul(LONG_TIMES)
            .clamp(LONG_AFTER_MIN, LONG_AFTER_MAX)
    }
}

struct Turn {
    since: Duration,
    work: Arc<Work>,
    state: Mutex<TurnState>,
}

struct TurnState {
    /// What a search has while it runs; nothing else takes a search's turn.
    permit: Option<OwnedSemaphorePermit>,
    is_long: bool,
}

/// A turn for as long as it is taken.
struct TakenTurn {
    turns: Arc<Turns>,
    turn: Arc<Turn>,
}

impl Drop for TakenTurn {
    fn drop(&mut self) {
        let mut all = self.turns.all.lock();
        all.retain(|other| !Arc::ptr_eq(other, &self.turn));
    }
}

impl Turns {
    fn begin(self: &Arc<Self>, permit: Option<OwnedSemaphorePermit>, since: Duration) -> TakenTurn {
        let state = TurnState {
            permit,
            is_long: false,
        };
        let turn = Arc::new(Turn {
            since,
            work: Arc::default(),
            state: Mutex::new(state),
        });
        self.all.lock().push(turn.clone());
        let turns = self.clone();
        TakenTurn { turns, turn }
    }

    /// Whether searches come these days.
    fn is_searched(&self, now: Duration) -> bool {
        let last = self.searched_ns.load(Ordering::Relaxed);
        last > 0 && now.saturating_sub(Duration::from_nanos(last)) <= SEARCHED_WITHIN
    }

    /// Lets what has taken long by now go on as such; when the next one has.
    fn let_go_on(&self, now: Duration, long: &Arc<Semaphore>) -> Duration {
        let all = self.all.lock();
        let mut next = self.usual.long_after();
        if all.is_empty() {
            return next;
        }
        let begun = now.saturating_sub(next);
        for turn in all.iter() {
            if turn.since > begun {
                next = next.min(turn.since.saturating_sub(begun));
                continue;
            }
            let mut state = turn.state.lock();
            if state.is_long {
                continue;
            }
            if state.permit.is_some() {
                let Ok(own) = long.clone().try_acquire_owned() else {
                    continue;
                };
                state.permit = Some(own);
            }
            state.is_long = true;
            turn.work.yield_to_others();
        }
        next
    }
}

/// Only threads that no search runs on help another one, so that all together hardly use more than there are. When the
/// pool is busy everyone searches alone, which costs the least. Whoever helps keeps no search from beginning.
impl Threads for SearchPool {
    fn run(&self, more: usize, work: &(dyn Fn() + Sync)) {
        let free = || self.helping.clone().try_acquire_owned().ok();
        let idle = self.running.available_permits();
        let permits: Vec<_> = (0..more.min(idle).min(self.threads - 1))
            .map_while(|_| free())
            .collect();
        if permits.is_empty() {
            return work();
        }
        let now = self.clock.monotonic();
        let turns = permits.iter().map(|_| self.turns.begin(None, now));
        let turns: Vec<TakenTurn> = turns.collect();
        let helpers: Vec<Arc<Work>> = turns.iter().map(|taken| taken.turn.work.clone()).collect();
        let token = CancellationToken::current();
        let owner = thread::current().id();
        self.workers.run_together(&helpers, &|| {
            if thread::current().id() == owner {
                return work();
            }
            let _entered = token.enter();
            work();
        });
    }
}

#[cfg(test)]
mod tests;
