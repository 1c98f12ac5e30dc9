//! Listing snapshots.

use serde_json::{Value, json};

use super::content::{StoredSnapshots, iso, stored};
use super::names::{is_pattern, selects, snapshot_missing};
use super::repository::Repository;
use super::running::RunningSnapshot;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::snapshots::running::RunningSnapshots;
use crate::state::api::Api;
use crate::state::call::Call;

/// `GET /_snapshot/{repository}/{snapshot}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let repository = Repository::find(&call.api, call.path_required("repository")?)?;
    let expression = call.path_required("snapshot")?.to_string();
    let ignore = call.params.flag("ignore_unavailable", false)?;
    let verbose = call.params.flag("verbose", true)?;
    let mut running: Vec<RunningSnapshot> = running_in(&call.api, &repository.name);
    let name = repository.name.clone();
    let mut known = read_all(repository).await?;
    // Completed in between, they are told once.
    running.retain(|one| known.all.iter().all(|stored| stored.id != one.id));
    if expression == "_current" {
        let shown: Vec<Value> = running.iter().map(show_running).collect();
        return Ok(Reply::json(&json!({"snapshots": shown})));
    }
    if !ignore {
        for part in expression.split(',') {
            let is_known = known.has(part) || running.iter().any(|running| running.name == part);
            if !is_known {
                known.check_all_read()?;
            }
            if !is_known && !is_pattern(part) {
                return Err(snapshot_missing(&name, part));
            }
        }
    }
    let all = known.all;
    let wanted = |name: &str| expression.split(',').any(|part| selects(part, name));
    let any = all.iter().any(|snapshot| wanted(&snapshot.content.name))
        || running.iter().any(|running| wanted(&running.name));
    if !any && !ignore && expression != "_all" {
        let first = expression.split(',').next().unwrap_or_default();
        return Err(snapshot_missing(&name, first));
    }
    let done = all
        .iter()
        .filter(|snapshot| wanted(&snapshot.content.name))
        .map(|snapshot| {
            if verbose {
                snapshot.show()
            } else {
                snapshot.show_short()
            }
        });
    let going = running
        .iter()
        .filter(|running| wanted(&running.name))
        .map(show_running);
    let shown: Vec<Value> = done.chain(going).collect();
    Ok(Reply::json(&json!({"snapshots": shown})))
}

/// The snapshots of a repository that are being taken.
pub(super) fn running_in(api: &Api, repository: &str) -> Vec<RunningSnapshot> {
    let all = api.parts.get::<RunningSnapshots>().list().into_iter();
    all.filter(|running| running.repository == repository)
        .collect()
}

fn show_running(running: &RunningSnapshot) -> Value {
    json!({
        "snapshot": running.name,
        "uuid": running.id,
        "indices": running.indices,
        "data_streams": [],
        "state": "IN_PROGRESS",
        "start_time": iso(running.started_ms),
        "start_time_in_millis": running.started_ms,
        "failures": [],
        "shards": {"total": running.shards, "failed": 0, "successful": 0},
    })
}

/// The snapshots of a repository.
pub(super) async fn read_all(repository: Repository) -> Result<StoredSnapshots, ApiError> {
    // Reading manifests blocks, and there may be many.
    tokio::task::spawn_blocking(move || stored(&repository)).await?
}

/// A line of `_cat/snapshots`.
pub(crate) struct ListedSnapshot {
    pub(crate) name: String,
    pub(crate) started_ms: u64,
    pub(crate) ended_ms: u64,
    pub(crate) indices: usize,
    pub(crate) shards: usize,
}

/// The complete snapshots of a repository, as a list.
pub(crate) async fn list(call: &Call, name: &str) -> Result<Vec<ListedSnapshot>, ApiError> {
    let repository = Repository::find(&call.api, name)?;
    let mut known = read_all(repository).await?;
    if !call.params.flag("ignore_unavailable", false)? {
        known.check_all_read()?;
    }
    let listed = known.all.into_iter().map(|snapshot| ListedSnapshot {
        indices: snapshot.content.indices.len(),
        shards: snapshot.content.files().count(),
        started_ms: snapshot.content.started_ms,
        ended_ms: snapshot.content.ended_ms,
        name: snapshot.content.name,
    });
    Ok(listed.collect())
}
