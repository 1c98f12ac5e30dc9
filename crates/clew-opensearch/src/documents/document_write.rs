//! Writing one document: index, create, update, delete.

use clew_engine::{Action, Condition, OpType, UpdateSpec, WriteOperation, WriteResult, Written};
use serde_json::json;

use crate::documents::after_update::{AfterUpdate, read_all};
use crate::documents::bulk_lines::{
    check_create, check_id, condition_at, external_version, is_no_version, one_of,
};
use crate::documents::scripted::Around;
use crate::documents::update_body;
use crate::documents::write_reply::{self, Refresh, Visibility};
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::reply::Reply;
use crate::http::source_filter::SourceFilter;
use crate::ingest::{Ingest, Prepared};
use crate::state::call::Call;
use crate::state::replicas::{CopiesCheck, WantedCopies};
use crate::state::stored_scripts::StoredScripts;

/// `PUT /{index}/_doc/{id}`, `POST /{index}/_doc`.
pub(crate) async fn index(call: Call) -> Result<Reply, ApiError> {
    let asked = call.params.get("op_type");
    let op_type = match asked.map(str::to_ascii_lowercase).as_deref() {
        // What gets an id of its own is new; a data stream takes nothing else.
        None if call.path("id").is_none() => OpType::Create,
        None | Some("index") => OpType::Index,
        Some("create") => OpType::Create,
        Some(_) => {
            return Err(ApiError::illegal_argument(format!(
                "opType must be 'create' or 'index', found: [{}]",
                asked.unwrap_or_default()
            )));
        }
    };
    put(call, op_type).await
}

/// `PUT /{index}/_create/{id}`.
pub(crate) async fn create(call: Call) -> Result<Reply, ApiError> {
    match call.params.get("op_type") {
        Some(other) if !other.eq_ignore_ascii_case("create") => Err(ApiError::illegal_argument(
            format!("opType must be 'create', found: [{other}]"),
        )),
        _ => put(call, OpType::Create).await,
    }
}

async fn put(call: Call, op_type: OpType) -> Result<Reply, ApiError> {
    if call.body.is_empty() {
        return Err(ApiError::bad_request(
            "parse_exception",
            "request body is required",
        ));
    }
    let condition = condition_of(&call, Some(op_type))?;
    if op_type == OpType::Create {
        check_create(condition)?;
    }
    let action = Action::index(call.body.clone(), op_type);
    one(&call, action, condition).await
}

/// `DELETE /{index}/_doc/{id}`.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    one(&call, Action::Delete, condition_of(&call, None)?).await
}

fn condition_of(call: &Call, op_type: Option<OpType>) -> Result<Option<Condition>, ApiError> {
    let must_be_new = op_type == Some(OpType::Create);
    let version = match call.params.get("version") {
        Some(text) if is_no_version(text, must_be_new) => None,
        _ => call.params.integer("version")?,
    };
    let external = external_version(version, call.params.get("version_type"))?;
    one_of(external, condition_at(&call.params)?)
}

async fn one(call: &Call, action: Action, condition: Option<Condition>) -> Result<Reply, ApiError> {
    let Some((written, visibility)) = write_one(call, action, condition).await? else {
        return Ok(dropped(call));
    };
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object();
    write_reply::write_members(&mut json, &written, visibility);
    json.end_object();
    Ok(Reply::written(json)
        .with_status(write_reply::status(&written))
        .at(written.glsn)
        .located(write_reply::location(&written, call.params.get("routing")))
        .warned(visibility.warning())
        .warned(write_reply::warning(&written)))
}

/// What a document is routed by, unless that is its id: an empty key is none.
fn routing_of(call: &Call) -> Option<&str> {
    call.params.get("routing").filter(|key| !key.is_empty())
}

async fn write_one(
    call: &Call,
    action: Action,
    condition: Option<Condition>,
) -> Result<Option<(Written, Visibility)>, ApiError> {
    let refresh = Refresh::from_call(call)?;
    let index = call.path_required("index")?.to_string();
    call.path("id").map_or(Ok(()), check_id)?;
    let operation = WriteOperation {
        index: index.clone(),
        require_alias: call.params.flag("require_alias", false)?,
        id: call.path("id").map(String::from),
        routing: routing_of(call).map(String::from),
        action,
        condition,
    };
    let copies = WantedCopies::of(&call.params)?;
    let around = (&call.api.engine, &call.access);
    CopiesCheck::new(copies, around).check(&operation)?;
    let Some(operation) = prepared(call, operation).await? else {
        return Ok(None);
    };
    let (mut outcome, visibility) = write_reply::write(call, vec![operation], refresh).await?;
    match outcome.results.pop() {
        Some(Ok(written)) => Ok(Some((written, visibility))),
        Some(Err(error)) => {
            let whose = (&*index, routing_of(call), call.path("id"));
            Err(write_reply::refused(call, whose, &error))
        }
        None => Err(ApiError::internal("a write without a result")),
    }
}

