//! What a kind of work has cost lately.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use clew_platform::whole_ns;

/// Prices that are remembered.
const REMEMBERED: usize = 8;
/// So many must be known before the dearest of them is left out.
const TELLING: usize = 4;

/// What a unit of work has cost the last times, in nanoseconds of the wall clock. Waiting for the disk counts, so that
/// searches of a column that is not in memory are dear. The dearest of them does not count: a thread that has lost its
/// processor for a moment, as happens to any now and then where there are more threads than processors, tells nothing of
/// the work. What is done at the same time may miss each other's figures.
#[derive(Debug, Default)]
pub(crate) struct RecentPrice {
    /// 0 where nothing was paid yet.
    last: [AtomicU64; REMEMBERED],
    paid: AtomicUsize,
}

impl RecentPrice {
    /// What so many units are expected to take; none before the first.
    pub(crate) fn of(&self, units: usize) -> Option<Duration> {
        let last = self.last.each_ref();
        let mut prices = last.map(|price| price.load(Ordering::Relaxed));
        prices.sort_unstable_by_key(|price| Reverse(*price));
        let known = prices.iter().filter(|price| **price > 0).count();
        let nanos = prices[usize::from(known >= TELLING)];
        (nanos > 0).then(|| Duration::from_nanos(nanos.saturating_mul(units as u64)))
    }

    /// So many units have taken this.
    pub(crate) fn paid(&self, units: usize, took: Duration) {
        let nanos = whole_ns(took);
        let price = (nanos / units.max(1) as u64).max(1);
        let at = self.paid.fetch_add(1, Ordering::Relaxed) % REMEMBERED;
        self.last[at].store(price, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHEAP: Duration = Duration::from_micros(50);
    const DEAR: Duration = Duration::from_millis(80);

    #[test]
    fn one_dear_time_among_others_does_not_count() {
        let price = RecentPrice::default();
        assert_eq!(price.of(100), None);
        price.paid(100, CHEAP);
        assert_eq!(price.of(200), Some(2 * CHEAP));
        // Of few nobody knows which is the rule.
        price.paid(100, DEAR);
        assert_eq!(price.of(100), Some(DEAR));
        for _ in 0..2 {
            price.paid(100, CHEAP);
        }
        assert_eq!(price.of(100), Some(CHEAP));
    }

    #[test]
    fn two_dear_times_count_until_they_are_forgotten() {
        let price = RecentPrice::default();
        for took in [CHEAP, CHEAP, CHEAP, DEAR, CHEAP, DEAR] {
            price.paid(100, took);
        }
        assert_eq!(price.of(100), Some(DEAR));
        let again = (0..).take_while(|_| {
            price.paid(100, CHEAP);
            price.of(100) == Some(DEAR)
        });
        assert_eq!(again.count(), 5);
    }
}
