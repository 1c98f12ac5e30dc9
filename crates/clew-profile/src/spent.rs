//! Where the time of one request goes: on processors, in their run queues, in the queue before the threads that work for it, and
//! blocked on everything else.
//!
//! A request's account is under way with it: a future that is polled for it ([`Spent::scope`]) and work that is handed to another
//! thread ([`Waiting`], [`HandedOn`]) enter their parts. What that costs, some microseconds, is saved for all but some hundred requests a
//! second ([`Spent::sampled`]).

use std::cell::{OnceCell, RefCell};
use std::fs::File;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use clew_platform::{thread_cpu_time, whole_ns};

use crate::process::{Scheduled, monotonic_ns};
use crate::trace::{Attribute, Trace, TraceParent, Tracer};

/// The least time between the beginnings of two requests that have an account.
const INTERVAL_NS: u64 = 2_000_000;

thread_local! {
    /// The account that this thread works for.
    static CURRENT: RefCell<Option<Working>> = const { RefCell::new(None) };
    /// This thread's own counts of the scheduler, none where there are none.
    static SCHEDSTAT: OnceCell<Option<File>> = const { OnceCell::new() };
}

/// The account of one request, in nanoseconds.
#[derive(Debug)]
pub struct Spent {
    began: Instant,
    cpu: AtomicU64,
    run_queue: AtomicU64,
    queue: AtomicU64,
    trace: Option<Arc<Trace>>,
    /// What kind of request it turned out to be.
    kind: OnceLock<&'static str>,
}

/// Where the time of a request went; together they are the time that it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpentTimes {
    /// On processors, of the threads that worked for it one after the other; not of those that helped beside.
    pub cpu: Duration,
    /// Its threads could have run and had no processor.
    pub run_queue: Duration,
    /// In the queue before the threads that do such work.
    pub queue: Duration,
    /// Everything else: waiting for the disk, the log, locks, the client, other threads.
    pub blocked: Duration,
}

impl SpentTimes {
    /// The parts as attributes of a span, in microseconds.
    pub fn attributes(&self) -> impl Iterator<Item = Attribute> {
        let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let parts = [
            ("clew.cpu_us", us(self.cpu)),
            ("clew.run_queue_us", us(self.run_queue)),
            ("clew.queue_us", us(self.queue)),
            ("clew.blocked_us", us(self.blocked)),
        ];
        parts.into_iter().map(|(name, us)| (name, us.into()))
    }

    /// All of them together.
    pub fn wall(&self) -> Duration {
        self.cpu + self.run_queue + self.queue + self.blocked
    }
}

impl Default for Spent {
    fn default() -> Self {
        Spent {
            began: Instant::now(),
            cpu: AtomicU64::new(0),
            run_queue: AtomicU64::new(0),
            queue: AtomicU64::new(0),
            trace: None,
            kind: OnceLock::new(),
        }
    }
}

impl Spent {
    /// An account for the request that begins now: for one that is part of a client's trace or is recorded, for any while it
    /// may be told as slow, and else for some hundred a second.
    pub fn of_request(
        parent: Option<TraceParent>,
        tracer: Option<&Tracer>,
        may_be_told: bool,
    ) -> Option<Arc<Self>> {
        let is_named = parent.is_some();
        if may_be_told || is_named || tracer.is_some() {
            let trace = Trace::begin(parent, tracer);
            if may_be_told || is_named || trace.is_recorded() {
                return Some(Spent::of_trace(trace));
            }
        }
        Spent::sampled()
    }

    /// Notes what kind of request the calling thread works for, where it has an account; nobody else is asked. The first that
    /// is noted holds.
    pub fn is_of_kind(kind: impl FnOnce() -> &'static str) {
        CURRENT.with_borrow(|working| {
            if let Some(working) = working {
                working.spent.kind.get_or_init(kind);
            }
        });
    }

