//! How far the log has come, and the ways to wait for it: by blocking a thread or by parking a
//! task. Both positions only grow, and a closed log stays closed. A poisoned one may go on, as another life: what was
//! written and not durable is lost then, its positions are given out again, and whoever still waits for what had them
//! learns that.

use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
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
    end: ArcSwapOption<End>,
    /// Whether there is an end: asked for with every append.
    has_ended: AtomicBool,
    /// How often a poisoned log has gone on.
    life: AtomicU64,
    /// What was durable when it did so last.
    kept: Mutex<Kept>,
    written_signal: Signal,
    written_tasks: Notify,
    /// Twice the number of syncs done, and one more while one is under way.
    syncs: AtomicU64,
    /// The last entry that the sync under way covers.
    sync_end: AtomicU64,
    /// One for syncs of even numbers, one for the others: whoever came too late for the sync under
    /// way is not woken for nothing when that is done.
    durable_signals: [Signal; 2],
    durable_tasks: Notify,
}

/// Wakes threads that wait for a change. They wait on the number itself: a lock that all of them
/// want back when they wake would let them through one by one.
#[derive(Debug, Default)]
struct Signal {
    changes: AtomicU32,
    /// Threads that wait or are about to.
    waiting: AtomicU32,
}

impl Signal {
    fn announce(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            atomic_wait::wake_all(&self.changes);
        }
    }

    /// Blocks until the next change unless `look` says otherwise; gives its answer if it had one.
    fn look_or_wait<T>(&self, look: impl FnOnce() -> Result<T, Still>) -> Option<T> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        // Read before looking, so that no change falls between the two.
        let changes = self.changes.load(Ordering::SeqCst);
        let found = look();
        if matches!(found, Err(Still::Open)) {
            atomic_wait::wait(&self.changes, changes);
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        found.ok()
    }
}

/// Why there is no answer yet.
enum Still {
    /// It is open.
    Open,
    /// What decides where to wait has moved on.
    Elsewhere,
}

