//! How often pipelines and their steps were gone through since they were read, how long that took, and how often it failed.

use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clew_platform::whole_ns;

/// What is counted of one pipeline or step, by all threads that go through it.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    count: AtomicU64,
    failed: AtomicU64,
    current: AtomicU64,
    nanos: AtomicU64,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Documents that it is done with.
    pub count: u64,
    /// Those of them that it failed for.
    pub failed: u64,
    /// Documents that are in it now.
    pub current: u64,
    /// The time that those it is done with took together.
    pub took: Duration,
}

/// What was counted of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCounts {
    /// The name of its kind.
    pub kind: &'static str,
    /// How it is told from others: its kind, the pipeline that it calls, and its tag.
    pub name: String,
    /// How often it was done; what its condition left out does not count.
    pub counts: RunCounts,
}

impl Counter {
    /// A counter of nothing yet.
    pub(super) const fn new() -> Self {
        Counter {
            count: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            current: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
        }
    }

    /// Does what is counted. Two looks at the clock and four additions, some 60 ns.
    pub(super) fn around<T, E>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.current.fetch_add(1, Ordering::Relaxed);
        let begun = Instant::now();
        let done = work();
        let nanos = whole_ns(begun.elapsed());
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
        self.current.fetch_sub(1, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
        if done.is_err() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        done
    }

    pub(super) fn read(&self) -> RunCounts {
        RunCounts {
            count: self.count.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            current: self.current.load(Ordering::Relaxed),
            took: Duration::from_nanos(self.nanos.load(Ordering::Relaxed)),
        }
    }
}

impl AddAssign for RunCounts {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.failed += other.failed;
        self.current += other.current;
        self.took += other.took;
    }
}
