//! How Java names and writes values. Pipelines are written by people who know them as steps of a Java program: texts made
//! of values, and the reasons that a document can be told, are as they were there.

use serde_json::Value;

/// What Java calls the types that steps ask for.
pub(crate) const TEXT: &str = "java.lang.String";
pub(crate) const NUMBER: &str = "java.lang.Integer";
pub(crate) const LIST: &str = "java.util.List";

/// What Java calls a value's type, as reasons name it.
pub fn class(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "java.lang.Boolean",
        Value::Number(number) => match number.as_i64() {
            Some(whole) if i32::try_from(whole).is_ok() => "java.lang.Integer",
            Some(_) => "java.lang.Long",
            None if number.is_u64() => "java.math.BigInteger",
            None => "java.lang.Double",
        },
        Value::String(_) => "java.lang.String",
        Value::Array(_) => "java.util.ArrayList",
        Value::Object(_) => "java.util.HashMap",
    }
}

/// A value as Java writes it: `[a, b]`, `{name=value}`.
pub(crate) fn java_text(value: &Value) -> String {
    match value {
        Value::Null => "null".to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(java_text).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| format!("{name}={}", java_text(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
