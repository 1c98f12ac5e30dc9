//! What an index or a template would come to, without making it.

use clew_engine::Definitions;
use serde_json::{Map, Value, json};

use super::composable::{check, read};
use super::compose::{Composed, composable_for, compose_template, named, patterns_of};
use super::part::{self, show_settings};
use super::patterns::any_overlap;
use super::planner::plan_of;
use super::{COMPOSABLE, LEGACY};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::state::call::Call;

/// The name that a template of a request's body goes by meanwhile.
const SIMULATED: &str = "simulated_template";

/// `POST /_index_template/_simulate_index/{name}`.
pub(crate) async fn index(call: Call) -> Result<Reply, ApiError> {
    let name = call.path_required("name")?.to_string();
    let mut definitions = call.api.engine.with_definitions(Definitions::clone);
    if let Some(body) = call.json()? {
        let template = call.read(&body, read)?;
        check(&definitions, SIMULATED, &template)?;
        definitions.put(COMPOSABLE, SIMULATED, template);
    }
    match composable_for(&definitions, &name, false) {
        None => Ok(Reply::json(&json!({}))),
        Some(template) => simulated(&definitions, template, &name),
    }
}

/// `POST /_index_template/_simulate/{name}`.
pub(crate) async fn template(call: Call) -> Result<Reply, ApiError> {
    let mut definitions = call.api.engine.with_definitions(Definitions::clone);
    let name = call.path("name").map(String::from);
    let template = match (&name, call.json()?) {
        (_, Some(body)) => {
            let template = call.read(&body, read)?;
            let simulated = name.as_deref().unwrap_or(SIMULATED);
            check(&definitions, simulated, &template)?;
            definitions.put(COMPOSABLE, simulated, template.clone());
            template
        }
        (Some(name), None) => {
            let stored = definitions.get(COMPOSABLE, name).cloned();
            stored.ok_or_else(|| {
                ApiError::illegal_argument(format!(
                    "unable to simulate template [{name}] that does not exist"
                ))
            })?
        }
        (None, None) => {
            return Err(ApiError::validation(
                "either index name or index template body must be specified for simulation",
            ));
        }
    };
    let name = name.as_deref().unwrap_or(SIMULATED);
    simulated(&definitions, (name, &template), SIMULATED)
}

/// What an index of a name would come to by a template.
fn simulated(
    definitions: &Definitions,
    (name, template): (&str, &Value),
    index: &str,
) -> Result<Reply, ApiError> {
    let composed = compose_template(definitions, template)?;
    let mapping = plan_of(&composed)?.mapping;
    let Composed {
        settings, aliases, ..
    } = composed;
    let settings: Map<String, Value> = settings
        .into_iter()
        .filter_map(|(name, text)| Some((name, Value::String(text?))))
        .collect();
    let mut shown = json!({
        "settings": show_settings(&settings, false),
        "aliases": named(aliases, index),
    });
    let mappings = clew_opensearch_mapping::shown(&mapping);
    if mappings != part::empty() {
        shown["mappings"] = mappings;
    }
    Ok(Reply::json(&json!({
        "template": shown,
        "overlapping": overlapping(definitions, name, &patterns_of(template)),
    })))
}

/// The other templates that match some of the same names.
fn overlapping(definitions: &Definitions, name: &str, own: &[String]) -> Vec<Value> {
    let of = |kind: &'static str| {
        definitions
            .of(kind)
            .filter(move |(other, _)| kind == LEGACY || *other != name)
            .map(|(other, stored)| (other, patterns_of(stored)))
            .filter(|(_, others)| any_overlap(own, others))
            .map(|(other, others)| json!({"name": other, "index_patterns": others}))
    };
    of(LEGACY).chain(of(COMPOSABLE)).collect()
}
