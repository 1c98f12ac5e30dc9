//! Why an aggregation was refused or failed.

use std::time::Duration;

use clew_platform::Pace;

/// Why nothing can be done with the values of a field of texts, which are nowhere but in its words.
pub fn refusal_of_text(field: &str) -> String {
    format!(
        "Text fields are not optimised for operations that require per-document field data like \
         aggregations and sorting, so these operations are disabled by default. Please use a \
         keyword field instead. Alternatively, set fielddata=true on [{field}] in order to load \
         field data by uninverting the inverted index. Note that this can use significant memory."
    )
}

/// What the caller can do about an [`AggError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggErrorKind {
    /// The request is wrong.
    Invalid,
    /// The request asks for more buckets than are allowed.
    TooManyBuckets,
    /// The request needs more memory than it may use.
    TooLarge,
    /// A segment cannot be read.
    Corrupt,
}

/// Why an aggregation was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum AggError {
    /// The field is analyzed text, which has no column.
    #[error("{}", refusal_of_text(field))]
    TextField {
        /// The field.
        field: String,
    },
    /// The field's type has no meaning for this aggregation.
    #[error(
        "Field [{field}] of type [{type_name}] is not supported for aggregation [{aggregation}]"
    )]
    Unsupported {
        /// The field.
        field: String,
        /// Its type.
        type_name: &'static str,
        /// The aggregation's type.
        aggregation: &'static str,
    },
    /// A setting is wrong.
    #[error("{reason}")]
    Invalid {
        /// What, naming the setting.
        reason: String,
    },
    /// The result would have too many buckets.
    #[error(
        "Trying to create too many buckets. Must be less than or equal to: [{max}] but was \
         [{count}]. This limit can be set by changing the [search.max_buckets] cluster level setting."
    )]
    TooManyBuckets {
        /// The limit.
        max: usize,
        /// How many there were when the limit was seen.
        count: usize,
    },
    /// The request's memory account is used up.
    #[error(
        "[request] Data too large, data for [<agg>] would be [{wanted_bytes}b], which is larger \
         than the limit of [{max_bytes}b]"
    )]
    TooLarge {
        /// What would have been in use.
        wanted_bytes: usize,
        /// The limit.
        max_bytes: usize,
    },
    /// There is no memory for it beside what is taken already.
    #[error(transparent)]
    Memory(#[from] clew_platform::MemoryExceeded),
    /// Aggregations that cannot be put together as they are.
    #[error("Validation Failed: {}", numbered(reasons))]
    Validation {
        /// What, each naming the aggregation.
        reasons: Vec<String>,
    },
    /// What was found cannot be used as the request wants it.
    #[error("{reason}")]
    Execution {
        /// What, naming the aggregation.
        reason: String,
    },
    /// A value has no place in a histogram.
    #[error("Histogram recorded value cannot be negative: [{value}]")]
    OutOfBounds {
        /// The value.
        value: f64,
    },
    /// A query inside an aggregation was refused or failed.
    #[error(transparent)]
    Query(Box<super::QueryError>),
    /// A column cannot be read.
    #[error("cannot read the column of field [{field}]")]
    Column {
        /// The field.
        field: String,
        /// What the reader said.
        source: tantivy::TantivyError,
    },
}

/// Reasons by their numbers, from one on.
fn numbered(reasons: &[String]) -> String {
    let numbered = (1..).zip(reasons);
    let each = numbered.map(|(number, reason): (usize, _)| format!("{number}: {reason};"));
    each.collect()
}

/// What was counted in time may take so long to be put together.
const TIME_TO_REDUCE: Duration = Duration::from_millis(50);

/// Counts a step of putting together what was counted; an error once nobody wants it any more, or its time is long up.
#[inline]
pub fn go_on_reducing(pace: &mut Pace) -> Result<(), AggError> {
    match pace.is_over() {
        true => unless_overdue(),
        false => Ok(()),
    }
}

/// An error once nobody wants any more what is being counted, or its time is long up. For steps that may take milliseconds each.
pub fn unless_overdue() -> Result<(), AggError> {
    match clew_platform::overdue(TIME_TO_REDUCE) {
        true => Err(over()),
        false => Ok(()),
    }
}

fn over() -> AggError {
    AggError::Query(Box::new(super::QueryError::Stopped))
}

/// What was counted in time, in order; an error once nobody wants it any more, or its time is long up.
pub fn sorted_in_time<T>(
    items: Vec<T>,
    compare: impl FnMut(&T, &T) -> std::cmp::Ordering,
) -> Result<Vec<T>, AggError> {
    let goes_on = || !clew_platform::overdue(TIME_TO_REDUCE);
    clew_platform::sorted_while(items, compare, goes_on).ok_or_else(over)
}

impl From<super::QueryError> for AggError {
    fn from(error: super::QueryError) -> Self {
        match error {
            super::QueryError::Aggregation(error) => error,
            super::QueryError::Memory(exceeded) => AggError::Memory(exceeded),
            error => AggError::Query(Box::new(error)),
        }
    }
}

impl From<super::ScriptError> for AggError {
    fn from(error: super::ScriptError) -> Self {
        super::QueryError::Script(error).into()
    }
}

impl AggError {
    /// What the caller can do about it.
    pub fn kind(&self) -> AggErrorKind {
        match self {
            AggError::TextField { .. }
            | AggError::Unsupported { .. }
            | AggError::Invalid { .. }
            | AggError::Validation { .. }
            | AggError::Execution { .. }
            | AggError::OutOfBounds { .. }
            | AggError::Query(_) => AggErrorKind::Invalid,
            AggError::TooManyBuckets { .. } => AggErrorKind::TooManyBuckets,
            AggError::TooLarge { .. } | AggError::Memory(_) => AggErrorKind::TooLarge,
            AggError::Column { .. } => AggErrorKind::Corrupt,
        }
    }

    /// Aggregations that cannot be put together.
    pub fn validation(reason: impl Into<String>) -> Self {
        AggError::Validation {
            reasons: vec![reason.into()],
        }
    }

    /// What was found cannot be used.
    pub fn aggregation(reason: impl Into<String>) -> Self {
        AggError::Execution {
            reason: reason.into(),
        }
    }

    /// A setting is wrong.
    pub fn invalid(reason: impl Into<String>) -> Self {
        AggError::Invalid {
            reason: reason.into(),
        }
    }
}
