//! What searches for vectors have cost lately.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What one candidate of a search has cost lately, in nanoseconds of the wall clock. Waiting for the disk counts, so that
/// searches of a column that is not in memory are dear. Searches at the same time may miss each other's figures.
#[derive(Debug, Default)]
pub(crate) struct CandidatePrice(AtomicU64);

impl CandidatePrice {
    /// What a search that keeps so many candidates is expected to take; none before the first.
    pub(crate) fn of(&self, candidates: usize) -> Option<Duration> {
        let nanos = self.0.load(Ordering::Relaxed);
        (nanos > 0).then(|| Duration::from_nanos(nanos.saturating_mul(candidates as u64)))
    }

    /// A search has taken this. A dear one counts at once, and for a while.
    pub(crate) fn paid(&self, candidates: usize, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let now = (nanos / candidates.max(1) as u64).max(1);
        let before = self.0.load(Ordering::Relaxed);
        self.0
            .store(now.max(before - before / 8), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dear_search_is_forgotten_by_and_by() {
        let price = CandidatePrice::default();
        assert_eq!(price.of(100), None);
        price.paid(100, Duration::from_micros(50));
        assert_eq!(price.of(200), Some(Duration::from_micros(100)));
        price.paid(100, Duration::from_millis(80));
        assert_eq!(price.of(100), Some(Duration::from_millis(80)));
        let cheap = || price.of(100) < Some(Duration::from_micros(100));
        let again = (0..).take_while(|_| {
            price.paid(100, Duration::from_micros(50));
            !cheap()
        });
        assert!((20..100).contains(&again.count()));
    }
}
