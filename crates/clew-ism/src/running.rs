//! What takes long (merges, snapshots) and goes on beside the job, so that the other indexes need not wait.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use clew_opensearch::wing::ApiError;
use parking_lot::{Mutex, MutexGuard};

use super::managed::ManagedIndex;

/// So much that takes long runs at once: a policy may be given to thousands of indexes, each of which would take a thread that
/// others wait for. The rest gets its turn in later runs of the job.
const LONG_AT_ONCE: usize = 8;

/// What goes on with managed indexes now. Whoever changes one holds [`RunningActions::lock`].
pub(crate) struct RunningActions {
    one: Mutex<()>,
    /// By the index's unique id.
    long: Arc<Mutex<BTreeMap<String, Progress>>>,
    spawn: fn(Box<dyn FnOnce() + Send>),
}

impl fmt::Debug for RunningActions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningActions")
            .field("long", &self.long)
            .finish()
    }
}

/// How far something has come that takes long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Running,
    Done,
    Failed { reason: String },
}

impl Default for RunningActions {
    fn default() -> Self {
        Self::spawned_by(|work| drop(tokio::task::spawn_blocking(work)))
    }
}

impl RunningActions {
    /// What takes long is run by this function.
    pub(super) fn spawned_by(spawn: fn(Box<dyn FnOnce() + Send>)) -> Self {
        RunningActions {
            one: Mutex::new(()),
            long: Arc::default(),
            spawn,
        }
    }

    /// Held while a managed index or a policy is changed.
    pub(super) fn lock(&self) -> MutexGuard<'_, ()> {
        self.one.lock()
    }

    /// How far an index's long work has come; what has ended is told once.
    pub(super) fn progress(&self, uuid: &str) -> Option<Progress> {
        let mut long = self.long.lock();
        match long.get(uuid)? {
            Progress::Running => Some(Progress::Running),
            Progress::Done | Progress::Failed { .. } => long.remove(uuid),
        }
    }

    /// Begins something that takes long, and tells how far it has come; nothing while as much runs as may, to be tried again.
    pub(super) fn begin(
        &self,
        uuid: &str,
        work: impl FnOnce() -> Result<(), ApiError> + Send + 'static,
    ) -> Option<Progress> {
        {
            let mut long = self.long.lock();
            let running = long.values().filter(|one| **one == Progress::Running);
            if running.count() >= LONG_AT_ONCE {
                return None;
            }
            long.insert(uuid.to_string(), Progress::Running);
        }
        let (long, key) = (self.long.clone(), uuid.to_string());
        (self.spawn)(Box::new(move || {
            let ended = match catch_unwind(AssertUnwindSafe(work)) {
                Ok(Ok(())) => Progress::Done,
                Ok(Err(error)) => Progress::Failed {
                    reason: error.reason(),
                },
                // Or it would run for ever.
                Err(_) => Progress::Failed {
                    reason: "it ran into a defect of the program".to_string(),
                },
            };
            long.lock().insert(key, ended);
        }));
        self.progress(uuid)
    }

    /// Forgets how work ended for indexes that nobody will ask for.
    pub(super) fn forget_others(&self, all: &[ManagedIndex]) {
        let mut long = self.long.lock();
        let is_managed = |uuid: &str| all.iter().any(|managed| managed.index_uuid == uuid);
        long.retain(|uuid, progress| *progress == Progress::Running || is_managed(uuid));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_much_runs_at_once_and_what_breaks_down_has_ended() {
        let never = RunningActions::spawned_by(drop);
        for n in 0..LONG_AT_ONCE {
            let begun = never.begin(&n.to_string(), || Ok(()));
            assert_eq!(begun, Some(Progress::Running));
        }
        assert_eq!(never.begin("late", || Ok(())), None);
        assert_eq!(never.progress("late"), None);
        let at_once = RunningActions::spawned_by(|work| work());
        for _ in 0..=LONG_AT_ONCE {
            let broken = at_once.begin("broken", || panic!("as it must"));
            assert!(matches!(broken, Some(Progress::Failed { .. })));
        }
        assert_eq!(at_once.begin("next", || Ok(())), Some(Progress::Done));
    }
}
