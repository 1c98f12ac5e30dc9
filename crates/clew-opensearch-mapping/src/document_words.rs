//! What OpenSearch's clients are told of a document that was refused.

use clew_schema::{DocumentError, UnfitKind, ValueProblem};

use crate::words::{ILLEGAL, MALFORMED};

const UNPARSED: &str = "parsing_exception";

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
        | DocumentError::Unfit { .. } => "failed to parse".to_string(),
        DocumentError::Field {
            field,
            type_name,
            preview,
            ..
        } => format!(
            "failed to parse field [{field}] of type [{type_name}] in document with id '{id}'. Preview of field's value: '{preview}'"
        ),
        DocumentError::NotFlat { .. }
        | DocumentError::NotAnObjectField { .. }
        | DocumentError::Strict { .. }
        | DocumentError::ImmenseTerm { .. }
        | DocumentError::Metadata { .. }
        | DocumentError::Name { .. }
        | DocumentError::ThroughNested { .. }
        | DocumentError::TooManyNested { .. }
        | DocumentError::Refused { .. } => error.to_string(),
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
        | DocumentError::Name { .. }
        | DocumentError::ThroughNested { .. }
        | DocumentError::TooManyNested { .. }
        | DocumentError::Refused { .. } => None,
    }
}
