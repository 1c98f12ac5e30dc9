//! Pages that are asked for again while too many searches wait for their turn, here or in another cluster: a job that has done a part of its work does not
//! break off because many others search just then.

use std::time::{Duration, Instant};

use clew_platform::stopped;

use super::speed::LOOK_EVERY;

/// How often one page is asked for again, as in OpenSearch.
const RETRIES_MAX: u32 = 11;

/// How often pages were asked for again.
#[derive(Debug, Default)]
pub(super) struct Retries {
    /// The page that is due.
    in_a_row: u32,
    all: u64,
}

impl Retries {
    /// Of all pages.
    pub(super) fn all(&self) -> u64 {
        self.all
    }

    /// The page is there.
    pub(super) fn succeeded(&mut self) {
        self.in_a_row = 0;
    }

    /// Waits until the page may be asked for again, longer each time; ends early when the job is cancelled. False when it was
    /// asked for often enough.
    pub(super) async fn wait(&mut self) -> bool {
        let Some(delay) = self.next_delay() else {
            return false;
        };
        let due = Instant::now() + delay;
        while !stopped() {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            tokio::time::sleep(left.min(LOOK_EVERY)).await;
        }
        true
    }

    /// Counts one more; half a second at first and half a minute in the end, as OpenSearch's `BackoffPolicy` has it.
    fn next_delay(&mut self) -> Option<Duration> {
        if self.in_a_row == RETRIES_MAX {
            return None;
        }
        let more = (0.8 * f64::from(self.in_a_row)).exp_m1();
        self.in_a_row += 1;
        self.all += 1;
        Some(Duration::from_millis(500) + Duration::from_millis(10).mul_f64(more))
    }
}

#[cfg(test)]
mod tests {
    use clew_platform::CancellationToken;

    use super::*;

    #[test]
    fn a_page_is_asked_for_some_times_later_and_later_and_the_next_one_anew() {
        let mut retries = Retries::default();
        for _ in 0..2 {
            let delays: Vec<Duration> = std::iter::from_fn(|| retries.next_delay()).collect();
            assert_eq!(delays.len(), 11);
            assert_eq!(delays[0], Duration::from_millis(500));
            assert!(delays.is_sorted());
            let seconds: Vec<u64> = delays.iter().map(Duration::as_secs).collect();
            assert_eq!((seconds[5], seconds[10]), (1, 30));
            assert_eq!(retries.next_delay(), None);
            retries.succeeded();
        }
        assert_eq!(retries.all(), 22);
    }

    #[test]
    fn a_job_that_is_cancelled_does_not_wait() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let token = CancellationToken::new();
        token.cancel("by user request");
        let mut retries = Retries {
            in_a_row: RETRIES_MAX - 1,
            all: 0,
        };
        // Half a minute else.
        let waited = token.scope(Box::pin(retries.wait()));
        let limited = async { tokio::time::timeout(Duration::from_secs(20), waited).await };
        assert_eq!(runtime.block_on(limited), Ok(true));
    }
}
