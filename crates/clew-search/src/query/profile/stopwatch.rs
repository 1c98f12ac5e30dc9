//! The clock by which costs are measured.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::steps::Timing;

/// Tells the time that has passed since some moment.
#[derive(Clone)]
pub struct Stopwatch(Arc<dyn Fn() -> Duration + Send + Sync>);

impl Stopwatch {
    /// One that asks a clock.
    pub fn new(clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Stopwatch(Arc::new(clock))
    }

    /// The time that has passed.
    pub fn now(&self) -> Duration {
        (self.0)()
    }
}

impl fmt::Debug for Stopwatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stopwatch")
    }
}

/// How long something took, and how often it was done; several threads may add to it.
#[derive(Debug, Default)]
pub(crate) struct Timer {
    ns: AtomicU64,
    count: AtomicU64,
}

impl Timer {
    /// Adds what was done so often since a moment.
    pub(crate) fn add(&self, watch: &Stopwatch, since: Duration, count: u64) {
        let took = watch.now().saturating_sub(since).as_nanos();
        let ns = u64::try_from(took).unwrap_or(u64::MAX);
        self.ns.fetch_add(ns, Ordering::Relaxed);
        self.count.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Timing {
        Timing {
            took: Duration::from_nanos(self.ns.load(Ordering::Relaxed)),
            count: self.count.load(Ordering::Relaxed),
        }
    }
}
