//! Threads with an owner: whoever spawns a task joins it.

use std::io;
use std::panic::resume_unwind;
use std::thread::{self, JoinHandle};

/// A running thread. It must be joined; how it is told to stop is between it and its owner.
#[derive(Debug)]
#[must_use = "a task that nobody joins outlives its owner"]
pub struct Task {
    handle: JoinHandle<()>,
}

impl Task {
    /// Starts a named thread.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<Task> {
        let handle = thread::Builder::new().name(name.to_string()).spawn(run)?;
        Ok(Task { handle })
    }

    /// Waits until the thread has ended. A panic inside it has been reported by then and is not
    /// passed on.
    pub fn join(self) {
        // A task may drop the last handle of what owns it; it cannot wait for itself.
        if self.handle.thread().id() != thread::current().id() {
            let _ = self.handle.join();
        }
    }
}

/// Runs work on a thread of its own that yields to all others, and waits for it; the threads that it
/// starts yield too. The waiting thread keeps its priority, so that it may hold locks that others wait
/// for: the work must not. A panic is passed on.
///
/// # Errors
/// When the system has no thread to give.
pub fn run_in_background<T: Send>(name: &str, run: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let work = move || {
            yield_to_others();
            run()
        };
        let named = thread::Builder::new().name(name.to_string());
        let handle = named.spawn_scoped(scope, work)?;
        handle.join().or_else(|panic| resume_unwind(panic))
    })
}

/// Niceness of work that yields: 110 shares of a CPU where others have 1,024, so that it comes on slowly, with what
/// it holds, also where all CPUs are busy.
pub(crate) const YIELDING_NICENESS: i32 = 10;

/// Lets everything else on this machine go before what this thread does, from now on, although others wait for that: they come
/// on, only slowly, where all processors are busy. A thread that yields more already goes on so.
pub fn give_way() {
    if niceness() < YIELDING_NICENESS {
        lower_priority(None, YIELDING_NICENESS);
    }
}

/// Takes this thread to the lowest niceness, which gives it 15 shares of a CPU where others have
/// 1,024. New threads inherit it.
fn yield_to_others() {
    lower_priority(None, 19);
}

/// A thread, as the system knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadId(#[cfg(target_os = "linux")] rustix::process::Pid);

impl ThreadId {
    pub(crate) fn current() -> Self {
        ThreadId(
            #[cfg(target_os = "linux")]
            rustix::thread::gettid(),
        )
    }
}

/// Gives a thread, or the calling one, another niceness. Linux counts niceness by thread; elsewhere this does nothing.
/// The system may refuse, and then the thread stays as it was.
pub(crate) fn lower_priority(thread: Option<ThreadId>, niceness: i32) {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(thread.map(|thread| thread.0), niceness);
    #[cfg(not(target_os = "linux"))]
    let _ = (thread, niceness);
}

/// Niceness of the calling thread; 0 where threads have none of their own.
pub(crate) fn niceness() -> i32 {
    #[cfg(target_os = "linux")]
    let niceness = rustix::process::getpriority_process(None).unwrap_or(0);
    #[cfg(not(target_os = "linux"))]
    let niceness = 0;
    niceness
}

/// Whether the calling thread has this niceness or less, or is given it back: the system allows that to the privileged.
pub(crate) fn regain_priority(niceness: i32) -> bool {
    #[cfg(target_os = "linux")]
    let regain = || rustix::process::setpriority_process(None, niceness).is_ok();
    #[cfg(not(target_os = "linux"))]
    let regain = || false;
    self::niceness() <= niceness || regain()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn work_in_the_background_yields_and_its_threads_too() {
        let before = niceness();
        let inside = run_in_background("test", || {
            let started = thread::spawn(niceness).join().unwrap();
            (niceness(), started)
        });
        assert_eq!(inside.unwrap(), (19, 19));
        assert_eq!(niceness(), before);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_gives_way_and_one_that_yields_more_goes_on_so() {
        let within = |before: i32| {
            let made = thread::spawn(move || {
                lower_priority(None, before);
                give_way();
                niceness()
            });
            made.join().unwrap()
        };
        let own = niceness();
        assert_eq!(within(own), own.max(YIELDING_NICENESS));
        assert_eq!(within(19), 19);
    }

    #[test]
    fn a_panic_in_the_background_is_passed_on() {
        let caught =
            std::panic::catch_unwind(|| run_in_background("test", || panic!("on purpose")));
        assert!(caught.is_err());
    }
}
