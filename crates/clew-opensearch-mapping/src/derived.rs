//! `derived`: fields whose values scripts make, in mappings and in searches.

use std::collections::BTreeMap;

use clew_schema::{DerivedField, DerivedKind, DerivedScript, MappingError};
use serde_json::{Map, Value, json};

use crate::parameter_values::{boolean, show, unknown};

/// What scripts are written in that do not say it.
const LANG: &str = "painless";

/// Reads a `derived` object. An empty list stands for none.
///
/// # Errors
/// What cannot be read, in the words of [`reason`](crate::reason).
pub fn read_derived(value: &Value) -> Result<Vec<DerivedField>, MappingError> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| read_field(name, value))
            .collect(),
        Value::Array(items) if items.is_empty() => Ok(Vec::new()),
        other => Err(MappingError::unreadable(format!(
            "Expected map for property [derived] but got [{}]",
            show(other)
        ))),
    }
}

fn read_field(name: &str, value: &Value) -> Result<DerivedField, MappingError> {
    let Value::Object(parameters) = value else {
        return Err(MappingError::unreadable(format!(
            "Expected map for property [derived_fields] on field [{name}] but got a class \
             java.lang.String"
        )));
    };
    let type_name = parameters.get("type").map(show).unwrap_or_default();
    let kind = DerivedKind::named(&type_name).ok_or_else(|| MappingError::DerivedType {
        type_name: type_name.clone(),
    })?;
    let mut field = DerivedField {
        path: name.to_string(),
        kind,
        script: None,
        prefilter_field: None,
        format: None,
        ignore_malformed: false,
        properties: BTreeMap::new(),
    };
    for (key, value) in parameters {
        match key.as_str() {
            "type" => {}
            "script" => field.script = Some(read_script(name, value)?),
            "prefilter_field" => field.prefilter_field = Some(show(value)),
            "format" => field.format = Some(show(value)),
            "ignore_malformed" => field.ignore_malformed = boolean(value)?,
            "properties" => read_properties(&mut field, value)?,
            _ => return Err(unknown(name, key, &type_name)),
        }
    }
    Ok(field)
}

fn read_properties(field: &mut DerivedField, value: &Value) -> Result<(), MappingError> {
    let members = value.as_object().into_iter().flatten();
    for (inside, value) in members {
        let Value::String(type_name) = value else {
            return Err(MappingError::unreadable(format!(
                "[properties] values can only be strings, but got [{}] for field [{}]",
                show(value),
                field.path
            )));
        };
        field.properties.insert(inside.clone(), type_name.clone());
    }
    Ok(())
}

/// A text, or an object with one.
fn read_script(name: &str, value: &Value) -> Result<DerivedScript, MappingError> {
    let inline = |source: &str, lang: &str, params: &Value| DerivedScript {
        source: source.to_string(),
        lang: lang.to_string(),
        params: params.clone(),
    };
    let Value::Object(script) = value else {
        return Ok(inline(&show(value), LANG, &Value::Null));
    };
    if script.contains_key("id") {
        return Err(MappingError::unreadable(format!(
            "stored scripts are not supported for derived fields: write the [source] of the script \
             of [{name}]"
        )));
    }
    let known = ["source", "lang", "params", "options"];
    if let Some(key) = script.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(MappingError::unreadable(format!(
            "[script] unknown field [{key}]"
        )));
    }
    let source = script.get("source").ok_or_else(|| {
        MappingError::unreadable(
            "must specify either [source] for an inline script or [id] for a stored script",
        )
    })?;
    let lang = script.get("lang").map_or_else(|| LANG.to_string(), show);
    let params = script.get("params").unwrap_or(&Value::Null);
    Ok(inline(&show(source), &lang, params))
}

/// The `derived` object of some fields.
pub(crate) fn shown_derived(fields: &[DerivedField]) -> Value {
    let fields = fields
        .iter()
        .map(|field| (field.path.clone(), shown_one(field)));
    Value::Object(fields.collect())
}

/// A derived field, as it is shown.
fn shown_one(field: &DerivedField) -> Value {
    let mut shown = Map::new();
    shown.insert("type".to_string(), json!(field.kind.name()));
    if let Some(script) = &field.script {
        let mut written = json!({"source": script.source, "lang": script.lang});
        if !script.params.is_null() {
            written["params"] = script.params.clone();
        }
        shown.insert("script".to_string(), written);
    }
    if !field.properties.is_empty() {
        shown.insert("properties".to_string(), json!(field.properties));
    }
    let texts = [
        ("prefilter_field", &field.prefilter_field),
        ("format", &field.format),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            shown.insert(key.to_string(), json!(text));
        }
    }
    if field.ignore_malformed {
        shown.insert("ignore_malformed".to_string(), json!(true));
    }
    Value::Object(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_fields_are_shown_as_they_are_understood() {
        let body = json!({
            "a": {"type": "long", "script": "emit(1)"},
            "o": {
                "type": "object", "script": {"source": "emit('{}')", "params": {"p": 1}},
                "properties": {"x.y": "keyword"}, "prefilter_field": "n", "format": "yyyy",
                "ignore_malformed": true,
            },
        });
        let expected = json!({
            "a": {"type": "long", "script": {"source": "emit(1)", "lang": "painless"}},
            "o": {
                "type": "object",
                "script": {"source": "emit('{}')", "lang": "painless", "params": {"p": 1}},
                "properties": {"x.y": "keyword"}, "prefilter_field": "n", "format": "yyyy",
                "ignore_malformed": true,
            },
        });
        let mapping = crate::mapping(json!({"derived": body}));
        assert_eq!(crate::shown(&mapping)["derived"], expected);
        assert_eq!(read_derived(&expected).unwrap(), mapping.derived());
    }

    #[test]
    fn what_is_no_derived_field_is_refused() {
        for (field, expected) in [
            (
                json!(1),
                "Expected map for property [derived_fields] on field [a] but got a class \
                 java.lang.String",
            ),
            (
                json!({"script": "emit(1)"}),
                "Type [] isn't supported in Derived field context.",
            ),
            (
                json!({"type": "integer", "script": "emit(1)"}),
                "Type [integer] isn't supported in Derived field context.",
            ),
            (
                json!({"type": "long", "foo": 1}),
                "unknown parameter [foo] on mapper [a] of type [long]",
            ),
        ] {
            let refused = read_derived(&json!({"a": field})).unwrap_err();
            assert_eq!(crate::reason(&refused), expected);
        }
    }
}
