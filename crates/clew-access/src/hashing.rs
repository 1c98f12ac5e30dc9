//! Few hashes at once: each takes a core and megabytes, so that who sends passwords must not decide how many run.

use parking_lot::{Condvar, Mutex};

use crate::error::Refused;

/// Hashes that run at once.
const AT_ONCE: usize = 2;
/// Those that may wait for one of these.
const WAITING_MAX: usize = 32;

#[derive(Default)]
struct Counts {
    running: usize,
    waiting: usize,
}

/// The places for hashes.
#[derive(Default)]
pub(crate) struct Hashing {
    counts: Mutex<Counts>,
    free: Condvar,
}

/// A place, for as long as it is held.
pub(crate) struct HashingPlace<'h>(&'h Hashing);

impl Hashing {
    /// Waits for a place.
    ///
    /// # Errors
    /// [`Refused::Busy`] when as many wait already as may.
    pub(crate) fn enter(&self) -> Result<HashingPlace<'_>, Refused> {
        let mut counts = self.counts.lock();
        if counts.running >= AT_ONCE {
            if counts.waiting >= WAITING_MAX {
                return Err(Refused::Busy);
            }
            counts.waiting += 1;
            self.free
                .wait_while(&mut counts, |counts| counts.running >= AT_ONCE);
            counts.waiting -= 1;
        }
        counts.running += 1;
        Ok(HashingPlace(self))
    }
}

impl std::ops::Drop for HashingPlace<'_> {
    fn drop(&mut self) {
        self.0.counts.lock().running -= 1;
        self.0.free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn more_than_may_wait_are_refused_and_a_place_that_is_free_is_taken() {
        let hashing = Hashing::default();
        let mut held: Vec<HashingPlace<'_>> =
            (0..AT_ONCE).map(|_| hashing.enter().unwrap()).collect();
        let (done, all) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..WAITING_MAX {
                let (done, hashing) = (done.clone(), &hashing);
                scope.spawn(move || {
                    let entered = hashing.enter().is_ok();
                    done.send(entered).unwrap();
                });
            }
            while hashing.counts.lock().waiting < WAITING_MAX {
                std::thread::yield_now();
            }
            assert!(matches!(hashing.enter(), Err(Refused::Busy)));
            held.clear();
            assert!(all.iter().take(WAITING_MAX).all(|entered| entered));
        });
        assert!(hashing.enter().is_ok());
    }
}
