//! What happens by itself: refreshes, background syncs, flushes and merges. The threads sleep
//! until there is something to do, so an idle node uses no CPU. A defect of the program that the work for one shard runs into
//! ends neither its thread nor the work for the others.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clew_log::{Durability, Glsn};
use clew_platform::Task;

use crate::base::error::EngineError;
use crate::base::settings::{MergeOrder, TranslogDurability};
use crate::index::handle::Index;
use crate::node::engine::Inner;
use crate::node::healing;
use crate::shard::{MergeGoal, Shard};

/// Segments that merges have replaced may take so much of the disk until the shard is flushed.
const SUPERSEDED_BYTES_MAX: u64 = 64 << 20;
/// A shard that has unflushed operations or replaced segments is flushed at the latest after this long.
const FLUSH_AGE_MAX: Duration = Duration::from_secs(300);
/// While writes are refused for want of room, it is looked for this often.
const LOOK_BLOCKED: Duration = Duration::from_secs(1);
/// On a disk that is tight the log may have this many files that could be given up.
const TIGHT_LOG_FILES: u64 = 2;

/// Starts the threads.
pub(crate) fn start(inner: &Arc<Inner>) -> Result<Vec<Task>, EngineError> {
    inner.wake_upkeep();
    let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
        Task::spawn(name, run).map_err(|source| EngineError::Io {
            action: "start a thread for",
            path: PathBuf::from(name),
            source,
        })
    };
    let (refresher, keeper, merger) = (inner.clone(), inner.clone(), inner.clone());
    let healer = inner.clone();
    inner.healer.wake();
    Ok(vec![
        spawn("clew-refresh", Box::new(move || run_refresher(&refresher)))?,
        spawn("clew-upkeep", Box::new(move || run_upkeep(&keeper)))?,
        spawn("clew-merge", Box::new(move || run_merger(&merger)))?,
        spawn("clew-heal", Box::new(move || run_healer(&healer)))?,
    ])
}

fn is_closed(inner: &Inner) -> bool {
    inner.closed.load(Ordering::SeqCst)
}

fn indices(inner: &Inner) -> Vec<Arc<Index>> {
    inner.indices.read().values().cloned().collect()
}

/// Refreshes what is due and syncs the log for indexes that are not synced at each request.
fn run_refresher(inner: &Inner) {
    let mut refreshed_at: HashMap<String, Duration> = HashMap::new();
    let mut synced_at = inner.clock.monotonic();
    let mut requested = false;
    while !is_closed(inner) {
        let mut next: Option<Duration> = None;
        let mut sooner = |time: Duration| next = Some(next.map_or(time, |next| next.min(time)));
        let all = indices(inner);
        forget_deleted(&mut refreshed_at, (&all, all.len()), String::as_str);
        for index in &all {
            if !index.shards.iter().any(|shard| shard.is_dirty()) {
                continue;
            }
            let now = inner.clock.monotonic();
            let last = refreshed_at.get(&index.uuid).copied().unwrap_or_default();
            let due_in = index
                .settings()
                .refresh_interval
                .map(|interval| (last + interval).saturating_sub(now));
            if requested || due_in == Some(Duration::ZERO) {
                refresh(index);
                refreshed_at.insert(index.uuid.clone(), now);
                inner.wake_upkeep();
            } else if let Some(time) = due_in {
                sooner(time);
            }
        }
        if let Some(time) = sync_log(inner, &all, &mut synced_at) {
            sooner(time);
        }
        // Nobody wakes this thread for a deleted index, whose files keep their room while somebody holds it.
        drop(all);
        requested = inner.signal.sleep(next);
    }
}

fn refresh(index: &Index) {
    for shard in index.shards.iter().filter(|shard| shard.is_dirty()) {
        // One that was deleted meanwhile has nothing to show.
        if let Err(error) = EngineError::caught(|| shard.refresh())
            && !shard.is_retired()
        {
            tracing::error!(index = index.name(), shard = shard.place.number, %error, "refresh failed");
        }
    }
}

/// Syncs the log once the shortest `sync_interval` has passed; how long until the next one when
/// there is something to sync.
fn sync_log(inner: &Inner, indices: &[Arc<Index>], synced_at: &mut Duration) -> Option<Duration> {
    let (life, last) = (inner.log.life(), inner.log.last());
    if inner.log.durable() >= last {
        *synced_at = inner.clock.monotonic();
        return None;
    }
    let intervals = indices.iter().map(|index| index.settings());
    let interval = intervals
        .filter(|settings| settings.durability == TranslogDurability::Async)
        .map(|settings| settings.sync_interval)
        .min()?;
    let due_in = (*synced_at + interval).saturating_sub(inner.clock.monotonic());
    if due_in > Duration::ZERO {
        return Some(due_in);
    }
    if let Err(error) = inner.log.wait_in(life, last, Durability::Sync) {
        tracing::error!(%error, "background sync of the log failed");
        inner.log_refused();
        return None;
    }
    *synced_at = inner.clock.monotonic();
    Some(interval)
}

/// Mends what has failed.
fn run_healer(inner: &Inner) {
    while !is_closed(inner) {
        let next = healing::heal(inner);
        inner.healer.sleep(next);
    }
}

/// Flushes what is due.
fn run_upkeep(inner: &Inner) {
    let mut flushed_at: HashMap<(String, u32), Duration> = HashMap::new();
    let mut trimmed = Glsn::ZERO;
    while !is_closed(inner) {
        let next = flush_due(inner, &mut flushed_at, &mut trimmed);
        let look = look_again(inner);
        inner
            .upkeep
            .sleep(Some(next.map_or(look, |next| next.min(look))));
    }
}

