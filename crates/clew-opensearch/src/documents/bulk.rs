//! `_bulk`: many writes, one group in the log, one item in the answer for each, in order.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use clew_engine::{
    Action, EngineError, Purpose, WriteOperation, WriteOutcome, Written, parsed_bytes,
};
use clew_platform::{CancellationToken, MemoryPurpose, whole_ms};
use clew_query::unless_stopped;

use crate::documents::after_update::{AfterUpdate, read_all};
use crate::documents::bulk_lines::{self, BulkAction, Defaults, Verb};
use crate::documents::write_reply::{self, Refresh, Visibility};
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::reply::Reply;
use crate::http::source_filter::SourceFilter;
use crate::ingest::{Ingest, Prepared};
use crate::state::call::Call;
use crate::state::replicas::{CopiesCheck, WantedCopies};
use crate::state::stored_scripts::StoredScripts;
use crate::state::tasks::ended_by_somebody;

/// What an operation takes from its line to its item in the answer, without its document.
const OPERATION_BYTES: usize = size_of::<BulkAction>()
    + size_of::<Asked>()
    + size_of::<WriteOperation>()
    + 2 * size_of::<Result<Written, EngineError>>()
    + STRING_BYTES
    + ITEM_BYTES;
/// Names of indexes and ids, in the operation and in what is asked.
const STRING_BYTES: usize = 4 * 32;
/// Its item in the answer.
const ITEM_BYTES: usize = 220;

/// What an item's answer says besides the engine's result.
struct Asked {
    verb: Verb,
    index: String,
    id: Option<String>,
    routing: Option<String>,
    /// What a pipeline decided about it; none when it was written.
    decided: Option<Decided>,
}

impl Asked {
    fn of(action: &BulkAction) -> Self {
        Asked {
            verb: action.verb,
            index: action.index.clone(),
            id: action.id.clone(),
            routing: action.routing.clone(),
            decided: None,
        }
    }

    fn whose(&self) -> write_reply::Whose<'_> {
        let index = self.index.as_str();
        (index, self.routing.as_deref(), self.id.as_deref())
    }
}

/// A place among the items whose document is to be shown, its routing key, and what of it.
type Shown = (usize, Option<String>, SourceFilter);

/// An item that never came to be written.
enum Decided {
    Dropped,
    Refused(ApiError),
}

/// `POST /_bulk`.
pub(crate) async fn bulk(call: Call) -> Result<Reply, ApiError> {
    let started = Instant::now();
    let refresh = Refresh::from_call(&call)?;
    let mut defaults = defaults(&call)?;
    let default_pipeline = call.params.get("pipeline").map(String::from);
    let require_alias = call.params.flag("require_alias", false)?;
    let copies = WantedCopies::of(&call.params)?;
    let body = call.body.clone();
    let (engine, access) = (call.api.engine.clone(), call.access.clone());
    // Cutting the body is done beside the write, away from the async threads, as is all else that reads the whole of it.
    let writing = call.off_thread(move || {
        defaults.stored = StoredScripts::for_body(&engine, &body);
        let lines = memchr::memchr_iter(b'\n', &body).count();
        let mut memory = engine.memory().reserve(
            MemoryPurpose::Operations,
            (lines / 2).saturating_mul(OPERATION_BYTES),
        )?;
        let actions = bulk_lines::parse(&body, &defaults)?;
        let (mut asked, mut shown) = (Vec::with_capacity(actions.len()), Vec::<Shown>::new());
        let mut operations = Vec::with_capacity(actions.len());
        let mut ingest = Ingest::new(&engine);
        let mut copies = CopiesCheck::new(copies, (&engine, &access));
        for action in actions {
            // Pipelines may take long, and nothing is written yet.
            unless_stopped()?;
            let mut item = Asked::of(&action);
            if let Some(filter) = action.shown {
                shown.push((asked.len(), action.routing.clone(), filter));
            }
            let operation = WriteOperation {
                index: action.index,
                require_alias: action.require_alias.unwrap_or(require_alias),
                id: action.id,
                routing: action.routing,
                action: action.action,
                condition: action.condition,
            };
            let named = action.pipeline.as_deref().or(default_pipeline.as_deref());
            let enough = copies.check(&operation);
            match enough.and_then(|()| ingest.prepare(named, operation)) {
                Ok(Prepared::Write(operation)) => {
                    memory.grow(new_bytes(&body, &operation.action))?;
                    operations.push(operation);
                }
                Ok(Prepared::Dropped) => item.decided = Some(Decided::Dropped),
                Err(error) => item.decided = Some(Decided::Refused(error)),
            }
            asked.push(item);
        }
        let ingest_took = ingest.took();
        // What is written is not refused any more.
        let of_operations = asked.len().saturating_sub(lines / 2) * OPERATION_BYTES;
        memory.grow(of_operations + parsed_bytes(&operations))?;
        let token = CancellationToken::current();
        let _entered = CancellationToken::default().enter();
        let outcome = engine.write_until(&access, operations, &|| ended_by_somebody(&token));
        Ok::<_, ApiError>((asked, shown, outcome, memory, ingest_took))
    });
    let (asked, shown, outcome, memory, ingest_took) = writing.await??;
    let (outcome, visibility) = write_reply::acknowledge(&call, outcome, refresh).await?;
    let (after, not_shown) = read_shown(&call, (&asked, shown), &outcome).await;
    let took = (started.elapsed(), ingest_took);
    let json = render(&call, (&asked, &after), &outcome, visibility, took);
    let mut written = outcome.results.iter().flatten();
    Ok(Reply::written(json)
        .at(write_reply::last_glsn(&outcome))
        .over(memory)
        .warned(visibility.warning())
        .warned(not_shown)
        .warned(written.find_map(write_reply::warning)))
}

