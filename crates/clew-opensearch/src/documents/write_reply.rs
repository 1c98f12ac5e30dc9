//! What a write is answered with, alone or as an item of a bulk, and when it is answered: after it
//! is durable and, if the client asked, visible.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::{
    EngineError, Index, PRIMARY_TERM, Purpose, WriteOperation, WriteOutcome, WriteResult, Written,
};
use clew_log::Glsn;
use clew_query::QueryError;
use clew_schema::percent::encoded;
use serde_json::Value;

use crate::documents::slow;
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::script_errors::failed_to_execute;
use crate::state::call::Call;

/// When a write must be visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refresh {
    /// When it happens to be.
    Later,
    /// Before the answer, and now.
    Now,
    /// Before the answer, with the next refresh.
    WaitFor,
}

impl Refresh {
    pub(crate) fn from_call(call: &Call) -> Result<Self, ApiError> {
        match call.params.get("refresh") {
            None | Some("false") => Ok(Refresh::Later),
            Some("" | "true") => Ok(Refresh::Now),
            Some("wait_for") => Ok(Refresh::WaitFor),
            Some(other) => Err(ApiError::illegal_argument(format!(
                "Unknown value for refresh: [{other}]."
            ))),
        }
    }
}

/// What came of the wish that a write be visible before its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visibility {
    /// Nobody wished it, or the next refresh brought it.
    Usual,
    /// A refresh was made for it.
    Forced,
    /// It is not visible yet. What is written stays written all the same: an error would have clients write it again.
    Missed,
}

/// What a client is told whose write could not be made visible.
const MISSED: &str =
    "299 Clew \"the write is durable, but could not be made visible to searches yet\"";

impl Visibility {
    /// What is to be said of it beside the result.
    pub(crate) fn warning(self) -> Option<&'static str> {
        (self == Visibility::Missed).then_some(MISSED)
    }
}

/// Does writes and waits until they may be acknowledged.
pub(crate) async fn write(
    call: &Call,
    operations: Vec<WriteOperation>,
    refresh: Refresh,
) -> Result<(WriteOutcome, Visibility), ApiError> {
    let outcome = unacknowledged(call, operations).await?;
    acknowledge(call, outcome, refresh).await
}

/// Does writes that have to be acknowledged yet.
pub(crate) async fn unacknowledged(
    call: &Call,
    operations: Vec<WriteOperation>,
) -> Result<WriteOutcome, ApiError> {
    unacknowledged_in(call, BTreeMap::new(), operations).await
}

/// The same to indexes that were found before, by the names that they had then.
pub(crate) async fn unacknowledged_in(
    call: &Call,
    found: BTreeMap<String, Arc<Index>>,
    operations: Vec<WriteOperation>,
) -> Result<WriteOutcome, ApiError> {
    let access = call.access.clone();
    call.to_its_end(move |engine| {
        let _memory = engine.admit(&operations)?;
        Ok(engine.write_found(&access, &found, operations))
    })
    .await
}

/// Waits until what was written may be acknowledged, and is visible where that is asked for.
///
/// # Errors
/// When it may not be acknowledged. That it cannot be made visible is none.
pub(crate) async fn acknowledge(
    call: &Call,
    outcome: WriteOutcome,
    refresh: Refresh,
) -> Result<(WriteOutcome, Visibility), ApiError> {
    call.api.engine.durable(&outcome).await?;
    slow::tell(call, &outcome);
    let (shown, visibility) = match refresh {
        Refresh::Later => return Ok((outcome, Visibility::Usual)),
        Refresh::Now => (refresh_touched(call, &outcome).await, Visibility::Forced),
        Refresh::WaitFor => (wait_shown(call, &outcome).await, Visibility::Usual),
    };
    if let Err(error) = shown {
        let reason = error.reason();
        tracing::warn!(reason, "what was written is not visible yet");
        return Ok((outcome, Visibility::Missed));
    }
    Ok((outcome, visibility))
}

/// Refreshes the shards that were written to. Others stay as they are: nobody asked for what was written there.
async fn refresh_touched(call: &Call, outcome: &WriteOutcome) -> Result<(), ApiError> {
    let shards = outcome.touched.clone();
    let refresh = move |engine: &clew_engine::Engine| {
        let mut shards = shards.iter();
        shards.try_for_each(|touched| engine.refresh_shard(&touched.index, touched.shard))
    };
    call.to_its_end(refresh).await
}

