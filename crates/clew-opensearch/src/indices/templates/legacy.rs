//! `_template`: templates of the first generation, of which an index takes all that match.

use axum::http::{Method, StatusCode};
use clew_engine::DefinitionChange;
use clew_schema::text_of;
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
    known_settings::check_component(template.get("settings"))?;
    check_alone(&template)?;
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

/// Checks mappings and analyzers by themselves: each of several templates that match may lack what another has.
fn check_alone(template: &Value) -> Result<(), ApiError> {
    let mut alone = settings::create(&setting_values::Flat::new())?;
    let given = template.get("settings").and_then(Value::as_object);
    for (name, text) in given.into_iter().flatten() {
        if let Some(text) = text.as_str() {
            settings::set(&mut alone, name, Some(text))?;
        }
    }
    let none = part::empty();
    parse_mapping(template.get("mappings").unwrap_or(&none), &alone).map(drop)
}

fn read(body: &Value) -> Result<Map<String, Value>, ApiError> {
    let mut template = Map::new();
    for (key, value) in body.as_object().into_iter().flatten() {
        let malformed = |what: &str| ApiError::illegal_argument(format!("Malformed {what}"));
        let whole = || {
            let text = value.as_str().and_then(|text| text.parse::<i64>().ok());
            value.as_i64().or(text)
        };
        let (key, value) = match key.as_str() {
            _ if value.is_null() => continue,
            // The word for it before there could be several.
            "template" | "index_patterns" => (
                "index_patterns",
                json!(patterns::read(value).ok_or_else(|| {
                    malformed("[template] value, should be a string or a list of strings")
                })?),
            ),
            "order" => {
                let order = whole().ok_or_else(|| {
                    let reason = format!("For input string: \"{}\"", text_of(value));
                    ApiError::bad_request("number_format_exception", reason)
                })?;
                ("order", json!(order))
            }
            "version" => {
                let version = whole();
                let wrong = || malformed("[version] value, should be an integer");
                ("version", json!(version.ok_or_else(wrong)?))
            }
            "settings" if !value.is_object() => {
                return Err(malformed(
                    "[settings] section, should include an inner object",
                ));
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
