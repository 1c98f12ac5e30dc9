//! `_msearch`: several searches in one request, each with its own answer or error, in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use clew_engine::ResolveOptions;
use clew_platform::{CancellationToken, Reservation, stopped, whole_ms};
use clew_profile::Spent;
use clew_query::QueryError;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::request::Spec;
use super::run_read;
use super::template;
use crate::http::error::{ApiError, Cause};
use crate::http::json_writer::JsonWriter;
use crate::http::reply::Reply;
use crate::http::request_memory::words_bytes;
use crate::http::setting_values::parse_time;
use crate::http::unique_json;
use crate::state::call::{Call, read_wildcards};
use crate::state::stored_scripts;
use crate::state::tasks::{cancelled_error, expired};

/// Searches of one request that run at once unless it says otherwise.
const CONCURRENT_DEFAULT: usize = 8;
/// Searches in one request.
const SEARCHES_MAX: usize = 1000;
/// Answers that are together longer are joined away from the async threads.
const INLINE_BYTES_MAX: usize = 256 << 10;

struct Item {
    expression: String,
    options: ResolveOptions,
    /// URI parameters that hold for it alone.
    params: Vec<(String, String)>,
    /// When it is cancelled, the others going on.
    cancel_after: Option<Duration>,
    body: Value,
    /// What the body says, where that was read already.
    spec: Option<Arc<Spec>>,
}

/// What the searches of a request are written as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Searches,
    Templates,
}

/// `POST /{index}/_msearch`.
pub(crate) async fn msearch(call: Call) -> Result<Reply, ApiError> {
    several(call, Form::Searches).await
}

/// `POST /{index}/_msearch/template`.
pub(crate) async fn msearch_template(call: Call) -> Result<Reply, ApiError> {
    several(call, Form::Templates).await
}

impl Form {
    /// The search that a body says, and what it takes until it is over where it was made.
    async fn search_of(
        self,
        call: &Call,
        body: Value,
    ) -> Result<(Value, Option<Reservation>), ApiError> {
        match self {
            Form::Searches => Ok((body, None)),
            Form::Templates => {
                let (search, memory) = template::render(call, &body).await?;
                Ok((search, Some(memory)))
            }
        }
    }
}

async fn several(call: Call, form: Form) -> Result<Reply, ApiError> {
    let started = std::time::Instant::now();
    Spent::is_of_kind(|| "msearch");
    let items = parse(&call, form)?;
    if form == Form::Templates {
        items
            .iter()
            .try_for_each(|item| template::check_one_of_several(&item.body))?;
    }
    let concurrent = match call.params.unsigned("max_concurrent_searches")? {
        Some(0) => {
            return Err(ApiError::illegal_argument(
                "maxConcurrentSearchRequests must be positive",
            ));
        }
        Some(asked) => usize::try_from(asked).map_or(SEARCHES_MAX, |n| n.min(SEARCHES_MAX)),
        None => CONCURRENT_DEFAULT,
    };
    let call = Arc::new(call);
    let permits = Arc::new(Semaphore::new(concurrent));
    let made = Arc::new(AtomicBool::new(items.is_empty() || form == Form::Searches));
    let mut running = Vec::with_capacity(items.len());
    for mut item in items {
        let permits = permits.clone();
        let params = std::mem::take(&mut item.params);
        let call = if params.is_empty() {
            call.clone()
        } else {
            Arc::new(call.with_params(params))
        };
        let account = Spent::current().map(|spent| spent.beside());
        let token = CancellationToken::current();
        let made = made.clone();
        running.push(tokio::spawn(token.scope(Box::pin(async move {
            let _permit = permits.acquire().await;
            // Those that wait for their turn are not even begun for nobody.
            if stopped() {
                return Err(ended());
            }
            let search = answered(&call, form, item, &made);
            match account {
                Some(account) => account.scope(search).await,
                None => search.await,
            }
        }))));
    }
    let mut answers = Vec::with_capacity(running.len());
    for task in running {
        answers.push(task.await.unwrap_or_else(|error| Err(error.into())));
    }
    // As in OpenSearch, templates none of which becomes a search are no request.
    if !made.load(Ordering::Relaxed) {
        return Err(ApiError::validation("no requests added"));
    }
    let together: usize = answers.iter().flatten().map(Vec::len).sum();
    call.memory.take(together)?;
    let took_ms = whole_ms(started.elapsed());
    let json = match together <= INLINE_BYTES_MAX {
        true => joined(&answers, took_ms),
        false => call.off_thread(move || joined(&answers, took_ms)).await?,
    };
    Ok(Reply::written(json))
}

