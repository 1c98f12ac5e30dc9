//! The body of an update, of its own request or of a line in a bulk.

use std::str::FromStr;
use std::sync::Arc;

use bytes::Bytes;
use clew_engine::{Condition, UpdateSpec};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::documents::bulk_lines::condition;
use crate::documents::scripted::{Around, ScriptedUpdate};
use crate::http::error::{ApiError, Cause};
use crate::http::place::line_and_column;
use crate::http::raw_json::{Members, token_name};
use crate::http::suggestion::did_you_mean;

/// What a body may hold.
const FIELDS: &[&str] = &[
    "doc",
    "upsert",
    "doc_as_upsert",
    "detect_noop",
    "_source",
    "if_seq_no",
    "if_primary_term",
    "script",
    "scripted_upsert",
];

/// How it is told that a script has nothing to run.
const NO_SOURCE: &str = "must specify either [source] for an inline script";

/// What an update's body asks for.
#[derive(Debug)]
pub(crate) struct UpdateBody {
    pub(crate) spec: UpdateSpec,
    /// The `_source` filter for the document in the answer.
    pub(crate) source: Option<Value>,
    pub(crate) condition: Option<Condition>,
}

/// What an update is where its body says nothing else.
pub(crate) fn usual() -> UpdateSpec {
    UpdateSpec {
        detect_noop: true,
        ..UpdateSpec::default()
    }
}

/// Reads a body; `doc` and `upsert` stay slices of it.
pub(crate) fn parse(body: &Bytes, around: &Around<'_>) -> Result<UpdateBody, ApiError> {
    parse_over(body, around, usual())
}

/// As [`parse`], where `spec` holds what is said beside the body, which has the last word.
pub(crate) fn parse_over(
    body: &Bytes,
    around: &Around<'_>,
    mut spec: UpdateSpec,
) -> Result<UpdateBody, ApiError> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err(ApiError::validation("script or doc is missing"));
    }
    let raw: &RawValue =
        serde_json::from_slice(body).map_err(|error| ApiError::malformed_text(body, &error))?;
    if token_name(raw) != "START_OBJECT" {
        let reason = format!("Expected START_OBJECT but was: {}", token_name(raw));
        return Err(refused(body, value_at(body, raw), &reason));
    }
    let members: Members =
        serde_json::from_str(raw.get()).map_err(|error| ApiError::malformed_text(body, &error))?;
    let (mut source, mut if_seq_no, mut if_primary_term) = (None, None, None);
    let (mut script, mut script_end, mut scripted_upsert) = (None, 0, false);
    for (name, value) in &members.0 {
        match name.as_ref() {
            "doc" => spec.doc = Some(object(body, name, value)?),
            "upsert" => spec.upsert = Some(object(body, name, value)?),
            "doc_as_upsert" => spec.doc_as_upsert = flag(body, name, value)?,
            "detect_noop" => spec.detect_noop = flag(body, name, value)?,
            "_source" => {
                around.memory.take_json(value.get().as_bytes())?;
                source = Some(typed(body, name, value)?);
            }
            "if_seq_no" => if_seq_no = Some(position(body, name, value)?),
            "if_primary_term" => if_primary_term = Some(position(body, name, value)?),
            "script" if !matches!(token_name(value), "START_OBJECT" | "VALUE_STRING") => {
                return Err(wrong_type(body, name, value));
            }
            "script" => {
                around.memory.take_copied_json(value.get().as_bytes())?;
                script = Some(typed::<Value>(body, name, value)?);
                script_end = value_at(body, value) + value.get().len().saturating_sub(1);
            }
            "scripted_upsert" => scripted_upsert = flag(body, name, value)?,
            other => {
                let meant = did_you_mean(other, FIELDS);
                let reason = format!("unknown field [{other}]{meant}");
                return Err(refused(body, name_at(body, value), &reason));
            }
        }
    }
    if spec.doc.is_some() && script.is_some() {
        return Err(ApiError::validation("can't provide both script and doc"));
    }
    if spec.doc_as_upsert && spec.doc.is_none() {
        return Err(ApiError::validation(
            "doc must be specified if doc_as_upsert is enabled",
        ));
    }
    if spec.doc.is_none() && script.is_none() {
        return Err(ApiError::validation("script or doc is missing"));
    }
    if let Some(script) = script {
        let update = ScriptedUpdate::read(script, around, scripted_upsert);
        let update = update.map_err(|error| in_script(body, script_end, error))?;
        spec.change = Some(Arc::new(update));
    }
    let condition = condition(if_seq_no, if_primary_term)?;
    Ok(UpdateBody {
        spec,
        source,
        condition,
    })
}

