//! The values of the members of a search's body, each read as what its member takes.

use clew_search::TrackTotal;
use serde_json::Value;

use crate::http::error::ApiError;

/// Longest name of a group of searches, in bytes.
const GROUP_BYTES_MAX: usize = 256;

/// The names of the groups that a search is counted in.
pub(super) fn groups(key: &str, value: &Value) -> Result<Vec<String>, ApiError> {
    let names = list(key, value)?;
    let name = |value: &Value| {
        let text = value.as_str().filter(|text| text.len() <= GROUP_BYTES_MAX);
        text.map(str::to_string)
            .ok_or_else(|| ApiError::illegal_argument(format!("[{key}] takes short names")))
    };
    names.iter().map(name).collect()
}

pub(super) fn whole(key: &str, value: &Value) -> Result<usize, ApiError> {
    let number = match value {
        Value::String(text) => text.parse::<i64>().ok(),
        other => other.as_i64(),
    };
    let Some(number) = number else {
        return Err(ApiError::bad_request(
            "parsing_exception",
            format!("[{key}] must be a whole number, found [{value}]"),
        ));
    };
    usize::try_from(number).map_err(|_| {
        ApiError::illegal_argument(format!(
            "[{key}] parameter cannot be negative, found [{number}]"
        ))
    })
}

pub(super) fn flag(key: &str, value: &Value) -> Result<bool, ApiError> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) if text == "true" => Ok(true),
        Value::String(text) if text == "false" => Ok(false),
        other => Err(ApiError::illegal_argument(format!(
            "Failed to parse value [{other}] of [{key}] as only [true] or [false] are allowed."
        ))),
    }
}

pub(super) fn float(key: &str, value: &Value) -> Result<f32, ApiError> {
    #[allow(clippy::cast_possible_truncation, reason = "scores have 32 bits")]
    let number = value.as_f64().map(|number| number as f32);
    number.ok_or_else(|| {
        ApiError::bad_request(
            "parsing_exception",
            format!("[{key}] must be a number, found [{value}]"),
        )
    })
}

pub(super) fn list(key: &str, value: &Value) -> Result<Vec<Value>, ApiError> {
    match value {
        Value::Array(items) if items.is_empty() => Err(ApiError::illegal_argument(
            "Values must contains at least one value.",
        )),
        Value::Array(items) => Ok(items.clone()),
        other => Err(ApiError::bad_request(
            "parsing_exception",
            format!(
                "Expected [START_ARRAY] in [{key}] but found [{}]",
                token(other)
            ),
        )),
    }
}

pub(super) fn track_total(value: &Value) -> Result<TrackTotal, ApiError> {
    let number = match value {
        Value::Bool(true) => return Ok(TrackTotal::Exact),
        Value::Bool(false) => return Ok(TrackTotal::No),
        Value::String(text) if text == "true" || text.is_empty() => return Ok(TrackTotal::Exact),
        Value::String(text) if text == "false" => return Ok(TrackTotal::No),
        Value::String(text) => text.parse::<i64>().ok(),
        other => other.as_i64(),
    };
    match number {
        Some(-1) => Ok(TrackTotal::Exact),
        Some(limit) if limit >= 0 => Ok(TrackTotal::UpTo(limit.unsigned_abs())),
        _ => Err(ApiError::illegal_argument(format!(
            "[track_total_hits] parameter must be positive or equals to -1, got {value}"
        ))),
    }
}

pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Number(number) => number.as_u64() == Some(0),
        Value::Bool(true) | Value::String(_) => false,
    }
}

/// What JSON's readers call the beginning of a value.
pub(super) fn token(value: &Value) -> &'static str {
    match value {
        Value::Object(_) => "START_OBJECT",
        Value::Array(_) => "START_ARRAY",
        Value::String(_) => "VALUE_STRING",
        Value::Number(_) => "VALUE_NUMBER",
        Value::Bool(_) => "VALUE_BOOLEAN",
        Value::Null => "VALUE_NULL",
    }
}

pub(super) fn unknown_key(key: &str, value: &Value, text: &[u8]) -> ApiError {
    let quoted = format!("\"{key}\"");
    let at = text
        .windows(quoted.len())
        .position(|window| window == quoted.as_bytes());
    let before = &text[..at.unwrap_or(0)];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before
        .iter()
        .rev()
        .take_while(|byte| **byte != b'\n')
        .count()
        + 1;
    let reason = format!("Unknown key for a {} in [{key}].", token(value));
    ApiError::bad_request("parsing_exception", reason).at_place(line, column)
}
