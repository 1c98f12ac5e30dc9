//! How an error of the query language is told to a client.

use axum::http::StatusCode;

use super::{DslError, DslErrorKind};
use crate::http::error::{ApiError, Cause};
use crate::http::script_errors::script_cause;

fn cause_of(error: DslError) -> Cause {
    if let Some(script) = error.script {
        return script_cause(&script);
    }
    let cause = Cause::new(error.kind.type_name(), error.reason);
    match error.within {
        Some(within) => cause.caused_by(cause_of(*within)),
        None => cause,
    }
}

impl From<DslError> for ApiError {
    fn from(error: DslError) -> Self {
        let mut innermost = &error;
        while let Some(within) = &innermost.within {
            innermost = within;
        }
        // An error of the parser is the root of it all; another one only says why a field is wrong.
        let root = (innermost.kind == DslErrorKind::Parsing && error.within.is_some())
            .then(|| Cause::new(innermost.kind.type_name(), innermost.reason.clone()));
        let told = ApiError::new(StatusCode::BAD_REQUEST, cause_of(error));
        match root {
            Some(root) => told.with_root(root),
            None => told,
        }
    }
}