fn object(body: &Bytes, name: &str, value: &RawValue) -> Result<Bytes, ApiError> {
    if token_name(value) != "START_OBJECT" {
        return Err(wrong_type(body, name, value));
    }
    Ok(body.slice_ref(value.get().as_bytes()))
}

fn typed<T: DeserializeOwned>(body: &Bytes, name: &str, value: &RawValue) -> Result<T, ApiError> {
    serde_json::from_str(value.get()).map_err(|_| wrong_type(body, name, value))
}

/// `true` or `false`, as a text too.
fn flag(body: &Bytes, name: &str, value: &RawValue) -> Result<bool, ApiError> {
    or_text(body, (name, value), |text| {
        format!("Failed to parse value [{text}] as only [true] or [false] are allowed.")
    })
}

/// A number of a document's state, as a text too.
fn position(body: &Bytes, name: &str, value: &RawValue) -> Result<u64, ApiError> {
    or_text(body, (name, value), |text| {
        format!("For input string: \"{text}\"")
    })
}

/// A value that may stand there as a text, too, and what is told of a text that is none.
fn or_text<T: DeserializeOwned + FromStr>(
    body: &Bytes,
    (name, value): (&str, &RawValue),
    reason: impl FnOnce(&str) -> String,
) -> Result<T, ApiError> {
    if token_name(value) != "VALUE_STRING" {
        return typed(body, name, value);
    }
    let text: String = typed(body, name, value)?;
    let parsed = text.parse::<T>();
    parsed.map_err(|_| failed(body, (name, value), reason(&text)))
}

/// An error of what reads scripts, told as that of the member; what a script lacks is known at its end.
fn in_script(body: &Bytes, end: usize, error: ApiError) -> ApiError {
    if error.is_kind("x_content_parse_exception") {
        return error.in_field("UpdateRequest", "script");
    }
    if !error.reason().starts_with(NO_SOURCE) {
        return error;
    }
    let cause = Cause::new("illegal_argument_exception", error.reason());
    refused(body, end, "failed to parse field [script]").map_cause(|outer| outer.caused_by(cause))
}

/// The refusal of a text that is not what the member's value is to be.
fn failed(body: &Bytes, (name, value): (&str, &RawValue), reason: String) -> ApiError {
    let field = format!("failed to parse field [{name}]");
    let cause = Cause::new("illegal_argument_exception", reason);
    refused(body, value_at(body, value), &field).map_cause(|outer| outer.caused_by(cause))
}

fn wrong_type(body: &Bytes, name: &str, value: &RawValue) -> ApiError {
    let found = token_name(value);
    let reason = format!("{name} doesn't support values of type: {found}");
    refused(body, value_at(body, value), &reason)
}

/// The refusal of what stands at a place of the body.
fn refused(body: &Bytes, at: usize, reason: &str) -> ApiError {
    let (line, column) = line_and_column(body, at);
    let reason = format!("[{line}:{column}] [UpdateRequest] {reason}");
    ApiError::bad_request("x_content_parse_exception", reason)
}

/// Where a value begins that is a slice of the body.
fn value_at(body: &Bytes, value: &RawValue) -> usize {
    let start = value.get().as_ptr().addr();
    start.saturating_sub(body.as_ptr().addr()).min(body.len())
}

/// Where the name of a member begins that has this value: nothing but blanks and a colon is between both.
fn name_at(body: &Bytes, value: &RawValue) -> usize {
    let before = &body[..value_at(body, value)];
    let end = before.iter().rposition(|byte| *byte == b'"').unwrap_or(0);
    let begins = |at: &usize| before[*at] == b'"' && (*at == 0 || before[at - 1] != b'\\');
    (0..end).rev().find(begins).unwrap_or(0)
}

/// Refuses a condition on a document that may have to be made, and on one that is tried again.
pub(crate) fn check_condition(
    spec: &UpdateSpec,
    condition: Option<&Condition>,
    tries: i64,
) -> Result<(), ApiError> {
    if condition.is_none() {
        return Ok(());
    }
    if tries > 0 {
        return Err(ApiError::validation(
            "compare and write operations can not be retried",
        ));
    }
    if spec.upsert.is_some() || spec.doc_as_upsert {
        return Err(ApiError::validation(
            "compare and write operations can not be used with upsert",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
