//! What is going on in the folders of repositories. Snapshots that are being taken are shown, nobody takes another of the
//! same name, and a deletion ends them. To a cleaning, files that no snapshot names are garbage, as those of one are that is
//! being written: it has a folder to itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::{Cleaned, EngineError, SnapshotRepository};
use clew_platform::CancellationToken;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::names::invalid_snapshot_name;
use crate::http::error::{ApiError, Cause};

/// Snapshots that may be taken at once.
const RUNNING_MAX: usize = 16;

/// What whoever waits for a snapshot is told that is deleted meanwhile.
const ABORTED: &str = "Snapshot was aborted by deletion";

/// A snapshot that is being taken.
#[derive(Clone, Debug)]
pub(super) struct RunningSnapshot {
    pub(super) repository: String,
    /// The folder of the repository.
    pub(super) folder: PathBuf,
    pub(super) name: String,
    pub(super) id: String,
    pub(super) indices: Vec<String>,
    pub(super) shards: usize,
    pub(super) started_ms: u64,
}

/// What takes files out of the folder of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removal {
    Cleanup,
    Deletion,
}

/// What is going on.
#[derive(Debug, Default)]
struct Work {
    /// Each with what says that it is to be given up.
    snapshots: Vec<(RunningSnapshot, CancellationToken)>,
    /// Each with its repository and the folder of that.
    removals: Vec<(Removal, String, PathBuf)>,
}

/// All of it.
#[derive(Debug, Default)]
pub(crate) struct RunningSnapshots {
    work: Mutex<Work>,
    /// Held by the one who writes and removes the file by which it is proved that a folder can be written to.
    proving: Mutex<()>,
    /// Told when something ends.
    ended: watch::Sender<()>,
}

/// Takes the snapshot off the list when it ends, however it ends.
#[derive(Debug)]
pub(super) struct Ends {
    running: Arc<RunningSnapshots>,
    id: String,
    given_up: CancellationToken,
}

impl Ends {
    /// # Errors
    /// [`EngineError::Cancelled`] once the snapshot is deleted.
    pub(super) fn check_wanted(&self) -> Result<(), EngineError> {
        match self.given_up.stopped() {
            None => Ok(()),
            Some(_) => Err(EngineError::Cancelled {
                reason: ABORTED.to_string(),
            }),
        }
    }

    /// What is read for the snapshot, for as long as it is wanted.
    pub(super) fn while_wanted<T>(
        &self,
        read: impl Iterator<Item = Result<T, EngineError>>,
    ) -> impl Iterator<Item = Result<T, EngineError>> {
        read.map(move |one| self.check_wanted().and(one))
    }

    /// Why the snapshot failed, as clients are told it.
    pub(super) fn failure(&self, (repository, name): (&str, &str), error: EngineError) -> ApiError {
        match error {
            EngineError::Cancelled { reason } if self.given_up.stopped().is_some() => {
                let reason = format!("[{repository}:{name}/{}] {reason}", self.id);
                let cause = Cause::new("snapshot_exception", reason);
                ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, cause)
            }
            other => other.into(),
        }
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        let mut work = self.running.work.lock();
        work.snapshots.retain(|(running, _)| running.id != self.id);
        drop(work);
        self.running.ended.send_replace(());
    }
}

/// Takes a removal off the list when it ends.
#[derive(Debug)]
pub(super) struct Removes {
    running: Arc<RunningSnapshots>,
    what: (Removal, String, PathBuf),
}

impl Drop for Removes {
    fn drop(&mut self) {
        let mut work = self.running.work.lock();
        if let Some(place) = work.removals.iter().position(|one| *one == self.what) {
            work.removals.remove(place);
        }
        drop(work);
        self.running.ended.send_replace(());
    }
}

impl Work {
    fn removes(&self, what: Removal, folder: &Path) -> bool {
        let mut all = self.removals.iter();
        all.any(|(how, _, place)| *how == what && place == folder)
    }
}

impl RunningSnapshots {
    pub(super) fn begin(self: &Arc<Self>, snapshot: RunningSnapshot) -> Result<Ends, ApiError> {
        let mut work = self.work.lock();
        let (repository, name) = (&snapshot.repository, &snapshot.name);
        let same = |(running, _): &(RunningSnapshot, CancellationToken)| {
            running.repository == *repository && running.name == *name
        };
        if work.snapshots.iter().any(same) {
            let reason = "snapshot with the same name is already in-progress";
            return Err(invalid_snapshot_name(repository, name, reason));
        }
        if work.removes(Removal::Cleanup, &snapshot.folder) {
            let reason = format!(
                "[{repository}:{name}] cannot snapshot while a repository cleanup is in-progress"
            );
            return Err(concurrent(reason));
        }
        let running = work.snapshots.len();
        if running >= RUNNING_MAX {
            return Err(concurrent(format!(
                "[{repository}:{name}] Cannot start another operation, already running [{running}] operations"
            )));
        }
        let (id, given_up) = (snapshot.id.clone(), CancellationToken::new());
        work.snapshots.push((snapshot, given_up.clone()));
        Ok(Ends {
            running: self.clone(),
            id,
            given_up,
        })
    }

