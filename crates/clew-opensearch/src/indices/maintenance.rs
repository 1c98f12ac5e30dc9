//! Refresh, flush and forced merges.

use std::sync::Arc;

use clew_engine::{BlockLevel, Engine, EngineError, Index, Purpose};
use clew_platform::CancellationToken;
use serde_json::json;

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::shard_outcomes::ShardOutcomes;
use crate::state::call::Call;
use crate::state::tasks::stored;

/// Does something with each shard of some indexes where blocking is allowed.
async fn each_shard(
    call: &Call,
    indices: Vec<Arc<Index>>,
    action: impl Fn(&Engine, &Index) -> Vec<Result<(), EngineError>> + Send + 'static,
) -> Result<Reply, ApiError> {
    let work = move |engine: &Engine| {
        let action = |index: &Index| action(engine, index);
        Ok(ShardOutcomes::of_each(engine, &indices, action))
    };
    let outcomes = call.to_its_end(work).await?;
    Ok(Reply::json(&outcomes.body()?))
}

/// `POST /{index}/_refresh`.
pub(crate) async fn refresh(call: Call) -> Result<Reply, ApiError> {
    let indices = call.indices(Purpose::Change).await?;
    each_shard(&call, indices, |engine, index| engine.refresh_each(index)).await
}

/// `POST /{index}/_flush`.
pub(crate) async fn flush(call: Call) -> Result<Reply, ApiError> {
    if call.params.flag("force", false)? && !call.params.flag("wait_if_ongoing", true)? {
        return Err(ApiError::validation(
            "wait_if_ongoing must be true for a force flush",
        ));
    }
    flush_all(&call).await
}

/// `POST /{index}/_flush/synced`: older clients ask for it, and what it marked on copies of a shard says nothing any more.
pub(crate) async fn synced_flush(call: Call) -> Result<Reply, ApiError> {
    flush_all(&call).await
}

async fn flush_all(call: &Call) -> Result<Reply, ApiError> {
    let indices = call.indices(Purpose::Change).await?;
    each_shard(call, indices, |engine, index| engine.flush_each(index)).await
}

/// `POST /{index}/_cache/clear`: what filters have left is the only thing that is cached here.
pub(crate) async fn clear_cache(call: Call) -> Result<Reply, ApiError> {
    let indices = call.indices(Purpose::Change).await?;
    for index in &indices {
        index.check_own_blocks(BlockLevel::MetadataRead)?;
    }
    if call.params.flag("query", true)? {
        indices.iter().for_each(|index| index.clear_caches());
    }
    let outcomes = ShardOutcomes::of_serving(&indices);
    Ok(Reply::json(&json!({"_shards": outcomes.shown()})))
}

/// Merges an index; what is still in the write buffers belongs to the merge, too. Takes as
/// long as the merge.
///
/// # Errors
/// A disk that fails, or an index that does not serve.
pub fn merge(engine: &Engine, index: &Index, segments_max: usize) -> Result<(), EngineError> {
    engine.refresh(index)?;
    engine.force_merge(index, segments_max)?;
    engine.refresh(index)
}

/// `POST /{index}/_forcemerge`; with `wait_for_completion=false` the merge goes on as a task.
pub(crate) async fn force_merge(call: Call) -> Result<Reply, ApiError> {
    // Deprecated together, and taken.
    call.params.flag("only_expunge_deletes", false)?;
    let asked = call.params.integer("max_num_segments")?;
    let asked = asked.unwrap_or(1).max(1);
    let segments_max = usize::try_from(asked).unwrap_or(usize::MAX);
    let indices = call.indices(Purpose::Change).await?;
    // Whether there is room for a merge is looked at before each of them.
    for index in &indices {
        index.check_own_blocks(BlockLevel::MetadataWrite)?;
    }
    let names: Vec<String> = indices
        .iter()
        .map(|index| index.name().to_string())
        .collect();
    let merge = move |engine: &Engine, index: &Index| {
        // What is still in the write buffers belongs to the merge, too; what fails in it fails there again.
        engine.refresh_each(index);
        let merged = engine.force_merge_each(index, segments_max);
        engine.refresh_each(index);
        merged
    };
    if call.params.flag("wait_for_completion", true)? {
        let engine = call.api.engine.clone();
        let work = move || {
            // Once begun it goes on, whoever still waits for it.
            let _entered = CancellationToken::default().enter();
            ShardOutcomes::of_each(&engine, &indices, |index| merge(&engine, index))
        };
        let outcomes = call.api.engine.run_merge(work).await?;
        return Ok(Reply::json(&outcomes.body()?));
    }
    let description = format!("Force-merge indices {names:?}, maxSegments[{segments_max}]");
    let number = call.begin_task("indices:admin/forcemerge", description)?;
    let api = call.api.clone();
    let task = format!("{}:{number}", api.node_id);
    tokio::task::spawn_blocking(move || {
        let action = |index: &Index| merge(&api.engine, index);
        let work = || {
            let merged = ShardOutcomes::of_each(&api.engine, &indices, action).body();
            stored::kept(&api, number, merged)
        };
        drop(api.tasks.carry_out(number, work));
    });
    Ok(Reply::json(&json!({"task": task})))
}