/// The answer of one search, which is cancelled where it says after what time; `made` becomes true once it is a search.
async fn answered(
    call: &Call,
    form: Form,
    item: Item,
    made: &AtomicBool,
) -> Result<Vec<u8>, ApiError> {
    let Item {
        expression,
        options,
        cancel_after,
        body,
        spec,
        ..
    } = item;
    let search = async {
        let search = form.search_of(call, body).await;
        // What there is no memory for now may become one later.
        let is_full = |error: &ApiError| error.status() == StatusCode::TOO_MANY_REQUESTS;
        let may_be_one = search.as_ref().map_or_else(is_full, |_| true);
        made.fetch_or(may_be_one, Ordering::Relaxed);
        let (body, _memory) = search?;
        run_read(call, &expression, options, (body, spec)).await
    };
    let Some(after) = cancel_after else {
        return search.await;
    };
    let token = CancellationToken::current().part();
    let in_time = tokio::time::timeout(after, token.clone().scope(Box::pin(search))).await;
    in_time.unwrap_or_else(|_| {
        let reason = expired(after);
        token.cancel(&reason);
        Err(cancelled_error(&reason))
    })
}

/// What a search is answered with whose request was cancelled.
fn ended() -> ApiError {
    QueryError::Stopped.into()
}

/// All answers as one.
fn joined(answers: &[Result<Vec<u8>, ApiError>], took_ms: u64) -> JsonWriter {
    let together: usize = answers.iter().flatten().map(Vec::len).sum();
    // What is booked: a writer that grows has up to as much again.
    let mut json = JsonWriter::with_capacity(1024 + together + 16 * answers.len());
    json.begin_object()
        .unsigned_field("took", took_ms)
        .key("responses")
        .begin_array();
    for answer in answers {
        match answer {
            // What was found is for nobody any more.
            Ok(_) if stopped() => write_answer(&mut json, &Err(ended())),
            answer => write_answer(&mut json, answer),
        }
    }
    json.end_array().end_object();
    json
}

/// The last member of an answer, and its end.
const STATUS_OK: &[u8] = b",\"status\":200}";

/// A search's answer is an object; its status becomes one more member.
pub(super) fn add_status(answer: &mut Vec<u8>) {
    if answer.last() == Some(&b'}') {
        answer.pop();
        answer.extend_from_slice(STATUS_OK);
    }
}

fn write_answer(json: &mut JsonWriter, answer: &Result<Vec<u8>, ApiError>) {
    match answer {
        Ok(bytes) => {
            let mut whole = Vec::with_capacity(bytes.len() + STATUS_OK.len());
            whole.extend_from_slice(bytes);
            add_status(&mut whole);
            json.raw(&whole);
        }
        Err(error) => {
            json.begin_object();
            error.write_error(json);
            json.unsigned_field("status", u64::from(error.status().as_u16()))
                .end_object();
        }
    }
}

/// Totals as plain numbers must be exact; a request that wants both is refused as a whole.
fn check_total(call: &Call, body: &Value) -> Result<(), ApiError> {
    let limit = body.get("track_total_hits").and_then(Value::as_i64);
    match limit.filter(|limit| *limit >= 0) {
        Some(limit) if call.params.flag("rest_total_hits_as_int", false)? => {
            Err(ApiError::illegal_argument(format!(
                "[rest_total_hits_as_int] cannot be used if the tracking of total hits is not \
                 accurate, got {limit}"
            )))
        }
        _ => Ok(()),
    }
}

