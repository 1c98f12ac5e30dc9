//! Creating, deleting and showing indexes.

use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::{Index, ResolveOptions};
use clew_text::Mapping;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::error::{ApiError, Cause};
use crate::index_mapping::shown_mapping;
use crate::index_settings::shown_settings;
use crate::reply::Reply;
use crate::settings;

/// `PUT /{index}`.
pub(crate) async fn create(call: Call) -> Result<Reply, ApiError> {
    let name = call.path_required("index")?.to_string();
    let mut settings = settings::create(&settings::Flat::new())?;
    let mut mapping = Mapping::new();
    let empty = Map::new();
    let body = call.json()?.unwrap_or_else(|| json!({}));
    let Value::Object(body) = body else {
        return Err(ApiError::bad_request(
            "parse_exception",
            "expected a JSON object",
        ));
    };
    for (key, value) in &body {
        match key.as_str() {
            "settings" => {
                let flat = settings::flatten(value.as_object().unwrap_or(&empty))?;
                settings = settings::create(&flat)?;
            }
            "mappings" => mapping = parse_mapping(value)?,
            "aliases" if value.as_object().is_none_or(Map::is_empty) => {}
            "aliases" => return Err(ApiError::illegal_argument("[aliases] are not supported")),
            other => {
                return Err(ApiError::bad_request(
                    "parse_exception",
                    format!("unknown key [{other}] for create index"),
                ));
            }
        }
    }
    let created = name.clone();
    let (_, glsn) = call
        .blocking(move |engine| engine.create_index(&created, settings, mapping))
        .await?;
    let body = json!({"acknowledged": true, "shards_acknowledged": true, "index": name});
    Ok(Reply::json(&body).at(glsn))
}

fn parse_mapping(body: &Value) -> Result<Mapping, ApiError> {
    Mapping::from_opensearch(body).map_err(|error| {
        let (kind, reason) = (error.error_type(), error.to_string());
        let text = format!("Failed to parse mapping [_doc]: {reason}");
        let inner = Cause::new(kind, reason);
        let cause = Cause::new("mapper_parsing_exception", text).caused_by(inner.clone());
        let error = ApiError::new(StatusCode::BAD_REQUEST, cause);
        if kind == "mapper_parsing_exception" {
            error.with_root(inner)
        } else {
            error
        }
    })
}

/// `DELETE /{index}`: names and wildcards.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let indices = call.indices().await?;
    let glsn = call
        .blocking(move |engine| {
            let mut last = None;
            for index in indices {
                last = Some(engine.delete_index(index.name())?);
            }
            Ok(last)
        })
        .await?;
    Ok(Reply::acknowledged().at(glsn))
}

/// `HEAD /{index}`.
pub(crate) async fn exists(call: Call) -> Result<Reply, ApiError> {
    let options = ResolveOptions {
        allow_no_indices: false,
        ..call.resolve_options()?
    };
    let found = call.api.engine.resolve(call.index_expression(), options);
    let status = if found.is_ok_and(|indices| !indices.is_empty()) {
        StatusCode::OK
    } else {
        StatusCode::NOT_FOUND
    };
    Ok(Reply::empty(status))
}

/// `GET /{index}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let flat = call.params.flag("flat_settings", false)?;
    let show = |index: &Arc<Index>| {
        json!({
            "aliases": {},
            "mappings": shown_mapping(index),
            "settings": shown_settings(index, flat),
        })
    };
    let indices = call.indices().await?;
    let body = indices
        .iter()
        .map(|index| (index.name().to_string(), show(index)));
    Ok(Reply::json(&Value::Object(body.collect())))
}

/// `GET /_alias`: no index has one.
pub(crate) async fn aliases(call: Call) -> Result<Reply, ApiError> {
    let indices = call.indices().await?;
    let body = indices
        .iter()
        .map(|index| (index.name().to_string(), json!({"aliases": {}})));
    Ok(Reply::json(&Value::Object(body.collect())))
}

/// `GET /_alias/{alias}`: so none is found by its name.
pub(crate) async fn alias(call: Call) -> Result<Reply, ApiError> {
    let name = call.path_required("alias")?;
    if name.contains('*') {
        return Ok(Reply::json(&json!({})));
    }
    let body = json!({"error": format!("alias [{name}] missing"), "status": 404});
    Ok(Reply::json(&body).with_status(StatusCode::NOT_FOUND))
}
