//! Growing, slightly random pauses between attempts, so that a server that comes back is not met
//! by all its clients at once.

use std::time::Duration;

/// The pauses of one who tries again and again.
#[derive(Debug)]
pub(crate) struct Backoff {
    first: Duration,
    max: Duration,
    attempts: u32,
    random: u64,
}

impl Backoff {
    pub(crate) fn new(first: Duration, max: Duration, seed: u64) -> Self {
        // Xorshift needs a state other than zero.
        Backoff {
            first,
            max,
            attempts: 0,
            random: seed | 1,
        }
    }

    /// Attempts that failed since the last reset.
    pub(crate) fn attempts(&self) -> u32 {
        self.attempts
    }

    pub(crate) fn reset(&mut self) {
        self.attempts = 0;
    }

    /// The next pause: doubled each time, capped, and between half and all of that.
    pub(crate) fn next_pause(&mut self) -> Duration {
        let doubled = self
            .first
            .saturating_mul(1 << self.attempts.min(20))
            .min(self.max);
        self.attempts = self.attempts.saturating_add(1);
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let share = u32::try_from(self.random >> 40).expect("24 bits are left");
        doubled / 2 + (doubled / 2).mul_f64(f64::from(share) / f64::from(1_u32 << 24))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_cap_and_start_over_after_a_reset() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5), 9);
        for _ in 0..2 {
            for attempt in 0..40 {
                let full = (100 << attempt.min(10)).min(5000);
                let pause = backoff.next_pause().as_millis();
                assert!(
                    (full / 2..=full).contains(&pause),
                    "attempt {attempt}: {pause}"
                );
            }
            backoff.reset();
        }
    }
}
