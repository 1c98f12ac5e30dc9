//! Deleting snapshots: those that are complete, and those that are being taken, which are given up first. All that are
//! named or none, as far as they are being read by somebody.

use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::content::{StoredSnapshots, stored};
use super::names::{is_pattern, selects, snapshot_missing};
use super::repository::Repository;
use super::running::RunningSnapshots;
use super::show::running_in;
use super::uses::{InUse, SnapshotUses, Use};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::state::api::Api;
use crate::state::call::Call;

/// `DELETE /_snapshot/{repository}/{snapshot}`.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let repository = Repository::find(&call.api, call.path_required("repository")?)?;
    repository.check_writable("delete snapshots")?;
    let deletion = Deletion {
        repository,
        expression: call.path_required("snapshot")?.to_string(),
        api: call.api.clone(),
    };
    // To its end, whoever still waits for it.
    let deleted = tokio::spawn(carry_out(Arc::new(deletion))).await;
    deleted??;
    Ok(Reply::acknowledged())
}

struct Deletion {
    repository: Repository,
    /// Names and patterns.
    expression: String,
    api: Arc<Api>,
}

/// The snapshots that are meant, by their ids.
struct Meant {
    /// Complete ones that nobody begins to read any more.
    held: Vec<(String, InUse)>,
    /// Those that were being taken. One that was not given up in time is complete by the end.
    running: Vec<String>,
}

async fn carry_out(deletion: Arc<Deletion>) -> Result<(), ApiError> {
    let name = &*deletion.repository.name;
    let running = deletion.api.parts.get::<RunningSnapshots>();
    let (place, folder) = ((name, &*deletion.expression), &deletion.repository.folder);
    let _removes = running.begin_deletion(place, folder.dir()).await?;
    let this = deletion.clone();
    let mut known = spawn_blocking(move || this.hold_known()).await??;
    let given_up = running.give_up(name, |name| deletion.names(name));
    running.wait_for_end(&given_up).await;
    known.running.extend(given_up);
    let this = deletion.clone();
    spawn_blocking(move || this.remove(known)).await?
}

impl Deletion {
    fn names(&self, name: &str) -> bool {
        self.expression.split(',').any(|part| selects(part, name))
    }

    /// Holds what is complete, where each name is one of a snapshot that is, or that is being taken.
    fn hold_known(&self) -> Result<Meant, ApiError> {
        let name = &self.repository.name;
        // Before those that are complete are read: what becomes so in between is among both.
        let running = running_in(&self.api, name);
        let mut known = stored(&self.repository)?;
        let mut names = self.expression.split(',').filter(|part| !is_pattern(part));
        let missing =
            names.find(|part| !known.has(part) && running.iter().all(|one| one.name != **part));
        if let Some(missing) = missing {
            known.check_all_read()?;
            return Err(snapshot_missing(name, missing));
        }
        let running = running.into_iter().filter(|one| self.names(&one.name));
        let mut meant = Meant {
            held: Vec::new(),
            running: running.map(|one| one.id).collect(),
        };
        self.hold(&known, &mut meant)?;
        Ok(meant)
    }

    fn hold(&self, known: &StoredSnapshots, meant: &mut Meant) -> Result<(), ApiError> {
        let uses = self.api.parts.get::<SnapshotUses>();
        let all = known.all.iter();
        for snapshot in all.filter(|snapshot| self.names(&snapshot.content.name)) {
            if meant.held.iter().all(|(id, _)| *id != snapshot.id) {
                let in_use = uses.begin(Use::Delete, (&self.repository.name, snapshot))?;
                meant.held.push((snapshot.id.clone(), in_use));
            }
        }
        Ok(())
    }

    fn remove(&self, mut meant: Meant) -> Result<(), ApiError> {
        let folder = &self.repository.folder;
        if !meant.running.is_empty() {
            self.hold(&stored(&self.repository)?, &mut meant)?;
        }
        for (id, _) in &meant.held {
            folder.delete(id)?;
        }
        Ok(())
    }
}
