//! Why a request's aggregations were not understood: as queries are not.

/// Why a request's aggregations were not understood.
pub use crate::dsl::DslError as AggDslError;
/// Which of OpenSearch's exceptions an error is.
pub use crate::dsl::DslErrorKind as AggDslErrorKind;
