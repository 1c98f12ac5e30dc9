//! What OpenSearch's clients are told of a document that was refused.

use std::borrow::Cow;

use clew_schema::{DocumentError, JsonFault, TextPlace, UnfitKind, ValueProblem, java_text};
use serde_json::Value;

use crate::words::{ILLEGAL, MALFORMED};

const UNPARSED: &str = "parsing_exception";

/// How it is told that a value has no text; the reader of JSON says so.
const NO_TEXT: &str = "Can't get text on a ";
/// How it is told that a value is no object of a range's ends.
const NO_RANGE: &str = "error parsing field [";

/// A place as the reader of JSON writes it, which does not say in which text; of the whole it tells no more than the line.
pub fn source_place(line: usize, column: Option<usize>) -> String {
    let column = column.map_or(String::new(), |column| format!(", column: {column}"));
    format!(
        "[Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: {line}{column}]"
    )
}

/// What is told of a text that is no JSON: type and reason.
pub fn fault_cause(fault: &JsonFault) -> (&'static str, String) {
    let kind = if fault.is_end {
        "json_e_o_f_exception"
    } else {
        "json_parse_exception"
    };
    (kind, behind(&fault.words(source_place), fault.place))
}

/// What is told, with the place.
fn behind(told: &str, place: TextPlace) -> String {
    format!(
        "{told}\n at {}",
        source_place(place.line, Some(place.column))
    )
}

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
        DocumentError::Malformed {
            value_of: Some(value_of),
            ..
        } => {
            let (field, type_name) = &**value_of;
            unfit_words((field, type_name), "", id)
        }
        DocumentError::Metadata { field, value } => {
            unfit_words((field, field), &java_preview(value), id)
        }
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
        } => unfit_words((field, type_name), &shown_preview(preview, cause), id),
        DocumentError::NotAnObjectField { .. }
        | DocumentError::Strict { .. }
        | DocumentError::ImmenseTerm { .. }
        | DocumentError::ThroughNested { .. }
        | DocumentError::TooManyNested { .. }
        | DocumentError::Refused { .. } => error.to_string(),
    }
}

/// That a value does not fit its field.
fn unfit_words((field, type_name): (&str, &str), preview: &str, id: &str) -> String {
    format!(
        "failed to parse field [{field}] of type [{type_name}] in document with id '{id}'. Preview of field's value: '{preview}'"
    )
}

/// The beginning of a value; an object where none can be is shown as Java shows its maps, if all of it is there.
fn shown_preview<'p>(preview: &'p str, cause: &ValueProblem) -> Cow<'p, str> {
    let is_object = match cause {
        ValueProblem::Other { reason } => reason.contains("START_OBJECT"),
        ValueProblem::Token { token, .. } => *token == "START_OBJECT",
        ValueProblem::NotANumber { .. }
        | ValueProblem::NoNumber { .. }
        | ValueProblem::NotFlat { .. }
        | ValueProblem::OutOfRange { .. } => false,
    };
    if is_object {
        java_preview(preview)
    } else {
        Cow::Borrowed(preview)
    }
}

/// A value as Java shows it, if all of it is there.
fn java_preview(written: &str) -> Cow<'_, str> {
    match serde_json::from_str::<Value>(written) {
        Ok(value) => Cow::Owned(java_text(&value)),
        Err(_) => Cow::Borrowed(written),
    }
}

/// What OpenSearch shows under `caused_by`: type and reason.
pub fn document_cause(error: &DocumentError) -> Option<(&'static str, String)> {
    match error {
        DocumentError::Malformed {
            fault: Some(fault), ..
        } => Some(fault_cause(fault)),
        DocumentError::Malformed { reason, place, .. } => {
            Some(("json_parse_exception", behind(reason, *place)))
        }
        DocumentError::Metadata { .. } => Some((MALFORMED, error.to_string())),
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
            cause,
            type_name,
            ..
        } => Some(match &**cause {
            ValueProblem::Other { reason } if is_out_of_range(reason) => {
                (ILLEGAL, format!("{reason} for {field}"))
            }
            cause => value_cause(cause, type_name),
        }),
        DocumentError::ImmenseTerm { length, max, .. } => Some((
            "max_bytes_length_exceeded_exception",
            format!("bytes can be at most {max} in length; got {length}"),
        )),
        DocumentError::NotAnObjectField { .. }
        | DocumentError::Strict { .. }
        | DocumentError::ThroughNested { .. }
        | DocumentError::TooManyNested { .. }
        | DocumentError::Refused { .. } => None,
    }
}

/// Why a value does not fit a field of a type: type and reason.
fn value_cause(cause: &ValueProblem, type_name: &str) -> (&'static str, String) {
    let told = cause.to_string();
    let placed = |place: &Option<TextPlace>| match place {
        Some(place) => behind(&told, *place),
        None => told.clone(),
    };
    match cause {
        // Whole numbers of 64 bits are read by other functions than all others.
        ValueProblem::NotANumber { .. } if matches!(type_name, "long" | "unsigned_long") => {
            (ILLEGAL, told)
        }
        ValueProblem::NotANumber { .. } => ("number_format_exception", told),
        ValueProblem::NoNumber { .. } | ValueProblem::NotFlat { .. } => (UNPARSED, told),
        ValueProblem::Token { place, .. } => ("json_parse_exception", placed(place)),
        ValueProblem::OutOfRange { place, .. } => ("input_coercion_exception", placed(place)),
        ValueProblem::Other { reason } if reason.starts_with(NO_TEXT) => {
            ("illegal_state_exception", told)
        }
        ValueProblem::Other { reason } if reason.starts_with(NO_RANGE) => (MALFORMED, told),
        ValueProblem::Other { .. } if matches!(type_name, "geo_point" | "geo_shape") => {
            ("parse_exception", told)
        }
        ValueProblem::Other { .. } => (ILLEGAL, told),
    }
}
