//! Reading the parts of a policy, in the plugin's words for what is wrong with them.

use std::time::Duration;

use clew_opensearch::wing::{ApiError, parse_time};
use serde_json::{Map, Value};

pub(super) fn members<'a>(
    value: &'a Value,
    what: &str,
) -> Result<&'a Map<String, Value>, ApiError> {
    value.as_object().ok_or_else(|| {
        ApiError::bad_request("parsing_exception", format!("{what} must be an object"))
    })
}

pub(super) fn unknown_field(field: &str, what: &str) -> ApiError {
    ApiError::illegal_argument(format!("Invalid field: [{field}] found in {what}."))
}

/// A list that may be absent.
pub(super) fn items<'a>(
    members: &'a Map<String, Value>,
    name: &str,
) -> Result<&'a [Value], ApiError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(ApiError::bad_request(
            "parsing_exception",
            format!("[{name}] must be a list"),
        )),
    }
}

pub(super) fn required_text(members: &Map<String, Value>, name: &str) -> Result<String, ApiError> {
    let text = members.get(name).and_then(Value::as_str);
    text.map(String::from)
        .ok_or_else(|| ApiError::illegal_argument(format!("{name} is null")))
}

/// A number that is not negative, which clients write as number or as text.
pub(super) fn read_count(name: &str, value: &Value) -> Result<u64, ApiError> {
    let number = match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    };
    number.ok_or_else(|| {
        ApiError::illegal_argument(format!(
            "[{name}] must be a whole number of at least 0, not {value}"
        ))
    })
}

pub(super) fn read_time(name: &str, value: &Value) -> Result<Option<Duration>, ApiError> {
    let text = value.as_str().ok_or_else(|| {
        ApiError::illegal_argument(format!("[{name}] must be a time such as [1h], not {value}"))
    })?;
    parse_time(name, text)
}
