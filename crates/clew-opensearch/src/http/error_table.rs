//! The one table from the engine's errors to OpenSearch's names and statuses. Clients decide by
//! the name what to do, so each case has the name that OpenSearch would give it.

use std::error::Error;

use axum::http::StatusCode;
use clew_engine::{CreationRule, EngineError, ErrorKind, NotMade, Purpose};
use clew_opensearch_mapping::{
    self as document_words, document_error_type, document_reason, error_cause, error_type,
    reason as mapping_reason,
};
use clew_platform::{MemoryExceeded, MemoryPurpose, MemoryScope};
use clew_query::{AggError, QueryError, index_disk_error};
use clew_schema::{DateFormat, DateStop, DocumentError, MappingError};
use serde_json::Value;
use tokio::task::JoinError;

use crate::http::error::{ApiError, Cause, TOO_MANY_BUCKETS};
use crate::http::script_errors::script_cause;
use crate::http::setting_values::size_in_words;

impl From<MemoryExceeded> for ApiError {
    fn from(exceeded: MemoryExceeded) -> Self {
        Self::new(memory_status(&exceeded), memory_cause(&exceeded))
    }
}

/// Work on another thread, or in a task of its own, panicked.
impl From<JoinError> for ApiError {
    fn from(error: JoinError) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        Self::from(&error)
    }
}

