//! The one table from the engine's errors to OpenSearch's names and statuses. Clients decide by
//! the name what to do, so each case has the name that OpenSearch would give it.

use std::error::Error;

use axum::http::StatusCode;
use clew_engine::{EngineError, ErrorKind};
use clew_text::QueryError;
use serde_json::Value;

use crate::dsl::DslError;
use crate::error::{ApiError, Cause};

impl From<DslError> for ApiError {
    fn from(error: DslError) -> Self {
        ApiError::bad_request(error.kind.type_name(), error.reason)
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        Self::from(&error)
    }
}

impl From<&EngineError> for ApiError {
    fn from(error: &EngineError) -> Self {
        let reason = error.to_string();
        let named = |kind| Cause::new(kind, reason.clone());
        let cause = match error {
            EngineError::IndexNotFound { index } => return index_not_found(index, &reason),
            EngineError::IndexExists { index, uuid } => named("resource_already_exists_exception")
                .with("index", index.as_str())
                .with("index_uuid", uuid.as_str()),
            EngineError::InvalidIndexName { index, .. } => {
                named("invalid_index_name_exception")
                    .with("index", index.as_str())
                    .with("index_uuid", "_na_")
            }
            EngineError::InvalidSetting { .. } | EngineError::InvalidRequest { .. } => {
                named("illegal_argument_exception")
            }
            EngineError::Document { id, source } => {
                let cause = Cause::new(source.error_type(), source.reason(id));
                match source.cause() {
                    Some((kind, reason)) => cause.caused_by(Cause::new(kind, reason)),
                    None => cause,
                }
            }
            EngineError::DocumentMissing { .. } => named("document_missing_exception"),
            EngineError::VersionConflict { .. } => named("version_conflict_engine_exception"),
            EngineError::Mapping(error) => named(error.error_type()),
            EngineError::Query(error) => named(query_error_type(error)),
            EngineError::Overloaded { .. } => named("rejected_execution_exception"),
            EngineError::Timeout { .. } => named("timeout_exception"),
            EngineError::Closed => named("node_closed_exception"),
            EngineError::ShardFailed { index, shard, .. } => {
                named("no_shard_available_action_exception")
                    .with("index", index.as_str())
                    .with("shard", shard.to_string())
            }
            EngineError::Log(_) => with_sources(named("translog_exception"), error),
            EngineError::Corrupt { .. } => named("corrupt_index_exception"),
            EngineError::Io { .. } => with_sources(named("i_o_exception"), error),
            _ => named("exception"),
        };
        ApiError::new(status(error.kind()), cause)
    }
}

/// The status of each kind of error.
fn status(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::Invalid => StatusCode::BAD_REQUEST,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::Overloaded => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Corrupt | ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn query_error_type(error: &QueryError) -> &'static str {
    match error {
        QueryError::Create { .. } | QueryError::Syntax { .. } => "query_shard_exception",
        QueryError::TooManyClauses { .. } => "too_many_clauses",
        _ => "illegal_argument_exception",
    }
}

/// A name that no index has.
pub(crate) fn index_not_found(index: &str, reason: &str) -> ApiError {
    let cause = Cause::new("index_not_found_exception", reason)
        .with("index", index)
        .with("resource.id", index)
        .with("resource.type", "index_or_alias")
        .with("index_uuid", Value::from("_na_"));
    ApiError::new(StatusCode::NOT_FOUND, cause)
}

fn with_sources(cause: Cause, error: &EngineError) -> Cause {
    match error.source() {
        Some(source) => cause.caused_by(Cause::new("i_o_exception", source.to_string())),
        None => cause,
    }
}