    pub(super) fn list(&self) -> Vec<RunningSnapshot> {
        let work = self.work.lock();
        let all = work.snapshots.iter();
        all.map(|(running, _)| running.clone()).collect()
    }

    fn ids(&self) -> Vec<String> {
        let work = self.work.lock();
        let all = work.snapshots.iter();
        all.map(|(running, _)| running.id.clone()).collect()
    }

    /// Proves that a folder can be written to, where nobody else does so meanwhile.
    pub(super) fn prove(&self, folder: &SnapshotRepository) -> Result<(), EngineError> {
        let _one = self.proving.lock();
        folder.verify()
    }

    /// Takes out of a folder what nobody needs, but for what may be in it by another path.
    pub(super) fn clean(&self, folder: &SnapshotRepository) -> Result<Cleaned, EngineError> {
        let _one = self.proving.lock();
        folder.clean(&self.ids())
    }

    /// Gives a cleaning the folder of a repository.
    ///
    /// # Errors
    /// When something else goes on in it.
    pub(super) fn begin_cleanup(
        self: &Arc<Self>,
        repository: &str,
        folder: &Path,
    ) -> Result<Removes, ApiError> {
        let mut work = self.work.lock();
        let writes =
            |(running, _): &&(RunningSnapshot, CancellationToken)| running.folder == folder;
        let against = if work.removes(Removal::Cleanup, folder) {
            "a repository cleanup is already in-progress".to_string()
        } else if work.removes(Removal::Deletion, folder) {
            "a snapshot is currently being deleted".to_string()
        } else if let Some((running, _)) = work.snapshots.iter().find(writes) {
            let place = format!("{}:{}/{}", running.repository, running.name, running.id);
            format!("a snapshot is currently running in [{place}]")
        } else {
            return Ok(self.note(&mut work, Removal::Cleanup, repository, folder));
        };
        let reason = format!("Cannot cleanup [{repository}] - {against}");
        let cause = Cause::new("illegal_state_exception", reason);
        Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, cause))
    }

    /// Begins a deletion once no other one goes on in the folder: what two of them find is then not removed twice.
    ///
    /// # Errors
    /// 503 while the folder is being cleaned.
    pub(super) async fn begin_deletion(
        self: &Arc<Self>,
        (repository, expression): (&str, &str),
        folder: &Path,
    ) -> Result<Removes, ApiError> {
        let mut ended = self.ended.subscribe();
        loop {
            {
                let mut work = self.work.lock();
                if work.removes(Removal::Cleanup, folder) {
                    return Err(concurrent(format!(
                        "[{repository}:{expression}] cannot delete snapshot while a repository cleanup is in-progress"
                    )));
                }
                if !work.removes(Removal::Deletion, folder) {
                    return Ok(self.note(&mut work, Removal::Deletion, repository, folder));
                }
            }
            // The list has the sender: it is there for as long as this.
            let _ = ended.changed().await;
        }
    }

    fn note(
        self: &Arc<Self>,
        work: &mut Work,
        what: Removal,
        repository: &str,
        folder: &Path,
    ) -> Removes {
        let what = (what, repository.to_string(), folder.to_path_buf());
        work.removals.push(what.clone());
        Removes {
            running: self.clone(),
            what,
        }
    }

    /// Has the snapshots given up that are being taken into a repository under such names; their ids.
    pub(super) fn give_up(&self, repository: &str, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let work = self.work.lock();
        let mut ids = Vec::new();
        for (running, given_up) in &work.snapshots {
            if running.repository == repository && is_meant(&running.name) {
                given_up.cancel(ABORTED);
                ids.push(running.id.clone());
            }
        }
        ids
    }

    /// Waits until snapshots have ended, and are complete or have left nothing.
    pub(super) async fn wait_for_end(&self, ids: &[String]) {
        let mut ended = self.ended.subscribe();
        while self.ids().iter().any(|running| ids.contains(running)) {
            let _ = ended.changed().await;
        }
    }

    /// Refuses to touch a repository in which something goes on.
    pub(super) fn refuse_in(&self, repository: &str) -> Result<(), ApiError> {
        let work = self.work.lock();
        let (mut writing, mut removing) = (work.snapshots.iter(), work.removals.iter());
        let is_used = writing.any(|(running, _)| running.repository == repository)
            || removing.any(|(_, name, _)| name == repository);
        if is_used {
            let reason = "trying to modify or unregister repository that is currently used";
            let cause = Cause::new("illegal_state_exception", reason);
            return Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, cause));
        }
        Ok(())
    }
}

fn concurrent(reason: String) -> ApiError {
    let cause = Cause::new("concurrent_snapshot_execution_exception", reason);
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, cause)
}

#[cfg(test)]
mod tests;