/// Reads a search. With one that is not understood the request is refused as a whole, before any search begins; what is wrong
/// with a script is told by its search alone, which reads it again.
fn read_search(call: &Call, item: &Item, text: &[u8]) -> Result<Option<Arc<Spec>>, ApiError> {
    let params = call.params.with(item.params.clone());
    let read = || Spec::read(&item.body, text, &params);
    let of_script = |error: &ApiError| {
        error.is_kind("script_exception") || error.status() == StatusCode::NOT_FOUND
    };
    let spec = match stored_scripts::reading(&call.api.engine, read) {
        Err(error) if !of_script(&error) => return Err(error),
        read => read.ok(),
    };
    check_total(call, &item.body)?;
    call.memory.take(size_of::<Spec>())?;
    Ok(spec)
}

fn parse(call: &Call, form: Form) -> Result<Vec<Item>, ApiError> {
    call.require_source()?;
    let Some(body) = call.body.strip_suffix(b"\n") else {
        return Err(ApiError::illegal_argument(
            "The msearch request must be terminated by a newline [\n]",
        ));
    };
    let mut lines = body.split(|byte| *byte == b'\n');
    let mut items = Vec::new();
    while let (Some(header), Some(body)) = (lines.next(), lines.next()) {
        if items.len() == SEARCHES_MAX {
            return Err(ApiError::illegal_argument(format!(
                "more than [{SEARCHES_MAX}] searches in one request"
            )));
        }
        let mut item = item(call, header, body)?;
        if form == Form::Searches {
            item.spec = read_search(call, &item, body)?;
        }
        items.push(item);
    }
    if items.is_empty() {
        return Err(ApiError::validation("no requests added"));
    }
    Ok(items)
}

fn item(call: &Call, header: &[u8], body: &[u8]) -> Result<Item, ApiError> {
    let read = |line: &[u8]| -> Result<Value, ApiError> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(Value::Object(serde_json::Map::new()));
        }
        call.memory.take_json(line)?;
        call.memory.take(words_bytes(line.len()))?;
        unique_json::read(line)
    };
    let header = read(header)?;
    let mut item = Item {
        expression: call.index_expression().to_string(),
        options: call.resolve_options()?,
        params: Vec::new(),
        cancel_after: None,
        body: read(body)?,
        spec: None,
    };
    for (key, value) in header.as_object().into_iter().flatten() {
        match key.as_str() {
            "index" | "indices" => {
                if let Some((_, names)) = param(key, value) {
                    item.expression = names;
                }
            }
            "expand_wildcards" => {
                let names = match value {
                    Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
                    other => other
                        .as_str()
                        .unwrap_or_default()
                        .split(',')
                        .collect::<Vec<_>>(),
                };
                item.options.wildcards = read_wildcards(&names)?;
            }
            "ignore_unavailable" => item.options.ignore_unavailable = flag(key, value)?,
            "allow_no_indices" => item.options.allow_no_indices = flag(key, value)?,
            "preference" | "routing" | "search_type" => {
                item.params.extend(param(key, value));
            }
            "cancel_after_time_interval" => {
                if let Some((name, time)) = param(key, value) {
                    item.cancel_after = parse_time(&name, &time)?;
                }
            }
            "request_cache"
            | "ignore_throttled"
            | "allow_partial_search_results"
            | "ccs_minimize_roundtrips"
            | "max_concurrent_shard_requests"
            | "type"
            | "types"
            | "version" => {}
            other => {
                return Err(ApiError::illegal_argument(format!(
                    "key [{other}] is not supported in the metadata section"
                )));
            }
        }
    }
    Ok(item)
}

/// What a header says that a search may have among its URI parameters; null is nothing.
fn param(name: &str, value: &Value) -> Option<(String, String)> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items
                .iter()
                .filter_map(|item| param("", item))
                .map(|(_, text)| text)
                .collect();
            items.join(",")
        }
        other => other.to_string(),
    };
    Some((name.to_string(), text))
}

fn flag(name: &str, value: &Value) -> Result<bool, ApiError> {
    let text = match value {
        Value::Bool(flag) => return Ok(*flag),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.parse().map_err(|_| {
        let reason = format!("Could not convert [{name}] to boolean");
        let why = format!("Failed to parse value [{text}] as only [true] or [false] are allowed.");
        let kind = "illegal_argument_exception";
        let cause = Cause::new(kind, reason).caused_by(Cause::new(kind, why));
        ApiError::new(StatusCode::BAD_REQUEST, cause)
    })
}
