//! `_template`: templates of the first generation, of which an index takes all that match.

use axum::http::{Method, StatusCode};
use clew_engine::DefinitionChange;
use serde_json::{Map, Value, json};

use super::LEGACY;
use super::compose::patterns_of;
use super::part::{self, parse_error};
use super::patterns::{self, selected, selects};
use super::planner::parse_mapping;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::setting_values;
use crate::indices::{known_settings, settings};
use crate::state::call::Call;

/// `PUT` and `POST` of `/_template/{name}`.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let name = call.path_required("name")?.to_string();
    let create = call.params.flag("create", false)?;
    let mut template = read(&call.definition()?)?;
    if let Some(order) = call.params.integer("order")? {
        template.insert("order".to_string(), json!(order));
    }
    template.entry("order").or_insert_with(|| json!(0));
    let template = Value::Object(template);
    let own = patterns_of(&template);
    if own.is_empty() {
        return Err(ApiError::validation("index patterns are missing"));
    }
    patterns::check(&name, &own)?;
    known_settings::check_legacy(&name, template.get("settings"))?;
    let mappings = template.get("mappings").cloned();
    // Each of several templates that match may lack what another has, so each is checked alone.
    let alone = settings::create(&setting_values::Flat::new())?;
    parse_mapping_of(mappings.as_ref(), &template, &alone)?;
    let changed = call
        .changing(move |definitions| {
            let old = definitions.get(LEGACY, &name);
            if create && old.is_some() {
                return Err(ApiError::illegal_argument(format!(
                    "index_template [{name}] already exists"
                )));
            }
            Ok(vec![DefinitionChange::put(LEGACY, &name, template)])
        })
        .await?;
    Ok(Reply::acknowledged().at(changed))
}

fn parse_mapping_of(
    mappings: Option<&Value>,
    template: &Value,
    defaults: &clew_engine::IndexSettings,
) -> Result<(), ApiError> {
    let Some(mappings) = mappings else {
        return Ok(());
    };
    let mut limits = defaults.clone();
    let given = template.get("settings").and_then(Value::as_object);
    for (name, text) in given.into_iter().flatten() {
        if let Some(text) = text.as_str() {
            settings::set(&mut limits, name, Some(text))?;
        }
    }
    parse_mapping(mappings, &limits).map(|_| ())
}

fn read(body: &Value) -> Result<Map<String, Value>, ApiError> {
    let mut template = Map::new();
    for (key, value) in body.as_object().into_iter().flatten() {
        let wrong = || parse_error(&format!("[{key}] of a template cannot be read"));
        let (key, value) = match key.as_str() {
            _ if value.is_null() => continue,
            // The word for it before there could be several.
            "template" | "index_patterns" => (
                "index_patterns",
                json!(patterns::read(value).ok_or_else(wrong)?),
            ),
            "order" | "version" => {
                let number = value
                    .as_i64()
                    .or_else(|| value.as_str().and_then(|text| text.parse().ok()));
                (key.as_str(), json!(number.ok_or_else(wrong)?))
            }
            "settings" => ("settings", part::settings(value)?),
            "mappings" => ("mappings", part::mappings(value)?),
            "aliases" => ("aliases", Value::Object(part::aliases(value)?)),
            other => {
                return Err(parse_error(&format!(
                    "unknown key [{other}] in the template "
                )));
            }
        };
        template.insert(key.to_string(), value);
    }
    Ok(template)
}

/// `GET` and `HEAD` of `/_template/{name}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let flat = call.params.flag("flat_settings", false)?;
    let wanted = call.path("name").map(String::from);
    let found: Map<String, Value> = call.api.engine.with_definitions(|definitions| {
        definitions
            .of(LEGACY)
            .filter(|(name, _)| wanted.as_deref().is_none_or(|wanted| selects(wanted, name)))
            .map(|(name, stored)| (name.to_string(), show(stored, flat)))
            .collect()
    });
    let status = if found.is_empty() && wanted.is_some() {
        StatusCode::NOT_FOUND
    } else {
        StatusCode::OK
    };
    if call.method == Method::HEAD {
        return Ok(Reply::empty(status));
    }
    Ok(Reply::json(&Value::Object(found)).with_status(status))
}

/// The template as it is shown.
pub(crate) fn show(stored: &Value, flat: bool) -> Value {
    let stored = stored.as_object().cloned().unwrap_or_default();
    let mut shown = part::show(&stored, flat);
    for key in ["settings", "mappings", "aliases"] {
        shown.entry(key).or_insert_with(part::empty);
    }
    Value::Object(shown)
}

/// `DELETE /_template/{name}`.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let wanted = call.path_required("name")?.to_string();
    let changed = call
        .changing(move |definitions| {
            let found = selected(definitions, LEGACY, &wanted)?;
            let gone = found
                .into_iter()
                .map(|name| DefinitionChange::remove(LEGACY, name));
            Ok(gone.collect())
        })
        .await?;
    Ok(Reply::acknowledged().at(changed))
}
