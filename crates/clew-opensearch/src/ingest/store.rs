//! `/_ingest/pipeline`: pipelines kept by name.

use axum::http::StatusCode;
use clew_engine::{DefinitionChange, Engine};
use clew_text::glob::matches as glob;
use serde_json::{Map, Value};

use super::pipeline::Pipeline;
use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;
use crate::state::call::Call;

const KIND: &str = "ingest_pipeline";

/// A pipeline as it was put.
pub(super) fn find(engine: &Engine, name: &str) -> Option<Value> {
    engine.with_definitions(|all| all.get(KIND, name).cloned())
}

/// `PUT /_ingest/pipeline/{id}`.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let id = call.path_required("id")?.to_string();
    let body = call.json_object()?;
    Pipeline::parse(&body)?;
    let glsn = call
        .blocking(move |engine| {
            engine.change_definitions(|_| Ok(vec![DefinitionChange::put(KIND, &id, body)]))
        })
        .await?;
    Ok(Reply::acknowledged().at(glsn))
}

/// `GET /_ingest/pipeline/{id}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let patterns = call.path("id").unwrap_or("*");
    let found: Map<String, Value> = named(&call, patterns).into_iter().collect();
    let status = if found.is_empty() && call.path("id").is_some() {
        StatusCode::NOT_FOUND
    } else {
        StatusCode::OK
    };
    Ok(Reply::json(&Value::Object(found)).with_status(status))
}

/// `DELETE /_ingest/pipeline/{id}`.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let id = call.path_required("id")?.to_string();
    let found = named(&call, &id);
    if found.is_empty() && id != "*" {
        let reason = format!("pipeline [{id}] is missing");
        return Err(ApiError::new(
            StatusCode::NOT_FOUND,
            Cause::new("resource_not_found_exception", reason),
        ));
    }
    let changes: Vec<DefinitionChange> = found
        .iter()
        .map(|(name, _)| DefinitionChange::remove(KIND, name))
        .collect();
    let glsn = call
        .blocking(move |engine| engine.change_definitions(|_| Ok(changes)))
        .await?;
    Ok(Reply::acknowledged().at(glsn))
}

fn named(call: &Call, patterns: &str) -> Vec<(String, Value)> {
    let wanted = |name: &str| patterns.split(',').any(|pattern| glob(pattern, name));
    call.api.engine.with_definitions(|all| {
        all.of(KIND)
            .filter(|(name, _)| wanted(name))
            .map(|(name, value)| (name.to_string(), value.clone()))
            .collect()
    })
}
