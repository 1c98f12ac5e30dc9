//! Writes to all documents of a search: `_delete_by_query`, `_update_by_query`, `_reindex`.
//!
//! The documents are those of one moment, read page by page in the order of the index. A document
//! that was written meanwhile is a conflict: its sequence number is checked with each write. `_reindex` may also read those of
//! another cluster (`remote`).

mod counts;
mod found;
mod reindex;
mod remote;
mod retries;
mod run;
mod scripted;
mod spec;
mod speed;

use std::sync::Arc;

use axum::http::StatusCode;
use clew_platform::CancellationToken;
use run::run;
use serde_json::{Value, json};
use spec::{Job, Verb};
pub(crate) use speed::Speeds;

use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;
use crate::state::call::Call;
use crate::state::tasks::{or_defect, stored};

pub(crate) use reindex::reindex;

/// `POST /{index}/_delete_by_query`.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let job = Job::of_index(&call, Verb::Delete).await?;
    start(call, job, "indices:data/write/delete/byquery").await
}

/// Deletes the documents that a query finds in indexes, as a statement of another language asks for it: how many these
/// were. No search finds them any more then.
///
/// # Errors
/// A query that makes no sense, indexes that there are not or that the request may not write to, a shard that cannot be
/// searched, and the first document that was written meanwhile: those before it are gone.
pub async fn delete_found(call: &Call, indices: &str, query: &Value) -> Result<u64, ApiError> {
    let mut asked = call.within("refresh=true", json!({"query": query}).to_string())?;
    asked.path_values = vec![("index", indices.to_string())];
    let job = Job::of_index(&asked, Verb::Delete).await?;
    let outcome = run(&Arc::new(asked), &job, None).await?;
    if let Some(error) = outcome.broke_off {
        return Err(error);
    }
    let Some(failure) = outcome.body.pointer("/failures/0") else {
        return Ok(outcome.body["deleted"].as_u64().unwrap_or(0));
    };
    let kind = match outcome.status {
        StatusCode::CONFLICT => "version_conflict_engine_exception",
        _ => "no_shard_available_action_exception",
    };
    let why = failure.get("cause").or_else(|| failure.get("reason"));
    let reason = why.and_then(|why| why["reason"].as_str());
    let cause = Cause::new(kind, reason.unwrap_or_default());
    Err(ApiError::new(outcome.status, cause))
}

/// `POST /{index}/_update_by_query`.
pub(crate) async fn update(call: Call) -> Result<Reply, ApiError> {
    let job = Job::of_index(&call, Verb::Update).await?;
    start(call, job, "indices:data/write/update/byquery").await
}

/// Runs a job and waits for it, or lets it go on as a task.
async fn start(call: Call, job: Job, action: &'static str) -> Result<Reply, ApiError> {
    let wait = call.params.flag("wait_for_completion", true)?;
    let call = Arc::new(call);
    if wait {
        let outcome = run(&call, &job, None).await?;
        return Ok(Reply::json(&outcome.body).with_status(outcome.status));
    }
    let token = CancellationToken::new();
    let number = call.begin_cancellable_task(action, job.description.clone(), token.clone())?;
    let id = format!("{}:{number}", call.api.node_id);
    let speeds = call.api.parts.get::<Speeds>();
    speeds.insert(number, job.speed.clone());
    tokio::spawn(async move {
        let running = token.scope(Box::pin(async {
            let outcome = run(&call, &job, Some(number)).await;
            outcome.map(|outcome| outcome.body)
        }));
        let work = async {
            let ended = or_defect(running).await;
            stored::keep(&call.api, number, &ended).await;
            ended
        };
        call.api.tasks.see_through(number, work).await;
        speeds.remove(number);
    });
    Ok(Reply::json(&json!({"task": id})))
}
