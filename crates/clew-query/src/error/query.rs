//! Why a query could not be compiled or run.

use clew_platform::MemoryExceeded;

use super::aggregation::AggErrorKind;
use super::index_failure::index_reason;
use super::script::ScriptError;

/// Why a query was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// A value does not fit its field.
    #[error("failed to create query: {reason}")]
    Create {
        /// What is wrong with the value.
        reason: String,
    },
    /// A date, or the arithmetic behind it, is malformed.
    #[error("{0}")]
    Date(String),
    /// The text of a query-string query is malformed.
    #[error("Failed to parse query [{query}]")]
    Syntax {
        /// The text.
        query: String,
        /// What was expected, and the byte where.
        reason: String,
    },
    /// More clauses than a query may have.
    #[error("maxClauseCount is set to {max}")]
    TooManyClauses {
        /// The limit.
        max: usize,
    },
    /// Queries nested too deeply.
    #[error("The nested depth of the query exceeds the maximum nested depth of [{max}]")]
    TooDeep {
        /// The limit.
        max: usize,
    },
    /// The request makes no sense under this mapping.
    #[error("{reason}")]
    Illegal {
        /// What is wrong, naming the field.
        reason: String,
    },
    /// The mapping has nothing for the query; said as it is.
    #[error("{reason}")]
    Unmapped {
        /// What is missing.
        reason: String,
    },
    /// The documents are not as the request needs them.
    #[error("{reason}")]
    State {
        /// In which way.
        reason: String,
    },
    /// A script was refused, or failed on a document.
    #[error("{0}")]
    Script(ScriptError),
    /// Nobody waits for the result any more, or the time for it is up.
    #[error("the search was stopped")]
    Stopped,
    /// There is no memory for what it finds beside what is taken already.
    #[error(transparent)]
    Memory(#[from] MemoryExceeded),
    /// An aggregation over the matching documents was refused or failed.
    #[error(transparent)]
    Aggregation(super::aggregation::AggError),
    /// What the shards found cannot be put together as the request wants it.
    #[error(transparent)]
    Reducing(Box<QueryError>),
    /// The segments could not be read, or a query met what it could not go on with.
    #[error("{}", index_reason(.0))]
    Index(#[source] tantivy::TantivyError),
    /// A file of a segment could not be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl QueryError {
    /// A value that does not fit its field.
    pub fn create(reason: impl Into<String>) -> Self {
        QueryError::Create {
            reason: reason.into(),
        }
    }

    /// A query that the mapping has nothing for.
    pub fn unmapped(reason: impl Into<String>) -> Self {
        QueryError::Unmapped {
            reason: reason.into(),
        }
    }

    /// The error as it is told of putting together what the shards found: what is wrong with the request alone shows there.
    #[must_use]
    pub fn of_reducing(self) -> Self {
        let is_of_request = match &self {
            QueryError::Aggregation(error) => error.kind() == AggErrorKind::Invalid,
            QueryError::Script(_) => true,
            _ => false,
        };
        match is_of_request {
            true => QueryError::Reducing(Box::new(self)),
            false => self,
        }
    }

    /// Whether this is how something ends that was stopped; what else was wrong stays an error.
    pub fn is_of_stop(&self) -> bool {
        matches!(
            self,
            QueryError::Stopped | QueryError::Index(tantivy::TantivyError::InternalError(_))
        )
    }

    /// A request that makes no sense.
    pub fn illegal(reason: impl Into<String>) -> Self {
        QueryError::Illegal {
            reason: reason.into(),
        }
    }
}

/// What Java says of a text that is no number.
pub fn number_refusal(text: &str) -> String {
    let text = text.trim();
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut begins = unsigned.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let points = begins.next().unwrap_or_default().matches('.').count();
    match (text, points) {
        ("", _) => "empty String".to_string(),
        (_, 0 | 1) => format!("For input string: \"{text}\""),
        _ => "multiple points".to_string(),
    }
}

/// An error once the request that this thread works for has been stopped.
pub fn unless_stopped() -> Result<(), QueryError> {
    if clew_platform::stopped() {
        return Err(QueryError::Stopped);
    }
    Ok(())
}

/// Counts a step; an error once the request is over.
#[inline]
pub fn go_on(pace: &mut clew_platform::Pace) -> Result<(), QueryError> {
    match pace.is_over() {
        true => Err(QueryError::Stopped),
        false => Ok(()),
    }
}

/// Counts a step where tantivy asks; an error once the request is over.
#[inline]
pub fn go_on_in_set(pace: &mut clew_platform::Pace) -> tantivy::Result<()> {
    match pace.is_over() {
        true => unless_stopped_in_set(),
        false => Ok(()),
    }
}

/// The same where tantivy asks.
///
/// # Errors
/// An internal error of tantivy's with the words of [`QueryError::Stopped`].
pub fn unless_stopped_in_set() -> tantivy::Result<()> {
    if clew_platform::stopped() {
        let reason = QueryError::Stopped.to_string();
        return Err(tantivy::TantivyError::InternalError(reason));
    }
    Ok(())
}

/// Takes memory where tantivy asks for what a query finds, until what is returned is dropped.
///
/// # Errors
/// As an internal error of tantivy's, which stops the search; whoever began it says why.
pub fn hold_in_set(bytes: usize) -> tantivy::Result<Option<clew_platform::Reservation>> {
    let held = clew_platform::book_for_a_while(bytes);
    held.map_err(|exceeded| tantivy::TantivyError::InternalError(exceeded.to_string()))
}

impl From<clew_schema::DateError> for QueryError {
    fn from(error: clew_schema::DateError) -> Self {
        use clew_schema::DateError;
        match &error {
            DateError::Value { text, .. } if text.is_empty() => {
                QueryError::Date("cannot parse empty date".to_string())
            }
            // What each of the formats says comes behind what they say together.
            DateError::Value { .. } => QueryError::Date(format!("{error}: [{error}]")),
            DateError::Math { .. } => QueryError::Date(error.to_string()),
            _ => QueryError::create(error.to_string()),
        }
    }
}

impl From<super::aggregation::AggError> for QueryError {
    /// What a query inside an aggregation says is said as if it stood alone.
    fn from(error: super::aggregation::AggError) -> Self {
        match error {
            super::aggregation::AggError::Query(error) => *error,
            super::aggregation::AggError::Memory(exceeded) => QueryError::Memory(exceeded),
            error => QueryError::Aggregation(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_text_is_no_date_of_any_format() {
        let error = clew_schema::DateError::Value {
            text: String::new(),
            format: "yyyy".to_string(),
        };
        assert_eq!(
            QueryError::from(error).to_string(),
            "cannot parse empty date"
        );
    }

    #[test]
    fn texts_that_are_no_numbers_are_refused_in_words_of_java() {
        for (text, told) in [
            ("", "empty String"),
            (" ", "empty String"),
            ("10.0.0.1", "multiple points"),
            ("x.y.z", "For input string: \"x.y.z\""),
            ("-1.5x", "For input string: \"-1.5x\""),
        ] {
            assert_eq!(number_refusal(text), told);
        }
    }
}
