//! Snapshots that are being taken: they are shown, and nobody takes another of the same name.

use std::sync::Arc;

use axum::http::StatusCode;
use parking_lot::Mutex;

use super::names::invalid_snapshot_name;
use crate::http::error::{ApiError, Cause};

/// Snapshots that may be taken at once.
const RUNNING_MAX: usize = 16;

/// A snapshot that is being taken.
#[derive(Clone, Debug)]
pub(super) struct RunningSnapshot {
    pub(super) repository: String,
    pub(super) name: String,
    pub(super) id: String,
    pub(super) indices: Vec<String>,
    pub(super) shards: usize,
    pub(super) started_ms: u64,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunningSnapshots {
    all: Arc<Mutex<Vec<RunningSnapshot>>>,
}

/// Takes the snapshot off the list when it ends, however it ends.
pub(super) struct Ends {
    running: RunningSnapshots,
    id: String,
}

impl Drop for Ends {
    fn drop(&mut self) {
        let id = &self.id;
        self.running.all.lock().retain(|running| running.id != *id);
    }
}

impl RunningSnapshots {
    pub(super) fn begin(&self, snapshot: RunningSnapshot) -> Result<Ends, ApiError> {
        let mut all = self.all.lock();
        let same = |running: &RunningSnapshot| {
            running.repository == snapshot.repository && running.name == snapshot.name
        };
        if all.iter().any(same) {
            let reason = "snapshot with the same name is already in-progress";
            return Err(invalid_snapshot_name(
                &snapshot.repository,
                &snapshot.name,
                reason,
            ));
        }
        if all.len() >= RUNNING_MAX {
            let cause = Cause::new(
                "concurrent_snapshot_execution_exception",
                format!(
                    "[{}:{}] Cannot start another operation, already running [{}] operations",
                    snapshot.repository,
                    snapshot.name,
                    all.len()
                ),
            );
            return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, cause));
        }
        let id = snapshot.id.clone();
        all.push(snapshot);
        Ok(Ends {
            running: self.clone(),
            id,
        })
    }

    pub(super) fn list(&self) -> Vec<RunningSnapshot> {
        self.all.lock().clone()
    }

    pub(super) fn ids(&self) -> Vec<String> {
        self.all
            .lock()
            .iter()
            .map(|running| running.id.clone())
            .collect()
    }

    /// Refuses to touch a repository that a snapshot is being written to.
    pub(super) fn refuse_in(&self, repository: &str) -> Result<(), ApiError> {
        let used = self
            .all
            .lock()
            .iter()
            .any(|running| running.repository == repository);
        if used {
            let reason = "trying to modify or unregister repository that is currently used";
            let cause = Cause::new("illegal_state_exception", reason);
            return Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, cause));
        }
        Ok(())
    }
}
