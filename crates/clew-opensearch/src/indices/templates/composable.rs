//! `_index_template`: composable templates, of which an index takes one.

use clew_engine::{DefinitionChange, Definitions};
use serde_json::{Map, Value, json};

use super::component;
use super::compose::{compose_template, data_stream_template, patterns_of, priority};
use super::part;
use super::patterns::{self, any_overlap, bracketed, invalid, listed, selected, selects};
use super::planner::plan_of;
use super::{COMPONENT, COMPOSABLE};
use crate::dsl::Field;
use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;
use crate::indices::{data_streams, known_settings};
use crate::state::call::Call;

/// `PUT /_index_template/{name}`.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let name = call.path_required("name")?.to_string();
    let create = call.params.flag("create", false)?;
    let template = call.read(&call.definition()?, read)?;
    let changed = call
        .changing(move |definitions| {
            if create && definitions.get(COMPOSABLE, &name).is_some() {
                return Err(ApiError::illegal_argument(format!(
                    "index template [{name}] already exists"
                )));
            }
            check(definitions, &name, &template)?;
            Ok(vec![DefinitionChange::put(COMPOSABLE, &name, template)])
        })
        .await?;
    Ok(Reply::acknowledged().at(changed))
}

/// What a template has.
const KNOWN: &[&str] = &[
    "index_patterns",
    "template",
    "priority",
    "composed_of",
    "version",
    "_meta",
    "data_stream",
];

/// Reads the body of a template into the shape that is kept.
pub(crate) fn read(body: &Value) -> Result<Value, ApiError> {
    let mut template = Map::new();
    for member in Field::all("index_template", body)? {
        let value = match member.name {
            _ if member.value.is_null() => continue,
            "index_patterns" | "composed_of" => json!(member.texts()?),
            "template" => Value::Object(part::read(member)?),
            "priority" | "version" => json!(member.long()?),
            "_meta" => member.object()?.clone(),
            "data_stream" => read_data_stream(member.value)?,
            _ => return Err(member.unknown(KNOWN).into()),
        };
        template.insert(member.name.to_string(), value);
    }
    if !template.contains_key("index_patterns") {
        return Err(ApiError::illegal_argument("Required [index_patterns]"));
    }
    Ok(Value::Object(template))
}

/// `{}` or the name of the field that holds the time.
fn read_data_stream(value: &Value) -> Result<Value, ApiError> {
    let Some(members) = value.as_object() else {
        return Err(part::parse_error("[data_stream] must be an object"));
    };
    let mut field = "@timestamp".to_string();
    for (key, value) in members {
        match (key.as_str(), value) {
            ("timestamp_field", value) => {
                let name = value.get("name").and_then(Value::as_str);
                field = name
                    .ok_or_else(|| part::parse_error("[timestamp_field] needs a [name]"))?
                    .to_string();
            }
            ("hidden" | "allow_custom_routing", Value::Bool(_)) => {}
            (other, value) => {
                return Err(ApiError::unknown_field(
                    "data_stream_template",
                    other,
                    value,
                ));
            }
        }
    }
    Ok(json!({"timestamp_field": {"name": field}}))
}

/// Refuses a template that could make no index, or that leaves open which one is taken.
pub(crate) fn check(
    definitions: &Definitions,
    name: &str,
    template: &Value,
) -> Result<(), ApiError> {
    let own = patterns_of(template);
    if own.is_empty() {
        return Err(invalid(
            name,
            "Validation Failed: 1: index patterns are missing;",
        ));
    }
    patterns::check(name, &own)?;
    let part = template.get("template");
    known_settings::check_template(name, part.and_then(|part| part.get("settings")))?;
    let negative = template.get("priority").and_then(Value::as_i64);
    if negative.is_some_and(|priority| priority < 0) {
        return Err(ApiError::validation("index template priority must be >= 0"));
    }
    let components = template.get("composed_of").and_then(patterns::read);
    let unknown: Vec<String> = components
        .unwrap_or_default()
        .into_iter()
        .filter(|component| definitions.get(COMPONENT, component).is_none())
        .collect();
    if !unknown.is_empty() {
        let cause = format!(
            "index template [{name}] specifies component templates {} that do not exist",
            bracketed(&unknown)
        );
        return Err(invalid(name, &cause));
    }
    check_priority(definitions, name, template, &own)?;
    let planned = compose_template(definitions, template).and_then(|composed| plan_of(&composed));
    planned.map(|_| ()).map_err(|error| {
        let illegal = |reason: String| Cause::new("illegal_argument_exception", reason);
        let whole = illegal(format!(
            "composable template [{name}] template after composition is invalid"
        ));
        let is_mapping = error.is_kind("mapper_parsing_exception");
        let within = |cause: Cause| {
            if is_mapping {
                illegal(format!("invalid composite mappings for [{name}]")).caused_by(cause)
            } else {
                cause
            }
        };
        error
            .map_cause(|cause| whole.clone().caused_by(within(cause)))
            .with_root(whole)
    })
}

