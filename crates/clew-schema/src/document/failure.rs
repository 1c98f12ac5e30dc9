//! What goes wrong on the way through a document.

use super::error::{DocumentError, UnfitKind, ValueProblem};
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

/// A text that cannot be read, told as that of its field.
pub(super) fn unreadable(failure: Failure, field: &MappedField) -> Failure {
    match failure {
        Failure::Json(error) if error.is_syntax => Failure::Json(JsonError {
            value_of: Some(Box::new((field.path.clone(), field.kind.type_name()))),
            ..error
        }),
        other => other,
    }
}

pub(super) fn alias_written(name: &str) -> Failure {
    DocumentError::Unfit {
        kind: UnfitKind::Illegal,
        reason: format!("Cannot write to a field alias [{name}]."),
    }
    .into()
}

pub(super) fn misfit(field: &MappedField, value: &str, cause: impl Into<ValueProblem>) -> Failure {
    DocumentError::Field {
        field: field.path.clone(),
        type_name: field.kind.type_name(),
        preview: preview(value),
        cause: Box::new(cause.into()),
    }
    .into()
}

/// The beginning of a value.
pub(super) fn preview(value: &str) -> String {
    let mut end = value.len().min(PREVIEW_BYTES);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    if end < value.len() {
        format!("{}...", &value[..end])
    } else {
        value.to_string()
    }
}
