//! Searching: `_search`, `_msearch`, `_count`.

pub(crate) mod asynchronous;
mod collapse;
mod contexts;
mod control;
mod default_fields;
mod derived;
mod fields;
mod guard;
mod highlight;
mod hits;
mod hybrid;
mod index_names;
mod inner;
mod kind;
mod lookup;
mod members;
mod msearch;
mod output;
mod percolated;
mod pit;
pub(crate) mod profile;
mod queries;
mod rank_eval;
mod refused;
mod request;
mod response;
mod scope;
mod scroll;
pub(crate) mod shown_source;
mod slow;
mod sort_values;
mod suggest;
mod template;
mod top_hits;
mod uri_query;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use clew_engine::{
    EngineError, Index, IndexHandle, IndexPart, Pinned, Purpose, ResolveOptions, SearchControl,
    SearchRequest, SearchResponse,
};
use clew_platform::Reservation;
use clew_profile::Spent;
use clew_search::TrackTotal;
use serde_json::{Value, json};

use crate::dsl;
use crate::http::error::{ApiError, Cause};
use crate::http::place::Spot;
use crate::http::reply::Reply;
use crate::http::request_memory::words_bytes;
use crate::state::call::Call;
use crate::state::stored_scripts;
use contexts::{ContextKind, check_keep_alive};
use refused::{by_shards, on_all_shards};
use request::Spec;
use slow::{WatchedRequest, WatchedSearch};

pub(crate) use contexts::SearchContexts;
pub(crate) use control::slice as read_slice;
pub(crate) use fields::FieldList;
pub(crate) use guard::usual_limits;
pub(crate) use hits::explained;
pub(crate) use lookup::{names_documents, resolve as resolve_documents};
pub(crate) use msearch::{msearch, msearch_template};
pub(crate) use pit::{
    create as create_pit, delete as delete_pit, delete_all as delete_all_pits, list as list_pits,
    named_pits, open_pits,
};
pub(crate) use rank_eval::rank_eval;
pub(crate) use refused::{on_first, on_index};
pub(crate) use scope::preference_of;
pub use scroll::{clear as clear_scroll, next as next_page};
pub(crate) use sort_values::check as check_sort;
pub(crate) use template::{render_template, search_template};
pub(crate) use uri_query::query_of_params;

/// What was found in a search's time is shown within so much more, or else in part: [`clew_engine`] takes half of it to
/// read the hits.
const TIME_TO_SHOW: Duration = Duration::from_millis(60);

/// Answers with more hits than this, or that take more, are written away from the async threads.
const INLINE_HITS_MAX: usize = 100;
const INLINE_BYTES_MAX: usize = 256 << 10;

/// What is restricted or boosted of indexes, by their unique ids.
pub(crate) type Parts = BTreeMap<String, IndexPart>;

/// What a search sees of each of its indexes.
pub(crate) async fn search_parts(
    call: &Call,
    resolved: &[IndexHandle],
    options: ResolveOptions,
) -> Result<Parts, ApiError> {
    scope::parts(call, resolved, &scope::Boosts::new(), options).await
}

/// `POST /{index}/_search`.
pub(crate) async fn search(call: Call) -> Result<Reply, ApiError> {
    let body = call.json()?.unwrap_or_else(|| json!({}));
    // Its texts are cut into words, its lists become those of a query.
    call.memory.take(words_bytes(call.body.len()))?;
    let options = call.resolve_options()?;
    let bytes = run(&call, call.index_expression(), options, body).await?;
    Ok(Reply::raw_json(bytes))
}

/// Runs one search over the indexes of an expression, and writes its answer: the JSON that `_search` gives for `body`. URI
/// parameters of a search are those of `call`.
///
/// # Errors
/// As `_search`; what some shards could not do stands in the answer, unless the request does not allow that.
pub async fn run(
    call: &Call,
    expression: &str,
    options: ResolveOptions,
    body: Value,
) -> Result<Vec<u8>, ApiError> {
    run_read(call, expression, options, (body, None)).await
}

