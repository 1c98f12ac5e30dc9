//! `_source` and `_routing` of the whole mapping.

use clew_schema::{MappingError, SourceShown, UnreadableKind};
use serde_json::Value;

use crate::parameter_values::boolean;

/// Reads `_source`.
pub(crate) fn read(value: &Value) -> Result<SourceShown, MappingError> {
    let mut shown = SourceShown::default();
    // OpenSearch's words for it, which are of another object.
    let no_object = "[_parent] must be an object containing [type]";
    let parameters = value
        .as_object()
        .ok_or_else(|| MappingError::unfit(UnreadableKind::Value, no_object))?;
    for (key, value) in parameters {
        match key.as_str() {
            "enabled" => shown.enabled = boolean(value)?,
            "includes" => shown.includes = texts(value),
            "excludes" => shown.excludes = texts(value),
            "recovery_source_enabled" | "recovery_source_includes" | "recovery_source_excludes" => {
            }
            _ => {
                return Err(MappingError::unreadable(format!(
                    "unknown parameter [{key}] on mapper [_source] of type [null]"
                )));
            }
        }
    }
    Ok(shown)
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => {
            let texts = items.iter().filter_map(Value::as_str);
            texts.map(String::from).collect()
        }
        Value::String(text) => vec![text.clone()],
        _ => Vec::new(),
    }
}

/// Whether `_routing` says that every document must name its own.
pub(crate) fn read_routing(value: &Value) -> Result<bool, MappingError> {
    let mut members = value.as_object().into_iter().flatten();
    if let Some((other, _)) = members.find(|(name, _)| *name != "required") {
        return Err(MappingError::unreadable(format!(
            "unknown parameter [{other}] on mapper [_routing] of type [null]"
        )));
    }
    value.get("required").map_or(Ok(false), boolean)
}
