//! How tasks ended that nobody waited for, kept as documents of the index `.tasks`: they are told when the node has forgotten them,
//! after a restart too, and can be searched.

use std::sync::Arc;

use bytes::Bytes;
use clew_engine::{
    Access, Action, Engine, EngineError, Freshness, IndexSettings, OpType, Purpose, WriteOperation,
    WriteOutcome,
};
use clew_opensearch_mapping::merge;
use clew_platform::CancellationToken;
use clew_schema::Mapping;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::told;
use crate::http::error::ApiError;
use crate::state::api::Api;
use crate::state::call::Call;

/// The index, by OpenSearch's name.
const INDEX: &str = ".tasks";

/// How a task ended that nobody waits for, once that is kept; blocks, within the runtime.
pub(crate) fn kept(
    api: &Arc<Api>,
    number: u64,
    ended: Result<Value, ApiError>,
) -> Result<Value, ApiError> {
    Handle::current().block_on(keep(api, number, &ended));
    ended
}

/// Keeps how a task ends, before anybody is told that it has. Where that cannot be kept the task has ended all the same, and the
/// node knows of it as long as it remembers.
pub(crate) async fn keep(api: &Arc<Api>, number: u64, ended: &Result<Value, ApiError>) {
    let Some(task) = api.tasks.find(number) else {
        return;
    };
    let mut document = json!({"completed": true, "task": task.shown(number).told(&api.node_id)});
    match told(ended) {
        Ok(response) => document["response"] = response,
        Err(error) => document["error"] = error,
    }
    let id = format!("{}:{number}", api.node_id);
    // Also of a task that was cancelled: what is told of its end is not a part of it.
    let writing = Box::pin(write(&api.engine, id, document.to_string()));
    let kept = CancellationToken::default().scope(writing);
    if let Err(error) = kept.await {
        tracing::warn!(%error, number, "how a task ended is not kept");
    }
}

/// Writes a document and waits until it is durable.
async fn write(engine: &Engine, id: String, document: String) -> Result<(), EngineError> {
    let own = engine.clone();
    let outcome = engine
        .run_beside(move || written(&own, id, document))
        .await??;
    engine.durable(&outcome).await?;
    match outcome.results.into_iter().next() {
        Some(Err(error)) => Err(error),
        Some(Ok(_)) | None => Ok(()),
    }
}

/// Writes a document; the index is made for the first one.
fn written(engine: &Engine, id: String, document: String) -> Result<WriteOutcome, EngineError> {
    let everything = Access::everything();
    if engine.check_new_name(INDEX).is_ok()
        && let Err(error) = engine.create_index(&everything, INDEX, settings(), mapping())
        // Another task's end may have been first.
        && engine.check_new_name(INDEX).is_ok()
    {
        return Err(error);
    }
    let operations = vec![WriteOperation {
        index: INDEX.to_string(),
        require_alias: false,
        id: Some(id),
        routing: None,
        action: Action::index(document, OpType::Index),
        condition: None,
    }];
    let _memory = engine.admit(&operations)?;
    Ok(engine.write(&everything, operations))
}

/// Searches of all indexes do not find how tasks ended.
fn settings() -> IndexSettings {
    IndexSettings {
        hidden: true,
        ..IndexSettings::default()
    }
}

/// OpenSearch's own.
fn mapping() -> Mapping {
    let (keyword, flag, number) = (
        json!({"type": "keyword"}),
        json!({"type": "boolean"}),
        json!({"type": "long"}),
    );
    let unseen = json!({"type": "object", "enabled": false});
    let body = json!({
        "dynamic": "strict",
        "_meta": {"version": 5},
        "properties": {
            "completed": flag,
            "task": {"properties": {
                "action": keyword,
                "cancellable": flag,
                "cancelled": flag,
                "description": {"type": "text"},
                "headers": unseen,
                "id": number,
                "node": keyword,
                "parent_task_id": keyword,
                "running_time_in_nanos": number,
                "start_time_in_millis": number,
                "status": unseen,
                "type": keyword,
            }},
            "response": unseen,
            "error": unseen,
        },
    });
    let mut mapping = Mapping::new();
    merge(&mut mapping, &body).expect("a mapping of this file");
    mapping
}

/// How a task ended, by its id, as [`keep`] has kept it.
///
/// # Errors
/// The index cannot be read.
pub(crate) async fn find(call: &Call, id: &str) -> Result<Option<Value>, ApiError> {
    let id = id.to_string();
    let find = move |engine: &Engine| {
        let opened = engine.open_exactly(INDEX, &Access::everything(), Purpose::Read);
        let Ok(index) = opened else {
            return Ok(None);
        };
        let found = engine.get(&index, &id, None, Freshness::Latest)?;
        Ok(found.map(|document| document.source))
    };
    let source: Option<Bytes> = call.blocking(find).await?;
    // Whoever writes to the index may have put something else there.
    Ok(source.and_then(|source| serde_json::from_slice(&source).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mapping_is_one_and_takes_what_is_kept() {
        let mapping = mapping();
        assert!(mapping.field("task.action").is_some() && mapping.field("completed").is_some());
    }
}