impl From<QueryError> for ApiError {
    fn from(error: QueryError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<&EngineError> for ApiError {
    fn from(error: &EngineError) -> Self {
        let reason = error.to_string();
        let named = |kind| Cause::new(kind, reason.clone());
        let cause = match error {
            EngineError::IndexNotFound { index } => return index_not_found(index, &reason),
            EngineError::IndexNotMade { index, why } => {
                return no_index_to_write(index, &not_made(index, why));
            }
            EngineError::IndexExists { index, uuid } => named("resource_already_exists_exception")
                .with("index", index.as_str())
                .with("index_uuid", uuid.as_str()),
            EngineError::InvalidIndexName { index, .. } => named("invalid_index_name_exception")
                .with("index", index.as_str())
                .with("index_uuid", "_na_"),
            EngineError::InvalidAliasName { .. } => named("invalid_alias_name_exception"),
            EngineError::AliasIsIndex { alias, uuid } => named("invalid_alias_name_exception")
                .with("index", alias.as_str())
                .with("index_uuid", uuid.as_str()),
            EngineError::InvalidDateName { .. } => named("parse_exception"),
            EngineError::AliasConflict { .. } => named("illegal_state_exception"),
            EngineError::NotAnAlias { index } => return no_index_to_write(index, &reason),
            EngineError::IndexClosed { index, uuid } => named("index_closed_exception")
                .with("index", index.as_str())
                .with("index_uuid", uuid.as_str()),
            EngineError::Blocked { .. } => named("cluster_block_exception"),
            EngineError::TooManyShards { .. } => invalid(&reason),
            EngineError::AccessDenied { .. } | EngineError::NodeAccessDenied => {
                named("security_exception")
            }
            EngineError::InvalidSetting { .. } | EngineError::InvalidRequest { .. } => {
                named("illegal_argument_exception")
            }
            EngineError::Document { id, source } => return document_error(id, source),
            EngineError::DocumentMissing { .. } => named("document_missing_exception"),
            EngineError::VersionConflict { .. } => named("version_conflict_engine_exception"),
            EngineError::Mapping(error) => mapping_cause(error),
            EngineError::Cancelled { .. } => named("task_cancelled_exception"),
            EngineError::Memory(exceeded) => return ApiError::from(*exceeded),
            EngineError::Query(query) => return query_error(query, &reason, error.kind()),
            EngineError::RoutingMissing { index, .. } => return routing_missing(index, &reason),
            EngineError::Trimmed { from, first } => {
                let cause = named("position_trimmed_exception")
                    .with("from", from.get())
                    .with("first", first.get());
                return ApiError::new(StatusCode::GONE, cause);
            }
            EngineError::Overloaded { .. } | EngineError::DiskFull { .. } => {
                named("rejected_execution_exception")
            }
            EngineError::Timeout { .. } => named("timeout_exception"),
            EngineError::Closed => named("node_closed_exception"),
            EngineError::ShardFailed { index, shard, .. }
            | EngineError::ShardNotActive { index, shard, .. } => named(no_shard(error))
                .with("index", index.as_str())
                .with("shard", shard.to_string()),
            EngineError::Log(_) if error.kind() == ErrorKind::TooLarge => {
                named("content_too_long_exception")
            }
            EngineError::Log(_) => with_sources(named("translog_exception"), error),
            EngineError::Corrupt { .. } => named("corrupt_index_exception"),
            EngineError::Io { .. } => with_sources(named("i_o_exception"), error),
            EngineError::Tantivy { source, .. } => named(files_error(index_disk_error(source))),
            EngineError::Panicked
            | EngineError::Incomplete { .. }
            | EngineError::MergeMemory { .. }
            | EngineError::MergeCancelled => named("exception"),
        };
        ApiError::new(status(error.kind()), cause)
    }
}

/// What OpenSearch counts what is wrong with; one thing here.
fn invalid(reason: &str) -> Cause {
    let told = format!("Validation Failed: 1: {reason};");
    Cause::new("validation_exception", told)
}

/// The name of a shard that serves nothing: writes wait for it in OpenSearch, and tell that they have waited in vain.
fn no_shard(error: &EngineError) -> &'static str {
    match error {
        EngineError::ShardNotActive {
            purpose: Purpose::Write,
            ..
        } => "unavailable_shards_exception",
        _ => "no_shard_available_action_exception",
    }
}

/// What is wrong with a mapping.
pub(crate) fn mapping_cause(error: &MappingError) -> Cause {
    let cause = Cause::new(error_type(error), mapping_reason(error));
    match error_cause(error) {
        Some((kind, reason)) => cause.caused_by(Cause::new(kind, reason)),
        None => cause,
    }
}

/// Errors of OpenSearch's own, which are the root of what is told around them.
const OWN_ROOTS: [&str; 3] = [
    "mapper_parsing_exception",
    "parse_exception",
    "parsing_exception",
];

/// What is wrong with a document.
fn document_error(id: &str, error: &DocumentError) -> ApiError {
    let status = StatusCode::BAD_REQUEST;
    let cause = Cause::new(document_error_type(error), document_reason(error, id));
    let Some((kind, reason)) = document_words::document_cause(error) else {
        return ApiError::new(status, cause);
    };
    let within = value_cause(kind, reason);
    let refused = ApiError::new(status, cause.caused_by(within.clone()));
    if OWN_ROOTS.contains(&kind) {
        refused.with_root(within)
    } else {
        refused
    }
}

/// How it is told that a text is no date.
const NO_DATE: &str = "failed to parse date field [";

/// What is wrong with a value; of a text that is no date, or no format of dates, it is told besides why not.
fn value_cause(kind: &'static str, reason: String) -> Cause {
    let no_date = no_date(&reason).map(|why| ("date_time_parse_exception", why));
    let why = no_date.or_else(|| Some(("illegal_argument_exception", no_format(&reason)?)));
    let cause = Cause::new(kind, reason);
    match why {
        Some((kind, why)) => cause.caused_by(Cause::new(kind, why)),
        None => cause,
    }
}

/// Why a text is no format of dates, by what is told of both.
fn no_format(reason: &str) -> Option<String> {
    let (_, why) = reason
        .strip_prefix("Invalid format: [")?
        .rsplit_once("]: ")?;
    Some(why.to_string())
}

/// Why a text is no date of a format, by what is told of both.
fn no_date(reason: &str) -> Option<String> {
    let (text, format) = reason
        .strip_prefix(NO_DATE)?
        .rsplit_once("] with format [")?;
    let format = DateFormat::parse(format.strip_suffix(']')?).ok()?;
    Some(match format.stop(text)? {
        DateStop::At(index) => format!("Text '{text}' could not be parsed at index {index}"),
        DateStop::Behind(index) => {
            format!("Text '{text}' could not be parsed, unparsed text found at index {index}")
        }
        DateStop::Anywhere => "Failed to parse with all enclosed parsers".to_string(),
    })
}

/// A write that can never fit is not worth repeating.
fn memory_status(exceeded: &MemoryExceeded) -> StatusCode {
    if exceeded.can_never_fit() && exceeded.purpose == MemoryPurpose::Operations {
        StatusCode::PAYLOAD_TOO_LARGE
    } else {
        StatusCode::TOO_MANY_REQUESTS
    }
}

/// Memory that is not to be had, as OpenSearch's circuit breakers and its indexing pressure say it.
fn memory_cause(exceeded: &MemoryExceeded) -> Cause {
    let MemoryExceeded {
        wanted,
        used,
        would_be,
        limit,
        ..
    } = *exceeded;
    let (breaker, what) = match (exceeded.scope, exceeded.purpose) {
        (MemoryScope::Purpose, MemoryPurpose::Operations) => {
            let reason = format!(
                "rejected execution of coordinating operation \
                 [coordinating_and_primary_bytes={used}, replica_bytes=0, all_bytes={used}, \
                 coordinating_operation_bytes={wanted}, \
                 max_coordinating_and_primary_bytes={limit}]"
            );
            return Cause::new("rejected_execution_exception", reason);
        }
        (MemoryScope::Total, purpose) => ("parent", what_takes(purpose)),
        (MemoryScope::Purpose, purpose) => (breaker_of(purpose), what_takes(purpose)),
    };
    let shown = |bytes: usize| format!("{bytes}/{}", size_in_words(bytes as u64, None));
    let reason = format!(
        "[{breaker}] Data too large, data for [{what}] would be [{}], which is larger than the limit of [{}]",
        shown(would_be),
        shown(limit),
    );
    Cause::new("circuit_breaking_exception", reason)
        .with("bytes_wanted", would_be)
        .with("bytes_limit", limit)
        .with(
            "durability",
            if exceeded.can_never_fit() {
                "PERMANENT"
            } else {
                "TRANSIENT"
            },
        )
}

/// OpenSearch's name of the breaker that looks after a purpose.
pub(crate) fn breaker_of(purpose: MemoryPurpose) -> &'static str {
    match purpose {
        MemoryPurpose::Bodies => "in_flight_requests",
        MemoryPurpose::Searches => "request",
        MemoryPurpose::Operations => "indexing_pressure",
        MemoryPurpose::Buffers => "index_buffer",
        MemoryPurpose::Merges => "merges",
    }
}