/// The write as its pipelines leave it; `None` when one dropped it.
async fn prepared(
    call: &Call,
    operation: WriteOperation,
) -> Result<Option<WriteOperation>, ApiError> {
    if matches!(operation.action, Action::Delete) {
        return Ok(Some(operation));
    }
    let named = call.params.get("pipeline").map(String::from);
    let access = call.access.clone();
    let prepare = move |engine: &clew_engine::Engine| {
        let mut ingest = Ingest::new(engine);
        Ok(match matches!(operation.action, Action::Update(_)) {
            true => ingest.prepare_update(&access, operation),
            false => ingest.prepare(named.as_deref(), operation),
        })
    };
    match call.blocking(prepare).await?? {
        Prepared::Write(operation) => Ok(Some(operation)),
        Prepared::Dropped => Ok(None),
    }
}

/// The answer to a write that a pipeline dropped.
fn dropped(call: &Call) -> Reply {
    Reply::json(&json!({
        "_index": call.path("index"),
        "_id": call.path("id"),
        "_version": -3,
        "result": "noop",
        "_shards": {"total": 0, "successful": 0, "failed": 0},
    }))
}

/// `POST /{index}/_update/{id}`.
pub(crate) async fn update(call: Call) -> Result<Reply, ApiError> {
    let around = Around {
        index: call.path_required("index")?,
        stored: &StoredScripts::for_body(&call.api.engine, &call.body),
        now_ms: call.api.engine.now_ms(),
        memory: &call.memory,
    };
    let beside = UpdateSpec {
        doc_as_upsert: call.params.flag("doc_as_upsert", false)?,
        ..update_body::usual()
    };
    let update = update_body::parse_over(&call.body, &around, beside)?;
    let mut tries_left = call.params.integer("retry_on_conflict")?.unwrap_or(0);
    let condition = condition_of(&call, None)?.or(update.condition);
    update_body::check_condition(&update.spec, condition.as_ref(), tries_left)?;
    if let Some(Condition::External { .. }) = condition {
        return Err(ApiError::validation(
            "internal versioning can not be used for optimistic concurrency control. Please use \
             `if_seq_no` and `if_primary_term` instead",
        ));
    }
    let filter = match &update.source {
        Some(filter) => Some(SourceFilter::from_json(filter)?),
        None => SourceFilter::from_params(&call.params)?,
    };
    let written = loop {
        let action = Action::Update(update.spec.clone());
        match write_one(&call, action, condition).await {
            // Only what goes through pipelines comes too late.
            Err(error) if tries_left > 0 && error.status() == axum::http::StatusCode::CONFLICT => {
                tries_left -= 1;
            }
            other => break other?,
        }
    };
    let Some((written, visibility)) = written else {
        return Ok(dropped(&call));
    };
    let mut json = JsonWriter::with_capacity(512);
    json.begin_object();
    write_reply::write_members(&mut json, &written, visibility);
    let mut not_shown = None;
    if let Some(filter) = filter.filter(|filter| *filter != SourceFilter::None) {
        let routing = routing_of(&call).map(String::from);
        let updated = AfterUpdate::new(&written, routing, filter);
        let (read, warning) = read_all(&call, vec![updated]).await;
        for after in read.into_iter().flatten() {
            json.key("get").raw(&after);
        }
        not_shown = warning;
    }
    json.end_object();
    let status = match written.result {
        WriteResult::Created => axum::http::StatusCode::CREATED,
        _ => axum::http::StatusCode::OK,
    };
    Ok(Reply::written(json)
        .with_status(status)
        .at(written.glsn)
        .located(write_reply::location(&written, call.params.get("routing")))
        .warned(visibility.warning())
        .warned(not_shown)
        .warned(write_reply::warning(&written)))
}
