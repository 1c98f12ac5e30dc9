//! JSON values as texts.

use serde_json::Value;

/// A value as the text that a person would write: a text without its quotes, anything else as JSON.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