    /// The kind of request that was noted; empty where none was.
    pub fn kind(&self) -> &'static str {
        self.kind.get().copied().unwrap_or_default()
    }

    /// An account for the request that begins now, if it is one's turn.
    pub fn sampled() -> Option<Arc<Self>> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let now = monotonic_ns();
        let last = LAST.load(Ordering::Relaxed);
        let is_due = now.saturating_sub(last) >= INTERVAL_NS;
        let is_mine = is_due
            && LAST
                .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        is_mine.then(Arc::default)
    }

    /// An account for a request that begins now, as a part of a trace.
    fn of_trace(trace: Trace) -> Arc<Self> {
        Arc::new(Spent {
            trace: Some(Arc::new(trace)),
            ..Spent::default()
        })
    }

    /// An account of its own for a part of the request that goes on beside others.
    pub fn beside(&self) -> Arc<Self> {
        Arc::new(Spent {
            trace: self.trace.clone(),
            ..Spent::default()
        })
    }

    /// The trace that the request is a part of, if it is one's.
    pub fn trace(&self) -> Option<&Arc<Trace>> {
        self.trace.as_ref()
    }

    /// The trace that the calling thread works for, where somebody wants its spans.
    pub fn recorded() -> Option<Arc<Trace>> {
        CURRENT.with_borrow(|working| {
            let trace = working.as_ref()?.spent.trace.as_ref()?;
            trace.is_recorded().then(|| trace.clone())
        })
    }

    /// The account that the calling thread works for.
    pub fn current() -> Option<Arc<Self>> {
        let spent = |working: &Working| working.spent.clone();
        CURRENT.with_borrow(|working| working.as_ref().map(spent))
    }

    /// The calling thread works for this account until the result is dropped; nothing more if it does already.
    pub fn enter(self: &Arc<Self>) -> AtWork {
        let is_within = CURRENT.with_borrow(|working| self.is_of(working.as_ref()));
        let before = (!is_within).then(|| {
            let spent = self.clone();
            CURRENT.replace(Some(Working {
                spent,
                from: ThreadTimes::now(),
                is_handed_on: false,
            }))
        });
        AtWork {
            before,
            of_this_thread: PhantomData,
        }
    }

    /// The future, which works for this account whenever it is polled.
    pub fn scope<F: Future>(self: Arc<Self>, future: F) -> SpentBy<F> {
        SpentBy {
            spent: self,
            future: Box::pin(future),
        }
    }

    fn is_of(self: &Arc<Self>, working: Option<&Working>) -> bool {
        working.is_some_and(|working| Arc::ptr_eq(&working.spent, self))
    }

    /// Where the time has gone since the account was opened, with what the calling thread has done for it.
    pub fn so_far(self: &Arc<Self>) -> SpentTimes {
        CURRENT.with_borrow_mut(|working| {
            if let Some(working) = working.as_mut().filter(|working| self.is_of(Some(working))) {
                working.count();
            }
        });
        self.times(self.began.elapsed())
    }

    /// Where the time went that the request took.
    pub fn times(&self, took: Duration) -> SpentTimes {
        let mut left = took;
        // Threads that were at work beside each other, after all, have more than there was.
        let mut of = |part: &AtomicU64| {
            let time = Duration::from_nanos(part.load(Ordering::Relaxed)).min(left);
            left -= time;
            time
        };
        let (cpu, queue, run_queue) = (of(&self.cpu), of(&self.queue), of(&self.run_queue));
        SpentTimes {
            cpu,
            run_queue,
            queue,
            blocked: left,
        }
    }
}

/// Where the time of a request went so far, in whole microseconds, and by which trace it is known, as logs tell it; nothing of
/// one that has no account.
#[derive(Clone, Debug, Default)]
pub struct SpentTold {
    /// All of it.
    pub wall_us: Option<u64>,
    /// On processors.
    pub cpu_us: Option<u64>,
    /// Ready, without a processor.
    pub run_queue_us: Option<u64>,
    /// In the queue before the threads that do such work.
    pub queue_us: Option<u64>,
    /// Everything else.
    pub blocked_us: Option<u64>,
    /// The id of the trace.
    pub trace_id: Option<String>,
}

impl SpentTold {
    /// Of the request that the calling thread works for.
    pub fn so_far() -> Self {
        Spent::current().map_or_else(SpentTold::default, |spent| {
            SpentTold::of(&spent, &spent.so_far())
        })
    }

