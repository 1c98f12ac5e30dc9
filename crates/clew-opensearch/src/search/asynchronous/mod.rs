//! Asynchronous searches: a search that goes on when its request has been answered, and whose answer can be asked for
//! later, as OpenSearch's plugin of that name has them. Deliberately absent: answers in part while a search runs, and answers
//! that outlive the process.

mod kept;

use std::sync::Arc;
use std::time::Duration;

use clew_engine::Took;
use clew_platform::CancellationToken;
use kept::{AsynchronousSearches, Outcome, Search, WantedSearch, watch_over};
use serde_json::{Map, Value, json};

use super::{search_pipeline, spec_of};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::request_memory::{json_bytes, words_bytes};
use crate::http::setting_values::parse_time;
use crate::state::call::Call;
use crate::state::tasks::or_defect;

/// How long a request waits for the end of its search unless it says otherwise, and at most.
const WAIT: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_secs(60);
/// How long a search is there unless it says otherwise, at least and at most; with the time that it runs.
const KEEP_ALIVE: Duration = Duration::from_secs(24 * 3600);
const KEEP_ALIVE_MIN: Duration = Duration::from_secs(60);
const KEEP_ALIVE_MAX: Duration = Duration::from_secs(5 * 24 * 3600);
/// Searches that run at once.
const RUNNING_MAX: usize = 20;

const WAIT_SETTING: &str = "plugins.asynchronous_search.max_wait_for_completion_timeout";
const KEEP_ALIVE_SETTING: &str = "plugins.asynchronous_search.max_keep_alive";
const RUNNING_SETTING: &str = "plugins.asynchronous_search.node_concurrent_running_searches";

/// How a search is called among the tasks.
const ACTION: &str = "indices:data/read/search";
/// How much of a body the description of a task shows, in bytes.
const BODY_SHOWN_MAX: usize = 4096;
/// Bodies longer than this are read away from the async threads.
const INLINE_BODY_MAX: usize = 16 << 10;

/// `POST /_plugins/_asynchronous_search`: begins a search and waits for its end, for a while.
pub(crate) async fn submit(call: Call) -> Result<Reply, ApiError> {
    let wait = waited(&call)?.unwrap_or(WAIT);
    let keep_alive = kept_for(&call)?.unwrap_or(KEEP_ALIVE);
    let keeps = call.params.flag("keep_on_completion", false)?;
    let body = call.json()?.unwrap_or_else(|| json!({}));
    let expression = call.index_expression().to_string();
    check(&call, &expression, &body)?;
    // Its texts are cut into words, its lists become those of a query.
    call.memory.take(words_bytes(call.body.len()))?;
    let options = call.resolve_options()?;
    let api = call.api.clone();
    let searches = api.parts.get::<AsynchronousSearches>();
    let token = CancellationToken::new();
    let described = described(&expression, &call.body);
    let task = call.begin_cancellable_task(ACTION, described, token.clone())?;
    let wanted = WantedSearch {
        keep_alive,
        keeps,
        running_max: running_max(&call),
        token: token.clone(),
    };
    let begun = searches
        .begin(wanted, api.engine.clock().epoch_ms())
        .inspect_err(|error| {
            api.tasks.end(task, &Err(error.clone()));
        })?;
    watch_over(&api);
    let (search, ending) = (begun.search, begun.ending);
    let is_long = call.body.len() > INLINE_BODY_MAX;
    let own = (api.clone(), searches.clone());
    let searching = token.scope(Box::pin(async move {
        let (api, searches) = own;
        let found = or_defect(super::run(&call, &expression, options, body)).await;
        let held = found.and_then(|answer| Ok((call.memory.hold(answer.len())?, answer)));
        let (outcome, told) = match held {
            Ok((memory, answer)) => {
                let answer = answer.into();
                let found = Outcome::Found {
                    answer,
                    _memory: memory,
                };
                (found, Ok(json!({"state": "SUCCEEDED"})))
            }
            Err(error) => (Outcome::Failed(error.cause()), Err(error)),
        };
        api.tasks.end(task, &told);
        searches.end(&ending, outcome);
    }));
    if is_long {
        let runtime = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || runtime.block_on(searching));
    } else {
        tokio::spawn(searching);
    }
    let outcome = ended_within(&search, wait).await;
    let is_there = outcome.is_none() || searches.has(&search.id);
    let id = is_there.then_some(search.id.as_str());
    Ok(shown(id, &search, outcome.as_deref(), "SUCCEEDED"))
}

/// `GET /_plugins/_asynchronous_search/{id}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let wait = waited(&call)?.unwrap_or_default();
    let keep_alive = kept_for(&call)?;
    let id = call.path_required("id")?;
    let searches = call.api.parts.get::<AsynchronousSearches>();
    let search = searches.find(id, keep_alive, call.api.engine.clock().epoch_ms())?;
    let outcome = ended_within(&search, wait).await;
    let state = if search.keeps {
        "STORE_RESIDENT"
    } else {
        "SUCCEEDED"
    };
    Ok(shown(Some(id), &search, outcome.as_deref(), state))
}

/// `DELETE /_plugins/_asynchronous_search/{id}`: a search that is running is ended.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let id = call.path_required("id")?;
    let searches = call.api.parts.get::<AsynchronousSearches>();
    searches.delete(id, call.api.engine.clock().epoch_ms())?;
    Ok(Reply::acknowledged())
}

/// `GET /_plugins/_asynchronous_search/stats`.
pub(crate) async fn stats(call: Call) -> Result<Reply, ApiError> {
    let figures = call.api.parts.get::<AsynchronousSearches>().figures();
    let node = json!({"asynchronous_search_stats": figures});
    Ok(Reply::json(&json!({
        "_nodes": {"total": 1, "successful": 1, "failed": 0},
        "cluster_name": call.api.options.cluster_name,
        "nodes": {call.api.node_id.as_str(): node},
    })))
}

