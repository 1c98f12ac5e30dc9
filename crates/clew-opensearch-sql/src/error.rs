//! Why a statement has no answer, in the shape that clients of the SQL plugin read.

use axum::http::StatusCode;
use clew_opensearch::wing::{ApiError, Reply};
use serde_json::json;

use crate::Language;

/// How much of a statement an error shows.
const SHOWN_BYTES_MAX: usize = 200;

/// A statement's failure.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SqlError {
    status: StatusCode,
    kind: String,
    details: String,
    /// What is wrong in general, where it is not the statement itself.
    reason: Option<String>,
}

impl SqlError {
    /// A word that must not stand where it does.
    pub(super) fn syntax(text: &str, at: usize, symbol: &str, wanted: &str) -> Self {
        let mut begin = at.saturating_sub(SHOWN_BYTES_MAX);
        while !text.is_char_boundary(begin) {
            begin += 1;
        }
        let before = text.get(begin..at).unwrap_or_default();
        Self::of(
            "SyntaxCheckException",
            format!(
                "Failed to parse query due to offending symbol [{symbol}] at: '{before}' <--- HERE... More \
                 details: Expecting {wanted}"
            ),
        )
    }

    /// A statement that is too long or too deep.
    pub(super) fn too_large(details: impl Into<String>) -> Self {
        Self::of("SyntaxCheckException", details)
    }

    /// A statement that says what cannot be meant.
    pub(super) fn semantic(details: impl Into<String>) -> Self {
        Self::of("SemanticCheckException", details)
    }

    /// A column that there is not.
    pub(super) fn unknown_column(name: &str) -> Self {
        Self::semantic(format!(
            "can't resolve Symbol(namespace=FIELD_NAME, name={name}) in type env"
        ))
    }

    /// An expression that no index is found by.
    pub(super) fn no_such_index(indices: &str) -> Self {
        SqlError {
            status: StatusCode::NOT_FOUND,
            reason: Some(format!(
                "Error occurred in OpenSearch engine: no such index [{indices}]"
            )),
            ..Self::of(
                "IndexNotFoundException",
                format!("[{indices}] IndexNotFoundException[no such index [{indices}]]"),
            )
        }
    }

    /// Something that statements of other servers have and these have not.
    pub(super) fn unsupported(what: &str) -> Self {
        Self::of(
            "UnsupportedOperationException",
            format!("{what} is not supported"),
        )
    }

    /// A statement of a language that is turned off.
    pub(super) fn disabled(language: Language) -> Self {
        let (kind, name) = match language {
            Language::Sql => ("SQLFeatureDisabledException", "sql"),
            Language::Ppl => ("IllegalAccessException", "ppl"),
        };
        Self::of(
            kind,
            format!(
                "Either plugins.{name}.enabled or rest.action.multi.allow_explicit_index setting is false"
            ),
        )
    }

    /// A statement that deletes, which is off.
    pub(super) fn delete_disabled() -> Self {
        Self::of(
            "SQLFeatureDisabledException",
            "DELETE clause is disabled by default and will be deprecated. Using the plugins.sql.delete.enabled setting \
             to enable it",
        )
    }

    /// A request that is wrong around the statement.
    pub(super) fn argument(details: impl Into<String>) -> Self {
        Self::of("IllegalArgumentException", details)
    }

    fn of(kind: &str, details: impl Into<String>) -> Self {
        SqlError {
            status: StatusCode::BAD_REQUEST,
            kind: kind.to_string(),
            details: details.into(),
            reason: None,
        }
    }

    /// Whether the server is at fault, and not the statement.
    pub(super) fn is_of_server(&self) -> bool {
        self.status.is_server_error()
    }

    /// The answer.
    pub(super) fn reply(&self, language: Language) -> Reply {
        let invalid = match language {
            Language::Sql => "Invalid SQL query",
            Language::Ppl => "Invalid Query",
        };
        Reply::json(&json!({
            "error": {
                "reason": self.reason.as_deref().unwrap_or(invalid),
                "details": self.details,
                "type": self.kind,
            },
            "status": self.status.as_u16(),
        }))
        .with_status(self.status)
    }

    #[cfg(test)]
    pub(super) fn shown(&self) -> String {
        format!("{}: {}", self.kind, self.details)
    }
}

/// What the search under a statement says.
impl From<ApiError> for SqlError {
    fn from(error: ApiError) -> Self {
        let words = error.in_words();
        let kind = words.split('[').next().unwrap_or("Exception").to_string();
        SqlError {
            status: error.status(),
            kind,
            reason: Some(format!(
                "Error occurred in OpenSearch engine: {}",
                error.reason()
            )),
            details: words,
        }
    }
}
