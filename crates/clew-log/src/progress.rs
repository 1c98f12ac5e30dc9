//! How far the log has come, and the ways to wait for it: by blocking a thread or by parking a
//! task. Both positions only grow, and the end (closed or poisoned) is final.

use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;

use crate::error::LogError;
use crate::position::Glsn;

/// What a waiter waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// The entry can be read; a poisoned log still shows what it has written.
    Readable,
    /// The entry is acknowledged as written.
    Written,
    /// The entry is acknowledged as durable.
    Durable,
}

/// Control records so far: what [`Progress`] counts them by, since they have no position.
pub(crate) type Controls = u64;

#[derive(Debug)]
pub(crate) struct Progress {
    written: AtomicU64,
    durable: AtomicU64,
    durable_controls: AtomicU64,
    end: OnceLock<End>,
    /// Change with each of the two positions, so that whoever waits for one need not look when
    /// the other moves.
    written_signal: Signal,
    durable_signal: Signal,
}

/// Wakes those who wait for a change. Threads wait on the number itself: a lock that all of them
/// want back when they wake would let them through one by one.
#[derive(Debug, Default)]
struct Signal {
    changes: AtomicU32,
    /// Threads that wait or are about to.
    waiting: AtomicU32,
    tasks: Notify,
}

impl Signal {
    fn announce(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            atomic_wait::wake_all(&self.changes);
        }
        self.tasks.notify_waiters();
    }

    /// Blocks until `look` has an answer; it is asked again after each change.
    fn wait<T>(&self, look: impl Fn() -> Option<T>) -> T {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let answer = loop {
            // Read before looking, so that no change falls between the two.
            let changes = self.changes.load(Ordering::SeqCst);
            if let Some(answer) = look() {
                break answer;
            }
            atomic_wait::wait(&self.changes, changes);
        };
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        answer
    }

    /// As `wait`, for tasks.
    async fn wait_async<T>(&self, look: impl Fn() -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.tasks.notified());
            // Registered before looking, so that no change falls between the two.
            changed.as_mut().enable();
            if let Some(answer) = look() {
                return answer;
            }
            changed.await;
        }
    }
}

#[derive(Debug)]
enum End {
    Closed,
    Poisoned(Poison),
}

/// Why the log acknowledges nothing any more.
#[derive(Clone, Debug)]
pub(crate) struct Poison {
    pub(crate) action: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) source: Arc<io::Error>,
}

impl Progress {
    /// A log in which everything up to `last` is durable.
    pub(crate) fn new(last: Glsn) -> Self {
        Progress {
            written: AtomicU64::new(last.get()),
            durable: AtomicU64::new(last.get()),
            durable_controls: AtomicU64::new(0),
            end: OnceLock::new(),
            written_signal: Signal::default(),
            durable_signal: Signal::default(),
        }
    }

    pub(crate) fn written(&self) -> Glsn {
        Glsn::new(self.written.load(Ordering::Acquire))
    }

    pub(crate) fn durable(&self) -> Glsn {
        Glsn::new(self.durable.load(Ordering::Acquire))
    }

    pub(crate) fn set_written(&self, glsn: Glsn) {
        self.written.store(glsn.get(), Ordering::Release);
        self.written_signal.announce();
    }

    pub(crate) fn durable_controls(&self) -> Controls {
        self.durable_controls.load(Ordering::Acquire)
    }

    /// Everything up to an entry and a control record is durable.
    pub(crate) fn set_durable(&self, glsn: Glsn, controls: Controls) {
        // What is durable was written; a reader must not find it otherwise.
        assert!(
            glsn <= self.written(),
            "only written entries can become durable"
        );
        self.durable_controls.store(controls, Ordering::Release);
        self.durable.store(glsn.get(), Ordering::Release);
        self.durable_signal.announce();
    }

    pub(crate) fn close(&self) {
        self.set_end(End::Closed);
    }

    pub(crate) fn poison(&self, poison: Poison) {
        self.set_end(End::Poisoned(poison));
    }

    /// The error of a poisoned log.
    pub(crate) fn poisoned(&self) -> Option<LogError> {
        match self.end.get() {
            Some(End::Poisoned(poison)) => Some(poison.error()),
            Some(End::Closed) | None => None,
        }
    }

    pub(crate) fn wait(&self, glsn: Glsn, goal: Goal) -> Result<(), LogError> {
        if let Some(outcome) = self.outcome(glsn, goal) {
            return outcome;
        }
        self.signal(goal).wait(|| self.outcome(glsn, goal))
    }

    pub(crate) async fn wait_async(&self, glsn: Glsn, goal: Goal) -> Result<(), LogError> {
        self.signal(goal)
            .wait_async(|| self.outcome(glsn, goal))
            .await
    }

    /// Waits until a control record is durable.
    pub(crate) fn wait_controls(&self, controls: Controls) -> Result<(), LogError> {
        self.durable_signal.wait(|| {
            // The end is looked at first: whatever is durable then stays so.
            let end = self.end.get();
            if controls <= self.durable_controls() {
                return Some(Ok(()));
            }
            end.map(|end| Err(end.error()))
        })
    }

    fn signal(&self, goal: Goal) -> &Signal {
        match goal {
            Goal::Readable | Goal::Written => &self.written_signal,
            Goal::Durable => &self.durable_signal,
        }
    }

    /// How a wait for `glsn` ends, or `None` while that is open.
    fn outcome(&self, glsn: Glsn, goal: Goal) -> Option<Result<(), LogError>> {
        if glsn <= self.durable() {
            return Some(Ok(()));
        }
        // The end is looked at before the positions: whatever is there was final by then.
        let end = self.end.get();
        let reached = match goal {
            Goal::Readable | Goal::Written => glsn <= self.written(),
            Goal::Durable => glsn <= self.durable(),
        };
        match end {
            None => reached.then_some(Ok(())),
            Some(_) if reached && goal == Goal::Readable => Some(Ok(())),
            Some(End::Closed) if reached => Some(Ok(())),
            Some(end) => Some(Err(end.error())),
        }
    }

    fn set_end(&self, end: End) {
        // The first end stands: a log that is poisoned stays so when it is closed.
        let _ = self.end.set(end);
        self.written_signal.announce();
        self.durable_signal.announce();
    }
}

impl End {
    fn error(&self) -> LogError {
        match self {
            End::Closed => LogError::Closed,
            End::Poisoned(poison) => poison.error(),
        }
    }
}

impl Poison {
    fn error(&self) -> LogError {
        let Poison {
            action,
            path,
            source,
        } = self.clone();
        LogError::Poisoned {
            action,
            path,
            source,
        }
    }
}

impl From<LogError> for Poison {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Io {
                action,
                path,
                source,
            } => Poison {
                action,
                path,
                source: Arc::new(source),
            },
            other => Poison {
                action: "write",
                path: PathBuf::new(),
                source: Arc::new(io::Error::other(other)),
            },
        }
    }
}
