//! How fast a write by query may go: documents a second, which `_rethrottle` changes while it runs.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clew_platform::{stopped, whole_ms};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::http::error::ApiError;
use crate::state::call::Call;

/// A batch is held up for no longer, whatever the speed asks for.
const PAUSE_MAX: Duration = Duration::from_secs(3600);
/// A job that waits looks this often whether somebody has ended it.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The speed of one job, and how long it was held up.
#[derive(Debug)]
pub(crate) struct Speed {
    /// The bits of a number above zero; endless where nothing holds the job up.
    per_second: AtomicU32,
    throttled_ms: AtomicU64,
    changed: Notify,
}

impl Speed {
    /// The speed that a request asks for.
    pub(super) fn of(call: &Call) -> Result<Arc<Self>, ApiError> {
        let per_second = read(call)?.unwrap_or(f32::INFINITY);
        Ok(Arc::new(Speed {
            per_second: AtomicU32::new(per_second.to_bits()),
            throttled_ms: AtomicU64::new(0),
            changed: Notify::new(),
        }))
    }

    fn per_second(&self) -> f32 {
        f32::from_bits(self.per_second.load(Ordering::Relaxed))
    }

    /// The speed as it is shown: -1 where nothing holds the job up.
    pub(super) fn shown(&self) -> f32 {
        let per_second = self.per_second();
        if per_second.is_finite() {
            per_second
        } else {
            -1.0
        }
    }

    pub(super) fn throttled_ms(&self) -> u64 {
        self.throttled_ms.load(Ordering::Relaxed)
    }

    fn set(&self, per_second: f32) {
        self.per_second
            .store(per_second.to_bits(), Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    /// Waits until a batch of so many documents, begun at a moment, has taken as long as it should; ends early when
    /// the job is cancelled, and goes by a new speed at once.
    pub(super) async fn wait(&self, documents: usize, began: Instant) {
        let since = Instant::now();
        while !stopped() {
            let changed = self.changed.notified();
            let due = began + self.pause(documents);
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep(left.min(LOOK_EVERY)) => {}
            }
        }
        let waited = whole_ms(since.elapsed());
        self.throttled_ms.fetch_add(waited, Ordering::Relaxed);
    }

    /// How long a batch of so many documents should take.
    pub(super) fn pause(&self, documents: usize) -> Duration {
        let documents = u32::try_from(documents).unwrap_or(u32::MAX);
        let seconds = f64::from(documents) / f64::from(self.per_second());
        Duration::try_from_secs_f64(seconds).map_or(PAUSE_MAX, |pause| pause.min(PAUSE_MAX))
    }
}

/// The speeds of the jobs that go on as tasks, by the tasks' numbers.
#[derive(Debug, Default)]
pub(crate) struct Speeds(Mutex<HashMap<u64, Arc<Speed>>>);

impl Speeds {
    pub(super) fn insert(&self, task: u64, speed: Arc<Speed>) {
        self.0.lock().insert(task, speed);
    }

    pub(super) fn remove(&self, task: u64) {
        self.0.lock().remove(&task);
    }

    /// Gives a job another speed, the one that a request asks for; false when there is no such job.
    ///
    /// # Errors
    /// A speed that none can have.
    pub(crate) fn change(&self, task: u64, call: &Call) -> Result<bool, ApiError> {
        let per_second = read(call)?.unwrap_or(f32::INFINITY);
        let speed = self.0.lock().get(&task).cloned();
        if let Some(speed) = &speed {
            speed.set(per_second);
        }
        Ok(speed.is_some())
    }
}

/// What is said of a speed that none can have.
const NO_SPEED: &str =
    "[requests_per_second] must be a float greater than 0. Use -1 to disable throttling.";

/// `requests_per_second`; none where nothing is to hold a job up.
fn read(call: &Call) -> Result<Option<f32>, ApiError> {
    match call.params.get("requests_per_second") {
        None | Some("-1") => Ok(None),
        Some(text) => match text.parse::<f32>() {
            Ok(rate) if rate > 0.0 => Ok(Some(rate)),
            Ok(rate) if rate.to_bits() == (-1.0_f32).to_bits() => Ok(None),
            Ok(_) => Err(ApiError::illegal_argument(NO_SPEED)),
            Err(_) => Err(ApiError::no_number(NO_SPEED, text)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_takes_as_long_as_its_documents_should() {
        let speed = |per_second: f32| Speed {
            per_second: AtomicU32::new(per_second.to_bits()),
            throttled_ms: AtomicU64::new(0),
            changed: Notify::new(),
        };
        assert_eq!(speed(10.0).pause(5), Duration::from_millis(500));
        assert_eq!(speed(f32::INFINITY).pause(1000), Duration::ZERO);
        assert_eq!(speed(f32::MIN_POSITIVE).pause(1), PAUSE_MAX);
        assert!(speed(f32::INFINITY).shown() < 0.0);
        let changed = speed(1.0);
        changed.set(2.0);
        assert_eq!(changed.pause(1), Duration::from_millis(500));
    }
}
