//! Creating, deleting and showing indexes.

use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::{AliasNames, Aliases, BlockLevel, ClosedNames, Index, ResolveOptions, Wildcards};
use clew_text::Mapping;
use serde_json::{Map, Value, json};

use crate::aliases::{read_aliases, shown_aliases};
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
    let mut aliases = Aliases::new();
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
            "aliases" => aliases = read_aliases(value)?,
            other => {
                return Err(ApiError::bad_request(
                    "parse_exception",
                    format!("unknown key [{other}] for create index"),
                ));
            }
        }
    }
    let (index, glsn) = call
        .blocking(move |engine| engine.create_index_with_aliases(&name, settings, mapping, aliases))
        .await?;
    let body = json!({"acknowledged": true, "shards_acknowledged": true, "index": index.name()});
    Ok(Reply::json(&body).at(glsn))
}

fn parse_mapping(body: &Value) -> Result<Mapping, ApiError> {
    Mapping::from_opensearch(body).map_err(|error| {
        let (kind, reason) = (error.error_type(), error.to_string());
        let cause = if kind == "mapper_parsing_exception" {
            let text = format!("Failed to parse mapping [_doc]: {reason}");
            Cause::new(kind, text).caused_by(Cause::new(kind, reason))
        } else {
            Cause::new(kind, reason)
        };
        ApiError::new(StatusCode::BAD_REQUEST, cause)
    })
}

/// `DELETE /{index}`: names and wildcards.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let options = call.resolve_options_from(ResolveOptions {
        wildcards: Wildcards::SHOWN,
        closed: ClosedNames::Allow,
        aliases: AliasNames::Refuse,
        ..ResolveOptions::default()
    })?;
    let indices = call.indices_with(call.index_expression(), options).await?;
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
    let options = call.resolve_options_from(ResolveOptions {
        closed: ClosedNames::Allow,
        ..ResolveOptions::default()
    })?;
    let options = ResolveOptions {
        allow_no_indices: false,
        ..options
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
            "aliases": shown_aliases(&index.aliases()),
            "mappings": shown_mapping(index),
            "settings": shown_settings(index, flat),
        })
    };
    let indices = call.indices_from(Wildcards::OPEN).await?;
    for index in &indices {
        index.check_block(BlockLevel::MetadataRead)?;
    }
    let body = indices
        .iter()
        .map(|index| (index.name().to_string(), show(index)));
    Ok(Reply::json(&Value::Object(body.collect())))
}
