//! What the process really has, beside what is booked: the net under everything that is on no account.

use std::fs;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a reading counts: one costs some microseconds.
const READ_EVERY: Duration = Duration::from_millis(5);
/// Bytes of a page, as `/proc` counts; where they are larger, less is seen than there is.
const PAGE_BYTES: usize = 4096;

/// The process's own memory, read now and then.
#[derive(Debug)]
pub(super) struct RealMemory {
    limit: AtomicUsize,
    began: Instant,
    /// Microseconds from the beginning to when it is to be read again.
    due: AtomicU64,
    bytes: AtomicUsize,
    read: fn() -> Option<usize>,
}

impl RealMemory {
    pub(super) fn new(limit: usize) -> Self {
        Self::read_by(limit, own_bytes)
    }

    pub(super) fn read_by(limit: usize, read: fn() -> Option<usize>) -> Self {
        RealMemory {
            limit: AtomicUsize::new(limit),
            began: Instant::now(),
            due: AtomicU64::new(0),
            bytes: AtomicUsize::new(0),
            read,
        }
    }

    pub(super) fn set_limit(&self, limit: usize) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Whether there is room for more; what there is and the limit, if not.
    pub(super) fn check(&self, more: usize) -> Result<(), (usize, usize)> {
        let limit = self.limit();
        if limit == usize::MAX {
            return Ok(());
        }
        let bytes = self.bytes();
        if bytes.saturating_add(more) > limit {
            return Err((bytes, limit));
        }
        Ok(())
    }

    pub(super) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    pub(super) fn bytes(&self) -> usize {
        let now = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let due = self.due.load(Ordering::Relaxed);
        let next = now.saturating_add(u64::try_from(READ_EVERY.as_micros()).unwrap_or(u64::MAX));
        let mine = now >= due
            && self
                .due
                .compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if mine && let Some(bytes) = (self.read)() {
            self.bytes.store(bytes, Ordering::Relaxed);
        }
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Memory of this process that is no page of a file; `None` where the system does not say.
fn own_bytes() -> Option<usize> {
    pages_of(&fs::read_to_string("/proc/self/statm").ok()?)?.checked_mul(PAGE_BYTES)
}

/// `/proc/self/statm`: the whole size, what is there of it, and what of that is shared.
fn pages_of(text: &str) -> Option<usize> {
    let mut numbers = text.split(' ').skip(1).map(str::parse::<usize>);
    let (there, shared) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(there.saturating_sub(shared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processs_own_pages_are_those_that_it_does_not_share() {
        assert_eq!(pages_of("19000 700 200 11 0 400 0\n"), Some(500));
        assert_eq!(pages_of(""), None);
        assert_eq!(pages_of("1 x 2"), None);
    }

    #[test]
    fn what_is_really_there_is_held_against_the_limit() {
        let real = RealMemory::read_by(1000, || Some(900));
        assert_eq!(real.check(100), Ok(()));
        assert_eq!(real.check(101), Err((900, 1000)));
        real.set_limit(usize::MAX);
        assert_eq!(real.check(usize::MAX), Ok(()));
        let unknown = RealMemory::read_by(1000, || None);
        assert_eq!(unknown.check(1000), Ok(()));
    }
}