/// What a log that went on has kept of the life before.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    /// The life that began.
    life: u64,
    /// The last entry that is of both.
    durable: Glsn,
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
            end: ArcSwapOption::empty(),
            has_ended: AtomicBool::new(false),
            life: AtomicU64::new(0),
            kept: Mutex::default(),
            written_signal: Signal::default(),
            written_tasks: Notify::new(),
            syncs: AtomicU64::new(0),
            sync_end: AtomicU64::new(0),
            durable_signals: Default::default(),
            durable_tasks: Notify::new(),
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
        self.written_tasks.notify_waiters();
    }

    /// A sync of all that is written begins.
    pub(crate) fn begin_sync(&self) {
        self.sync_end.store(self.written().get(), Ordering::SeqCst);
        self.syncs.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn durable_controls(&self) -> Controls {
        self.durable_controls.load(Ordering::Acquire)
    }

    /// The sync is done: everything up to an entry and a control record is durable.
    pub(crate) fn set_durable(&self, glsn: Glsn, controls: Controls) {
        // What is durable was written; a reader must not find it otherwise.
        assert!(
            glsn <= self.written(),
            "only written entries can become durable"
        );
        self.durable_controls.store(controls, Ordering::Release);
        self.durable.store(glsn.get(), Ordering::Release);
        let done = self.syncs.fetch_add(1, Ordering::SeqCst).div_ceil(2);
        self.durable_signals[usize::from(done % 2 == 1)].announce();
        self.durable_tasks.notify_waiters();
    }

    pub(crate) fn close(&self) {
        self.set_end(End::Closed);
    }

    pub(crate) fn poison(&self, poison: Poison) {
        self.set_end(End::Poisoned(poison));
    }

    fn end(&self) -> Option<Arc<End>> {
        match self.has_ended.load(Ordering::SeqCst) {
            true => self.end.load_full(),
            false => None,
        }
    }

    /// The error of a poisoned log.
    pub(crate) fn poisoned(&self) -> Option<LogError> {
        match self.end().as_deref() {
            Some(End::Poisoned(poison)) => Some(poison.error()),
            Some(End::Closed) | None => None,
        }
    }

    /// How often a poisoned log has gone on.
    pub(crate) fn life(&self) -> u64 {
        self.life.load(Ordering::SeqCst)
    }

    /// What a poisoned log has written behind its durable end is given up: nobody reads it from now on.
    pub(crate) fn give_up_undurable(&self) {
        self.written.store(self.durable().get(), Ordering::SeqCst);
    }

    /// A poisoned log goes on behind what is durable. Nothing is written meanwhile.
    pub(crate) fn revive(&self) {
        // The sync that failed is over.
        if self.syncs.load(Ordering::SeqCst) % 2 == 1 {
            self.syncs.fetch_add(1, Ordering::SeqCst);
        }
        // Before the end goes: whoever waits for what is lost must not find the log open, and the position far away.
        let life = self.life.fetch_add(1, Ordering::SeqCst) + 1;
        *self.kept.lock() = Kept {
            life,
            durable: self.durable(),
        };
        self.has_ended.store(false, Ordering::SeqCst);
        self.end.store(None);
        self.announce_all();
    }

    /// Waits for an entry that was given in a life of the log.
    pub(crate) fn wait(&self, life: u64, glsn: Glsn, goal: Goal) -> Result<(), LogError> {
        let look = || self.outcome(life, glsn, goal);
        if let Some(outcome) = look() {
            return outcome;
        }
        match goal {
            Goal::Durable => self.wait_for_sync(glsn, look),
            Goal::Readable | Goal::Written => loop {
                let open = || look().ok_or(Still::Open);
                if let Some(outcome) = self.written_signal.look_or_wait(open) {
                    return outcome;
                }
            },
        }
    }

    /// As [`wait`](Self::wait), for tasks.
    pub(crate) async fn wait_async(
        &self,
        life: u64,
        glsn: Glsn,
        goal: Goal,
    ) -> Result<(), LogError> {
        let tasks = match goal {
            Goal::Readable | Goal::Written => &self.written_tasks,
            Goal::Durable => &self.durable_tasks,
        };
        loop {
            let mut changed = pin!(tasks.notified());
            // Registered before looking, so that no change falls between the two.
            changed.as_mut().enable();
            if let Some(outcome) = self.outcome(life, glsn, goal) {
                return outcome;
            }
            changed.await;
        }
    }

    /// Waits until a control record that was given in a life of the log is durable.
    pub(crate) fn wait_controls(&self, life: u64, controls: Controls) -> Result<(), LogError> {
        self.wait_for_sync(Glsn::ZERO, || {
            // The end is looked at first: whatever is durable then stays so. The life comes last: what was durable
            // before was so in this one.
            let end = self.end();
            let is_durable = controls <= self.durable_controls();
            if self.life() != life {
                let glsn = self.durable().next();
                return Some(Err(LogError::Lost { glsn }));
            }
            if is_durable {
                return Some(Ok(()));
            }
            end.map(|end| Err(end.error()))
        })
    }

    /// Blocks until `look` has an answer; it is asked again after each sync that may cover `glsn`.
    fn wait_for_sync<T>(&self, glsn: Glsn, look: impl Fn() -> Option<T>) -> T {
        loop {
            let syncs = self.syncs.load(Ordering::SeqCst);
            let under_way = syncs % 2 == 1;
            let covered = under_way && glsn.get() <= self.sync_end.load(Ordering::SeqCst);
            let number = syncs / 2 + if under_way && !covered { 2 } else { 1 };
            let signal = &self.durable_signals[usize::from(number % 2 == 1)];
            let answer = signal.look_or_wait(|| {
                look().ok_or_else(|| match self.syncs.load(Ordering::SeqCst) == syncs {
                    true => Still::Open,
                    false => Still::Elsewhere,
                })
            });
            if let Some(answer) = answer {
                return answer;
            }
        }
    }

    /// How a wait for `glsn` ends, or `None` while that is open.
    fn outcome(&self, life: u64, glsn: Glsn, goal: Goal) -> Option<Result<(), LogError>> {
        // The end is looked at before the positions, and these before the life: whatever is there was final by
        // then, and was so in this life.
        let end = self.end();
        let durable = glsn <= self.durable();
        let reached = durable
            || match goal {
                Goal::Readable | Goal::Written => glsn <= self.written(),
                Goal::Durable => false,
            };
        let now = self.life();
        if now != life {
            let kept = *self.kept.lock();
            let kept = kept.life == life + 1 && glsn <= kept.durable;
            return Some(kept.then_some(()).ok_or(LogError::Lost { glsn }));
        }
        if durable {
            return Some(Ok(()));
        }
        match end.as_deref() {
            None => reached.then_some(Ok(())),
            Some(_) if reached && goal == Goal::Readable => Some(Ok(())),
            Some(End::Closed) if reached => Some(Ok(())),
            Some(end) => Some(Err(end.error())),
        }
    }

    fn set_end(&self, end: End) {
        // The first end stands: a log that is poisoned stays so when it is closed.
        let end = Arc::new(end);
        self.end
            .rcu(|before| before.clone().or_else(|| Some(end.clone())));
        self.has_ended.store(true, Ordering::SeqCst);
        self.announce_all();
    }

    fn announce_all(&self) {
        self.written_signal.announce();
        self.written_tasks.notify_waiters();
        self.durable_signals.iter().for_each(Signal::announce);
        self.durable_tasks.notify_waiters();
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
