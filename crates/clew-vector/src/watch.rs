//! What the outside sees of a build and may do to it: how far it is, that it shall stop, and where it
//! keeps what it has done so far. A build checks for both once a row, which is a load from memory that
//! nobody writes; it counts rows in batches.
//!
//! Deliberately absent: clocks and files. When a build is saved, and where, is the owner's business.

use std::io::{self, Write};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::VectorError;

/// What a build is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum BuildPhase {
    /// Nothing: it has not begun, or is over.
    Idle,
    /// Vectors are encoded.
    Encode,
    /// Rows are linked; nearly all the time of a build.
    Link,
    /// Lists are cut to the length that an image has.
    Finish,
    /// Searches learn how much effort a recall takes. Not counted in rows.
    Learn,
    /// The image is written. Not counted in rows.
    Write,
}

impl BuildPhase {
    const ALL: [BuildPhase; 6] = [
        BuildPhase::Idle,
        BuildPhase::Encode,
        BuildPhase::Link,
        BuildPhase::Finish,
        BuildPhase::Learn,
        BuildPhase::Write,
    ];

    /// The phase in a word.
    pub fn name(self) -> &'static str {
        match self {
            BuildPhase::Idle => "idle",
            BuildPhase::Encode => "encode",
            BuildPhase::Link => "link",
            BuildPhase::Finish => "finish",
            BuildPhase::Learn => "learn",
            BuildPhase::Write => "write",
        }
    }
}

/// How far a build is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildStatus {
    /// What it is doing.
    pub phase: BuildPhase,
    /// Rows that are through with this phase.
    pub rows_done: usize,
    /// Rows that go through this phase; 0 when it is not counted in rows.
    pub rows_total: usize,
}

/// What [`BuildProgress`] is told of builds.
const GO_ON: u8 = 0;
const INTERRUPTED: u8 = 1;
const CANCELLED: u8 = 2;

/// The progress of one build after the other, seen by any thread at any time. Once cancelled, it
/// stays cancelled: all later builds fail too. Once interrupted, it stays so until somebody resumes.
#[derive(Debug, Default)]
pub struct BuildProgress {
    phase: AtomicU8,
    rows_done: AtomicUsize,
    rows_total: AtomicUsize,
    told: AtomicU8,
}

impl BuildProgress {
    /// How far the build is. The numbers are read one after the other, so they may be of two phases.
    pub fn status(&self) -> BuildStatus {
        let phase = usize::from(self.phase.load(Ordering::Relaxed));
        let rows_total = self.rows_total.load(Ordering::Relaxed);
        BuildStatus {
            phase: BuildPhase::ALL[phase],
            rows_done: self.rows_done.load(Ordering::Relaxed).min(rows_total),
            rows_total,
        }
    }

    /// Lets the build fail with [`VectorError::Cancelled`] as soon as each of its threads is through
    /// with its row, and every later build at once.
    pub fn cancel(&self) {
        self.told.store(CANCELLED, Ordering::Relaxed);
    }

    /// The same until [`BuildProgress::resume`].
    pub fn interrupt(&self) {
        self.tell(GO_ON, INTERRUPTED);
    }

    /// Lets builds go on after an interruption; what was cancelled stays so.
    pub fn resume(&self) {
        self.tell(INTERRUPTED, GO_ON);
    }

    fn tell(&self, before: u8, now: u8) {
        let (told, order) = (&self.told, Ordering::Relaxed);
        // Something else is told where it fails, which stays.
        let _ = told.compare_exchange(before, now, order, order);
    }

    /// Whether it was cancelled, or is interrupted.
    pub fn is_cancelled(&self) -> bool {
        self.told.load(Ordering::Relaxed) != GO_ON
    }

    /// Fails when the build was cancelled, or is interrupted.
    pub fn check(&self) -> Result<(), VectorError> {
        if self.is_cancelled() {
            return Err(VectorError::Cancelled);
        }
        Ok(())
    }

    /// Forgets a build that ended early.
    pub fn rest(&self) {
        self.begin(BuildPhase::Idle, (0, 0));
    }

    /// Starts a phase of so many rows, of which some are done.
    pub(crate) fn begin(&self, phase: BuildPhase, (done, total): (usize, usize)) {
        self.rows_total.store(total, Ordering::Relaxed);
        self.rows_done.store(done, Ordering::Relaxed);
        self.phase.store(phase as u8, Ordering::Relaxed);
    }
}

/// One thread's part of a phase: rows are added up before other threads hear of them.
pub(crate) struct Steps<'a> {
    progress: &'a BuildProgress,
    pending: usize,
}

/// Rows that a thread adds up.
const STEP_ROWS: usize = 64;

impl<'a> Steps<'a> {
    pub(crate) fn new(progress: &'a BuildProgress) -> Self {
        Steps {
            progress,
            pending: 0,
        }
    }

    /// A row is done; whether to go on with the next.
    #[inline]
    pub(crate) fn row_done(&mut self) -> bool {
        self.pending += 1;
        if self.pending == STEP_ROWS {
            self.flush();
        }
        !self.progress.is_cancelled()
    }

    fn flush(&mut self) {
        let rows = std::mem::take(&mut self.pending);
        self.progress.rows_done.fetch_add(rows, Ordering::Relaxed);
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Writes a savepoint to wherever its owner keeps it.
pub type WriteSavepoint<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// Keeps the graph so far, so that a build that was interrupted goes on instead of starting over. A
/// savepoint holds links, about 4 bytes each, and neither vectors nor codes.
pub trait Savepoint: Send + Sync + std::fmt::Debug {
    /// Whether it is time to save again; asked every few rows.
    fn is_due(&self) -> bool;
    /// Keeps what `write` writes in the place of what was kept before. All threads of the build wait
    /// for it. A failure is the owner's to report: the build goes on without.
    fn store(&self, write: WriteSavepoint<'_>);
    /// What was kept last, if anything.
    fn load(&self) -> Option<Box<dyn Deref<Target = [u8]>>>;
    /// What was kept cannot be used: it is damaged, or of other vectors. The build starts over.
    fn refuse(&self, reason: &'static str);
    /// The build goes on after this many rows.
    fn resumed(&self, rows: usize);
}

/// Who watches a build.
#[derive(Debug, Clone, Default)]
pub struct BuildWatch {
    /// Sees how far it is, and may cancel it.
    pub progress: Arc<BuildProgress>,
    /// Keeps what it has done so far.
    pub savepoint: Option<Arc<dyn Savepoint>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_go_on_after_an_interruption_and_never_after_a_cancellation() {
        let progress = BuildProgress::default();
        progress.interrupt();
        assert!(matches!(progress.check(), Err(VectorError::Cancelled)));
        progress.resume();
        assert!(!progress.is_cancelled());
        progress.cancel();
        progress.interrupt();
        progress.resume();
        assert!(progress.is_cancelled());
    }
}
