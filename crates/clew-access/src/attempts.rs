//! Wrong passwords are few: each user has a store of attempts that fills again slowly, and all names that nobody has share one.
//! Who is remembered needs none, so that guesses lock no running client out.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;

use crate::error::Refused;

/// Attempts that may fail in a row.
const STORE: u32 = 20;
/// One more after this time.
const REFILL: Duration = Duration::from_secs(1);

/// How many attempts are left, and since when that holds.
#[derive(Clone, Copy)]
struct Left {
    attempts: u32,
    since: Duration,
}

/// The stores of those whose attempts have failed.
#[derive(Default)]
pub(crate) struct Attempts {
    left: Mutex<HashMap<String, Left>>,
}

impl Left {
    /// What it has come to by now.
    fn refilled(self, now: Duration) -> Left {
        let passed = now.saturating_sub(self.since).as_secs() / REFILL.as_secs();
        let more = u32::try_from(passed).unwrap_or(STORE);
        let attempts = self.attempts.saturating_add(more);
        if attempts >= STORE {
            return Left {
                attempts: STORE,
                since: now,
            };
        }
        Left {
            attempts,
            since: self.since + REFILL * more,
        }
    }
}

impl Attempts {
    /// Takes an attempt before a password is looked at.
    ///
    /// # Errors
    /// [`Refused::TooManyAttempts`] when none is left.
    pub(crate) fn take(&self, name: &str, now: Duration) -> Result<(), Refused> {
        let mut all = self.left.lock();
        let full = Left {
            attempts: STORE,
            since: now,
        };
        let left = all.get(name).copied().unwrap_or(full).refilled(now);
        let Some(attempts) = left.attempts.checked_sub(1) else {
            let after = (left.since + REFILL).saturating_sub(now);
            return Err(Refused::TooManyAttempts { after });
        };
        all.insert(name.to_string(), Left { attempts, ..left });
        Ok(())
    }

    /// The password was right: everything is as before the first wrong one.
    pub(crate) fn right(&self, name: &str) {
        self.left.lock().remove(name);
    }

    /// Forgets whoever is not to be kept.
    pub(crate) fn retain(&self, keep: impl Fn(&str) -> bool) {
        self.left.lock().retain(|name, _| keep(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_run_out_and_come_back_one_a_second() {
        let attempts = Attempts::default();
        let at = Duration::from_millis;
        for _ in 0..STORE {
            attempts.take("a", at(5_000)).unwrap();
        }
        let refused = attempts.take("a", at(5_400)).unwrap_err();
        assert_eq!(refused, Refused::TooManyAttempts { after: at(600) });
        attempts.take("b", at(5_400)).unwrap();
        attempts.take("a", at(6_100)).unwrap();
        assert!(attempts.take("a", at(6_900)).is_err());
        attempts.take("a", at(7_000)).unwrap();
        attempts.right("a");
        for _ in 0..STORE {
            attempts.take("a", at(7_000)).unwrap();
        }
        // A long time makes no more than a full store.
        for _ in 0..STORE {
            attempts.take("a", at(u64::MAX / 2)).unwrap();
        }
        assert!(attempts.take("a", at(u64::MAX / 2)).is_err());
    }
}
