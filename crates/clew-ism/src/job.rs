//! The job: now and then every managed index takes one step. What takes long (merges, snapshots) goes on
//! beside it, so that the others need not wait.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use clew_engine::{Access, IndexHandle, Purpose};
use clew_opensearch::wing::{Api, ApiError};
use parking_lot::{Mutex, MutexGuard};

use super::attach::attach_new;
use super::machine::advance;
use super::managed::ManagedIndex;
use super::settings::JobSettings;

/// How often the job looks whether it is time: the interval may be changed meanwhile.
const LOOK_EVERY: Duration = Duration::from_secs(15);

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
    fn forget_others(&self, all: &[ManagedIndex]) {
        let mut long = self.long.lock();
        let is_managed = |uuid: &str| all.iter().any(|managed| managed.index_uuid == uuid);
        long.retain(|uuid, progress| *progress == Progress::Running || is_managed(uuid));
    }
}

/// Runs the job when it is time, until the server stops.
pub(crate) async fn run(api: Arc<Api>) {
    let stopped = api.stopped();
    tokio::pin!(stopped);
    let mut look = tokio::time::interval(LOOK_EVERY);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut last = api.started;
    loop {
        tokio::select! {
            () = &mut stopped => return,
            _ = look.tick() => {}
        }
        let settings = JobSettings::read(|name| api.cluster_setting(name));
        let Ok(JobSettings { enabled, interval }) = settings else {
            continue;
        };
        if !enabled || last.elapsed() < interval {
            continue;
        }
        last += last.elapsed();
        let working = api.clone();
        if let Err(error) = tokio::task::spawn_blocking(move || run_once(&working)).await {
            tracing::error!(%error, "managing indexes failed");
        }
    }
}

/// Every managed index takes a step.
pub(super) fn run_once(api: &Arc<Api>) {
    {
        let work = api.part::<RunningActions>();
        let _one = work.lock();
        if let Err(error) = attach_new(&api.engine) {
            tracing::warn!(reason = error.reason(), "cannot find the indexes to manage");
        }
    }
    let all = ManagedIndex::all(&api.engine);
    api.part::<RunningActions>().forget_others(&all);
    for managed in all {
        if let Err(error) = step(api, &managed.index_uuid) {
            let (index, reason) = (&managed.index, error.reason());
            tracing::warn!(index, reason, "cannot record the state of a managed index");
        }
    }
}

/// One step of one index, recorded when it changed anything.
fn step(api: &Arc<Api>, uuid: &str) -> Result<(), ApiError> {
    // Held for one index only, so that requests need not wait for all of them.
    let work = api.part::<RunningActions>();
    let _one = work.lock();
    let engine = &api.engine;
    let Some(before) = engine.with_definitions(|all| ManagedIndex::of(all, uuid)) else {
        return Ok(());
    };
    let everything = Access::everything();
    let index = engine.open_exactly(&before.index, &everything, Purpose::Change);
    // What a policy does is for whole indexes: half of one would be merged, rolled over, or counted.
    let is_due = |index: &IndexHandle| index.uuid() == uuid && !index.is_unfinished();
    let Some(index) = index.ok().filter(is_due) else {
        return Ok(());
    };
    match advance(api, index.index(), before.clone())? {
        Some(after) if after != before => after.save(engine),
        Some(_) => Ok(()),
        // The index is gone, and so is what is known of it.
        None => attach_new(engine),
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
