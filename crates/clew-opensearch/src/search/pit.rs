//! Points in time: the documents that there were at one moment, for any number of searches.

use std::time::Duration;

use axum::http::StatusCode;
use clew_engine::{Pinned, Purpose};
use clew_platform::whole_ms;
use serde_json::{Value, json};

use super::contexts::{ContextKind, Pit, check_keep_alive, memory_of, watch};
use super::search_parts;
use crate::http::error::ApiError;
use crate::http::place::token;
use crate::http::reply::Reply;
use crate::http::shard_outcomes::ShardOutcomes;
use crate::search::contexts::SearchContexts;
use crate::state::call::Call;

/// `POST /{index}/_search/point_in_time`.
pub(crate) async fn create(call: Call) -> Result<Reply, ApiError> {
    let keep_alive = match call.params.time("keep_alive")? {
        Some(time) => time,
        // The time before now: nobody finds it any more.
        None if call.params.has("keep_alive") => Duration::ZERO,
        None => return Err(ApiError::validation("keep alive not specified")),
    };
    check_keep_alive(&call, ContextKind::Pit, Some(keep_alive))?;
    let options = call.resolve_options()?;
    let resolved = call
        .open(call.index_expression(), options, Purpose::Read)
        .await?;
    let indices: Vec<_> = resolved.iter().map(|found| found.index().clone()).collect();
    let parts = search_parts(&call, &resolved, options).await?;
    // Read before the views are taken: they hold at least this.
    let visible = call.api.engine.visible(&indices);
    let outcomes = ShardOutcomes::of_serving(&indices);
    if !call.params.flag("allow_partial_pit_creation", true)? {
        outcomes.whole()?;
    }
    let mut shards = outcomes.shown();
    shards["skipped"] = json!(0);
    let pinned = call.api.engine.pin(&resolved)?;
    let created_ms = call.api.engine.clock().epoch_ms();
    let pit = Pit {
        memory: memory_of(&call, &pinned, &[])?,
        pinned,
        parts,
        created_ms,
    };
    let contexts = call.api.parts.get::<SearchContexts>();
    let id = contexts.open_pit(pit, keep_alive)?;
    watch(&call.api);
    Ok(Reply::json(&json!({
        "pit_id": contexts.shown(ContextKind::Pit, id),
        "_shards": shards,
        "creation_time": created_ms,
    }))
    .at(visible))
}

/// `GET /_search/point_in_time/_all`.
pub(crate) async fn list(call: Call) -> Result<Reply, ApiError> {
    let contexts = call.api.parts.get::<SearchContexts>();
    let pits: Vec<Value> = contexts
        .pits()
        .into_iter()
        .map(|(id, pit, keep_alive)| {
            json!({
                "pit_id": contexts.shown(ContextKind::Pit, id),
                "creation_time": pit.created_ms,
                "keep_alive": whole_ms(keep_alive),
            })
        })
        .collect();
    Ok(Reply::json(&json!({"pits": pits})))
}

/// `DELETE /_search/point_in_time/_all`.
pub(crate) async fn delete_all(call: Call) -> Result<Reply, ApiError> {
    let contexts = call.api.parts.get::<SearchContexts>();
    let gone: Vec<Value> = contexts
        .close_all(ContextKind::Pit)
        .into_iter()
        .map(|id| json!({"successful": true, "pit_id": contexts.shown(ContextKind::Pit, id)}))
        .collect();
    Ok(Reply::json(&json!({"pits": gone})))
}

/// `DELETE /_search/point_in_time`.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let ids = given_ids(&call, "pit_id")?;
    let contexts = call.api.parts.get::<SearchContexts>();
    let mut answers = Vec::with_capacity(ids.len());
    let mut any = false;
    for text in ids {
        let id = contexts.read(ContextKind::Pit, &text)?;
        let gone = id.is_some_and(|id| contexts.close(ContextKind::Pit, id));
        any |= gone;
        answers.push(json!({"successful": gone, "pit_id": text}));
    }
    let status = if any {
        StatusCode::OK
    } else {
        StatusCode::NOT_FOUND
    };
    Ok(Reply::json(&json!({"pits": answers})).with_status(status))
}

/// The points in time that a request's body names, each as it was made; those that have ended are left out.
pub(crate) fn named_pits(call: &Call) -> Result<Vec<Pinned>, ApiError> {
    let contexts = call.api.parts.get::<SearchContexts>();
    let mut found = Vec::new();
    for text in given_ids(call, "PIT identifier")? {
        let id = contexts.read(ContextKind::Pit, &text)?;
        found.extend(id.and_then(|id| contexts.open_pinned(id)));
    }
    Ok(found)
}

/// All points in time that are open.
pub(crate) fn open_pits(call: &Call) -> Vec<Pinned> {
    let pits = call.api.parts.get::<SearchContexts>().pits().into_iter();
    pits.map(|(_, pit, _)| pit.pinned).collect()
}

/// `pit_id` of a body: an id or several. `what` is what an endpoint calls an id.
fn given_ids(call: &Call, what: &str) -> Result<Vec<String>, ApiError> {
    let body = match call.json()? {
        None => json!({}),
        Some(body) if body.is_object() => body,
        Some(_) => {
            return Err(ApiError::illegal_argument(
                "Malformed content, must start with an object",
            ));
        }
    };
    let one = |id: &Value, place: &str| match id {
        Value::String(id) => Ok(id.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(id.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(ApiError::illegal_argument(
            format!("pit_id {place} should only contain {what}"),
        )),
    };
    let mut ids = Vec::new();
    for (key, value) in body.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("pit_id", Value::Array(items)) => {
                for item in items {
                    ids.push(one(item, "array element")?);
                }
            }
            ("pit_id", id) => ids.push(one(id, "element")?),
            _ => {
                return Err(ApiError::illegal_argument(format!(
                    "Unknown parameter [{key}] in request body or parameter is of the wrong type[{}] ",
                    token(value)
                )));
            }
        }
    }
    if ids.is_empty() {
        return Err(ApiError::validation("no pit ids specified"));
    }
    Ok(ids)
}

/// A search at a point in time names no indexes: the point in time has them.
pub(super) fn refuse_indices(call: &Call, expression: &str) -> Result<(), ApiError> {
    if !expression.is_empty() {
        return Err(ApiError::validation(
            "[indices] cannot be used with point in time",
        ));
    }
    for name in ["routing", "preference"] {
        if call.params.has(name) {
            return Err(ApiError::validation(&format!(
                "[{name}] cannot be used with point in time"
            )));
        }
    }
    Ok(())
}
