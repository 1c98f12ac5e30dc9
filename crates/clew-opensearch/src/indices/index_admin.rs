//! Creating, deleting and showing indexes.

use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::{
    AliasNames, ClosedNames, Definitions, Index, Purpose, ResolveOptions, Wildcards,
};
use clew_platform::stopped;
use serde_json::{Map, Value, json};

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::aliases::{aliases_of, shown_aliases};
use crate::indices::copies::{enough_copies, replicas_of};
use crate::indices::data_streams::refuse_write_index;
use crate::indices::index_mapping::shown_mapping;
use crate::indices::index_settings::{PROVIDED_NAME, settings_for};
use crate::indices::known_settings;
use crate::indices::settings;
use crate::indices::templates::{Request, compose, data_stream_template, plan_index, read_aliases};
use crate::state::call::Call;
use crate::state::promises::check_named;

/// `PUT /{index}`.
pub(crate) async fn create(call: Call) -> Result<Reply, ApiError> {
    let given = call.path_required("index")?.to_string();
    let name = call.api.engine.dated_name(&given)?;
    call.memory.take_copied_json(&call.body)?;
    let request = read_request(call.json()?)?;
    let definitions = call.api.engine.with_definitions(Definitions::clone);
    refuse_data_stream(&definitions, &name)?;
    let mut plan = plan_index(&compose(&definitions, &name, request)?)?;
    if given != name {
        let settings = &mut plan.settings.given;
        settings.insert(PROVIDED_NAME.to_string(), given);
    }
    let enough = enough_copies(&call, replicas_of(&plan.settings))?;
    let access = call.access.clone();
    let (index, glsn) = call
        .to_its_end(move |engine| engine.create_planned(&access, &name, plan))
        .await?;
    let body = json!({"acknowledged": true, "shards_acknowledged": enough, "index": index.name()});
    Ok(Reply::json(&body).at(glsn))
}

/// What the body says of the new index.
pub(crate) fn read_request(body: Option<Value>) -> Result<Request, ApiError> {
    let mut request = Request::default();
    let empty = Map::new();
    let Value::Object(body) = body.unwrap_or_else(|| json!({})) else {
        return Err(ApiError::bad_request(
            "parse_exception",
            "expected a JSON object",
        ));
    };
    for (key, value) in body {
        match key.as_str() {
            "settings" if !(value.is_object() || value.is_null()) => {
                return Err(ApiError::bad_request(
                    "parse_exception",
                    "key [settings] must be an object",
                ));
            }
            "settings" => {
                request.settings = settings::flatten(value.as_object().unwrap_or(&empty))?;
                known_settings::check(&request.settings)?;
            }
            "mappings" if value.is_null() => {}
            "mappings" => request.mappings = Some(value),
            "aliases" if value.is_null() => {}
            "aliases" => request.aliases = read_aliases(&value)?,
            other => {
                return Err(ApiError::bad_request(
                    "parse_exception",
                    format!("unknown key [{other}] for create index"),
                ));
            }
        }
    }
    Ok(request)
}

/// A name that a template gives to data streams cannot be an index's.
fn refuse_data_stream(definitions: &Definitions, name: &str) -> Result<(), ApiError> {
    let Some((template, _)) = data_stream_template(definitions, name) else {
        return Ok(());
    };
    Err(ApiError::illegal_argument(format!(
        "cannot create index with name [{name}], because it matches with template [{template}] \
         that creates data streams only, use create data stream api instead"
    )))
}

/// `DELETE /{index}`: names and wildcards.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    check_named(&call)?;
    let options = call.resolve_options_from(ResolveOptions {
        wildcards: Wildcards::SHOWN,
        closed: ClosedNames::Allow,
        aliases: AliasNames::Refuse,
        ..ResolveOptions::default()
    })?;
    let indices = call
        .indices_with(call.index_expression(), options, Purpose::Change)
        .await?;
    let named: Vec<&str> = call.index_expression().split(',').collect();
    refuse_write_index(&call.api.engine, &indices, &named)?;
    if indices.is_empty() {
        return Ok(Reply::acknowledged());
    }
    let glsn = call.delete_indices(indices).await?;
    Ok(Reply::acknowledged().at(Some(glsn)))
}

/// `HEAD /{index}`.
pub(crate) async fn exists(call: Call) -> Result<Reply, ApiError> {
    let options = call.resolve_options_from(ResolveOptions {
        closed: ClosedNames::Allow,
        ..ResolveOptions::default()
    })?;
    // A pattern may stand for none, unless the request says otherwise.
    call.indices_with(call.index_expression(), options, Purpose::Watch)
        .await?;
    Ok(Reply::empty(StatusCode::OK))
}

/// `GET /{index}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let indices = call.indices_from(Wildcards::OPEN, Purpose::Show).await?;
    let settings = indices.iter().map(|index| settings_for(&call, index));
    let settings = settings.collect::<Result<Vec<_>, _>>()?;
    let show = |(index, settings): (&Arc<Index>, Value)| {
        let mut shown = json!({
            "aliases": shown_aliases(&aliases_of(index)),
            "mappings": shown_mapping(index),
            "settings": settings,
        });
        if let Some(stream) = index.data_stream() {
            shown["data_stream"] = Value::from(stream);
        }
        (index.name().to_string(), shown)
    };
    let made = move || {
        let wanted = indices.iter().take_while(|_| !stopped());
        Ok(Value::Object(wanted.zip(settings).map(show).collect()))
    };
    call.showing(made).await
}
