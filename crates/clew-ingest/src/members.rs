//! Members of a definition, each taken out as it is read; what nobody has taken is unknown.

use clew_analysis::{JavaPattern, java_pattern};
use serde_json::{Map, Value};

use crate::error::DefinitionError;
use crate::java::class;
use crate::template::Template;

/// What is wrong with a member of another type.
pub(crate) fn not_a(kind: &str, key: &str, value: &Value) -> DefinitionError {
    let class = class(value);
    DefinitionError::refused(
        key,
        format!("property isn't a {kind}, but of type [{class}]"),
    )
}

/// A text member.
pub(crate) fn text(config: &mut Map<String, Value>, key: &str) -> Result<String, DefinitionError> {
    optional(config, key)?.ok_or_else(|| DefinitionError::missing(key))
}

/// A text member that may be missing.
pub(crate) fn optional(
    config: &mut Map<String, Value>,
    key: &str,
) -> Result<Option<String>, DefinitionError> {
    match config.remove(key) {
        Some(Value::String(text)) => Ok(Some(text)),
        None | Some(Value::Null) => Ok(None),
        Some(other) => Err(not_a("string", key, &other)),
    }
}

/// A member that may be missing and is a list of texts.
pub(crate) fn names(
    config: &mut Map<String, Value>,
    key: &str,
) -> Result<Option<Vec<String>>, DefinitionError> {
    match config.get(key) {
        None | Some(Value::Null | Value::Array(_)) => one_or_more(config, key),
        Some(other) => Err(not_a("list", key, other)),
    }
}

/// A member that may be missing and is a text or a list of them.
pub(crate) fn one_or_more(
    config: &mut Map<String, Value>,
    key: &str,
) -> Result<Option<Vec<String>>, DefinitionError> {
    let items = match config.remove(key) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(items)) => items,
        Some(one) => vec![one],
    };
    texts(key, items).map(Some)
}

fn texts(key: &str, items: Vec<Value>) -> Result<Vec<String>, DefinitionError> {
    let text = |item| match item {
        Value::String(text) => Ok(text),
        other => Err(not_a("string", key, &other)),
    };
    items.into_iter().map(text).collect()
}

/// A flag.
pub(crate) fn flag(
    config: &mut Map<String, Value>,
    key: &str,
    default: bool,
) -> Result<bool, DefinitionError> {
    match config.remove(key) {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Bool(flag)) => Ok(flag),
        Some(other) => Err(not_a("boolean", key, &other)),
    }
}

/// A member that is a regular expression.
pub(crate) fn pattern(
    config: &mut Map<String, Value>,
    key: &str,
) -> Result<JavaPattern, DefinitionError> {
    let written = text(config, key)?;
    java_pattern(&written)
        .map_err(|error| DefinitionError::refused(key, format!("Invalid regex pattern. {error}")))
}

/// A text that may be a template.
pub(crate) fn template(written: &str) -> Result<Template, DefinitionError> {
    Template::parse(written).map_err(DefinitionError::malformed)
}
