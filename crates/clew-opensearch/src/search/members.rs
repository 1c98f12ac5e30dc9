//! The values of the members of a search's body, each read as what its member takes.

use clew_search::TrackTotal;
use serde_json::Value;

use crate::dsl::{DslError, flag_in, integer_in, number_in};
use crate::http::error::ApiError;
use crate::http::place::{Spot, line_and_column, string_end, token};

/// Longest name of a group of searches, in bytes.
const GROUP_BYTES_MAX: usize = 256;

/// The names of the groups that a search is counted in.
pub(super) fn groups(key: &str, value: &Value) -> Result<Vec<String>, ApiError> {
    list(key, value)?;
    let name = |value: &Value| match value {
        Value::String(text) if text.len() <= GROUP_BYTES_MAX => Ok(text.clone()),
        Value::String(_) => Err(ApiError::illegal_argument(format!(
            "[{key}] takes names of at most [{GROUP_BYTES_MAX}] bytes"
        ))),
        other => {
            let found = token(other);
            let reason = format!("Expected [VALUE_STRING] in [{key}] but found [{found}]");
            Err(ApiError::parsing_at(Spot::start_of(other), reason))
        }
    };
    value.as_array().into_iter().flatten().map(name).collect()
}

/// A whole number; what stands behind a point is left off.
pub(super) fn integer(value: &Value) -> Result<i64, ApiError> {
    integer_in(value)?.ok_or_else(|| no_number(value))
}

/// A whole number that is not negative.
pub(super) fn whole(key: &str, value: &Value) -> Result<usize, ApiError> {
    let number = integer(value)?;
    usize::try_from(number).map_err(|_| {
        ApiError::illegal_argument(format!(
            "[{key}] parameter cannot be negative, found [{number}]"
        ))
    })
}

/// A number, or the text of one.
fn number(value: &Value) -> Result<f64, ApiError> {
    number_in(value)?.ok_or_else(|| no_number(value))
}

/// The refusal of what is neither a number nor a text.
fn no_number(value: &Value) -> ApiError {
    DslError::not_numeric(value).into()
}

pub(super) fn flag(value: &Value) -> Result<bool, ApiError> {
    flag_in(value)?.ok_or_else(|| DslError::not_boolean(value).into())
}

pub(super) fn float(value: &Value) -> Result<f32, ApiError> {
    #[allow(clippy::cast_possible_truncation, reason = "scores have 32 bits")]
    let number = number(value)? as f32;
    Ok(number)
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
        other => integer_in(other)?,
    };
    match number {
        Some(-1) => Ok(TrackTotal::No),
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

/// Refuses a member of a search's body whose value is of another sort than what it is read from: there is none of that
/// name then. What readers of single members refuse is theirs to say.
pub(super) fn check_sort_of(key: &str, value: &Value, text: &[u8]) -> Result<(), ApiError> {
    let (is_object, is_array) = (value.is_object(), value.is_array());
    let fits = match key {
        "query" | "post_filter" | "aggs" | "aggregations" | "highlight" | "suggest"
        | "collapse" | "pit" | "slice" | "script_fields" => is_object,
        "fields" | "docvalue_fields" | "search_after" | "stats" => is_array,
        "indices_boost" | "rescore" => is_object || is_array,
        "sort" | "_source" => !value.is_null(),
        "from"
        | "size"
        | "timeout"
        | "min_score"
        | "version"
        | "seq_no_primary_term"
        | "explain"
        | "track_scores"
        | "track_total_hits"
        | "profile"
        | "terminate_after" => !(is_object || is_array || value.is_null()),
        _ => true,
    };
    if fits {
        Ok(())
    } else {
        Err(unknown_key(key, value, text))
    }
}

/// A member that a body does not have, with the place of its value where that is found in the body's text.
pub(super) fn unknown_key(key: &str, value: &Value, text: &[u8]) -> ApiError {
    let reason = format!("Unknown key for a {} in [{key}].", token(value));
    let error = ApiError::bad_request("parsing_exception", reason);
    let Some(at) = value_place(text, key) else {
        return error;
    };
    let (line, column) = line_and_column(text, at);
    error.at_place(line, column)
}

/// Where the value of a member of the outermost object begins in the text of well-formed JSON.
fn value_place(text: &[u8], key: &str) -> Option<usize> {
    let blanks = |from: usize| {
        let rest = text.iter().skip(from);
        from + rest.take_while(|byte| byte.is_ascii_whitespace()).count()
    };
    let (mut at, mut depth) = (0, 0_usize);
    while at < text.len() {
        match text[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = string_end(text, at);
                let colon = blanks(end + 1);
                let is_name = depth == 1 && text.get(colon) == Some(&b':');
                if is_name && text.get(at + 1..end) == Some(key.as_bytes()) {
                    return Some(blanks(colon + 1));
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_told_where_their_values_stand() {
        for (text, place) in [
            (r#"{"nope": 1}"#, Some(9)),
            (r#"{"a":{"nope":1},"b":["nope",2],"nope" :  3}"#, Some(41)),
            (r#"{"a":"\"nope\":","nope":3}"#, Some(24)),
            (r#"{"a":"nope"}"#, None),
            ("", None),
        ] {
            assert_eq!(value_place(text.as_bytes(), "nope"), place, "{text}");
        }
        let text = b"{\"size\":1,\n \"nope\": [1]}";
        let told = unknown_key("nope", &json!([1]), text).cause();
        assert_eq!((&told["line"], &told["col"]), (&json!(2), &json!(10)));
    }

    #[test]
    fn values_of_another_sort_than_a_member_takes_are_unknown() {
        for (key, value) in [
            ("query", json!([])),
            ("query", Value::Null),
            ("aggs", json!("x")),
            ("fields", json!("a")),
            ("size", json!({})),
            ("sort", Value::Null),
            ("rescore", json!(5)),
        ] {
            let told = check_sort_of(key, &value, b"").map_err(|error| error.reason());
            let reason = format!("Unknown key for a {} in [{key}].", token(&value));
            assert_eq!(told, Err(reason));
        }
        for (key, value) in [
            ("query", json!({})),
            ("sort", json!("a")),
            ("rescore", json!([])),
            ("size", json!("3")),
            ("nope", json!(1)),
        ] {
            assert!(check_sort_of(key, &value, b"").is_ok(), "{key}");
        }
    }
}