/// Looks at the disk, which others fill and empty as well; after how long to look again.
fn look_again(inner: &Inner) -> Duration {
    let blocked = inner.look_at_disk().is_blocked();
    let every = inner.space.limits().look_every;
    if blocked {
        every.min(LOOK_BLOCKED)
    } else {
        every
    }
}

/// Merges in rounds: a shard that always has something to merge does not keep the others waiting for
/// long. A thread of its own, as a merge takes minutes and flushes must not wait for it.
fn run_merger(inner: &Inner) {
    while !is_closed(inner) {
        let mut merged = false;
        for index in &indices(inner) {
            let order = index.settings().merge_order;
            for shard in &index.shards {
                if merge(inner, shard, (MergeGoal::Upkeep, order)) {
                    merged = true;
                    // What it replaced goes with the next flush.
                    inner.upkeep.wake();
                }
            }
        }
        if !merged {
            inner.merger.sleep(None);
        }
    }
}

/// Runs one merge if the shard wants one; whether it did.
fn merge(inner: &Inner, shard: &Shard, (goal, order): (MergeGoal, MergeOrder)) -> bool {
    if is_closed(inner) || shard.failure().is_some() {
        return false;
    }
    let (index, number) = (&shard.place.index, shard.place.number);
    match shard.merge(goal, order) {
        Ok(merged) => {
            // Until a flush the files stay that were merged away.
            if merged
                && inner.look_at_disk().is_tight()
                && let Err(error) = EngineError::caught(|| shard.flush())
                && !shard.is_retired()
            {
                tracing::error!(%index, shard = number, %error, "flush failed");
            }
            merged
        }
        Err(EngineError::MergeCancelled) => false,
        // It was deleted meanwhile.
        Err(_) if shard.is_retired() => false,
        Err(error @ EngineError::DiskFull { .. }) => {
            tracing::debug!(%index, shard = number, %error, "a merge has to wait");
            false
        }
        Err(error) => {
            tracing::error!(%index, shard = number, %error, "merge failed");
            false
        }
    }
}

/// Flushes shards with much or old unflushed data, those where a flush gives much of the disk back, and all that hold back a log that has grown
/// too large; how long until the next shard is due by age.
fn flush_due(
    inner: &Inner,
    flushed_at: &mut HashMap<(String, u32), Duration>,
    trimmed: &mut Glsn,
) -> Option<Duration> {
    let now = inner.clock.monotonic();
    let covered = inner.covered();
    let held = inner.log.bytes_from(covered.next());
    // A disk that has become tight: what can be given up is given up at once.
    let relief = inner.space.take_relief();
    let log_full = relief || held > log_bytes_max(inner);
    let (mut next, mut flushed) = (None::<Duration>, false);
    let all = indices(inner);
    let shards: usize = all.iter().map(|index| index.shards.len()).sum();
    forget_deleted(flushed_at, (&all, shards), |(uuid, _)| uuid);
    for index in all {
        let threshold = index.settings().flush_threshold_bytes;
        for shard in &index.shards {
            let key = (index.uuid.clone(), shard.place.number);
            // A flush also removes what was merged away.
            let superseded = shard.superseded_bytes();
            let is_flushed = shard.checkpoint().is_none() && superseded == 0 && !relief;
            if shard.failure().is_some() || is_flushed {
                flushed_at.insert(key, now);
                continue;
            }
            let age = now.saturating_sub(*flushed_at.entry(key.clone()).or_insert(now));
            // Beside a merge nothing of that can be removed.
            let is_merging = shard.merge_state.running.load(Ordering::Relaxed);
            let much = shard.unflushed_bytes() >= threshold
                || (superseded >= SUPERSEDED_BYTES_MAX && !is_merging);
            if !log_full && !much && age < FLUSH_AGE_MAX {
                let left = FLUSH_AGE_MAX - age;
                next = Some(next.map_or(left, |next| next.min(left)));
                continue;
            }
            match EngineError::caught(|| shard.flush()) {
                Ok(()) => flushed = true,
                // It was deleted meanwhile.
                Err(_) if shard.is_retired() => {}
                Err(error) => {
                    tracing::error!(index = index.name(), shard = shard.place.number, %error, "flush failed");
                }
            }
            flushed_at.insert(key, now);
        }
    }
    // A full log may hold only what explicit flushes have covered already, and on a tight disk that is given up, too.
    let stale = covered > *trimmed && inner.space.state().is_tight();
    if flushed || log_full || stale {
        match EngineError::caught(|| inner.trim_log()) {
            Ok(()) => *trimmed = covered,
            Err(error) => tracing::error!(%error, "cannot trim the log"),
        }
    }
    next
}

/// Forgets the times of indexes that are gone, once there are more than all others can have.
fn forget_deleted<K>(
    times: &mut HashMap<K, Duration>,
    (all, most): (&[Arc<Index>], usize),
    uuid_of: impl Fn(&K) -> &str,
) {
    if times.len() > most {
        let known: HashSet<&str> = all.iter().map(|index| index.uuid.as_str()).collect();
        times.retain(|key, _| known.contains(uuid_of(key)));
    }
}

/// Size of the log at which the shards that hold it back are flushed.
fn log_bytes_max(inner: &Inner) -> u64 {
    let max = inner.options.log_bytes_max;
    if inner.space.state().is_tight() {
        max.min(TIGHT_LOG_FILES * inner.options.log.file_bytes_max)
    } else {
        max
    }
}

#[cfg(test)]
mod tests;
