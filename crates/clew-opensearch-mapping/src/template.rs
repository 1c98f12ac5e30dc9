//! Dynamic templates: how `dynamic_templates` is read, and what it refuses.

use clew_schema::{MappingError, TemplateSpec, UnreadableKind, java_text};
use serde_json::{Map, Value};

use crate::parameter_values::show;

/// Reads `dynamic_templates`.
///
/// # Errors
/// When it is not a list of templates with names.
pub(crate) fn read(value: &Value) -> Result<Vec<TemplateSpec>, MappingError> {
    let malformed = || MappingError::unreadable("A dynamic template must be defined with a name");
    let items = value.as_array().ok_or_else(|| {
        MappingError::unreadable(
            "Dynamic template syntax error. An array of named objects is expected.",
        )
    })?;
    let mut templates = Vec::with_capacity(items.len());
    for item in items {
        let object = item.as_object().filter(|object| object.len() == 1);
        let (name, body) = object.and_then(|o| o.iter().next()).ok_or_else(malformed)?;
        templates.push(read_one(name, body.as_object().ok_or_else(malformed)?)?);
    }
    Ok(templates)
}

/// What a template can say that the values of its fields must be.
const VALUE_TYPES: [&str; 7] = [
    "object", "string", "long", "double", "boolean", "date", "binary",
];

/// What a template can say that its fields must be like; one of these has to be there.
const CONDITIONS: [&str; 3] = ["match", "path_match", "match_mapping_type"];

/// Refuses `dynamic_templates` that do not say which names or values they are for, or what they make.
///
/// # Errors
/// The first such template, as OpenSearch shows it.
pub(crate) fn check_conditions(templates: &Value) -> Result<(), MappingError> {
    let templates = templates.as_array().into_iter().flatten();
    let bodies = templates.filter_map(Value::as_object).flat_map(Map::values);
    for body in bodies {
        if CONDITIONS.iter().all(|name| body.get(name).is_none()) {
            return Err(MappingError::unreadable(format!(
                "template must have match, path_match or match_mapping_type set {}",
                java_text(body)
            )));
        }
        if body.get("mapping").is_none() {
            let reason = "template must have mapping set";
            return Err(MappingError::unreadable(reason));
        }
    }
    Ok(())
}

/// Refuses `dynamic_templates` for types of values that there are not, which would never make a field.
///
/// # Errors
/// The first such type, with those that there are.
pub(crate) fn check_types(templates: &Value) -> Result<(), MappingError> {
    let templates = templates.as_array().into_iter().flatten();
    let bodies = templates.filter_map(Value::as_object).flat_map(Map::values);
    let types = bodies.filter_map(|body| body.get("match_mapping_type"));
    for written in types.map(java_text) {
        if written != "*" && !VALUE_TYPES.contains(&written.as_str()) {
            return Err(illegal(format!(
                "No field type matched on [{written}], possible values are [{}]",
                VALUE_TYPES.join(", ")
            )));
        }
    }
    Ok(())
}

fn illegal(reason: String) -> MappingError {
    MappingError::unfit(UnreadableKind::Value, reason)
}

fn read_one(name: &str, body: &Map<String, Value>) -> Result<TemplateSpec, MappingError> {
    let is_regex = match body.get("match_pattern").map(show).as_deref() {
        Some("regex") => true,
        None | Some("simple") => false,
        Some(other) => {
            return Err(illegal(format!("No matching pattern matched on [{other}]")));
        }
    };
    let mut template = TemplateSpec {
        name: name.to_string(),
        is_regex,
        ..TemplateSpec::default()
    };
    for (key, value) in body {
        match key.as_str() {
            "match" => template.names.like = texts(value),
            "unmatch" => template.names.unlike = texts(value),
            "path_match" => template.paths.like = texts(value),
            "path_unmatch" => template.paths.unlike = texts(value),
            "match_mapping_type" => {
                template.mapping_type = Some(show(value)).filter(|kind| kind != "*");
            }
            "match_pattern" => {}
            "mapping" => {
                template.parameters = value.as_object().cloned().unwrap_or_default();
            }
            other => {
                return Err(illegal(format!(
                    "Illegal dynamic template parameter: [{other}]"
                )));
            }
        }
    }
    Ok(template)
}

fn texts(value: &Value) -> Vec<String> {
    let values = value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice);
    values.iter().map(show).collect()
}

#[cfg(test)]
mod tests;