fn what_takes(purpose: MemoryPurpose) -> &'static str {
    match purpose {
        MemoryPurpose::Bodies => "<http_request>",
        MemoryPurpose::Searches => "<search>",
        MemoryPurpose::Operations => "<bulk>",
        MemoryPurpose::Buffers => "<index_buffer>",
        MemoryPurpose::Merges => "<merge>",
    }
}

/// The status of each kind of error.
fn status(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::Invalid => StatusCode::BAD_REQUEST,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::Forbidden => StatusCode::FORBIDDEN,
        ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorKind::Overloaded => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Corrupt | ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// What is wrong with a search's query or its aggregations, or what they would take.
fn query_error(error: &QueryError, reason: &str, kind: ErrorKind) -> ApiError {
    let named = |kind| Cause::new(kind, reason);
    match error {
        QueryError::Stopped => ApiError::new(status(kind), named("task_cancelled_exception")),
        QueryError::Reducing(within) => query_error(within, reason, kind).of_reducing(),
        QueryError::Memory(exceeded) => ApiError::from(*exceeded),
        QueryError::Aggregation(AggError::TooManyBuckets { max, .. }) => {
            let cause = named(TOO_MANY_BUCKETS).with("max_buckets", *max);
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, cause)
        }
        QueryError::Aggregation(AggError::TooLarge {
            wanted_bytes,
            max_bytes,
        }) => {
            let cause = named("circuit_breaking_exception")
                .with("bytes_wanted", *wanted_bytes)
                .with("bytes_limit", *max_bytes)
                .with("durability", "TRANSIENT");
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, cause)
        }
        QueryError::Script(error) => ApiError::new(StatusCode::BAD_REQUEST, script_cause(error)),
        QueryError::Create { reason: within } => {
            let cause = named(query_error_type(error));
            let within = value_cause(value_error_type(within), within.clone());
            ApiError::new(status(kind), cause.caused_by(within))
        }
        QueryError::Date(_) => {
            let cause = named(query_error_type(error));
            // That a text is no date is told twice, the second time in brackets.
            let within = reason.rfind(&format!(": [{NO_DATE}"));
            let within = within.and_then(|at| reason.get(at + 3..)?.strip_suffix(']'));
            let cause = match within {
                Some(within) => cause.caused_by(value_cause(
                    "illegal_argument_exception",
                    within.to_string(),
                )),
                None => cause,
            };
            ApiError::new(status(kind), cause)
        }
        error => {
            let cause = value_cause(query_error_type(error), reason.to_string());
            ApiError::new(status(kind), cause)
        }
    }
}

