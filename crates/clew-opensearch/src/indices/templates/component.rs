//! `_component_template`: parts that composable templates are made of.

use clew_engine::{DefinitionChange, Definitions};
use serde_json::{Map, Value, json};

use super::compose::compose_template;
use super::part;
use super::patterns::{self, bracketed, listed, selected, selects};
use super::planner::plan_of;
use super::{COMPONENT, COMPOSABLE};
use crate::dsl::Field;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::known_settings;
use crate::state::call::Call;

/// `PUT /_component_template/{name}`.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let name = call.path_required("name")?.to_string();
    let create = call.params.flag("create", false)?;
    let component = call.read(&call.definition()?, read)?;
    patterns::check(&name, &[])?;
    known_settings::check_component(component["template"].get("settings"))?;
    let changed = call
        .changing(move |definitions| {
            if create && definitions.get(COMPONENT, &name).is_some() {
                return Err(ApiError::illegal_argument(format!(
                    "component template [{name}] already exists"
                )));
            }
            check_users(definitions, &name, &component)?;
            Ok(vec![DefinitionChange::put(COMPONENT, &name, component)])
        })
        .await?;
    Ok(Reply::acknowledged().at(changed))
}

fn read(body: &Value) -> Result<Value, ApiError> {
    let mut component = Map::new();
    for member in Field::all("component_template", body)? {
        let value = match member.name {
            _ if member.value.is_null() => continue,
            "template" => Value::Object(part::read(member)?),
            "version" => json!(member.long()?),
            "_meta" => member.object()?.clone(),
            _ => return Err(member.unknown(&["template", "version", "_meta"]).into()),
        };
        component.insert(member.name.to_string(), value);
    }
    if !component.contains_key("template") {
        return Err(ApiError::illegal_argument("Required [template]"));
    }
    Ok(Value::Object(component))
}

/// The component alone and every template that uses it must still make an index.
fn check_users(definitions: &Definitions, name: &str, component: &Value) -> Result<(), ApiError> {
    let alone = json!({"template": component["template"]});
    plan_of(&compose_template(definitions, &alone)?)?;
    let users = users_of(definitions, &[name]);
    if users.is_empty() {
        return Ok(());
    }
    let mut with = definitions.clone();
    with.put(COMPONENT, name, component.clone());
    for (user, template) in users {
        let planned = compose_template(&with, template).and_then(|composed| plan_of(&composed));
        planned.map_err(|error| {
            ApiError::illegal_argument(format!(
                "updating component template [{name}] results in invalid composable template \
                 [{user}] after templates are merged: {}",
                error.reason()
            ))
        })?;
    }
    Ok(())
}

/// The composable templates that use any of these components.
fn users_of<'d>(definitions: &'d Definitions, names: &[&str]) -> Vec<(&'d str, &'d Value)> {
    let uses = |template: &Value| {
        let parts = template.get("composed_of").and_then(Value::as_array);
        parts
            .into_iter()
            .flatten()
            .any(|part| part.as_str().is_some_and(|part| names.contains(&part)))
    };
    definitions
        .of(COMPOSABLE)
        .filter(|(_, template)| uses(template))
        .collect()
}

/// `GET` and `HEAD` of `/_component_template/{name}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let flat = call.params.flag("flat_settings", false)?;
    let wanted = call.path("name").map(String::from);
    let found: Vec<Value> = call.api.engine.with_definitions(|definitions| {
        definitions
            .of(COMPONENT)
            .filter(|(name, _)| wanted.as_deref().is_none_or(|wanted| selects(wanted, name)))
            .map(|(name, stored)| json!({"name": name, "component_template": show(stored, flat)}))
            .collect()
    });
    let shown = json!({"component_templates": &found});
    listed(&call, ("component template", wanted), (found.len(), &shown))
}

/// The template as it is shown.
pub(crate) fn show(stored: &Value, flat: bool) -> Value {
    Value::Object(shown_members(stored, flat))
}

/// The members of a template, its part among them as it is shown.
pub(super) fn shown_members(stored: &Value, flat: bool) -> Map<String, Value> {
    let mut shown = stored.as_object().cloned().unwrap_or_default();
    if let Some(Value::Object(part)) = shown.get("template") {
        let part = part::show(part, flat);
        shown.insert("template".to_string(), Value::Object(part));
    }
    shown
}

/// `DELETE /_component_template/{name}`.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let wanted = call.path_required("name")?.to_string();
    let changed = call
        .changing(move |definitions| {
            let found = selected(definitions, COMPONENT, &wanted)?;
            let users: Vec<&str> = users_of(definitions, &found)
                .into_iter()
                .map(|(user, _)| user)
                .collect();
            if !users.is_empty() {
                return Err(ApiError::illegal_argument(format!(
                    "component templates {} cannot be removed as they are still in use by index \
                     templates {}",
                    bracketed(&found),
                    bracketed(&users)
                )));
            }
            let gone = found
                .into_iter()
                .map(|name| DefinitionChange::remove(COMPONENT, name));
            Ok(gone.collect())
        })
        .await?;
    Ok(Reply::acknowledged().at(changed))
}