/// The same of a search that may have been read already.
async fn run_read(
    call: &Call,
    expression: &str,
    options: ResolveOptions,
    (mut body, read): (Value, Option<Arc<Spec>>),
) -> Result<Vec<u8>, ApiError> {
    let started = Instant::now();
    let partial = call.params.flag("allow_partial_search_results", true)?;
    let pipeline = search_pipeline::begin(call, expression, &mut body)?;
    let mut spec = match spec_of(call, pipeline.as_ref(), (&body, read)) {
        Ok(spec) => spec,
        Err(error) => return Err(by_shards(call, (expression, options), error).await),
    };
    let asked = Arc::make_mut(&mut spec);
    lookup::resolve(call, expression, asked).await?;
    let derived = asked.output.derived.clone();
    derived.tell(asked)?;
    Spent::is_of_kind(|| spec.kind());
    let state = State::of(call, &spec, expression, options).await?;
    check_window(call, &spec, &state.indices)?;
    inner::check_windows(&spec.output.inner, &state.indices)?;
    control::check_rescore_windows(&spec.control.rescore, &state.indices)?;
    check_limits(call, &spec, &state.indices)?;
    let mut after = None;
    if let Some(index) = state.indices.first() {
        let refused = |error: ApiError| error.all_shards_failed(index.name(), &call.api.node_id);
        spec.check_sort(&state.indices).map_err(refused)?;
        after = spec.after(index).map_err(refused)?;
        collapse::check(&spec).map_err(refused)?;
    }
    let request = match spec.control.scroll.is_some() {
        // Its pages ask for the same again.
        true => Spec::clone(&spec).request(state.pinned.clone()),
        false => Arc::make_mut(&mut spec).request(state.pinned.clone()),
    };
    let mut request = request.map_err(|error| on_first(call, &state.indices, error))?;
    call.memory.take(percolated::memory_bytes(&request.query))?;
    let times = call.api.cluster_settings.search_times();
    request.timeout = request.timeout.or(times.timeout);
    request.search_after = after;
    request.parts.clone_from(&state.parts);
    request.control.hybrid = hybrid::ranking(&spec, pipeline.as_ref(), &state.indices)
        .map_err(|error| on_first(call, &state.indices, error))?;
    if spec.control.scroll.is_some() {
        scroll::ordered(&mut request);
    }
    let deadline = request.timeout.map(|timeout| timeout + TIME_TO_SHOW);
    // By itself: what holds a future has room for all that goes on in it, and is copied with that before anything begins.
    let answering = Box::pin(answer(
        call,
        (&spec, &state, &body),
        request,
        (started, partial),
    ));
    let answer = match deadline {
        None => answering.await?,
        Some(time) => {
            call.api
                .engine
                .stopping_after(time)
                .scope(answering)
                .await?
        }
    };
    match pipeline {
        Some(pipeline) => piped(call, pipeline, answer).await,
        None => Ok(answer),
    }
}

/// A search as it is asked for when a pipeline has changed its body; what was `read` before is one without.
fn spec_of(
    call: &Call,
    pipeline: Option<&search_pipeline::Running>,
    (body, read): (&Value, Option<Arc<Spec>>),
) -> Result<Arc<Spec>, ApiError> {
    let params = pipeline.map_or(&*call.params, |running| running.params(call));
    let parse = || match read.filter(|_| pipeline.is_none()) {
        Some(read) => read.finished(params),
        None => Spec::parse(body, &call.body, params),
    };
    stored_scripts::reading(&call.api.engine, parse)
}

/// The answer as a pipeline leaves it, a long one away from the async threads.
async fn piped(
    call: &Call,
    pipeline: search_pipeline::Running,
    answer: Vec<u8>,
) -> Result<Vec<u8>, ApiError> {
    if answer.len() <= INLINE_BYTES_MAX {
        return pipeline.finish(answer, &call.memory);
    }
    let memory = call.memory.clone();
    call.off_thread(move || pipeline.finish(answer, &memory))
        .await?
}

/// Searches, and shows what was found.
async fn answer(
    call: &Call,
    (spec, state, body): (&Arc<Spec>, &State, &Value),
    mut request: Box<SearchRequest>,
    (started, partial): (Instant, bool),
) -> Result<Vec<u8>, ApiError> {
    if call.api.cluster_settings.tells_slow() {
        request.time_phases();
    }
    // Whether there is something to put together of what shards found.
    let reduces = request.size > 0 || !request.aggs.is_empty();
    let mut response = execute(call, &state.indices, request, body).await?;
    let watched = WatchedRequest::of(call, &response);
    if let (false, Some(failure)) = (partial, response.failures.first()) {
        return Err(ApiError::from(&failure.error));
    }
    let scroll_id = match spec.control.scroll {
        None => None,
        Some(alive) => Some(scroll::begin(call, spec, state, alive, &mut response)?),
    };
    let suggest = match &spec.suggest {
        None => None,
        Some(suggest) => Some(suggest::run(call, &state.pinned, suggest, &spec.output).await?),
    };
    let phases = if reduces {
        spec.control.reduce_phases(u64::from(response.shards.total))
    } else {
        1
    };
    let written = finish(
        call,
        response::Answer {
            scroll_id,
            pit_id: spec.control.pit.as_ref().map(|pit| pit.id.clone()),
            suggest,
            phases,
            ..response::Answer::new(call, spec.clone(), response, started)
        },
    )
    .await?;
    if let Some(watched) = watched {
        watched.tell(call, body, started);
    }
    Ok(written)
}

