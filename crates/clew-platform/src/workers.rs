//! Threads that do one thing after the other, as many as are at work at once. What turns out to take long can be made to
//! yield to everything else while it runs: its thread gets a lower priority from the system. Where the system does not give it
//! back, as to an unprivileged process, the thread ends with its work, and another one takes its place, which costs some
//! hundred microseconds with all that a thread keeps for itself. So it does when that is little beside its work.

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use parking_lot::{Condvar, Mutex};

use crate::task::{ThreadId, YIELDING_NICENESS, lower_priority, niceness, regain_priority};
use crate::thread_cpu_time;

/// A thread with nothing to do ends after this time.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// A thread whose work took so much of a processor's time ends with it. What it has allocated and others free goes back to the system only when it
/// allocates again or has ended, and a new thread costs little beside that time.
const LONG_WORK: Duration = Duration::from_millis(20);

type Job = Box<dyn FnOnce() + Send>;

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// The threads. How many there are is the affair of whoever starts work: it never waits for a thread.
#[derive(Debug)]
pub struct Workers {
    shared: Arc<Shared>,
}

struct Shared {
    name: &'static str,
    /// Of a thread that may take what comes next.
    niceness: i32,
    /// A thread with nothing to do ends after this time.
    idle_max: Duration,
    queue: Mutex<Queue>,
    ready: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<(Arc<Work>, Job)>,
    /// Threads that wait for one.
    idle: usize,
    closed: bool,
}

/// Something that a worker does, or is to do.
#[derive(Debug, Default)]
pub struct Work(Mutex<Progress>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Progress {
    #[default]
    Waiting,
    On(ThreadId),
    /// It yields, or is going to.
    Yielding,
    Ended,
}

impl Work {
    /// Lets everything else on this machine go before this, from now on until it ends.
    pub fn yield_to_others(&self) {
        let mut progress = self.0.lock();
        match *progress {
            // It is this very work that the thread does: it cannot end without the lock.
            Progress::On(thread) => lower_priority(Some(thread), YIELDING_NICENESS),
            Progress::Waiting => {}
            Progress::Yielding | Progress::Ended => return,
        }
        *progress = Progress::Yielding;
    }

    fn begin(&self) {
        let mut progress = self.0.lock();
        match *progress {
            Progress::Yielding => lower_priority(None, YIELDING_NICENESS),
            _ => *progress = Progress::On(ThreadId::current()),
        }
    }

    /// From here on nobody changes the thread's priority for this work's sake.
    fn end(&self) {
        *self.0.lock() = Progress::Ended;
    }
}

impl Workers {
    /// Starts no thread yet; `name` is what they are called. They have the priority of the thread that calls this.
    pub fn new(name: &'static str) -> Self {
        Workers::idle_for(name, IDLE_MAX)
    }

    /// The same, whose threads wait for so long.
    fn idle_for(name: &'static str, idle_max: Duration) -> Self {
        Workers {
            shared: Arc::new(Shared {
                name,
                niceness: niceness(),
                idle_max,
                queue: Mutex::default(),
                ready: Condvar::new(),
            }),
        }
    }

    /// Whether this is one of the threads of some workers, where work may take its time.
    pub fn is_here() -> bool {
        IS_WORKER.get()
    }

    /// Does something on a thread that is free, or a new one. A panic is reported and ends the work alone.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn start(&self, work: Arc<Work>, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.start_job((work, Box::new(run)))
    }

    /// Apart, so that the program has the beginning of a thread once, not for each kind of work, of which there are hundreds.
    fn start_job(&self, first: (Arc<Work>, Job)) -> io::Result<()> {
        let mut queue = self.shared.queue.lock();
        if queue.idle > queue.jobs.len() {
            queue.jobs.push_back(first);
            self.shared.ready.notify_one();
            return Ok(());
        }
        drop(queue);
        let shared = self.shared.clone();
        let named = thread::Builder::new().name(self.shared.name.to_string());
        named.spawn(move || shared.work_on(first)).map(drop)
    }

    /// Runs `run` on this thread and, for each of `helpers`, on another at the same time; returns when all have ended. A
    /// panic of one of them is passed on then. Where the system has no more threads, fewer help.
    pub fn run_together(&self, helpers: &[Arc<Work>], run: &(dyn Fn() + Sync)) {
        let running = Arc::new(Latch::default());
        let all_ended = AllEnded(&running);
        // SAFETY: `all_ended` does not let this function end, be it by a panic, before every thread that was given the
        // reference has counted itself out, which is the last that it does with it.
        #[allow(unsafe_code, reason = "threads that outlive the call borrow from it")]
        let run =
            unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(run) };
        for helper in helpers {
            let inside = Inside::enter(&running);
            let help = move || inside.run(run);
            if self.start(helper.clone(), help).is_err() {
                break;
            }
        }
        run();
        drop(all_ended);
        let panic = running.state.lock().panic.take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.queue.lock().closed = true;
        self.shared.ready.notify_all();
    }
}

impl Shared {
    fn work_on(&self, first: (Arc<Work>, Job)) {
        IS_WORKER.set(true);
        let mut next = Some(first);
        while let Some((work, job)) = next {
            work.begin();
            let before = thread_cpu_time();
            // The hook has reported it.
            let _ = catch_unwind(AssertUnwindSafe(job));
            work.end();
            // Its priority may have been lowered for its work, or that of the thread that began it.
            let took = thread_cpu_time().saturating_sub(before);
            if took >= LONG_WORK || !regain_priority(self.niceness) {
                return;
            }
            next = self.next();
        }
    }

    /// Waits for the next job; none when there is none for long, or nobody is left to have one.
    fn next(&self) -> Option<(Arc<Work>, Job)> {
        let mut queue = self.queue.lock();
        queue.idle += 1;
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                queue.idle -= 1;
                return Some(job);
            }
            if queue.closed || self.ready.wait_for(&mut queue, self.idle_max).timed_out() {
                queue.idle -= 1;
                return queue.jobs.pop_front();
            }
        }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Counts the threads inside a borrowed function.
#[derive(Default)]
struct Latch {
    state: Mutex<LatchState>,
    changed: Condvar,
}

#[derive(Default)]
struct LatchState {
    inside: usize,
    panic: Option<Box<dyn Any + Send>>,
}

/// One that is inside, or is going to be.
struct Inside(Arc<Latch>);

impl Inside {
    fn enter(latch: &Arc<Latch>) -> Self {
        latch.state.lock().inside += 1;
        Inside(latch.clone())
    }

    fn run(self, run: &(dyn Fn() + Sync)) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
            self.0.state.lock().panic = Some(panic);
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.state.lock().inside -= 1;
        self.0.changed.notify_all();
    }
}

/// Waits until nobody is inside.
struct AllEnded<'a>(&'a Latch);

impl Drop for AllEnded<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        while state.inside > 0 {
            self.0.changed.wait(&mut state);
        }
    }
}

#[cfg(test)]
mod tests;
