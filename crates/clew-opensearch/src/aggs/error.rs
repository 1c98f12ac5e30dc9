//! Why a request's aggregations were not understood.

use crate::http::error::ApiError;

/// Which of OpenSearch's exceptions an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggDslErrorKind {
    /// The JSON has the wrong shape.
    Parsing,
    /// A setting's value is wrong.
    IllegalArgument,
    /// A setting is unknown or missing.
    XContentParse,
    /// A part of a query is not what it must be.
    Malformed,
    /// A script is not understood.
    Script,
}

impl AggDslErrorKind {
    /// The exception's name in a reply.
    pub fn type_name(self) -> &'static str {
        match self {
            AggDslErrorKind::Parsing => "parsing_exception",
            AggDslErrorKind::IllegalArgument => "illegal_argument_exception",
            AggDslErrorKind::XContentParse => "x_content_parse_exception",
            AggDslErrorKind::Malformed => "parse_exception",
            AggDslErrorKind::Script => "script_exception",
        }
    }
}

/// Why a request's aggregations were not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct AggDslError {
    /// Which exception it is.
    pub kind: AggDslErrorKind,
    /// What is wrong.
    pub reason: String,
    /// The same as queries tell it, with what is within.
    of_query: Option<Box<crate::dsl::DslError>>,
}

impl From<crate::dsl::DslError> for AggDslError {
    fn from(error: crate::dsl::DslError) -> Self {
        use crate::dsl::DslErrorKind;
        AggDslError {
            kind: match error.kind {
                DslErrorKind::Parsing => AggDslErrorKind::Parsing,
                DslErrorKind::IllegalArgument => AggDslErrorKind::IllegalArgument,
                DslErrorKind::XContentParse => AggDslErrorKind::XContentParse,
                DslErrorKind::Malformed => AggDslErrorKind::Malformed,
                DslErrorKind::Script => AggDslErrorKind::Script,
            },
            reason: error.reason.clone(),
            of_query: match error.kind {
                DslErrorKind::Script => Some(Box::new(error)),
                _ => None,
            },
        }
    }
}

impl AggDslError {
    pub(super) fn parsing(reason: impl Into<String>) -> Self {
        AggDslError {
            kind: AggDslErrorKind::Parsing,
            reason: reason.into(),
            of_query: None,
        }
    }
    pub(super) fn illegal(reason: impl Into<String>) -> Self {
        AggDslError {
            kind: AggDslErrorKind::IllegalArgument,
            reason: reason.into(),
            of_query: None,
        }
    }
    pub(super) fn content(reason: impl Into<String>) -> Self {
        AggDslError {
            kind: AggDslErrorKind::XContentParse,
            reason: reason.into(),
            of_query: None,
        }
    }
}

impl From<AggDslError> for ApiError {
    fn from(error: AggDslError) -> Self {
        match error.of_query {
            Some(error) => ApiError::from(*error),
            None => ApiError::bad_request(error.kind.type_name(), error.reason),
        }
    }
}
