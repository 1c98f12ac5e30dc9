//! `_status`: how far snapshots are and what they hold, shard by shard.

use clew_engine::{EngineError, SnapshotFile};
use serde_json::{Map, Value, json};

use super::content::{Content, IndexContent, Stored};
use super::names::snapshot_missing;
use super::repository::Repository;
use super::running::RunningSnapshot;
use super::show::{read_all, running_in};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::snapshots::running::RunningSnapshots;
use crate::state::call::Call;

/// `GET /_snapshot/{repository}/{snapshot}/{index}/_status`; without a snapshot those that are running, without indexes all of
/// the snapshot's.
pub(crate) async fn status(call: Call) -> Result<Reply, ApiError> {
    let Some(name) = call.path("repository").map(String::from) else {
        let all = call.api.parts.get::<RunningSnapshots>().list();
        let shown: Vec<Value> = all.iter().map(show_running).collect();
        return Ok(Reply::json(&json!({"snapshots": shown})));
    };
    let running = running_in(&call.api, &name);
    let Some(expression) = call.path("snapshot").map(String::from) else {
        let shown: Vec<Value> = running.iter().map(show_running).collect();
        return Ok(Reply::json(&json!({"snapshots": shown})));
    };
    let repository = Repository::find(&call.api, &name)?;
    let ignore = call.params.flag("ignore_unavailable", false)?;
    let wanted = call.path("index").map(|names| WantedIndices {
        names: names.split(',').map(String::from).collect(),
        ignore,
    });
    if wanted.is_some() && expression.contains(',') {
        return Err(ApiError::validation(&format!(
            "index list filter is supported only when a single 'snapshot' is passed, but found \
             'snapshot' param = [{expression}]"
        )));
    }
    let mut known = read_all(repository).await?;
    let mut shown = Vec::new();
    for part in expression.split(',') {
        let done = known
            .all
            .iter()
            .find(|snapshot| snapshot.content.name == part);
        let going = running.iter().find(|running| running.name == part);
        match (done, going) {
            (Some(snapshot), _) => shown.push(show(&name, snapshot, wanted.as_ref())?),
            (None, Some(running)) => shown.push(show_running(running)),
            (None, None) if ignore => {}
            (None, None) => {
                known.check_all_read()?;
                return Err(snapshot_missing(&name, part));
            }
        }
    }
    Ok(Reply::json(&json!({"snapshots": shown})))
}

/// Those of a snapshot's indexes that are asked for.
struct WantedIndices {
    names: Vec<String>,
    /// Whether the snapshot may lack some.
    ignore: bool,
}

impl WantedIndices {
    /// Fails where the snapshot lacks one that it has to have.
    fn check(&self, content: &Content) -> Result<(), EngineError> {
        let is_there = |name: &String| content.indices.iter().any(|index| index.name == *name);
        let missing = self.names.iter().filter(|name| !is_there(name));
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        if self.ignore || missing.is_empty() {
            return Ok(());
        }
        let index = missing.join(", ");
        Err(EngineError::IndexNotFound { index })
    }
}

fn show(
    repository: &str,
    snapshot: &Stored,
    wanted: Option<&WantedIndices>,
) -> Result<Value, EngineError> {
    let content = &snapshot.content;
    if let Some(wanted) = wanted {
        wanted.check(content)?;
    }
    let is_wanted =
        |index: &&IndexContent| wanted.is_none_or(|wanted| wanted.names.contains(&index.name));
    let chosen: Vec<&IndexContent> = content.indices.iter().filter(is_wanted).collect();
    let files = || chosen.iter().flat_map(|index| &index.files);
    let times = (content.started_ms, content.ended_ms);
    let indices: Map<String, Value> = chosen
        .iter()
        .map(|index| {
            let shards: Map<String, Value> = index
                .files
                .iter()
                .enumerate()
                .map(|(shard, file)| {
                    let stats = stats(std::iter::once(file), times);
                    (shard.to_string(), json!({"stage": "DONE", "stats": stats}))
                })
                .collect();
            let shown = json!({
                "shards_stats": shards_stats(index.files.len(), index.files.len()),
                "stats": stats(index.files.iter(), times),
                "shards": shards,
            });
            (index.name.clone(), shown)
        })
        .collect();
    let shards = files().count();
    Ok(json!({
        "snapshot": content.name,
        "repository": repository,
        "uuid": snapshot.id,
        "state": "SUCCESS",
        "include_global_state": content.include_global_state,
        "shards_stats": shards_stats(shards, shards),
        "stats": stats(files(), times),
        "indices": indices,
    }))
}

fn show_running(running: &RunningSnapshot) -> Value {
    json!({
        "snapshot": running.name,
        "repository": running.repository,
        "uuid": running.id,
        "state": "STARTED",
        "shards_stats": shards_stats(running.shards, 0),
        "indices": {},
    })
}

fn shards_stats(total: usize, done: usize) -> Value {
    json!({
        "initializing": 0,
        "started": total - done,
        "finalizing": 0,
        "done": done,
        "failed": 0,
        "total": total,
    })
}

/// A snapshot shares no files with others, so all of them are its own.
fn stats<'a>(
    files: impl Iterator<Item = &'a SnapshotFile>,
    (started_ms, ended_ms): (u64, u64),
) -> Value {
    let (count, bytes) = files.fold((0u64, 0u64), |(count, bytes), file| {
        (count + 1, bytes + file.bytes)
    });
    let all = json!({"file_count": count, "size_in_bytes": bytes});
    json!({
        "incremental": all,
        "total": all,
        "start_time_in_millis": started_ms,
        "time_in_millis": ended_ms.saturating_sub(started_ms),
    })
}
