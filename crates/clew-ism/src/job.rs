//! The job: now and then every managed index takes one step.

use std::sync::Arc;
use std::time::Duration;

use clew_engine::{Access, IndexHandle, Purpose};
use clew_opensearch::wing::{Api, ApiError};

use super::machine::advance;
use super::managed::ManagedIndex;
use super::new_indexes::attach_new;
use super::running::RunningActions;
use super::settings::JobSettings;

/// How often the job looks whether it is time: the interval may be changed meanwhile.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// Runs the job when it is time, until the server stops.
pub(crate) async fn run_job(api: Arc<Api>) {
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
