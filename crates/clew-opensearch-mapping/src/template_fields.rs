//! What a dynamic template makes of a new name once its placeholders are filled.

use clew_analysis::Analysis;
use clew_schema::{MappingError, MappingPart, TemplateField};
use serde_json::{Map, Value};

use crate::read::{Reader, type_of};

/// What a template makes of a new name: the field or object, then what lies in it.
///
/// # Errors
/// When its parameters make no sense for that name and value.
pub(crate) fn made(
    field: &TemplateField,
    analysis: &Analysis,
) -> Result<Vec<MappingPart>, MappingError> {
    let path = field.path.as_str();
    let parameters = filled(field);
    let mut reader = Reader {
        analysis,
        parts: Vec::new(),
    };
    match type_of(path, &parameters)? {
        "object" | "nested" => reader.object(path, &parameters)?,
        _ => reader.field(path, &parameters)?,
    }
    Ok(reader.parts)
}

/// The parameters of a template for a name.
fn filled(field: &TemplateField) -> Map<String, Value> {
    let name = field.path.rsplit('.').next().unwrap_or(&field.path);
    let mut parameters = fill_members(&field.parameters, name, field.fallback);
    if !parameters.contains_key("type") && !parameters.contains_key("properties") {
        parameters.insert("type".to_string(), field.fallback.into());
    }
    parameters
}

fn fill_members(
    members: &Map<String, Value>,
    name: &str,
    dynamic_type: &str,
) -> Map<String, Value> {
    let members = members.iter();
    let filled = members.map(|(key, member)| {
        let key = fill_text(key, name, dynamic_type);
        (key, fill(member, name, dynamic_type))
    });
    filled.collect()
}

/// A text with its placeholders replaced.
fn fill_text(text: &str, name: &str, dynamic_type: &str) -> String {
    text.replace("{name}", name)
        .replace("{dynamic_type}", dynamic_type)
        .replace("{dynamicType}", dynamic_type)
}

fn fill(value: &Value, name: &str, dynamic_type: &str) -> Value {
    match value {
        Value::String(inner) => Value::String(fill_text(inner, name, dynamic_type)),
        Value::Array(items) => items
            .iter()
            .map(|item| fill(item, name, dynamic_type))
            .collect(),
        Value::Object(members) => fill_members(members, name, dynamic_type).into(),
        other => other.clone(),
    }
}
