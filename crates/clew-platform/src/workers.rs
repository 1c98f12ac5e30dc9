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

use crate::task::{ThreadId, lower_priority, niceness, regain_priority};
use crate::thread_cpu_time;

/// A thread with nothing to do ends after this time.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// A thread whose work took so much of a processor's time ends with it. What it has allocated and others free goes back to the system only when it
/// allocates again or has ended, and a new thread costs little beside that time.
const LONG_WORK: Duration = Duration::from_millis(20);
/// Niceness of work that yields: 110 shares of a CPU where others have 1,024, so that it comes on slowly, with what
/// it holds, also where all CPUs are busy.
const YIELDING_NICENESS: i32 = 10;

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
        Workers {
            shared: Arc::new(Shared {
                name,
                niceness: niceness(),
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
            if queue.closed || self.ready.wait_for(&mut queue, IDLE_MAX).timed_out() {
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
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    fn run<T: Send + 'static>(workers: &Workers, run: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, receiver) = mpsc::channel();
        let work = move || sender.send(run()).unwrap();
        workers.start(Arc::default(), work).unwrap();
        receiver.recv().unwrap()
    }

    /// Until the threads that have nothing to do are so many.
    fn until_idle(workers: &Workers, threads: usize) {
        while workers.shared.queue.lock().idle != threads {
            thread::yield_now();
        }
    }

    #[test]
    fn a_thread_does_one_thing_after_the_other() {
        let workers = Workers::new("test");
        let first = run(&workers, || thread::current().id());
        // It answers before it is free for the next.
        until_idle(&workers, 1);
        assert!(run(&workers, Workers::is_here) && !Workers::is_here());
        until_idle(&workers, 1);
        assert_eq!(run(&workers, || thread::current().id()), first);
    }

    #[test]
    fn a_thread_ends_with_long_work() {
        let workers = Workers::new("test");
        let long = run(&workers, || {
            let before = thread_cpu_time();
            while thread_cpu_time().saturating_sub(before) < LONG_WORK {}
            thread::current().id()
        });
        // It answers before it ends.
        for _ in 0..3 {
            assert_ne!(run(&workers, || thread::current().id()), long);
        }
    }

    #[test]
    fn as_many_run_at_once_as_are_started() {
        let workers = Workers::new("test");
        let together = Arc::new(std::sync::Barrier::new(5));
        for _ in 0..4 {
            let together = together.clone();
            let wait = move || {
                together.wait();
            };
            workers.start(Arc::default(), wait).unwrap();
        }
        together.wait();
        until_idle(&workers, 4);
    }

    #[test]
    fn after_a_panic_the_thread_goes_on() {
        let workers = Workers::new("test");
        let panics = || panic!("on purpose");
        workers.start(Arc::default(), panics).unwrap();
        until_idle(&workers, 1);
        assert_eq!(run(&workers, || 7), 7);
        until_idle(&workers, 1);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_thread_of_what_yields_has_its_priority_back_or_ends() {
        let workers = Workers::new("test");
        for while_running in [false, true] {
            let work = Arc::new(Work::default());
            let (sender, receiver) = mpsc::channel();
            let (go_on, goes_on) = mpsc::channel();
            if !while_running {
                work.yield_to_others();
            }
            let long = move || {
                goes_on.recv().unwrap();
                sender.send((niceness(), thread::current().id())).unwrap();
            };
            workers.start(work.clone(), long).unwrap();
            if while_running {
                while !matches!(*work.0.lock(), Progress::On(_)) {
                    thread::yield_now();
                }
                work.yield_to_others();
            }
            go_on.send(()).unwrap();
            let (nice, lowered) = receiver.recv().unwrap();
            assert_eq!(nice, YIELDING_NICENESS);
            let (nice, next) = run(&workers, || (niceness(), thread::current().id()));
            assert_eq!(nice, niceness());
            // The same thread only where the system gives priority back.
            let is_given_back = thread::spawn(|| {
                lower_priority(None, niceness() + 1);
                regain_priority(niceness() - 1)
            });
            assert!(next != lowered || is_given_back.join().unwrap());
            // Too late.
            work.yield_to_others();
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn who_is_started_by_what_yields_takes_nothing_else_at_its_priority() {
        let workers = Arc::new(Workers::new("test"));
        let work = Arc::new(Work::default());
        work.yield_to_others();
        let (sender, receiver) = mpsc::channel();
        let inner = workers.clone();
        let starts = move || {
            let inherits = move || sender.send(niceness()).unwrap();
            inner.start(Arc::default(), inherits).unwrap();
        };
        workers.start(work, starts).unwrap();
        assert_eq!(receiver.recv().unwrap(), YIELDING_NICENESS);
        for _ in 0..3 {
            assert_eq!(run(&workers, niceness), niceness());
        }
    }

    #[test]
    fn helpers_borrow_from_whoever_they_help() {
        let workers = Workers::new("test");
        for helpers in [0, 1, 3] {
            let (seen, together) = (AtomicUsize::new(0), std::sync::Barrier::new(helpers + 1));
            let all: Vec<Arc<Work>> = (0..helpers).map(|_| Arc::default()).collect();
            workers.run_together(&all, &|| {
                together.wait();
                seen.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(seen.into_inner(), helpers + 1);
        }
    }

    #[test]
    fn a_panic_of_any_thread_is_passed_on_when_all_have_ended() {
        let workers = Workers::new("test");
        for helper_panics in [false, true] {
            let owner = thread::current().id();
            let (ended, together) = (AtomicUsize::new(0), std::sync::Barrier::new(2));
            let helped = catch_unwind(AssertUnwindSafe(|| {
                workers.run_together(&[Arc::default()], &|| {
                    together.wait();
                    if (thread::current().id() == owner) != helper_panics {
                        panic!("on purpose");
                    }
                    ended.fetch_add(1, Ordering::Relaxed);
                });
            }));
            assert!(helped.is_err());
            assert_eq!(ended.into_inner(), 1);
        }
    }
}