/// What a search sees.
struct State {
    indices: Vec<Arc<Index>>,
    pinned: Pinned,
    /// What of each index.
    parts: Parts,
    /// Says that a point in time is being read.
    _read: Option<Arc<Reservation>>,
}

impl State {
    async fn of(
        call: &Call,
        spec: &Spec,
        expression: &str,
        options: ResolveOptions,
    ) -> Result<Self, ApiError> {
        if let Some(pit_ref) = &spec.control.pit {
            pit::refuse_indices(call, expression)?;
            check_keep_alive(call, ContextKind::Pit, pit_ref.keep_alive)?;
            let contexts = call.api.parts.get::<SearchContexts>();
            let pit = contexts.pit(&pit_ref.id, pit_ref.keep_alive)?;
            return Ok(State {
                indices: pit.pinned.indices(),
                pinned: pit.pinned,
                parts: pit.parts,
                _read: Some(pit.memory),
            });
        }
        check_keep_alive(call, ContextKind::Scroll, spec.control.scroll)?;
        let resolved = call.open(expression, options, Purpose::Read).await?;
        let indices = resolved.iter().map(|found| found.index().clone());
        Ok(State {
            pinned: call.api.engine.pin(&resolved)?,
            parts: scope::parts(call, &resolved, &spec.indices_boost, options).await?,
            indices: indices.collect(),
            _read: None,
        })
    }
}

/// Writes an answer, a long one away from the async threads.
async fn finish(call: &Call, answer: response::Answer) -> Result<Vec<u8>, ApiError> {
    let may_be_short = answer.response.hits.len() <= INLINE_HITS_MAX
        && answer.response.memory.bytes() <= INLINE_BYTES_MAX
        && !answer.takes_long();
    // Only to look through many buckets for what they take is long.
    let booked = may_be_short.then(|| answer.book()).transpose()?;
    if booked.is_some_and(|bytes| bytes <= INLINE_BYTES_MAX) {
        return answer.write();
    }
    let write = move || {
        if booked.is_none() {
            answer.book()?;
        }
        answer.write()
    };
    call.off_thread(write).await?
}

/// Runs a search; what every shard would refuse is told as OpenSearch tells it. `body` is what was asked, as slow logs
/// show it.
async fn execute(
    call: &Call,
    indices: &[Arc<Index>],
    request: impl Into<Box<SearchRequest>>,
    body: &Value,
) -> Result<SearchResponse, ApiError> {
    let mut request = request.into();
    let expensive = call.api.cluster_settings.expensive_queries();
    let allowed = call.api.cluster_settings.derived_fields();
    for index in indices {
        for query in std::iter::once(&request.query).chain(&request.post_filter) {
            guard::check(query, index, expensive)
                .and_then(|()| derived::check_query(query, index, allowed))
                .map_err(|error| on_all_shards(call, index, error))?;
        }
    }
    let watched = WatchedSearch::of(call, indices, &mut request);
    let found = call.api.engine.search(request).await.map_err(|error| {
        let of_shards = matches!(
            error,
            EngineError::Query(_) | EngineError::InvalidRequest { .. }
        );
        let error = ApiError::from(error);
        match indices.first() {
            Some(index) if of_shards => on_all_shards(call, index, error),
            _ => error,
        }
    })?;
    if let Some(watched) = watched {
        watched.tell(call, indices, body, &found);
    }
    Ok(found)
}

fn check_window(call: &Call, spec: &Spec, indices: &[Arc<Index>]) -> Result<(), ApiError> {
    let window = spec.from.saturating_add(spec.size);
    let scroll = spec.control.scroll.is_some();
    for index in indices {
        let max = index.settings().max_result_window;
        if window > max && scroll {
            let error = ApiError::illegal_argument(format!(
                "Batch size is too large, size must be less than or equal to: [{max}] but was \
                 [{window}]. Scroll batch sizes cost as much memory as result windows so they are \
                 controlled by the [index.max_result_window] index level setting."
            ));
            return Err(error.all_shards_failed(index.name(), &call.api.node_id));
        }
        if window > max {
            let error = ApiError::illegal_argument(format!(
                "Result window is too large, from + size must be less than or equal to: [{max}] \
                 but was [{window}]. See the scroll api for a more efficient way to request large \
                 data sets. This limit can be set by changing the [index.max_result_window] index \
                 level setting."
            ));
            return Err(error.all_shards_failed(index.name(), &call.api.node_id));
        }
    }
    Ok(())
}

