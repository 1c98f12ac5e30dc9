//! Field aliases, as they stand under `properties`.

use clew_schema::{MappingError, MappingPart};
use serde_json::{Map, Value};

use crate::parameter_values::unsupported;

/// Reads an alias.
pub(crate) fn read(
    alias: String,
    parameters: &Map<String, Value>,
) -> Result<MappingPart, MappingError> {
    let name = alias.rsplit('.').next().unwrap_or(&alias);
    if let Some((key, value)) = parameters
        .iter()
        .find(|(key, _)| !matches!(key.as_str(), "type" | "path"))
    {
        return Err(unsupported(name, key, value));
    }
    let path = parameters.get("path").and_then(Value::as_str);
    let path = path.filter(|path| !path.is_empty()).ok_or_else(|| {
        MappingError::unreadable(format!(
            "The [path] property must be specified for field [{name}]."
        ))
    })?;
    let path = path.to_string();
    Ok(MappingPart::Alias { alias, path })
}
