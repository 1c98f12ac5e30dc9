//! How an error of the query language is told to a client.

use axum::http::StatusCode;

use super::{DslError, DslErrorKind, Found};
use crate::http::error::{ApiError, Cause};
use crate::http::script_errors::script_cause;

fn cause_of(error: DslError) -> Cause {
    if let Some(script) = error.script {
        return script_cause(&script);
    }
    // Shards know no places of a body.
    let spot = error.spot.filter(|_| error.kind != DslErrorKind::Create);
    let cause = Cause::new(error.kind.type_name(), error.reason).at(spot);
    match error.within {
        Some(within) => cause.caused_by(cause_of(*within)),
        None => cause,
    }
}

/// The error that OpenSearch names as the root of it all: it looks within errors of parsers for others of parsers and for
/// exceptions of its own, and within these for their like alone. Java's own exceptions only say why a field is wrong.
fn root_of(error: &DslError) -> &DslError {
    let is_own = |kind: DslErrorKind| match kind {
        DslErrorKind::Parsing
        | DslErrorKind::Malformed
        | DslErrorKind::Script
        | DslErrorKind::Initialization
        | DslErrorKind::Create => true,
        DslErrorKind::XContentParse
        | DslErrorKind::NamedObject
        | DslErrorKind::IllegalArgument
        | DslErrorKind::NumberFormat
        | DslErrorKind::Json
        | DslErrorKind::State
        | DslErrorKind::DateTime
        | DslErrorKind::ZoneRules
        | DslErrorKind::JavaParse => false,
    };
    let is_parsers = |kind: DslErrorKind| {
        matches!(
            kind,
            DslErrorKind::XContentParse | DslErrorKind::NamedObject
        )
    };
    match &error.within {
        Some(within)
            if (is_own(error.kind) || is_parsers(error.kind)) && is_own(within.kind)
                || is_parsers(error.kind) && is_parsers(within.kind) =>
        {
            root_of(within)
        }
        _ => error,
    }
}

impl From<DslError> for ApiError {
    fn from(error: DslError) -> Self {
        let found = error.found;
        let root = root_of(&error);
        let root = (!std::ptr::eq(root, &error)).then(|| cause_of(root.clone()));
        let told = ApiError::new(StatusCode::BAD_REQUEST, cause_of(error));
        let told = match root {
            Some(root) => told.with_root(root),
            None => told,
        };
        match found {
            Found::Asked => told,
            Found::Shards => told.found_by_shards(),
            Found::Reducing => told.of_reducing(),
        }
    }
}
