//! Figures of a log since it was opened.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Figures of a log; counters start at zero when it is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogStats {
    /// Entries written.
    pub entries: u64,
    /// Bytes written, with frames and marks.
    pub bytes: u64,
    /// Groups of entries written, each with one call.
    pub groups: u64,
    /// Successful syncs of entries.
    pub syncs: u64,
    /// Time spent in them.
    pub sync_time: Duration,
    /// How often a call to `append` had to wait for room.
    pub append_waits: u64,
    /// Bytes that wait in memory for the disk.
    pub pending_bytes: usize,
    /// Log files.
    pub files: usize,
    /// Whether a write or sync has failed, so that writes are refused.
    pub poisoned: bool,
}

/// The counters that the writer keeps.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    entries: AtomicU64,
    bytes: AtomicU64,
    groups: AtomicU64,
    syncs: AtomicU64,
    sync_nanos: AtomicU64,
}

impl Counters {
    pub(crate) fn group(&self, entries: u64, bytes: usize) {
        self.entries.fetch_add(entries, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.groups.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn sync(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.sync_nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self) -> LogStats {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LogStats {
            entries: load(&self.entries),
            bytes: load(&self.bytes),
            groups: load(&self.groups),
            syncs: load(&self.syncs),
            sync_time: Duration::from_nanos(load(&self.sync_nanos)),
            ..LogStats::default()
        }
    }
}
