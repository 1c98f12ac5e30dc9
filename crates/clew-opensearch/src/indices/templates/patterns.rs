//! Names and patterns of templates: which are allowed, which match, which overlap.

use axum::http::{Method, StatusCode};
use clew_engine::Definitions;
use clew_schema::glob::{matches as glob, overlap};
use serde_json::Value;

use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;
use crate::state::call::Call;

/// A pattern is compared with others cell by cell, so its length is limited.
const PATTERN_BYTES_MAX: usize = 512;
/// Patterns of one template.
const PATTERNS_MAX: usize = 1000;

/// A template that breaks a rule of its kind, in OpenSearch's words.
pub(crate) fn invalid(name: &str, cause: &str) -> ApiError {
    let reason = format!("index_template [{name}] invalid, cause [{cause}]");
    ApiError::new(
        StatusCode::BAD_REQUEST,
        Cause::new("invalid_index_template_exception", reason),
    )
}

/// A template that is not there to be deleted.
fn missing(name: &str) -> ApiError {
    let reason = format!("index_template [{name}] missing");
    ApiError::new(
        StatusCode::NOT_FOUND,
        Cause::new("index_template_missing_exception", reason),
    )
}

/// The answer to a request for templates: so many that were found, or that there are none of that name.
pub(crate) fn listed(
    call: &Call,
    (what, wanted): (&str, Option<String>),
    (count, shown): (usize, &Value),
) -> Result<Reply, ApiError> {
    let is_missing = wanted.is_some() && count == 0;
    let status = match is_missing {
        true => StatusCode::NOT_FOUND,
        false => StatusCode::OK,
    };
    if call.method == Method::HEAD {
        return Ok(Reply::empty(status));
    }
    match wanted {
        Some(wanted) if is_missing && !wanted.contains('*') => Err(not_found(what, &wanted)),
        _ => Ok(Reply::json(shown).with_status(status)),
    }
}

/// A template that is not there to be shown.
fn not_found(what: &str, name: &str) -> ApiError {
    let reason = format!("{what} matching [{name}] not found");
    ApiError::new(
        StatusCode::NOT_FOUND,
        Cause::new("resource_not_found_exception", reason),
    )
}

/// Reads a list of texts, such as `index_patterns`, or one alone.
pub fn read(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(pattern) => Some(vec![pattern.clone()]),
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().map(String::from))
            .collect(),
        _ => None,
    }
}

/// Checks a template's name and patterns, and says all that is wrong with them.
pub(crate) fn check(name: &str, patterns: &[String]) -> Result<(), ApiError> {
    let mut wrong = Vec::new();
    if name.contains(' ') {
        wrong.push("name must not contain a space".to_string());
    }
    if name.contains(',') {
        wrong.push("name must not contain a ','".to_string());
    }
    if name.contains('#') {
        wrong.push("name must not contain a '#'".to_string());
    }
    if name.starts_with('_') {
        wrong.push("name must not start with '_'".to_string());
    }
    if name.contains('*') {
        wrong.push("name must not contain a '*'".to_string());
    }
    if name.chars().any(char::is_uppercase) {
        wrong.push("name must be lower cased".to_string());
    }
    if patterns.len() > PATTERNS_MAX {
        wrong.push(format!("more than [{PATTERNS_MAX}] index patterns"));
    }
    for pattern in patterns {
        for (bad, called) in [
            (' ', "a space"),
            (',', "a ','"),
            ('#', "a '#'"),
            (':', "a ':'"),
        ] {
            if pattern.contains(bad) {
                wrong.push(format!(
                    "index_pattern [{pattern}] must not contain {called}"
                ));
            }
        }
        if pattern.starts_with('_') {
            wrong.push(format!("index_pattern [{pattern}] must not start with '_'"));
        }
        if pattern.contains(['\\', '/', '?', '"', '<', '>', '|']) || pattern.is_empty() {
            wrong.push(format!(
                "index_pattern [{pattern}] must not contain the following characters \
                 [ , \", *, \\, <, |, ,, >, /, ?]"
            ));
        }
        if pattern.len() > PATTERN_BYTES_MAX {
            wrong.push(format!("index_pattern [{pattern}] is too long"));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let listed = wrong.iter().enumerate();
    let listed: String = listed
        .map(|(at, wrong)| format!("{}: {wrong};", at + 1))
        .collect();
    Err(invalid(name, &format!("Validation Failed: {listed}")))
}

/// Whether a name matches any of the patterns.
pub(crate) fn any_matches(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| glob(pattern, name))
}

/// Whether some name matches a pattern of each side.
pub fn any_overlap(left: &[String], right: &[String]) -> bool {
    left.iter()
        .any(|left| right.iter().any(|right| overlap(left, right)))
}

/// The names in a list that a request's expression selects: names and wildcards, by commas.
pub(crate) fn selects(expression: &str, name: &str) -> bool {
    expression.split(',').any(|part| glob(part, name))
}

/// The names of a kind of templates that an expression selects.
///
/// # Errors
/// When there are none, unless all were meant.
pub(crate) fn selected<'d>(
    definitions: &'d Definitions,
    kind: &'static str,
    expression: &str,
) -> Result<Vec<&'d str>, ApiError> {
    let names = definitions.of(kind).map(|(name, _)| name);
    let found: Vec<&str> = names.filter(|name| selects(expression, name)).collect();
    if found.is_empty() && expression != "*" {
        return Err(missing(expression));
    }
    Ok(found)
}

/// `[a, b]`, as lists are written in reasons.
pub(crate) fn bracketed<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    format!("[{}]", items.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_wrong_is_said_at_once() {
        let error = check("A b", &["_x y".to_string()]).unwrap_err();
        let body = String::from_utf8(error.body()).unwrap();
        for part in [
            "invalid_index_template_exception",
            "1: name must not contain a space;",
            "2: name must be lower cased;",
            "3: index_pattern [_x y] must not contain a space;",
            "4: index_pattern [_x y] must not start with '_';",
        ] {
            assert!(body.contains(part), "{body}");
        }
        assert!(check("logs", &["logs-*".to_string()]).is_ok());
    }
}