    /// Of an account, with its times.
    pub fn of(spent: &Spent, times: &SpentTimes) -> Self {
        let us = |time: Duration| u64::try_from(time.as_micros()).ok();
        SpentTold {
            wall_us: us(times.wall()),
            cpu_us: us(times.cpu),
            run_queue_us: us(times.run_queue),
            queue_us: us(times.queue),
            blocked_us: us(times.blocked),
            trace_id: spent.trace().map(|trace| trace.id().to_string()),
        }
    }
}

/// What a thread has used so far.
#[derive(Clone, Copy, Debug)]
struct ThreadTimes {
    cpu: Duration,
    run_queue: u64,
}

impl ThreadTimes {
    fn now() -> Self {
        let run_queue = SCHEDSTAT.with(|file| {
            let file = file.get_or_init(|| File::open("/proc/thread-self/schedstat").ok());
            file.as_ref().and_then(Scheduled::read)
        });
        ThreadTimes {
            cpu: thread_cpu_time(),
            run_queue: run_queue.map_or(0, |times| times.queued),
        }
    }
}

/// What a thread works for, and from where on what it uses is not counted yet.
struct Working {
    spent: Arc<Spent>,
    from: ThreadTimes,
    /// Another thread is at work instead: nothing is counted here.
    is_handed_on: bool,
}

impl Working {
    /// Counts what the thread has used.
    fn count(&mut self) {
        if self.is_handed_on {
            return;
        }
        let (now, from) = (ThreadTimes::now(), self.from);
        let cpu = now.cpu.saturating_sub(from.cpu).as_nanos();
        let cpu = u64::try_from(cpu).unwrap_or(u64::MAX);
        self.spent.cpu.fetch_add(cpu, Ordering::Relaxed);
        let run_queue = now.run_queue.saturating_sub(from.run_queue);
        self.spent.run_queue.fetch_add(run_queue, Ordering::Relaxed);
        self.from = now;
    }
}

/// A thread at work for an account.
pub struct AtWork {
    /// What it worked for before; none where it was at work for the account already.
    before: Option<Option<Working>>,
    of_this_thread: PhantomData<*const ()>,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        let Some(before) = self.before.take() else {
            return;
        };
        if let Some(mut working) = CURRENT.replace(before) {
            working.count();
        }
    }
}

/// The time in which another thread goes on with what the calling one did for its account. What the calling thread does
/// meanwhile is not the request's: whoever wakes another thread may well lose its processor to it, and would be counted as
/// waiting for one while the request is at work.
#[derive(Debug)]
pub struct HandedOn(Option<Arc<Spent>>);

impl HandedOn {
    /// From now on, until the result is dropped, or the account is entered anew.
    pub fn begin() -> Self {
        HandedOn(CURRENT.with_borrow_mut(|working| {
            let working = working.as_mut()?;
            working.count();
            working.is_handed_on = true;
            Some(working.spent.clone())
        }))
    }
}

impl Drop for HandedOn {
    fn drop(&mut self) {
        let Some(spent) = &self.0 else {
            return;
        };
        CURRENT.with_borrow_mut(|working| {
            if let Some(working) = working
                .as_mut()
                .filter(|working| spent.is_of(Some(working)))
                && working.is_handed_on
            {
                working.from = ThreadTimes::now();
                working.is_handed_on = false;
            }
        });
    }
}

/// A future that works for an account.
pub struct SpentBy<F> {
    spent: Arc<Spent>,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for SpentBy<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _at_work = self.spent.enter();
        self.future.as_mut().poll(context)
    }
}

/// Work that waits for a thread since a moment, with the account of whoever asked for it.
#[derive(Debug)]
pub struct Waiting(Option<(Arc<Spent>, Instant)>);

impl Waiting {
    /// From now on.
    pub fn begin() -> Self {
        Waiting(Spent::current().map(|spent| (spent, Instant::now())))
    }

    /// It has a thread, the calling one, until the result is dropped.
    pub fn end(self) -> Option<AtWork> {
        let (spent, since) = self.0?;
        let waited = whole_ns(since.elapsed());
        spent.queue.fetch_add(waited, Ordering::Relaxed);
        Some(spent.enter())
    }
}

#[cfg(test)]
mod tests;
