//! What the process really has, beside what is booked: the net under everything that is on no account.

use std::fs;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::allocator::give_back_freed;

/// How long a reading counts: one costs some microseconds.
const READ_EVERY: Duration = Duration::from_millis(5);
/// From one in so many parts of its limit on the process gives back what was freed, as often as [`GIVE_BACK_EVERY`] says at most.
/// Below, what is kept is handed out again without asking the system for it page by page: bulks cost an eighth less.
const SHORT_SHARE: usize = 2;
/// Going through what is kept takes milliseconds where it is much.
const GIVE_BACK_EVERY: Duration = Duration::from_millis(50);
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
    /// Microseconds from the beginning to when what was freed may be given back again.
    give_back_due: AtomicU64,
    give_back: fn(),
}

impl RealMemory {
    pub(super) fn new(limit: usize) -> Self {
        Self::read_by(limit, own_bytes, give_back_freed)
    }

    pub(super) fn read_by(limit: usize, read: fn() -> Option<usize>, give_back: fn()) -> Self {
        RealMemory {
            limit: AtomicUsize::new(limit),
            began: Instant::now(),
            due: AtomicU64::new(0),
            bytes: AtomicUsize::new(0),
            read,
            give_back_due: AtomicU64::new(0),
            give_back,
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
        if is_turn(&self.due, now, READ_EVERY)
            && let Some(bytes) = self.read_now(now)
        {
            self.bytes.store(bytes, Ordering::Relaxed);
        }
        self.bytes.load(Ordering::Relaxed)
    }

    /// What there is, after what was freed is given back where that is much.
    fn read_now(&self, now: u64) -> Option<usize> {
        let bytes = (self.read)()?;
        let is_short = bytes > self.limit() / SHORT_SHARE;
        if is_short && is_turn(&self.give_back_due, now, GIVE_BACK_EVERY) {
            (self.give_back)();
            return (self.read)();
        }
        Some(bytes)
    }
}

/// Whether something is due, for one of those who ask; it is not again for a while then. In microseconds from some beginning.
fn is_turn(due: &AtomicU64, now: u64, every: Duration) -> bool {
    let was = due.load(Ordering::Relaxed);
    let next = now.saturating_add(u64::try_from(every.as_micros()).unwrap_or(u64::MAX));
    now >= was
        && due
            .compare_exchange(was, next, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
}

/// Memory of this process that is no page of a file; `None` where the system does not say.
pub(crate) fn own_bytes() -> Option<usize> {
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
        let real = RealMemory::read_by(1000, || Some(900), || {});
        assert_eq!(real.check(100), Ok(()));
        assert_eq!(real.check(101), Err((900, 1000)));
        real.set_limit(usize::MAX);
        assert_eq!(real.check(usize::MAX), Ok(()));
        let unknown = RealMemory::read_by(1000, || None, || {});
        assert_eq!(unknown.check(1000), Ok(()));
    }

    #[test]
    fn what_was_freed_is_given_back_where_there_is_little_left() {
        static KEPT: AtomicUsize = AtomicUsize::new(600);
        let read = || Some(300 + KEPT.load(Ordering::Relaxed));
        let real = RealMemory::read_by(1000, read, || KEPT.store(0, Ordering::Relaxed));
        assert_eq!(real.bytes(), 300);
        // With plenty, it is handed out again.
        KEPT.store(600, Ordering::Relaxed);
        let ample = RealMemory::read_by(2000, read, || KEPT.store(0, Ordering::Relaxed));
        assert_eq!(ample.bytes(), 900);
    }

    #[test]
    fn what_is_due_is_due_for_one() {
        let due = AtomicU64::new(0);
        let turns: Vec<bool> = [0, 1, 4_999, 5_000, 5_000]
            .into_iter()
            .map(|now| is_turn(&due, now, Duration::from_millis(5)))
            .collect();
        assert_eq!(turns, [true, false, false, true, false]);
    }
}