fn query_error_type(error: &QueryError) -> &'static str {
    match error {
        QueryError::Create { .. } | QueryError::Syntax { .. } | QueryError::Unmapped { .. } => {
            "query_shard_exception"
        }
        QueryError::Script(_) => "script_exception",
        QueryError::Memory(_) => "circuit_breaking_exception",
        QueryError::Date(_) => "parse_exception",
        QueryError::TooManyClauses { .. } => "too_many_clauses",
        QueryError::State { .. } => "illegal_state_exception",
        QueryError::Reducing(within) => query_error_type(within),
        QueryError::Aggregation(AggError::Validation { .. }) => {
            "action_request_validation_exception"
        }
        QueryError::Aggregation(AggError::Invalid { reason }) => value_error_type(reason),
        QueryError::Aggregation(AggError::Execution { .. }) => "aggregation_execution_exception",
        QueryError::Aggregation(AggError::OutOfBounds { .. }) => {
            "array_index_out_of_bounds_exception"
        }
        QueryError::TooDeep { .. }
        | QueryError::Illegal { .. }
        | QueryError::Stopped
        | QueryError::Aggregation(_) => "illegal_argument_exception",
        QueryError::Index(error) => files_error(index_disk_error(error)),
        QueryError::Io(_) => "i_o_exception",
    }
}

/// What is wrong with the files of an index: what the disk has said, or else something that OpenSearch has no name for.
fn files_error(of_disk: Option<&std::io::Error>) -> &'static str {
    of_disk.map_or("exception", |_| "i_o_exception")
}

/// What a field says of a value that does not fit it.
fn value_error_type(reason: &str) -> &'static str {
    let is_of_number = matches!(reason, "empty String" | "multiple points");
    if is_of_number || reason.starts_with("For input string: ") {
        "number_format_exception"
    } else if reason.starts_with("[nested] ") || reason.ends_with("; cannot run PhraseQuery") {
        "illegal_state_exception"
    } else {
        "illegal_argument_exception"
    }
}

/// A name that no index has.
fn index_not_found(index: &str, reason: &str) -> ApiError {
    let cause = Cause::new("index_not_found_exception", reason)
        .with("index", index)
        .with("resource.id", index)
        .with("resource.type", "index_or_alias")
        .with("index_uuid", Value::from("_na_"));
    ApiError::new(StatusCode::NOT_FOUND, cause)
}

/// A document without the routing key that its index wants.
fn routing_missing(index: &str, reason: &str) -> ApiError {
    let cause = Cause::new("routing_missing_exception", reason)
        .with("index", index)
        .with("index_uuid", "_na_");
    ApiError::new(StatusCode::BAD_REQUEST, cause)
}

/// A write to a name that it may not make an index of, or that is no alias, as it wants one.
fn no_index_to_write(index: &str, reason: &str) -> ApiError {
    let cause = Cause::new("index_not_found_exception", reason)
        .with("index", index)
        .with("index_uuid", "_na_");
    ApiError::new(StatusCode::NOT_FOUND, cause)
}

/// The same in words, with the setting that keeps writes from making indexes.
fn not_made(index: &str, why: &NotMade) -> String {
    let setting = "[action.auto_create_index]";
    let why = match why {
        NotMade::Nothing => format!("{setting} is [false]"),
        NotMade::Pattern(pattern) => {
            format!("{setting} contains [-{pattern}] which forbids automatic creation of the index")
        }
        NotMade::NoRule(rules) => {
            let sign = |rule: &CreationRule| if rule.made { "" } else { "-" };
            let rules = rules.iter();
            let rules: Vec<String> = rules
                .map(|rule| format!("{}{}", sign(rule), rule.pattern))
                .collect();
            format!("{setting} ([{}]) doesn't match", rules.join(","))
        }
    };
    format!("no such index [{index}] and {why}")
}

fn with_sources(cause: Cause, error: &EngineError) -> Cause {
    match error.source() {
        Some(source) => cause.caused_by(Cause::new("i_o_exception", source.to_string())),
        None => cause,
    }
}

#[cfg(test)]
mod tests;