/// Waits for the refresh that shows what was written.
async fn wait_shown(call: &Call, outcome: &WriteOutcome) -> Result<(), ApiError> {
    let mut indices: Vec<Arc<Index>> = Vec::new();
    for written in outcome.results.iter().flatten() {
        if !indices
            .iter()
            .any(|index| Arc::ptr_eq(index, &written.index))
        {
            indices.push(written.index.clone());
        }
    }
    match outcome.last {
        Some(last) => call.wait_visible(&indices, last).await,
        None => Ok(()),
    }
}

/// What a client is told whose document is not found by all of its words, as OpenSearch writes warnings.
const LEFT_OUT: &str = "299 Clew \"an analyzer would have made more of a text than it may make: \
                        words are left out, by which the document is not found\"";

/// What is to be said of a write beside its result.
pub(crate) fn warning(written: &Written) -> Option<&'static str> {
    written.left_out.then_some(LEFT_OUT)
}

/// The status of a write.
pub(crate) fn status(written: &Written) -> StatusCode {
    match written.result {
        WriteResult::Created => StatusCode::CREATED,
        WriteResult::NotFound => StatusCode::NOT_FOUND,
        WriteResult::Updated | WriteResult::Deleted | WriteResult::Noop => StatusCode::OK,
    }
}

/// The path of a document that a write made, by which it is found again.
pub(crate) fn location(written: &Written, routing: Option<&str>) -> Option<String> {
    if written.result != WriteResult::Created {
        return None;
    }
    let (index, id) = (encoded(written.index.name()), encoded(&written.id));
    Some(match routing {
        Some(routing) => format!("/{index}/_doc/{id}?routing={}", encoded(routing)),
        None => format!("/{index}/_doc/{id}"),
    })
}

/// Writes the members of a write's answer, without the braces.
pub(crate) fn write_members(json: &mut JsonWriter, written: &Written, visibility: Visibility) {
    let (result, shards) = match written.result {
        WriteResult::Created => ("created", 1),
        WriteResult::Updated => ("updated", 1),
        WriteResult::Deleted => ("deleted", 1),
        WriteResult::NotFound => ("not_found", 1),
        WriteResult::Noop => ("noop", 0),
    };
    json.string_field("_index", written.index.name());
    json.string_field("_id", &written.id);
    // A script has left what is not there as it is.
    let is_nowhere = written.result == WriteResult::Noop && written.version == 0;
    match is_nowhere {
        true => json.key("_version").value(&Value::from(-1)),
        false => json.unsigned_field("_version", written.version),
    };
    json.string_field("result", result);
    if visibility == Visibility::Forced {
        json.boolean_field("forced_refresh", true);
    }
    json.key("_shards").begin_object();
    json.unsigned_field("total", shards)
        .unsigned_field("successful", shards);
    json.unsigned_field("failed", 0).end_object();
    if is_nowhere {
        json.key("get").begin_object();
        json.boolean_field("found", false).end_object();
        return;
    }
    json.unsigned_field("_seq_no", written.seq_no)
        .unsigned_field("_primary_term", PRIMARY_TERM);
}

/// The highest position of a list of writes.
pub(crate) fn last_glsn(outcome: &WriteOutcome) -> Option<Glsn> {
    outcome.last.or_else(|| {
        outcome
            .results
            .iter()
            .flatten()
            .map(|written| written.glsn)
            .max()
    })
}

/// Whose a write was: its index as it was named, its routing key and its id.
pub(crate) type Whose<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

/// Adds to a refused write which shard it was for, as OpenSearch does where a version is another one and where a document
/// is missing.
pub(crate) fn refused(
    call: &Call,
    (index, routing, id): Whose<'_>,
    error: &EngineError,
) -> ApiError {
    let refused = match error {
        EngineError::Query(QueryError::Script(error)) => failed_to_execute(error),
        error => ApiError::from(error).of_one_index(),
    };
    let is_missing = matches!(error, EngineError::DocumentMissing { .. });
    if !is_missing && refused.status() != StatusCode::CONFLICT {
        return refused;
    }
    let engine = &call.api.engine;
    match engine.open_written((index, routing), &call.access, Purpose::Watch) {
        Ok((found, routing)) => match routing.as_deref().or(id) {
            Some(key) => refused.in_shard(found.name(), found.uuid(), found.shard_number(key)),
            None => refused.in_index(found.name(), found.uuid()),
        },
        Err(_) => refused,
    }
}