/// What actions leave to the request.
fn defaults(call: &Call) -> Result<Defaults, ApiError> {
    // What it says of pipelines is checked and no more: each document goes through them alone.
    let batch = call.params.integer("batch_size")?;
    if batch.is_some_and(|size| size < 1) {
        let reason = "batch_size must be greater than 0";
        return Err(ApiError::illegal_argument(reason));
    }
    Ok(Defaults {
        index: call.path("index").map(String::from),
        routing: call.params.get("routing").map(String::from),
        shown: SourceFilter::from_params(&call.params)?,
        stored: StoredScripts::default(),
        now_ms: call.api.engine.now_ms(),
        memory: call.memory.clone(),
    })
}

/// The documents that updates are to be answered with, by their place among the items, as they are once all of the bulk is
/// written; and what to warn of where they cannot be read.
async fn read_shown(
    call: &Call,
    (asked, shown): (&[Asked], Vec<Shown>),
    outcome: &WriteOutcome,
) -> (HashMap<usize, Vec<u8>>, Option<&'static str>) {
    if shown.is_empty() {
        return (HashMap::new(), None);
    }
    let mut results = outcome.results.iter();
    let result_of = |item: &Asked| match item.decided {
        None => results.next()?.as_ref().ok(),
        Some(_) => None,
    };
    let written: Vec<Option<&Written>> = asked.iter().map(result_of).collect();
    let (mut places, mut updated) = (Vec::new(), Vec::new());
    for (place, routing, filter) in shown {
        if let Some(written) = written[place].filter(|_| filter != SourceFilter::None) {
            places.push(place);
            updated.push(AfterUpdate::new(written, routing, filter));
        }
    }
    let (read, not_shown) = read_all(call, updated).await;
    let both = places.into_iter().zip(read);
    let both = both.filter_map(|(place, after)| Some((place, after?)));
    (both.collect(), not_shown)
}

/// Bytes of a source that is no slice of the body any more, as a pipeline has changed it.
fn new_bytes(body: &Bytes, action: &Action) -> usize {
    let is_new = |source: &Bytes| !body.as_ptr_range().contains(&source.as_ptr());
    match action {
        Action::Index { source, .. } => source.len() * usize::from(is_new(source)),
        Action::Update(spec) => {
            let sources = spec.doc.iter().chain(&spec.upsert);
            sources
                .filter(|source| is_new(source))
                .map(Bytes::len)
                .sum()
        }
        Action::Delete => 0,
    }
}

fn render(
    call: &Call,
    (asked, after): (&[Asked], &HashMap<usize, Vec<u8>>),
    outcome: &WriteOutcome,
    visibility: Visibility,
    // All of it, and its pipelines if it went through any.
    (took, ingest_took): (Duration, Option<Duration>),
) -> JsonWriter {
    let mut json = JsonWriter::with_capacity(64 + asked.len() * 200);
    json.begin_object().unsigned_field("took", whole_ms(took));
    if let Some(took) = ingest_took {
        json.unsigned_field("ingest_took", whole_ms(took));
    }
    let refused = |item: &Asked| matches!(item.decided, Some(Decided::Refused(_)));
    let errors = outcome.results.iter().any(Result::is_err) || asked.iter().any(refused);
    json.boolean_field("errors", errors);
    let mut results = outcome.results.iter();
    json.key("items").begin_array();
    for (place, asked) in asked.iter().enumerate() {
        json.begin_object().key(asked.verb.name()).begin_object();
        match (
            &asked.decided,
            &asked.decided.is_none().then(|| results.next()).flatten(),
        ) {
            (Some(Decided::Dropped), _) => write_dropped(&mut json, asked),
            (Some(Decided::Refused(error)), _) => {
                write_error(&mut json, asked.whose(), error);
            }
            (None, Some(Ok(written))) => {
                write_reply::write_members(&mut json, written, visibility);
                if let Some(after) = after.get(&place) {
                    json.key("get").raw(after);
                }
                let status = write_reply::status(written).as_u16();
                json.unsigned_field("status", u64::from(status));
            }
            (None, Some(Err(error))) => {
                let (index, routing, id) = asked.whose();
                let id = id.or(made_id(error));
                let error = write_reply::refused(call, asked.whose(), error);
                let engine = &call.api.engine;
                let found = engine.open_written((index, routing), &call.access, Purpose::Watch);
                // The index that an alias stands for, as where it is written.
                let index = found.as_ref().map_or(index, |(found, _)| found.name());
                write_error(&mut json, (index, routing, id), &error);
            }
            (None, None) => {}
        }
        json.end_object().end_object();
    }
    json.end_array().end_object();
    json
}

/// The id that a document without one had got when it was refused.
fn made_id(error: &EngineError) -> Option<&str> {
    match error {
        EngineError::Document { id, .. } => Some(id),
        _ => None,
    }
}

fn write_error(json: &mut JsonWriter, (index, _, id): write_reply::Whose<'_>, error: &ApiError) {
    json.string_field("_index", index).key("_id");
    match id {
        Some(id) => json.string(id),
        None => json.null(),
    };
    json.unsigned_field("status", u64::from(error.status().as_u16()));
    error.write_item_error(json);
}

/// A document that a pipeline dropped was never written, and that is no error.
fn write_dropped(json: &mut JsonWriter, asked: &Asked) {
    json.string_field("_index", &asked.index).key("_id");
    match &asked.id {
        Some(id) => json.string(id),
        None => json.null(),
    };
    json.key("_version").value(&serde_json::Value::from(-3));
    json.string_field("result", "noop");
    json.key("_shards").begin_object();
    json.unsigned_field("total", 0)
        .unsigned_field("successful", 0);
    json.unsigned_field("failed", 0).end_object();
    json.unsigned_field("status", 200);
}