/// How long a request waits, where it says so.
fn waited(call: &Call) -> Result<Option<Duration>, ApiError> {
    let name = "wait_for_completion_timeout";
    let wait = call.params.time(name)?;
    let max = limit(call, WAIT_SETTING, WAIT_MAX);
    if wait.is_some_and(|wait| wait > max) {
        return Err(too_large(
            "Wait for completion timeout",
            wait,
            max,
            WAIT_SETTING,
        ));
    }
    Ok(wait)
}

/// How long a search is to be there, where the request says so.
fn kept_for(call: &Call) -> Result<Option<Duration>, ApiError> {
    let keep_alive = call.params.time("keep_alive")?;
    let Some(asked) = keep_alive else {
        return Ok(None);
    };
    if asked < KEEP_ALIVE_MIN {
        return Err(ApiError::validation(&format!(
            "[keep_alive] must be greater than 1 minute, got: {}",
            Took(asked)
        )));
    }
    let max = limit(call, KEEP_ALIVE_SETTING, KEEP_ALIVE_MAX);
    if asked > max {
        return Err(too_large("Keep alive", keep_alive, max, KEEP_ALIVE_SETTING));
    }
    Ok(keep_alive)
}

fn too_large(what: &str, asked: Option<Duration>, max: Duration, setting: &str) -> ApiError {
    ApiError::illegal_argument(format!(
        "{what} for asynchronous search ({}) is too large. It must be less than ({}). This limit can be set by changing \
         the [{setting}] cluster level setting.",
        Took(asked.unwrap_or_default()),
        Took(max)
    ))
}

/// The time that a setting allows.
fn limit(call: &Call, setting: &str, default: Duration) -> Duration {
    let given = call.api.cluster_settings.given(setting);
    let time = given.and_then(|text| parse_time(setting, &text).ok().flatten());
    time.unwrap_or(default)
}

fn running_max(call: &Call) -> usize {
    let given = call.api.cluster_settings.given(RUNNING_SETTING);
    let count = given.and_then(|text| text.trim().parse().ok());
    count.unwrap_or(RUNNING_MAX)
}

/// Refuses at once what cannot be a search, or none that goes on by itself.
fn check(call: &Call, expression: &str, body: &Value) -> Result<(), ApiError> {
    let _tried = call.memory.hold(json_bytes(&call.body))?;
    let mut tried = body.clone();
    let pipeline = search_pipeline::begin(call, expression, &mut tried)?;
    let spec = spec_of(call, pipeline.as_ref(), (&tried, None))?;
    let mut failures = Vec::new();
    let asks_more = ["query", "aggs", "aggregations"];
    if body.get("suggest").is_some() && asks_more.iter().all(|name| body.get(name).is_none()) {
        failures.push("suggest-only queries are not supported");
    }
    if spec.control.scroll.is_some() {
        failures.push("scrolls are not supported");
    }
    if failures.is_empty() {
        return Ok(());
    }
    Err(ApiError::validations(&failures))
}

/// What a search is, among the tasks.
fn described(expression: &str, body: &[u8]) -> String {
    let shown = body.get(..BODY_SHOWN_MAX).unwrap_or(body);
    let shown = String::from_utf8_lossy(shown);
    format!(
        "asynchronous, indices[{expression}], search_type[QUERY_THEN_FETCH], source[{}]",
        shown.trim()
    )
}

/// The end of a search, if it comes in time.
async fn ended_within(search: &Search, wait: Duration) -> Option<Arc<Outcome>> {
    let mut outcome = search.outcome.clone();
    let ending = async {
        while outcome.borrow_and_update().is_none() {
            if outcome.changed().await.is_err() {
                return;
            }
        }
    };
    // One that ended before is seen however short the time is.
    if tokio::time::timeout(wait, ending).await.is_err() {
        return None;
    }
    search.outcome.borrow().clone()
}

/// A search as it is shown, with its id if that can be asked for.
fn shown(id: Option<&str>, search: &Search, outcome: Option<&Outcome>, found: &str) -> Reply {
    let state = match outcome {
        None => "RUNNING",
        Some(Outcome::Found { .. }) => found,
        Some(Outcome::Failed(_)) => "FAILED",
    };
    let mut head = Map::new();
    if let Some(id) = id {
        head.insert("id".into(), id.into());
    }
    head.insert("state".into(), state.into());
    head.insert("start_time_in_millis".into(), search.started_ms.into());
    head.insert("expiration_time_in_millis".into(), search.expires_ms.into());
    let answer = match outcome {
        Some(Outcome::Found { answer, .. }) => answer,
        Some(Outcome::Failed(cause)) => {
            head.insert("error".into(), cause.clone());
            return Reply::json(&Value::Object(head));
        }
        None => {
            head.insert("response".into(), nothing_yet());
            return Reply::json(&Value::Object(head));
        }
    };
    let mut text = Value::Object(head).to_string().into_bytes();
    text.pop();
    text.extend_from_slice(b",\"response\":");
    text.extend_from_slice(answer);
    text.push(b'}');
    Reply::raw_json(text)
}

/// What a search that is running has found: no answer is put together before all of it is there.
fn nothing_yet() -> Value {
    json!({
        "took": 0,
        "timed_out": false,
        "terminated_early": false,
        "num_reduce_phases": 0,
        "_shards": {"total": 0, "successful": 0, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": 0, "relation": "gte"}, "max_score": null, "hits": []},
    })
}
