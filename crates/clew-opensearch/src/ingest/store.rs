//! `/_ingest/pipeline`: pipelines kept by name, and the patterns that they may use.

use std::sync::Arc;

use clew_engine::Engine;
use clew_ingest::{Pipeline, grok_patterns};
use serde_json::{Value, json};

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::state::call::Call;
use crate::state::{kept_pipelines, stored_scripts};

const KIND: &str = "ingest_pipeline";

/// A pipeline as it was put.
pub(super) fn find(engine: &Engine, name: &str) -> Option<Value> {
    kept_pipelines::find(engine, KIND, name)
}

/// How many pipelines are kept.
pub(crate) fn count(engine: &Engine) -> usize {
    kept_pipelines::count(engine, KIND)
}

/// Every pipeline that can be read, with its name.
pub(super) fn ready(engine: &Engine) -> Vec<(String, Arc<Pipeline>)> {
    let kept: Vec<(String, Value)> = engine.with_definitions(|all| {
        let kept = all.of(KIND);
        kept.map(|(name, body)| (name.to_string(), body.clone()))
            .collect()
    });
    let read = |(name, mut body): (String, Value)| {
        stored_scripts::fill(engine, &mut body).ok()?;
        let pipeline = Pipeline::ready(&name, &body).ok()?;
        Some((name, pipeline))
    };
    kept.into_iter().filter_map(read).collect()
}

/// `PUT /_ingest/pipeline/{id}`.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let id = call.path_required("id")?.to_string();
    call.require_source()?;
    let body = call.definition()?;
    // What is kept names its scripts still.
    let mut filled = body.clone();
    stored_scripts::fill(&call.api.engine, &mut filled)?;
    // Patterns take long to be compiled.
    let name = id.clone();
    call.off_thread(move || Pipeline::parse_named(&name, &filled).map(drop))
        .await??;
    kept_pipelines::put(&call, KIND, id, body).await
}

/// `GET /_ingest/pipeline/{id}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    Ok(kept_pipelines::list(&call, KIND))
}

/// `DELETE /_ingest/pipeline/{id}`.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    kept_pipelines::remove(&call, KIND, |id| id == "*").await
}

/// `GET /_ingest/processor/grok`: the patterns that are always there.
pub(crate) async fn patterns(call: Call) -> Result<Reply, ApiError> {
    // They are sorted in any case.
    call.params.flag("s", false)?;
    Ok(Reply::json(&json!({ "patterns": grok_patterns() })))
}
