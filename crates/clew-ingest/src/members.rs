//! Members of a definition, each taken out as it is read; what nobody has taken is unknown.

use clew_analysis::{JavaPattern, java_pattern};
use serde_json::{Map, Value};

use crate::error::DefinitionError;
use crate::java::{class, java_text};
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
///
/// # Errors
/// It is missing, or no text.
pub fn text(config: &mut Map<String, Value>, key: &str) -> Result<String, DefinitionError> {
    optional(config, key)?.ok_or_else(|| DefinitionError::missing(key))
}

/// A text member that may be missing.
///
/// # Errors
/// It is no text.
pub fn optional(
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

/// `properties`: what of all that can be told shall be, in letters of either case.
pub(crate) fn properties(
    config: &mut Map<String, Value>,
    known: &[&str],
) -> Result<Option<Vec<String>>, DefinitionError> {
    let properties = names(config, "properties")?;
    for name in properties.iter().flatten() {
        if !known.contains(&name.to_lowercase().as_str()) {
            return Err(DefinitionError::refused(
                "properties",
                format!(
                    "illegal property value [{name}]. valid values are [{}]",
                    known.join(", ").to_uppercase()
                ),
            ));
        }
    }
    Ok(properties)
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
///
/// # Errors
/// It is neither true nor false.
pub fn flag(
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

/// A whole number that may be missing, or a text with one.
///
/// # Errors
/// It is none of 32 bits.
pub fn whole(config: &mut Map<String, Value>, key: &str) -> Result<Option<i32>, DefinitionError> {
    converted(config, key, "an int")
}

/// A number, or a text with one.
///
/// # Errors
/// It is missing, or no number.
pub fn number(config: &mut Map<String, Value>, key: &str) -> Result<f64, DefinitionError> {
    converted(config, key, "a double")?.ok_or_else(|| DefinitionError::missing(key))
}

/// A member that may be missing, read from its text as Java reads one; `kind` is what that calls the type, with its article.
fn converted<T: std::str::FromStr>(
    config: &mut Map<String, Value>,
    key: &str,
    kind: &str,
) -> Result<Option<T>, DefinitionError> {
    let text = match config.remove(key) {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => java_text(&value),
    };
    text.parse().map(Some).map_err(|_| {
        DefinitionError::refused(
            key,
            format!("property cannot be converted to {kind} [{text}]"),
        )
    })
}

/// A member that is a list.
///
/// # Errors
/// It is something else.
pub fn list(
    config: &mut Map<String, Value>,
    key: &str,
) -> Result<Option<Vec<Value>>, DefinitionError> {
    match config.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(other) => Err(not_a("list", key, &other)),
    }
}

/// A member that is a regular expression.
///
/// # Errors
/// It is missing, no text, or no expression.
pub fn pattern(config: &mut Map<String, Value>, key: &str) -> Result<JavaPattern, DefinitionError> {
    let written = text(config, key)?;
    java_pattern(&written)
        .map_err(|error| DefinitionError::refused(key, format!("Invalid regex pattern. {error}")))
}

/// A text that may be a template.
pub(crate) fn template(written: &str) -> Result<Template, DefinitionError> {
    Template::parse(written).map_err(|error| DefinitionError::malformed(error.to_string()))
}