/// Refuses parts and values beyond what an index allows.
fn check_limits(call: &Call, spec: &Spec, indices: &[Arc<Index>]) -> Result<(), ApiError> {
    let settings = &call.api.cluster_settings;
    let allowed = (settings.expensive_queries(), settings.derived_fields());
    for index in indices {
        let check = || {
            spec.control.check_slices(index)?;
            spec.output.derived.check(index, allowed)?;
            spec.output.fields.check_columns(index)?;
            spec.check_scripts(index)
        };
        check().map_err(|error| on_all_shards(call, index, error))?;
    }
    Ok(())
}

/// After how many documents of a shard a count may leave off, or what is written by a search, if a request says that.
pub(crate) fn counted_at_most(call: &Call) -> Result<Option<u64>, ApiError> {
    match call.params.integer("terminate_after")? {
        None | Some(0) => Ok(None),
        Some(after) => match u64::try_from(after) {
            Ok(after) => Ok(Some(after)),
            Err(_) => Err(ApiError::illegal_argument("terminateAfter must be > 0")),
        },
    }
}

/// A member of a body that takes a query alone.
pub(crate) fn not_supported(member: &str, value: &Value) -> ApiError {
    let reason = format!("request does not support [{member}]");
    let cause = Cause::new("parsing_exception", reason).at(Some(Spot::name_of(value)));
    ApiError::new(StatusCode::BAD_REQUEST, cause)
}

/// `POST /{index}/_count`.
pub(crate) async fn count(call: Call) -> Result<Reply, ApiError> {
    Spent::is_of_kind(|| "count");
    let body = call.json()?.unwrap_or_else(|| json!({}));
    let members = body.as_object();
    if let Some((other, value)) = members.into_iter().flatten().find(|(k, _)| *k != "query") {
        return Err(not_supported(other, value).placed(&body, &call.body));
    }
    let of_params = query_of_params(&call.params)?;
    let read = || match (body.get("query"), of_params) {
        (_, Some(query)) => dsl::parse_query(&query),
        (Some(query), None) => dsl::parse_search_query(query).map(|(query, _)| query),
        (None, None) => dsl::parse_query(&json!({"match_all": {}})),
    };
    let query = stored_scripts::reading(&call.api.engine, read);
    let mut query = query.map_err(|error| error.placed(&body, &call.body))?;
    lookup::resolve(&call, call.index_expression(), &mut query).await?;
    let min_score = uri_query::min_score_of_params(&call.params)?;
    let terminate_after = counted_at_most(&call)?;
    let options = call.resolve_options()?;
    let resolved = call
        .open(call.index_expression(), options, Purpose::Read)
        .await?;
    let pinned = call.api.engine.pin(&resolved)?;
    let indices = pinned.indices();
    let request = SearchRequest {
        control: SearchControl {
            terminate_after,
            ..SearchControl::default()
        },
        parts: search_parts(&call, &resolved, options).await?,
        size: 0,
        track_total: TrackTotal::Exact,
        min_score,
        ..SearchRequest::new(pinned, query)
    };
    let response = execute(&call, &indices, request, &body).await?;
    let shards = response.shards;
    let mut shown = json!({
        "total": shards.total, "successful": shards.successful, "skipped": 0,
        "failed": shards.failed,
    });
    if !response.failures.is_empty() {
        let failures = response.failures.iter().map(|failure| {
            json!({
                "shard": failure.shard, "index": failure.index, "node": call.api.node_id,
                "reason": ApiError::from(&failure.error).cause(),
            })
        });
        shown["failures"] = failures.collect();
    }
    let count = response.total.map_or(0, |total| total.value);
    let mut answer = json!({"count": count});
    if terminate_after.is_some() {
        answer["terminated_early"] = response.terminated_early.into();
    }
    answer["_shards"] = shown;
    Ok(Reply::json(&answer))
}
mod script_fields;
pub(crate) mod scripts;
pub(crate) mod search_pipeline;
pub(crate) mod search_shards;
pub(crate) mod tried_script;
pub(crate) mod validate;
