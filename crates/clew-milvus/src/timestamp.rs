//! Hybrid times, as Milvus' clients pass them on: milliseconds since the epoch above 18 bits that count.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clew_platform::whole_ms;

const COUNT_BITS: u32 = 18;

/// Gives out times that only rise.
#[derive(Debug, Default)]
pub(crate) struct HybridClock {
    last: AtomicU64,
}

impl HybridClock {
    /// A time after all that were given out, and not before `now`, which is since the epoch.
    pub(crate) fn next(&self, now: Duration) -> u64 {
        let now = whole_ms(now) << COUNT_BITS;
        let next = |last: u64| Some((last + 1).max(now));
        let last = self
            .last
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        let last = last.unwrap_or_else(|last| last);
        (last + 1).max(now)
    }
}

/// The time of a moment, in milliseconds since the epoch.
pub(crate) fn of_millis(millis: u64) -> u64 {
    millis << COUNT_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_rise_though_the_clock_stands_still_or_goes_back() {
        let clock = HybridClock::default();
        let now = Duration::from_millis(1_790_000_000_000);
        let first = clock.next(now);
        assert_eq!(first >> COUNT_BITS, 1_790_000_000_000);
        let second = clock.next(now);
        let third = clock.next(Duration::ZERO);
        assert!(first < second && second < third);
        assert!(third < clock.next(now + Duration::from_millis(1)));
    }
}
