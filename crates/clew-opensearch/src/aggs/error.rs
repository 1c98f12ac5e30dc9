//! Why a request's aggregations were not understood.

use crate::dsl::{DslError, DslErrorKind};
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
    /// A text is no number.
    NumberFormat,
    /// A part of a query is not what it must be.
    Malformed,
    /// A script is not understood.
    Script,
}

impl AggDslErrorKind {
    /// The same of queries, whose errors have others within.
    fn of_query(self) -> DslErrorKind {
        match self {
            AggDslErrorKind::Parsing => DslErrorKind::Parsing,
            AggDslErrorKind::IllegalArgument => DslErrorKind::IllegalArgument,
            AggDslErrorKind::XContentParse => DslErrorKind::XContentParse,
            AggDslErrorKind::NumberFormat => DslErrorKind::NumberFormat,
            AggDslErrorKind::Malformed => DslErrorKind::Malformed,
            AggDslErrorKind::Script => DslErrorKind::Script,
        }
    }

    /// The exception's name in a reply.
    pub fn type_name(self) -> &'static str {
        match self {
            AggDslErrorKind::Parsing => "parsing_exception",
            AggDslErrorKind::IllegalArgument => "illegal_argument_exception",
            AggDslErrorKind::XContentParse => "x_content_parse_exception",
            AggDslErrorKind::NumberFormat => "number_format_exception",
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
    of_query: Option<Box<DslError>>,
}

impl From<DslError> for AggDslError {
    fn from(error: DslError) -> Self {
        AggDslError {
            kind: match error.kind {
                DslErrorKind::Parsing => AggDslErrorKind::Parsing,
                DslErrorKind::IllegalArgument => AggDslErrorKind::IllegalArgument,
                DslErrorKind::XContentParse => AggDslErrorKind::XContentParse,
                DslErrorKind::NumberFormat => AggDslErrorKind::NumberFormat,
                DslErrorKind::Malformed => AggDslErrorKind::Malformed,
                DslErrorKind::Script => AggDslErrorKind::Script,
            },
            reason: error.reason.clone(),
            of_query: (error.kind == DslErrorKind::Script || error.within.is_some())
                .then(|| Box::new(error)),
        }
    }
}

impl AggDslError {
    /// The error as it is told of an aggregation's setting whose value has it.
    pub(super) fn in_field(self, aggregation: &str, setting: &str) -> Self {
        let within = match self.of_query {
            Some(error) => *error,
            None => DslError::of(self.kind.of_query(), self.reason),
        };
        AggDslError::from(within.in_field(aggregation, setting))
    }

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
