//! What a new index begins with: the templates that match its name, and the request on top.

use clew_engine::Definitions;
use serde_json::{Map, Value};

use super::mapping_merge::{fill, overlay};
use super::{COMPONENT, COMPOSABLE, LEGACY, patterns};
use crate::http::error::ApiError;
use crate::http::setting_values::Flat;

/// What a request says of a new index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// Settings, flat.
    pub(crate) settings: Flat,
    /// The `mappings` object.
    pub(crate) mappings: Option<Value>,
    /// Aliases as [`super::read_aliases`] gives them.
    pub(crate) aliases: Map<String, Value>,
}

/// What an index begins with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Composed {
    /// Settings, flat.
    pub(crate) settings: Flat,
    /// The `mappings` object.
    pub(crate) mappings: Value,
    /// Aliases with both routings.
    pub(crate) aliases: Map<String, Value>,
    /// The composable template that was taken.
    pub(crate) template: Option<String>,
}

/// The patterns of a stored template.
pub(crate) fn patterns_of(template: &Value) -> Vec<String> {
    template
        .get("index_patterns")
        .and_then(patterns::read)
        .unwrap_or_default()
}

/// The priority of a composable template.
pub(crate) fn priority(template: &Value) -> u64 {
    template
        .get("priority")
        .and_then(Value::as_u64)
        .unwrap_or(0)
}

/// The composable template for an index: the one of the highest priority.
pub(crate) fn composable_for<'d>(
    definitions: &'d Definitions,
    name: &str,
    hidden: bool,
) -> Option<(&'d str, &'d Value)> {
    let matching = definitions.of(COMPOSABLE).filter(|(_, template)| {
        let patterns = patterns_of(template);
        // A template for everything does not mean what is hidden.
        let for_all = patterns.iter().any(|pattern| pattern == "*");
        patterns::any_matches(&patterns, name) && !(hidden && for_all)
    });
    matching.max_by_key(|(_, template)| priority(template))
}

/// The template that makes a data stream of this name, if any.
pub(crate) fn data_stream_template<'d>(
    definitions: &'d Definitions,
    name: &str,
) -> Option<(&'d str, &'d Value)> {
    composable_for(definitions, name, false)
        .filter(|(_, template)| template.get("data_stream").is_some())
}

/// Puts together what a new index of this name begins with.
pub(crate) fn compose(
    definitions: &Definitions,
    name: &str,
    request: Request,
) -> Result<Composed, ApiError> {
    let hidden = request.settings.get("index.hidden");
    let hidden = hidden.is_some_and(|hidden| hidden.as_deref() == Some("true"));
    let mut composed = match composable_for(definitions, name, hidden) {
        Some((template_name, template)) => {
            let mut composed = compose_template(definitions, template)?;
            composed.template = Some(template_name.to_string());
            overlay_request(&mut composed, request)?;
            composed
        }
        None => compose_legacy(definitions, name, hidden, request)?,
    };
    composed.aliases = named(composed.aliases, name);
    Ok(composed)
}

/// Aliases of templates as an index has them: they may have its name in theirs.
pub(super) fn named(aliases: Map<String, Value>, index: &str) -> Map<String, Value> {
    let each = aliases.into_iter();
    each.map(|(alias, says)| (alias.replace("{index}", index), says))
        .collect()
}

/// What a composable template and its components say, without any request.
pub(crate) fn compose_template(
    definitions: &Definitions,
    template: &Value,
) -> Result<Composed, ApiError> {
    let mut composed = Composed {
        mappings: Value::Object(Map::new()),
        ..Composed::default()
    };
    let components = template.get("composed_of").and_then(Value::as_array);
    for component in components.into_iter().flatten() {
        let name = component.as_str().unwrap_or_default();
        if let Some(component) = definitions.get(COMPONENT, name) {
            add_part(&mut composed, component.get("template"))?;
        }
    }
    add_part(&mut composed, template.get("template"))?;
    Ok(composed)
}

fn add_part(composed: &mut Composed, part: Option<&Value>) -> Result<(), ApiError> {
    let Some(part) = part else { return Ok(()) };
    composed.settings.extend(stored_settings(part));
    if let (Some(mappings), Value::Object(below)) = (part.get("mappings"), &mut composed.mappings) {
        overlay(below, mappings)?;
    }
    for (alias, says) in part
        .get("aliases")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        composed.aliases.insert(alias.clone(), says.clone());
    }
    Ok(())
}

fn overlay_request(composed: &mut Composed, request: Request) -> Result<(), ApiError> {
    composed.settings.extend(request.settings);
    if let (Some(mappings), Value::Object(below)) = (&request.mappings, &mut composed.mappings) {
        overlay(below, mappings)?;
    }
    composed.aliases.extend(request.aliases);
    Ok(())
}

fn compose_legacy(
    definitions: &Definitions,
    name: &str,
    hidden: bool,
    request: Request,
) -> Result<Composed, ApiError> {
    let mut matching: Vec<&Value> = definitions
        .of(LEGACY)
        .map(|(_, template)| template)
        .filter(|template| {
            let patterns = patterns_of(template);
            let for_all = patterns.iter().any(|pattern| pattern == "*");
            patterns::any_matches(&patterns, name) && !(hidden && for_all)
        })
        .collect();
    // The highest order is the strongest.
    matching.sort_by_key(|template| std::cmp::Reverse(order(template)));
    let mut composed = Composed {
        settings: request.settings,
        mappings: request
            .mappings
            .unwrap_or_else(|| Value::Object(Map::new())),
        aliases: request.aliases,
        template: None,
    };
    for template in matching {
        for (setting, text) in stored_settings(template) {
            composed.settings.entry(setting).or_insert(text);
        }
        if let Some(mappings) = template.get("mappings") {
            fill(&mut composed.mappings, mappings, 0)?;
        }
        let aliases = template.get("aliases").and_then(Value::as_object);
        for (alias, says) in aliases.into_iter().flatten() {
            composed
                .aliases
                .entry(alias.clone())
                .or_insert_with(|| says.clone());
        }
    }
    Ok(composed)
}

/// The order of a legacy template.
pub(crate) fn order(template: &Value) -> i64 {
    template.get("order").and_then(Value::as_i64).unwrap_or(0)
}

fn stored_settings(part: &Value) -> Flat {
    let settings = part.get("settings").and_then(Value::as_object);
    let settings = settings.into_iter().flatten();
    settings
        .map(|(name, text)| (name.clone(), text.as_str().map(String::from)))
        .collect()
}
