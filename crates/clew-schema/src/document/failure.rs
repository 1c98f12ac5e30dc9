//! What goes wrong on the way through a document.

use super::error::{DocumentError, ValueProblem};
use super::json::JsonError;
use crate::mapping::MappedField;

/// Bytes of a value that an error shows.
const PREVIEW_BYTES: usize = 256;

pub(super) type Result<T> = std::result::Result<T, Failure>;

/// Errors on the way; a reader's get their line only at the end.
pub(super) enum Failure {
    Json(JsonError),
    Document(Box<DocumentError>),
}

impl From<JsonError> for Failure {
    fn from(error: JsonError) -> Self {
        Failure::Json(error)
    }
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Self {
        Failure::Document(Box::new(error))
    }
}

pub(super) fn alias_written(name: &str) -> Failure {
    let reason = format!("Cannot write to a field alias [{name}].");
    DocumentError::Refused { reason }.into()
}

pub(super) fn misfit(field: &MappedField, value: &str, cause: impl Into<ValueProblem>) -> Failure {
    let mut end = value.len().min(PREVIEW_BYTES);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    let preview = if end < value.len() {
        format!("{}...", &value[..end])
    } else {
        value.to_string()
    };
    DocumentError::Field {
        field: field.path.clone(),
        type_name: field.kind.type_name(),
        preview,
        cause: cause.into(),
    }
    .into()
}
