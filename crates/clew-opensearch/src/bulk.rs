//! `_bulk`: many writes, one group in the log, one item in the answer for each, in order.

use std::time::Instant;

use clew_engine::{EngineError, WriteOperation, WriteOutcome};

use crate::bulk_lines::{self, Verb};
use crate::call::Call;
use crate::error::ApiError;
use crate::json_writer::JsonWriter;
use crate::reply::Reply;
use crate::write_reply::{self, Refresh};

/// What an item's answer says besides the engine's result.
struct Asked {
    verb: Verb,
    index: String,
    id: Option<String>,
}

/// `POST /_bulk`.
pub(crate) async fn bulk(call: Call) -> Result<Reply, ApiError> {
    let started = Instant::now();
    let refresh = Refresh::from_call(&call)?;
    let default_index = call.path("index").map(String::from);
    let default_routing = call.params.get("routing").map(String::from);
    let require_alias = call.params.flag("require_alias", false)?;
    let body = call.body.clone();
    let engine = call.api.engine.clone();
    // Cutting the body is done beside the write, away from the async threads.
    let (asked, outcome) = tokio::task::spawn_blocking(move || {
        let actions =
            bulk_lines::parse(&body, default_index.as_deref(), default_routing.as_deref())?;
        let mut asked = Vec::with_capacity(actions.len());
        let mut operations = Vec::with_capacity(actions.len());
        for action in actions {
            asked.push(Asked {
                verb: action.verb,
                index: action.index.clone(),
                id: action.id.clone(),
            });
            operations.push(WriteOperation {
                index: action.index,
                require_alias: action.require_alias.unwrap_or(require_alias),
                id: action.id,
                routing: action.routing,
                action: action.action,
                condition: action.condition,
            });
        }
        Ok::<_, ApiError>((asked, engine.write(operations)))
    })
    .await
    .map_err(|error| ApiError::internal(error.to_string()))??;
    let outcome = write_reply::acknowledge(&call, outcome, refresh).await?;
    let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let json = render(&call, &asked, &outcome, refresh, took_ms);
    Ok(Reply::written(json).at(write_reply::last_glsn(&outcome)))
}

fn render(
    call: &Call,
    asked: &[Asked],
    outcome: &WriteOutcome,
    refresh: Refresh,
    took_ms: u64,
) -> JsonWriter {
    let mut json = JsonWriter::with_capacity(64 + asked.len() * 200);
    json.begin_object().unsigned_field("took", took_ms);
    json.boolean_field("errors", outcome.results.iter().any(Result::is_err));
    json.key("items").begin_array();
    for (asked, result) in asked.iter().zip(&outcome.results) {
        json.begin_object().key(asked.verb.name()).begin_object();
        match result {
            Ok(written) => {
                write_reply::write_members(&mut json, written, refresh);
                let status = write_reply::status(written).as_u16();
                json.unsigned_field("status", u64::from(status));
            }
            Err(error) => write_refused(&mut json, call, asked, error),
        }
        json.end_object().end_object();
    }
    json.end_array().end_object();
    json
}

fn write_refused(json: &mut JsonWriter, call: &Call, asked: &Asked, error: &EngineError) {
    let error = write_reply::refused(call, &asked.index, error);
    json.string_field("_index", &asked.index).key("_id");
    match &asked.id {
        Some(id) => json.string(id),
        None => json.null(),
    };
    json.unsigned_field("status", u64::from(error.status().as_u16()));
    error.write_item_error(json);
}
