//! What OpenSearch's clients are told of a document that was refused.

use std::borrow::Cow;

use clew_schema::{DocumentError, UnfitKind, ValueProblem};
use serde_json::Value;

use crate::template::java_text;
use crate::words::{ILLEGAL, MALFORMED};

const UNPARSED: &str = "parsing_exception";

/// How it is told that a value has no text, or is no number; the reader of JSON says so.
const NO_TEXT: &str = "Can't get text on a ";
const NOT_NUMERIC: &str = "Current token (";

/// Whether values of the type are places, of which OpenSearch shows no preview.
fn is_place(type_name: &str) -> bool {
    matches!(type_name, "geo_point" | "geo_shape")
}

/// Whether it is told that a degree is none; the field is told behind that.
fn is_out_of_range(reason: &str) -> bool {
    ["illegal latitude value [", "illegal longitude value ["]
        .iter()
        .any(|start| reason.starts_with(start))
}

/// OpenSearch's name for this kind of error.
pub fn document_error_type(error: &DocumentError) -> &'static str {
    match error {
        DocumentError::Strict { .. } => "strict_dynamic_mapping_exception",
        DocumentError::NotFlat { .. } => UNPARSED,
        DocumentError::ImmenseTerm { .. } => ILLEGAL,
        DocumentError::Malformed { .. }
        | DocumentError::NotAnObject
        | DocumentError::Field { .. }
        | DocumentError::NotAnObjectField { .. }
        | DocumentError::Metadata { .. }
        | DocumentError::Name { .. }
        | DocumentError::ThroughNested { .. }
        | DocumentError::TooManyNested { .. }
        | DocumentError::Unfit { .. }
        | DocumentError::Refused { .. } => MALFORMED,
    }
}

/// OpenSearch's sentence for it, which may name the document.
pub fn document_reason(error: &DocumentError, id: &str) -> String {
    match error {
        DocumentError::Malformed { .. }
        | DocumentError::NotAnObject
        | DocumentError::Name { .. }
        | DocumentError::Unfit { .. } => "failed to parse".to_string(),
        DocumentError::Field {
            field, type_name, ..
        } if is_place(type_name) => {
            format!("failed to parse field [{field}] of type [{type_name}]")
        }
        DocumentError::Field {
            field,
            type_name,
            preview,
            cause,
        } => {
            let preview = shown_preview(preview, cause);
            format!(
                "failed to parse field [{field}] of type [{type_name}] in document with id '{id}'. Preview of field's value: '{preview}'"
            )
        }
        DocumentError::NotFlat { .. }
        | DocumentError::NotAnObjectField { .. }
        | DocumentError::Strict { .. }
        | DocumentError::ImmenseTerm { .. }
        | DocumentError::Metadata { .. }
        | DocumentError::ThroughNested { .. }
        | DocumentError::TooManyNested { .. }
        | DocumentError::Refused { .. } => error.to_string(),
    }
}

/// The beginning of a value; an object where none can be is shown as Java shows its maps, if all of it is there.
fn shown_preview<'p>(preview: &'p str, cause: &ValueProblem) -> Cow<'p, str> {
    let is_object =
        matches!(cause, ValueProblem::Other { reason } if reason.contains("START_OBJECT"));
    if !is_object {
        return Cow::Borrowed(preview);
    }
    match serde_json::from_str::<Value>(preview) {
        Ok(object) => Cow::Owned(java_text(&object)),
        Err(_) => Cow::Borrowed(preview),
    }
}

/// What OpenSearch shows under `caused_by`: type and reason.
pub fn document_cause(error: &DocumentError) -> Option<(&'static str, String)> {
    match error {
        DocumentError::Malformed {
            reason,
            line,
            column,
            ..
        } => Some((
            "json_parse_exception",
            format!("{reason}\n at [Source: (byte[]); line: {line}, column: {column}]"),
        )),
        DocumentError::Unfit { kind, reason } => {
            let kind = match kind {
                UnfitKind::Illegal => ILLEGAL,
                UnfitKind::Shape => "illegal_state_exception",
                UnfitKind::Syntax => UNPARSED,
                UnfitKind::Content => "x_content_parse_exception",
                UnfitKind::Text => "parse_exception",
                UnfitKind::Query => "query_shard_exception",
            };
            Some((kind, reason.clone()))
        }
        DocumentError::NotAnObject => Some((
            "not_x_content_exception",
            "Compressor detection can only be called on some xcontent bytes or compressed xcontent bytes".to_string(),
        )),
        DocumentError::Name { .. } => Some((ILLEGAL, error.to_string())),
        DocumentError::Field {
            field,
            cause: ValueProblem::Other { reason },
            ..
        } if is_out_of_range(reason) => Some((ILLEGAL, format!("{reason} for {field}"))),
        DocumentError::Field {
            cause, type_name, ..
        } => {
            let kind = match cause {
                // Whole numbers of 64 bits are read by other functions than all others.
                ValueProblem::NotANumber { .. }
                    if matches!(*type_name, "long" | "unsigned_long") =>
                {
                    ILLEGAL
                }
                ValueProblem::NotANumber { .. } => "number_format_exception",
                ValueProblem::NoNumber { .. } => UNPARSED,
                ValueProblem::Other { reason } if reason.starts_with(NO_TEXT) => {
                    "illegal_state_exception"
                }
                ValueProblem::Other { reason } if reason.starts_with(NOT_NUMERIC) => {
                    "json_parse_exception"
                }
                ValueProblem::Other { .. } if *type_name == "geo_point" => "parse_exception",
                ValueProblem::Other { .. } => ILLEGAL,
            };
            Some((kind, cause.to_string()))
        }
        DocumentError::ImmenseTerm { length, max, .. } => Some((
            "max_bytes_length_exceeded_exception",
            format!("bytes can be at most {max} in length; got {length}"),
        )),
        DocumentError::NotFlat { .. }
        | DocumentError::NotAnObjectField { .. }
        | DocumentError::Strict { .. }
        | DocumentError::Metadata { .. }
        | DocumentError::ThroughNested { .. }
        | DocumentError::TooManyNested { .. }
        | DocumentError::Refused { .. } => None,
    }
}
