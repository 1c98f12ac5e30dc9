//! `/_search/pipeline`: pipelines kept by name.

use clew_engine::Engine;
use serde_json::Value;

use super::processors::Pipeline;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::state::call::Call;
use crate::state::{kept_pipelines, stored_scripts};

const KIND: &str = "search_pipeline";

/// A pipeline as it was put.
pub(super) fn find(call: &Call, name: &str) -> Option<Value> {
    kept_pipelines::find(&call.api.engine, KIND, name)
}

/// All pipelines as they were put, by their names.
pub(super) fn all(engine: &Engine) -> Vec<(String, Value)> {
    kept_pipelines::all(engine, KIND)
}

/// `PUT /_search/pipeline/{id}`.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let id = call.path_required("id")?.to_string();
    call.require_source()?;
    let body = call.definition()?;
    stored_scripts::reading(&call.api.engine, || Pipeline::parse(&id, &body))?;
    kept_pipelines::put(&call, KIND, id, body).await
}

/// `GET /_search/pipeline/{id}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    Ok(kept_pipelines::list(&call, KIND))
}

/// `DELETE /_search/pipeline/{id}`.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    kept_pipelines::remove(&call, KIND, |id| id == "*").await
}
