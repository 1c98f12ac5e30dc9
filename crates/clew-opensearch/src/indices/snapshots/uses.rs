//! Snapshots that are being read or deleted: what is read is not deleted meanwhile.

use std::sync::Arc;

use axum::http::StatusCode;
use parking_lot::Mutex;

use super::content::Stored;
use crate::http::error::{ApiError, Cause};

/// What is done with a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Restore,
    Clone,
    Delete,
}

/// All that is being done with snapshots, by their ids.
#[derive(Debug, Default)]
pub(super) struct SnapshotUses(Mutex<Vec<(String, Use)>>);

/// A use of a snapshot, until it is dropped.
#[derive(Debug)]
pub(super) struct InUse {
    uses: Arc<SnapshotUses>,
    what: (String, Use),
}

impl SnapshotUses {
    /// Begins something with a snapshot.
    ///
    /// # Errors
    /// 503 where it is being deleted, or is to be deleted and is being read.
    pub(super) fn begin(
        self: &Arc<Self>,
        how: Use,
        (repository, snapshot): (&str, &Stored),
    ) -> Result<InUse, ApiError> {
        self.hold(how, &snapshot.id).map_err(|other| {
            let place = format!("{repository}:{}/{}", snapshot.content.name, snapshot.id);
            let reason = format!("[{place}] {}", refusal(how, other));
            let cause = Cause::new("concurrent_snapshot_execution_exception", reason);
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, cause)
        })
    }

    /// The same; what stands against it.
    fn hold(self: &Arc<Self>, how: Use, id: &str) -> Result<InUse, Use> {
        let mut all = self.0.lock();
        let is_against = |(other, use_of_it): &&(String, Use)| {
            other == id && (*use_of_it == Use::Delete) != (how == Use::Delete)
        };
        if let Some((_, other)) = all.iter().find(is_against) {
            return Err(*other);
        }
        let what = (id.to_string(), how);
        all.push(what.clone());
        let uses = Arc::clone(self);
        Ok(InUse { uses, what })
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut all = self.uses.0.lock();
        if let Some(place) = all.iter().position(|one| *one == self.what) {
            all.remove(place);
        }
    }
}

/// Why something is not done, in OpenSearch's words.
fn refusal(how: Use, other: Use) -> &'static str {
    match (how, other) {
        (Use::Restore, _) => "cannot restore a snapshot while a snapshot deletion is in-progress",
        (Use::Clone, _) => "cannot clone from snapshot that is being deleted",
        (Use::Delete, Use::Clone) => "cannot delete snapshot while it is being cloned",
        (Use::Delete, _) => "cannot delete snapshot during a restore in progress",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_not_deleted_and_what_is_deleted_is_not_read() {
        let uses = Arc::new(SnapshotUses::default());
        let hold = |how, id: &str| uses.hold(how, id);
        let (first, second) = (hold(Use::Restore, "a"), hold(Use::Restore, "a"));
        assert_eq!(hold(Use::Delete, "a").err(), Some(Use::Restore));
        let cloned = hold(Use::Clone, "a").unwrap();
        assert!(hold(Use::Delete, "b").is_ok());
        drop(first);
        assert_eq!(hold(Use::Delete, "a").err(), Some(Use::Restore));
        drop(second);
        assert_eq!(hold(Use::Delete, "a").err(), Some(Use::Clone));
        drop(cloned);
        let deleted = hold(Use::Delete, "a").unwrap();
        for how in [Use::Restore, Use::Clone] {
            assert_eq!(hold(how, "a").err(), Some(Use::Delete));
        }
        drop(deleted);
        assert!(hold(Use::Restore, "a").is_ok());
        assert!(uses.0.lock().is_empty());
    }
}
