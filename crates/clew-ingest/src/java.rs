//! How Java names and writes values. Pipelines are written by people who know them as steps of a Java program: texts made
//! of values, and the reasons that a document can be told, are as they were there.

pub(crate) use clew_schema::java_text;
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
