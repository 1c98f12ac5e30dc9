//! Searching: `_search`, `_msearch`, `_count`.

mod fields;
mod guard;
mod inner;
mod lookup;
mod msearch;
mod profile;
mod request;
mod response;
mod scope;
mod sort_values;
mod source_filter;
mod top_hits;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use clew_engine::{
    EngineError, Index, IndexPart, ResolveOptions, Resolved, SearchRequest, SearchResponse,
};
use clew_text::TrackTotal;
use serde_json::{Value, json};

use crate::call::Call;
use crate::dsl;
use crate::error::ApiError;
use crate::reply::Reply;

use request::Spec;

pub(crate) use guard::Expensive;
pub(crate) use msearch::msearch;
pub(crate) use source_filter::{SourceFilter, glob};
pub(crate) use top_hits::render_top_hits;

/// Answers with more hits than this are written away from the async threads.
const INLINE_HITS_MAX: usize = 100;

/// What a search sees of each of its indexes, by their unique ids.
pub(crate) fn search_parts(
    call: &Call,
    resolved: &[Resolved],
    options: ResolveOptions,
) -> Result<BTreeMap<String, IndexPart>, ApiError> {
    scope::parts(call, resolved, &scope::Boosts::new(), options)
}

/// `POST /{index}/_search`.
pub(crate) async fn search(call: Call) -> Result<Reply, ApiError> {
    if call.params.has("scroll") {
        return Err(ApiError::illegal_argument(
            "[scroll] is not supported, use [search_after] with a sort",
        ));
    }
    let body = call.json()?.unwrap_or_else(|| json!({}));
    let options = call.resolve_options()?;
    let bytes = run(&call, call.index_expression(), options, body).await?;
    Ok(Reply::raw_json(bytes))
}

/// Runs one search and writes its answer.
pub(crate) async fn run(
    call: &Call,
    expression: &str,
    options: ResolveOptions,
    body: Value,
) -> Result<Vec<u8>, ApiError> {
    let started = Instant::now();
    let body = lookup::resolve(call, expression, body).await?;
    let spec = Spec::parse(&body, &call.body, &call.params)?;
    let resolved = call.resolved_with(expression, options).await?;
    let indices: Vec<Arc<Index>> = resolved.iter().map(|found| found.index.clone()).collect();
    check_window(call, &spec, &indices)?;
    let mut request = spec.request(&indices)?;
    request.parts = scope::parts(call, &resolved, &spec.indices_boost, options)?;
    inner::check_windows(&spec.inner, &indices)?;
    let response = execute(call, &indices, request).await?;
    let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let answer = response::Answer {
        spec: spec.output,
        inner: spec.inner,
        response,
        took_ms,
        node: call.api.node_id.clone(),
    };
    if answer.response.hits.len() <= INLINE_HITS_MAX {
        return Ok(answer.write());
    }
    tokio::task::spawn_blocking(move || answer.write())
        .await
        .map_err(|error| ApiError::internal(error.to_string()))
}

/// Runs a search; what every shard would refuse is told as OpenSearch tells it.
async fn execute(
    call: &Call,
    indices: &[Arc<Index>],
    request: SearchRequest,
) -> Result<SearchResponse, ApiError> {
    let expensive = call.api.cluster_settings.expensive_queries();
    for index in indices {
        for query in std::iter::once(&request.query).chain(&request.post_filter) {
            guard::check(query, index, expensive)
                .map_err(|error| on_all_shards(call, index, error))?;
        }
    }
    call.api.engine.search(request).await.map_err(|error| {
        let of_shards = matches!(
            error,
            EngineError::Query(_) | EngineError::InvalidRequest { .. }
        );
        let error = ApiError::from(error);
        match indices.first() {
            Some(index) if of_shards => on_all_shards(call, index, error),
            _ => error,
        }
    })
}

fn on_all_shards(call: &Call, index: &Index, error: ApiError) -> ApiError {
    let error = if error.is_kind("query_shard_exception") {
        error.in_index(index.name(), index.uuid())
    } else {
        error
    };
    error.all_shards_failed(index.name(), &call.api.node_id)
}

fn check_window(call: &Call, spec: &Spec, indices: &[Arc<Index>]) -> Result<(), ApiError> {
    let window = spec.from.saturating_add(spec.size);
    for index in indices {
        let max = index.settings().max_result_window;
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

/// `POST /{index}/_count`.
pub(crate) async fn count(call: Call) -> Result<Reply, ApiError> {
    let body = call.json()?.unwrap_or_else(|| json!({}));
    let body = lookup::resolve(&call, call.index_expression(), body).await?;
    let members = body.as_object();
    if let Some(other) = members
        .into_iter()
        .flatten()
        .map(|(key, _)| key)
        .find(|k| *k != "query")
    {
        return Err(ApiError::bad_request(
            "parsing_exception",
            format!("request does not support [{other}]"),
        ));
    }
    let query = match (body.get("query"), request::query_of_params(&call.params)?) {
        (_, Some(query)) => dsl::parse_query(&query)?,
        (Some(query), None) => dsl::parse_query(query)?,
        (None, None) => dsl::parse_query(&json!({"match_all": {}}))?,
    };
    let min_score = request::min_score_of_params(&call.params)?;
    let options = call.resolve_options()?;
    let resolved = call.resolved_with(call.index_expression(), options).await?;
    let indices: Vec<Arc<Index>> = resolved.iter().map(|found| found.index.clone()).collect();
    let request = SearchRequest {
        parts: search_parts(&call, &resolved, options)?,
        query,
        size: 0,
        track_total: TrackTotal::Exact,
        min_score,
        ..request::match_all(&indices)?
    };
    let response = execute(&call, &indices, request).await?;
    let shards = response.shards;
    Ok(Reply::json(&json!({
        "count": response.total.map_or(0, |total| total.value),
        "_shards": {
            "total": shards.total, "successful": shards.successful, "skipped": 0,
            "failed": shards.failed,
        },
    })))
}
