//! Figures of a log since it was opened.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Figures of a log; counters start at zero when it is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogStats {
    /// Entries written.
    pub entries: u64,
    /// Bytes written, with frames and marks.
    pub bytes: u64,
    /// Groups of calls written, each with one write.
    pub groups: u64,
    /// Successful syncs of entries.
    pub syncs: u64,
    /// Microseconds from a call to its acknowledgement, as the first call of its group had it.
    pub append_latency: Histogram,
    /// Microseconds a sync took.
    pub sync_latency: Histogram,
    /// Entries in a group.
    pub group_entries: Histogram,
    /// How often a call to `append` had to wait for room.
    pub append_waits: u64,
    /// Bytes that wait in memory for the disk.
    pub pending_bytes: usize,
    /// Log files.
    pub files: usize,
    /// Whether a write or sync has failed, so that writes are refused.
    pub poisoned: bool,
    /// How often the log went on after such a failure.
    pub resumptions: u64,
}

/// How often values fell under each bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Upper bounds, inclusive, ascending.
    pub bounds: &'static [u64],
    /// Values up to each bound and above the one before; the last counts those above all bounds.
    pub counts: Vec<u64>,
    /// The sum of all values.
    pub sum: u64,
}

/// Microseconds: from what memory takes to what a struggling disk does.
const LATENCY_BOUNDS: [u64; 16] = [
    50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 102_400, 204_800, 409_600,
    1_638_400, 6_553_600,
];
const GROUP_BOUNDS: [u64; 10] = [1, 2, 4, 8, 16, 64, 256, 1_024, 4_096, 16_384];

/// The counters that the writer keeps.
#[derive(Debug)]
pub(crate) struct Counters {
    entries: AtomicU64,
    bytes: AtomicU64,
    groups: AtomicU64,
    syncs: AtomicU64,
    append_latency: Buckets<17>,
    sync_latency: Buckets<17>,
    group_entries: Buckets<11>,
}

impl Default for Counters {
    fn default() -> Self {
        Counters {
            entries: AtomicU64::default(),
            bytes: AtomicU64::default(),
            groups: AtomicU64::default(),
            syncs: AtomicU64::default(),
            append_latency: Buckets::new(&LATENCY_BOUNDS),
            sync_latency: Buckets::new(&LATENCY_BOUNDS),
            group_entries: Buckets::new(&GROUP_BOUNDS),
        }
    }
}

impl Counters {
    /// A group was written.
    pub(crate) fn group(&self, entries: u64, bytes: usize) {
        self.entries.fetch_add(entries, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.groups.fetch_add(1, Ordering::Relaxed);
        self.group_entries.add(entries, 1);
    }

    /// Calls were acknowledged, this long after the first of them had come.
    pub(crate) fn acknowledged(&self, after: Duration, calls: u64) {
        self.append_latency.add(micros(after), calls);
    }

    pub(crate) fn sync(&self, time: Duration) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.sync_latency.add(micros(time), 1);
    }

    pub(crate) fn stats(&self) -> LogStats {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LogStats {
            entries: load(&self.entries),
            bytes: load(&self.bytes),
            groups: load(&self.groups),
            syncs: load(&self.syncs),
            append_latency: self.append_latency.histogram(),
            sync_latency: self.sync_latency.histogram(),
            group_entries: self.group_entries.histogram(),
            ..LogStats::default()
        }
    }
}

/// A histogram that is counted into; `N` is one more than there are bounds.
#[derive(Debug)]
struct Buckets<const N: usize> {
    bounds: &'static [u64],
    counts: [AtomicU64; N],
    sum: AtomicU64,
}

impl<const N: usize> Buckets<N> {
    fn new(bounds: &'static [u64]) -> Self {
        assert_eq!(bounds.len() + 1, N, "one more for what is above all bounds");
        Buckets {
            bounds,
            counts: std::array::from_fn(|_| AtomicU64::default()),
            sum: AtomicU64::default(),
        }
    }

    /// Counts a value that occurred `times`.
    fn add(&self, value: u64, times: u64) {
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        self.counts[bucket].fetch_add(times, Ordering::Relaxed);
        self.sum
            .fetch_add(value.saturating_mul(times), Ordering::Relaxed);
    }

    fn histogram(&self) -> Histogram {
        let counts = self
            .counts
            .iter()
            .map(|count| count.load(Ordering::Relaxed));
        Histogram {
            bounds: self.bounds,
            counts: counts.collect(),
            sum: self.sum.load(Ordering::Relaxed),
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_under_the_bound_they_do_not_exceed() {
        let buckets: Buckets<11> = Buckets::new(&GROUP_BOUNDS);
        for (value, times) in [(0, 1), (1, 2), (2, 1), (3, 1), (16_384, 1), (16_385, 4)] {
            buckets.add(value, times);
        }
        let Histogram { counts, sum, .. } = buckets.histogram();
        assert_eq!(counts, [3, 1, 1, 0, 0, 0, 0, 0, 0, 1, 4]);
        assert_eq!(sum, 2 + 2 + 3 + 16_384 + 4 * 16_385);
    }
}
