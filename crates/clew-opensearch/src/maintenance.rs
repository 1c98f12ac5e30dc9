//! Refresh, flush and forced merges.

use std::sync::Arc;

use clew_engine::{Engine, EngineError, Index};
use serde_json::{Value, json};

use crate::call::Call;
use crate::error::ApiError;
use crate::reply::Reply;

/// `_shards` of an action that went through every shard.
fn shards(indices: &[Arc<Index>]) -> Value {
    let total: u32 = indices.iter().map(|index| index.settings().shards).sum();
    json!({"_shards": {"total": total, "successful": total, "failed": 0}})
}

/// `POST /{index}/_refresh`.
pub(crate) async fn refresh(call: Call) -> Result<Reply, ApiError> {
    let indices = call.indices().await?;
    let body = shards(&indices);
    call.refresh(indices).await?;
    Ok(Reply::json(&body))
}

/// `POST /{index}/_flush`.
pub(crate) async fn flush(call: Call) -> Result<Reply, ApiError> {
    if call.params.flag("force", false)? && !call.params.flag("wait_if_ongoing", true)? {
        return Err(ApiError::validation(
            "wait_if_ongoing must be true for a force flush",
        ));
    }
    let indices = call.indices().await?;
    let body = shards(&indices);
    call.blocking(move |engine| indices.iter().try_for_each(|index| engine.flush(index)))
        .await?;
    Ok(Reply::json(&body))
}

/// `POST /{index}/_cache/clear`: what filters have left is the only thing that is cached here.
pub(crate) async fn clear_cache(call: Call) -> Result<Reply, ApiError> {
    let indices = call.indices().await?;
    if call.params.flag("query", true)? {
        indices.iter().for_each(|index| index.clear_caches());
    }
    Ok(Reply::json(&shards(&indices)))
}

/// Merges an index; what is still in the write buffers belongs to the merge, too.
pub(crate) fn merge(
    engine: &Engine,
    index: &Index,
    segments_max: usize,
) -> Result<(), EngineError> {
    engine.refresh(index)?;
    engine.force_merge(index, segments_max)?;
    engine.refresh(index)
}

/// `POST /{index}/_forcemerge`; with `wait_for_completion=false` the merge goes on as a task.
pub(crate) async fn force_merge(call: Call) -> Result<Reply, ApiError> {
    let asked = call.params.integer("max_num_segments")?.unwrap_or(1).max(1);
    let segments_max = usize::try_from(asked).unwrap_or(usize::MAX);
    let indices = call.indices().await?;
    let body = shards(&indices);
    let names: Vec<String> = indices
        .iter()
        .map(|index| index.name().to_string())
        .collect();
    let work = move |engine: &Engine| {
        let mut all = indices.iter();
        all.try_for_each(|index| merge(engine, index, segments_max))
    };
    if call.params.flag("wait_for_completion", true)? {
        call.blocking(work).await?;
        return Ok(Reply::json(&body));
    }
    let description = format!("Force-merge indices {names:?}, maxSegments[{segments_max}]");
    let number = call
        .api
        .tasks
        .begin("indices:admin/forcemerge", description)?;
    let api = call.api.clone();
    let task = format!("{}:{number}", api.node_id);
    tokio::task::spawn_blocking(move || {
        let ended = work(&api.engine).map(|()| body).map_err(ApiError::from);
        api.tasks.end(number, ended);
    });
    Ok(Reply::json(&json!({"task": task})))
}
