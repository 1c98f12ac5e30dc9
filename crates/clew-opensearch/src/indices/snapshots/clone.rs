//! `_clone`: a snapshot of some of another one's indexes. It shares no files with it.

use axum::http::StatusCode;
use clew_engine::{Engine, EngineError, documents_file_name};
use serde_json::{Map, Value, json};

use super::content::{IndexContent, Stored, StoredSnapshots, stored};
use super::create::{read_names, unknown_parameter};
use super::names::{check_snapshot, invalid_snapshot_name, is_pattern, selects, snapshot_missing};
use super::repository::Repository;
use super::running::{Ends, RunningSnapshot, RunningSnapshots};
use super::uses::{SnapshotUses, Use};
use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;
use crate::state::api::Api;
use crate::state::call::Call;
use crate::state::patience::{MANAGER_TIMEOUTS, Patience};

/// `PUT /_snapshot/{repository}/{snapshot}/_clone/{target}`: acknowledged when the clone is complete. Who does not wait for that
/// long is told that it is not yet.
pub(crate) async fn clone(call: Call) -> Result<Reply, ApiError> {
    let repository = Repository::find(&call.api, call.path_required("repository")?)?;
    let source = call.path_required("snapshot")?.to_string();
    let target = call.path_required("target")?.to_string();
    check_snapshot(&repository.name, &target)?;
    repository.check_writable("clone snapshot")?;
    let patience = Patience::of(&call.params, MANAGER_TIMEOUTS)?;
    let patterns = read(&call.json_object()?)?;
    let description = format!("clone of [{}:{source}] to [{target}]", repository.name);
    let number = call.begin_task("cluster:admin/snapshot/clone", description)?;
    let api = call.api.clone();
    let work = tokio::task::spawn_blocking(move || {
        let cloned = || carry_out(&api, &repository, (&source, &target), &patterns);
        let work = || cloned().map(|()| json!({"acknowledged": true}));
        api.tasks.carry_out(number, work)
    });
    let Some(ended) = patience.wait(work).await else {
        return Ok(Reply::json(&json!({"acknowledged": false})));
    };
    Ok(Reply::json(&ended??))
}

/// The names and patterns of the indexes that are wanted.
fn read(body: &Value) -> Result<String, ApiError> {
    let mut patterns = String::new();
    for (key, value) in body.as_object().into_iter().flatten() {
        match key.as_str() {
            "indices" => patterns = read_names(value)?,
            other => return Err(unknown_parameter(other)),
        }
    }
    if patterns.is_empty() {
        return Err(ApiError::validation("indices patterns are empty"));
    }
    Ok(patterns)
}

fn carry_out(
    api: &Api,
    repository: &Repository,
    (source, target): (&str, &str),
    patterns: &str,
) -> Result<(), ApiError> {
    let mut known = refuse_taken(repository, target)?;
    if !known.has(source) {
        known.check_all_read()?;
    }
    let mut found = known.all.into_iter();
    let found = found
        .find(|found| found.content.name == source)
        .ok_or_else(|| snapshot_missing(&repository.name, source))?;
    let uses = api.parts.get::<SnapshotUses>();
    let _used = uses.begin(Use::Clone, (&repository.name, &found))?;
    // It may have been deleted between the two.
    if !repository.folder.has(&found.id) {
        return Err(snapshot_missing(&repository.name, source));
    }
    let mut content = found.content.clone();
    for name in patterns.split(',').filter(|part| !is_pattern(part)) {
        if !content.index_names().contains(&name) {
            let index = name.to_string();
            return Err(EngineError::IndexNotFound { index }.into());
        }
    }
    let is_wanted =
        |index: &IndexContent| patterns.split(',').any(|part| selects(part, &index.name));
    content.indices.retain(is_wanted);
    if content.indices.is_empty() {
        let reason = format!(
            "[{}:{target}] No indices in the source snapshot [{source}/{}] matched requested pattern [{patterns}]",
            repository.name, found.id
        );
        let cause = Cause::new("snapshot_exception", reason);
        return Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, cause));
    }
    content.name = target.to_string();
    content.started_ms = api.engine.clock().epoch_ms();
    let clone = Stored {
        id: api.engine.new_snapshot_id(),
        content,
    };
    // While it is on the list nobody takes another of its name, or its files for what a dead process has left.
    let ends = api.parts.get::<RunningSnapshots>().begin(RunningSnapshot {
        repository: repository.name.clone(),
        folder: repository.folder.dir().to_path_buf(),
        name: target.to_string(),
        id: clone.id.clone(),
        indices: clone
            .content
            .index_names()
            .into_iter()
            .map(String::from)
            .collect(),
        shards: clone.content.files().count(),
        started_ms: clone.content.started_ms,
    })?;
    // Another one may have been completed before.
    refuse_taken(repository, target)?;
    let id = clone.id.clone();
    let written = write((&api.engine, &ends), repository, &found.id, clone);
    if written.is_err()
        && let Err(left) = repository.folder.delete(&id)
    {
        tracing::warn!(%left, "cannot remove what a failed clone left");
    }
    written.map_err(|error| ends.failure((&repository.name, target), error))
}

/// Refuses the name of a snapshot that is there; gives those that are.
fn refuse_taken(repository: &Repository, target: &str) -> Result<StoredSnapshots, ApiError> {
    let known = stored(repository)?;
    if known.has(target) {
        let reason = "snapshot with the same name already exists";
        return Err(invalid_snapshot_name(&repository.name, target, reason));
    }
    Ok(known)
}

/// Copies the documents, each file checked as a whole before anything of it is taken.
fn write(
    (engine, ends): (&Engine, &Ends),
    repository: &Repository,
    source: &str,
    clone: Stored,
) -> Result<(), EngineError> {
    let Stored { id, mut content } = clone;
    for (at, index) in content.indices.iter_mut().enumerate() {
        for (shard, file) in (0_u32..).zip(&mut index.files) {
            ends.check_wanted()?;
            let documents = repository.folder.read_documents(source, file)?;
            let documents = ends.while_wanted(documents);
            let name = documents_file_name(at, shard);
            *file = repository.folder.write_documents(&id, &name, documents)?;
        }
    }
    content.ended_ms = engine.clock().epoch_ms();
    let content = serde_json::to_value(&content).unwrap_or(Value::Object(Map::new()));
    ends.check_wanted()?;
    repository.folder.complete(&id, content)
}
