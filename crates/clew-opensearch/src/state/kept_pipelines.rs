//! Pipelines that are kept by name, those of documents and those of searches: put, listed by patterns and removed alike.

use axum::http::StatusCode;
use clew_engine::{DefinitionChange, Engine};
use clew_schema::glob::matches as glob;
use serde_json::{Map, Value};

use super::call::Call;
use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;

/// A pipeline of a kind as it was put.
pub(crate) fn find(engine: &Engine, kind: &str, name: &str) -> Option<Value> {
    engine.with_definitions(|all| all.get(kind, name).cloned())
}

/// All of a kind as they were put, by their names.
pub(crate) fn all(engine: &Engine, kind: &str) -> Vec<(String, Value)> {
    engine.with_definitions(|all| {
        let kept = all.of(kind);
        kept.map(|(name, value)| (name.to_string(), value.clone()))
            .collect()
    })
}

/// How many there are of a kind.
pub(crate) fn count(engine: &Engine, kind: &str) -> usize {
    engine.with_definitions(|all| all.of(kind).count())
}

/// Keeps a pipeline that was checked.
pub(crate) async fn put(
    call: &Call,
    kind: &'static str,
    id: String,
    body: Value,
) -> Result<Reply, ApiError> {
    let glsn = call
        .changing(move |_| Ok(vec![DefinitionChange::put(kind, &id, body)]))
        .await?;
    Ok(Reply::acknowledged().at(glsn))
}

/// Those that the path names, or all.
pub(crate) fn list(call: &Call, kind: &str) -> Reply {
    let patterns = call.path("id").unwrap_or("*");
    let found: Map<String, Value> = named(call, kind, patterns).into_iter().collect();
    let status = if found.is_empty() {
        StatusCode::NOT_FOUND
    } else {
        StatusCode::OK
    };
    Reply::json(&Value::Object(found)).with_status(status)
}

/// Removes those that the path names; `may_be_none` says of which patterns there need not be any.
pub(crate) async fn remove(
    call: &Call,
    kind: &'static str,
    may_be_none: fn(&str) -> bool,
) -> Result<Reply, ApiError> {
    let id = call.path_required("id")?.to_string();
    let found = named(call, kind, &id);
    if found.is_empty() && !may_be_none(&id) {
        let reason = format!("pipeline [{id}] is missing");
        return Err(ApiError::new(
            StatusCode::NOT_FOUND,
            Cause::new("resource_not_found_exception", reason),
        ));
    }
    let changes: Vec<DefinitionChange> = found
        .iter()
        .map(|(name, _)| DefinitionChange::remove(kind, name))
        .collect();
    let glsn = call.changing(move |_| Ok(changes)).await?;
    Ok(Reply::acknowledged().at(glsn))
}

fn named(call: &Call, kind: &str, patterns: &str) -> Vec<(String, Value)> {
    let wanted = |name: &str| patterns.split(',').any(|pattern| glob(pattern, name));
    call.api.engine.with_definitions(|all| {
        all.of(kind)
            .filter(|(name, _)| wanted(name))
            .map(|(name, value)| (name.to_string(), value.clone()))
            .collect()
    })
}
