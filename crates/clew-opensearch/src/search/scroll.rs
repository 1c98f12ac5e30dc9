//! Scrolls: a search that is read page by page, over the documents that there were when it began.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use clew_engine::{SearchRequest, SearchResponse};
use clew_profile::Spent;
use clew_query::{Order, SortKey};
use clew_search::TrackTotal;
use serde_json::{Value, json};

use super::contexts::{ContextId, ContextKind, Scroll, check_keep_alive, memory_of, watch};
use super::request::Spec;
use super::response::Answer;
use super::{State, execute, finish};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::setting_values::parse_time;
use crate::search::contexts::SearchContexts;
use crate::state::call::Call;

/// The order of a scroll: what was asked for, and the documents' places, which no two share.
pub(super) fn ordered(request: &mut SearchRequest) {
    if request.sort.is_empty() {
        request.sort.push(SortKey::Score { order: Order::Desc });
    }
    request.sort.push(SortKey::Doc { order: Order::Asc });
}

/// Opens a scroll behind its first page; the answer loses what only the scroll needs.
pub(super) fn begin(
    call: &Call,
    spec: &Arc<Spec>,
    state: &State,
    keep_alive: Duration,
    response: &mut SearchResponse,
) -> Result<String, ApiError> {
    // The order of places is the scroll's own: without it, the best score would be shown.
    if response.max_score.is_none() && spec.sort.is_empty() {
        response.max_score = response.hits.first().and_then(|hit| hit.score);
    }
    let scroll = Scroll {
        pinned: state.pinned.clone(),
        parts: state.parts.clone(),
        spec: spec.clone(),
        after: response.hits.last().map(|hit| hit.sort.clone()),
        total: response.total,
        max_score: response.max_score,
        memory: memory_of(call, &state.pinned, &call.body)?,
    };
    let contexts = call.api.parts.get::<SearchContexts>();
    let id = contexts.open_scroll(scroll, keep_alive)?;
    watch(&call.api);
    hide_order(response);
    Ok(contexts.shown(ContextKind::Scroll, id))
}

/// Hits show only the values that were asked for.
fn hide_order(response: &mut SearchResponse) {
    for hit in &mut response.hits {
        hit.sort.pop();
    }
}

/// What a request for the next page says.
struct Next {
    id: String,
    keep_alive: Option<Duration>,
}

impl Next {
    fn from_call(call: &Call) -> Result<Self, ApiError> {
        let mut id = call.path("scroll_id").or(call.params.get("scroll_id"));
        let mut keep_alive = call.params.time("scroll")?;
        let body = call.json()?.unwrap_or_else(|| json!({}));
        for (key, value) in body.as_object().into_iter().flatten() {
            match key.as_str() {
                "scroll_id" => id = value.as_str(),
                "scroll" => {
                    let text = value.as_str().unwrap_or_default();
                    keep_alive = parse_time("scroll", text)?;
                }
                other => {
                    return Err(ApiError::illegal_argument(format!(
                        "Unknown parameter [{other}] in request body or parameter is of the wrong \
                         type[{value}] "
                    )));
                }
            }
        }
        let Some(id) = id else {
            return Err(ApiError::validation("scrollId is missing"));
        };
        Ok(Next {
            id: id.to_string(),
            keep_alive,
        })
    }
}

/// `GET|POST /_search/scroll`.
///
/// # Errors
/// A scroll that is not open (any more), or a search that fails.
pub async fn next(call: Call) -> Result<Reply, ApiError> {
    let started = Instant::now();
    Spent::is_of_kind(|| "scroll");
    let next = Next::from_call(&call)?;
    check_keep_alive(&call, ContextKind::Scroll, next.keep_alive)?;
    let contexts = call.api.parts.get::<SearchContexts>();
    let (id, scroll) = contexts.scroll(&next.id, next.keep_alive)?;
    let response = page(&call, id, &scroll).await?;
    let total_as_int = call.params.flag("rest_total_hits_as_int", false)?;
    let mut spec = scroll.spec;
    if spec.output.total_as_int != total_as_int {
        Arc::make_mut(&mut spec).output.total_as_int = total_as_int;
    }
    let answer = Answer {
        scroll_id: Some(next.id),
        ..Answer::new(&call, spec, response, started)
    };
    finish(&call, answer).await.map(Reply::raw_json)
}

async fn page(call: &Call, id: ContextId, scroll: &Scroll) -> Result<SearchResponse, ApiError> {
    let indices = scroll.pinned.indices();
    let mut request = Spec::clone(&scroll.spec).request(scroll.pinned.clone())?;
    ordered(&mut request);
    request.aggs.clear();
    request.from = 0;
    // How many there are was found out with the first page.
    request.track_total = TrackTotal::No;
    request.parts.clone_from(&scroll.parts);
    match &scroll.after {
        Some(after) => request.search_after = Some(after.clone()),
        None => request.size = 0,
    }
    let mut response = execute(call, &indices, request, &Value::Null).await?;
    response.total = scroll.total;
    response.max_score = scroll.max_score;
    if let Some(last) = response.hits.last() {
        call.api
            .parts
            .get::<SearchContexts>()
            .advance(id, last.sort.clone());
    }
    hide_order(&mut response);
    Ok(response)
}

/// `DELETE /_search/scroll`: the body has the scrolls' ids; 404 where none was open.
///
/// # Errors
/// No ids, or some that cannot be read.
pub async fn clear(call: Call) -> Result<Reply, ApiError> {
    let contexts = call.api.parts.get::<SearchContexts>();
    let ids = ids_to_clear(&call)?;
    if ids.iter().any(|id| id == "_all") {
        let freed = contexts.close_all(ContextKind::Scroll).len();
        return Ok(cleared(freed).with_status(StatusCode::OK));
    }
    let mut freed = 0;
    for text in &ids {
        let id = contexts.read(ContextKind::Scroll, text)?;
        freed += usize::from(id.is_some_and(|id| contexts.close(ContextKind::Scroll, id)));
    }
    Ok(cleared(freed))
}

fn cleared(freed: usize) -> Reply {
    let status = if freed == 0 {
        StatusCode::NOT_FOUND
    } else {
        StatusCode::OK
    };
    Reply::json(&json!({"succeeded": true, "num_freed": freed})).with_status(status)
}

fn ids_to_clear(call: &Call) -> Result<Vec<String>, ApiError> {
    let given = call.path("scroll_id").or(call.params.get("scroll_id"));
    let mut ids: Vec<String> = given
        .into_iter()
        .flat_map(|text| text.split(','))
        .map(str::to_string)
        .collect();
    let body = call.json()?.unwrap_or_else(|| json!({}));
    for (key, value) in body.as_object().into_iter().flatten() {
        if key != "scroll_id" {
            return Err(ApiError::illegal_argument(format!(
                "Unknown parameter [{key}] in request body or parameter is of the wrong \
                 type[START_OBJECT] "
            )));
        }
        ids = match value {
            Value::Array(items) => items
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_string)
                .collect(),
            other => other
                .as_str()
                .map(|text| vec![text.to_string()])
                .unwrap_or_default(),
        };
    }
    if ids.is_empty() {
        return Err(ApiError::validation("no scroll ids specified"));
    }
    Ok(ids)
}
