//! The part that all templates have: settings, mappings and aliases, read into the shape that the
//! catalog keeps and shown as clients expect it.

use clew_engine::{Aliases, check_alias};
use serde_json::{Map, Value, json};

use crate::dsl::Field;
use crate::http::error::ApiError;
use crate::http::setting_values::{shown, unflatten};
use crate::indices::aliases::{read_aliases, shown_aliases};
use crate::indices::settings::flatten;

/// Reads the `template` of a template.
pub(crate) fn read(template: Field<'_>) -> Result<Map<String, Value>, ApiError> {
    let mut part = Map::new();
    for member in Field::all("template", template.object()?)? {
        let value = match member.name {
            _ if member.value.is_null() => continue,
            "settings" => settings(member.value)?,
            "mappings" => mappings(member.value)?,
            "aliases" => Value::Object(aliases(member.value)?),
            _ => {
                let unknown = member.unknown(&["settings", "mappings", "aliases"]);
                return Err(template.wrong(unknown).into());
            }
        };
        part.insert(member.name.to_string(), value);
    }
    Ok(part)
}

/// Settings, flat with their prefix; a `null` takes a setting away from what is below.
pub(crate) fn settings(value: &Value) -> Result<Value, ApiError> {
    let Some(members) = value.as_object() else {
        return Err(parse_error("[settings] must be an object"));
    };
    let flat = flatten(members)?.into_iter();
    Ok(Value::Object(
        flat.map(|(name, text)| (name, text.map_or(Value::Null, Value::String)))
            .collect(),
    ))
}

/// Mappings without the name of the type that old clients send.
pub(crate) fn mappings(value: &Value) -> Result<Value, ApiError> {
    let Some(members) = value.as_object() else {
        return Err(parse_error("[mappings] must be an object"));
    };
    match members.get("_doc") {
        Some(inner) if members.len() == 1 => mappings(inner),
        _ => Ok(value.clone()),
    }
}

/// Aliases, each with both routings.
pub(crate) fn aliases(value: &Value) -> Result<Map<String, Value>, ApiError> {
    let Some(members) = value.as_object() else {
        return Err(parse_error("[aliases] must be an object"));
    };
    if let Some((name, _)) = members.iter().find(|(_, says)| !says.is_object()) {
        return Err(parse_error(&format!("alias [{name}] must be an object")));
    }
    let aliases = read_aliases(value)?;
    for (name, alias) in &aliases {
        check_alias(name, alias)?;
    }
    Ok(kept_aliases(&aliases))
}

/// Aliases of an index as templates keep them.
fn kept_aliases(aliases: &Aliases) -> Map<String, Value> {
    match shown_aliases(aliases) {
        Value::Object(aliases) => aliases,
        _ => Map::new(),
    }
}

/// The part as it is shown: settings nested, or flat when asked.
pub(crate) fn show(part: &Map<String, Value>, flat: bool) -> Map<String, Value> {
    let each = part.iter().map(|(key, value)| {
        let value = match (key.as_str(), value) {
            ("settings", Value::Object(settings)) => show_settings(settings, flat),
            _ => value.clone(),
        };
        (key.clone(), value)
    });
    each.collect()
}

/// Settings of a template as they are shown.
pub(crate) fn show_settings(settings: &Map<String, Value>, flat: bool) -> Value {
    if flat {
        let text = |value: &Value| value.as_str().map_or(Value::Null, shown);
        let all = settings.iter();
        return Value::Object(all.map(|(k, v)| (k.clone(), text(v))).collect());
    }
    // Names come in order, as nesting them needs.
    let mut pairs: Vec<(&str, &str)> = settings
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
        .collect();
    pairs.sort_unstable();
    Value::Object(unflatten(pairs.into_iter()))
}

/// An object without members, as which is shown what a template lacks.
pub(crate) fn empty() -> Value {
    json!({})
}

/// A body that cannot be read.
pub(crate) fn parse_error(reason: &str) -> ApiError {
    ApiError::bad_request("parse_exception", reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a part that a template has.
    fn read_part(value: Value) -> Result<Map<String, Value>, ApiError> {
        let body = json!({"template": value});
        let mut members = Field::all("index_template", &body)?;
        read(members.next().expect("the only member"))
    }

    #[test]
    fn a_part_is_kept_in_one_shape_and_shown_in_another() {
        let part = read_part(json!({
            "settings": {"number_of_shards": 1, "index": {"refresh_interval": "5s"}},
            "mappings": {"_doc": {"properties": {"a": {"type": "keyword"}}}},
            "aliases": {"x": {"routing": "r", "filter": {"term": {"a": 1}}}, "y": {}},
        }))
        .unwrap();
        assert_eq!(part["settings"]["index.number_of_shards"], "1");
        assert_eq!(part["mappings"]["properties"]["a"]["type"], "keyword");
        assert_eq!(part["aliases"]["x"]["index_routing"], "r");
        assert_eq!(part["aliases"]["x"]["search_routing"], "r");
        let shown = show(&part, false);
        assert_eq!(
            shown["settings"],
            json!({"index": {"number_of_shards": "1", "refresh_interval": "5s"}})
        );
        assert_eq!(
            show(&part, true)["settings"]["index.refresh_interval"],
            "5s"
        );
    }

    #[test]
    fn what_is_no_part_of_a_template_is_refused() {
        for body in [
            json!({"settings": 1}),
            json!({"mappings": []}),
            json!({"aliases": {"x": 1}}),
            json!({"aliases": {"x y": {}}}),
            json!({"aliases": {"x": {"index_routing": "a,b"}}}),
            json!({"other": {}}),
            json!([]),
        ] {
            let told = body.to_string();
            assert!(read_part(body).is_err(), "{told}");
        }
    }
}