fn check_priority(
    definitions: &Definitions,
    name: &str,
    template: &Value,
    own: &[String],
) -> Result<(), ApiError> {
    let clashing: Vec<(&str, Vec<String>)> = definitions
        .of(COMPOSABLE)
        .filter(|(other, stored)| *other != name && priority(stored) == priority(template))
        .map(|(other, stored)| (other, patterns_of(stored)))
        .filter(|(_, others)| any_overlap(own, others))
        .collect();
    if clashing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = clashing.iter().map(|(other, _)| *other).collect();
    let each: Vec<String> = clashing
        .iter()
        .map(|(other, patterns)| format!("{other} => {}", bracketed(patterns)))
        .collect();
    Err(ApiError::illegal_argument(format!(
        "index template [{name}] has index patterns {} matching patterns from existing templates \
         {} with patterns ({}) that have the same priority [{}], multiple index templates may not \
         match during index creation, please use a different priority",
        bracketed(own),
        bracketed(&names),
        each.join(","),
        priority(template)
    )))
}

/// `GET` and `HEAD` of `/_index_template/{name}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let flat = call.params.flag("flat_settings", false)?;
    let wanted = call.path("name").map(String::from);
    let found: Vec<Value> = call.api.engine.with_definitions(|definitions| {
        definitions
            .of(COMPOSABLE)
            .filter(|(name, _)| wanted.as_deref().is_none_or(|wanted| selects(wanted, name)))
            .map(|(name, stored)| json!({"name": name, "index_template": show(stored, flat)}))
            .collect()
    });
    let shown = json!({"index_templates": &found});
    listed(&call, ("index template", wanted), (found.len(), &shown))
}

/// The template as it is shown.
pub(crate) fn show(stored: &Value, flat: bool) -> Value {
    let mut shown = component::shown_members(stored, flat);
    // One that says nothing of its own is told as it was written.
    if shown.contains_key("template") {
        shown
            .entry("composed_of")
            .or_insert_with(|| Value::Array(Vec::new()));
    }
    Value::Object(shown)
}

/// `DELETE /_index_template/{name}`.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let wanted = call.path_required("name")?.to_string();
    let streams: Vec<String> = data_streams::all(&call.api.engine, &call.access)
        .into_keys()
        .collect();
    let changed = call
        .changing(move |definitions| {
            let found = selected(definitions, COMPOSABLE, &wanted)?;
            refuse_used(definitions, &streams, &found)?;
            let gone = found
                .into_iter()
                .map(|name| DefinitionChange::remove(COMPOSABLE, name));
            Ok(gone.collect())
        })
        .await?;
    Ok(Reply::acknowledged().at(changed))
}

/// A stream needs the template that its next index is made of.
fn refuse_used(
    definitions: &Definitions,
    streams: &[String],
    found: &[&str],
) -> Result<(), ApiError> {
    let used = streams.iter().filter(|stream| {
        let template = data_stream_template(definitions, stream);
        template.is_some_and(|(name, _)| found.contains(&name))
    });
    let used: Vec<&String> = used.collect();
    if used.is_empty() {
        return Ok(());
    }
    Err(ApiError::illegal_argument(format!(
        "unable to remove composable templates {} as they are in use by a data streams {}",
        bracketed(found),
        bracketed(&used)
    )))
}
