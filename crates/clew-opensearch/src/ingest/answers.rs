//! The one table from what goes wrong with pipelines to OpenSearch's names and statuses.

use axum::http::StatusCode;
use clew_ingest::{Because, DefinitionError, DefinitionErrorKind, Failure, FailureKind};

use crate::http::error::{ApiError, Cause};
use crate::http::script_errors::script_cause;

impl From<DefinitionError> for ApiError {
    fn from(error: DefinitionError) -> Self {
        let kind = match error.kind {
            DefinitionErrorKind::Malformed => "parse_exception",
            DefinitionErrorKind::Unsupported => "illegal_argument_exception",
        };
        let of_script = error.script.as_deref().map(script_cause);
        let about = [
            ("processor_type", error.step),
            ("processor_tag", error.tag),
            ("property_name", error.property),
        ];
        let mut cause = of_script.unwrap_or_else(|| Cause::new(kind, error.reason));
        for (key, value) in about {
            if let Some(value) = value {
                cause = cause.with(key, value);
            }
        }
        ApiError::new(StatusCode::BAD_REQUEST, cause)
    }
}

/// A failure that nothing handled, as the answer to the write.
impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        let (status, kind) = answer(failure.kind);
        let cause = Cause::new(kind, failure.reason);
        let cause = match failure.because {
            None => cause,
            Some(Because::Script(error)) => script_cause(&error),
            Some(Because::NotANumber(text)) => {
                let reason = format!("For input string: \"{text}\"");
                cause.caused_by(Cause::new("number_format_exception", reason))
            }
            Some(Because::NotJson(reason)) => {
                cause.caused_by(Cause::new("json_parse_exception", reason))
            }
        };
        ApiError::new(status, cause)
    }
}

fn answer(kind: FailureKind) -> (StatusCode, &'static str) {
    let (bad, internal) = (StatusCode::BAD_REQUEST, StatusCode::INTERNAL_SERVER_ERROR);
    match kind {
        FailureKind::Unfit | FailureKind::OutOfBounds => (bad, "illegal_argument_exception"),
        FailureKind::Unreadable => (bad, "parse_exception"),
        FailureKind::Script => (bad, "script_exception"),
        FailureKind::NotANumber => (bad, "number_format_exception"),
        FailureKind::MixedTypes => (internal, "class_cast_exception"),
        FailureKind::NoMatch => (internal, "find_match"),
        FailureKind::NoPipeline => (internal, "illegal_state_exception"),
        FailureKind::Meant => (internal, "fail_processor_exception"),
    }
}

#[cfg(test)]
mod tests;
