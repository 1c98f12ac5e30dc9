//! What is wrong with a body that is no JSON, in OpenSearch's words.

use axum::http::StatusCode;
use clew_opensearch_mapping::{fault_cause, source_place};
use clew_schema::JsonFault;

use super::error::{ApiError, Cause};

/// Where the reader of JSON itself says that it is, when it has read up to a character: behind it.
pub(crate) fn behind_token(line: usize, column: usize) -> String {
    format!("\n at {}", source_place(line, Some(column + 1)))
}

impl ApiError {
    /// JSON that cannot be read.
    pub(crate) fn malformed_json(error: &serde_json::Error) -> Self {
        let cause = Cause::new("json_parse_exception", error.to_string());
        Self::new(StatusCode::BAD_REQUEST, cause)
    }

    /// The same of a text, in the words that OpenSearch has for what is wrong with it.
    pub(crate) fn malformed_text(text: &[u8], error: &serde_json::Error) -> Self {
        let told = error.to_string();
        let cause = if told.starts_with("Duplicate field ") {
            let field = told.rsplit_once(" at line ").map_or("", |(field, _)| field);
            let behind = behind_token(error.line(), error.column());
            Cause::new("json_parse_exception", format!("{field}{behind}"))
        } else if let Some(fault) = JsonFault::of(text) {
            let (kind, reason) = fault_cause(&fault);
            Cause::new(kind, reason)
        } else {
            return Self::malformed_json(error);
        };
        Self::new(StatusCode::BAD_REQUEST, cause)
    }
}
