//! `_validate/query` and `_explain`: whether a query is one, and why a document matches it.

use axum::http::StatusCode;
use clew_engine::{
    ClosedNames, Engine, EngineError, ErrorKind, Explanation, Freshness, IndexHandle, PRIMARY_TERM,
    Pinned, Purpose, ResolveOptions,
};
use clew_query::{Bool, Query};
use clew_search::describe_in;
use serde_json::{Map, Value, json};

use crate::dsl;
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::reply::Reply;
use crate::http::source_filter::SourceFilter;
use crate::search::{
    FieldList, explained, not_supported, on_index, query_of_params, resolve_documents, search_parts,
};
use crate::state::call::Call;
use crate::state::stored_scripts;

/// The query of a body or of the URI; `None` when there is neither.
pub(crate) async fn query_of(call: &Call) -> Result<Option<Query>, ApiError> {
    let mut query = read_query(call)?;
    resolve_documents(call, call.index_expression(), &mut query).await?;
    Ok(query)
}

/// The same with the names of documents where it has some.
fn read_query(call: &Call) -> Result<Option<Query>, ApiError> {
    if let Some(query) = query_of_params(&call.params)? {
        return Ok(Some(dsl::parse_query(&query)?));
    }
    let Some(body) = call.json()? else {
        return Ok(None);
    };
    let members = body.as_object();
    if let Some((other, value)) = members.into_iter().flatten().find(|(k, _)| *k != "query") {
        return Err(not_supported(other, value).placed(&body, &call.body));
    }
    match body.get("query") {
        None => Ok(None),
        Some(query) => {
            let read = || dsl::parse_search_query(query);
            let read = stored_scripts::reading(&call.api.engine, read);
            let (query, _) = read.map_err(|error| error.placed(&body, &call.body))?;
            Ok(Some(query))
        }
    }
}

/// `GET|POST /{index}/_validate/query`.
pub(crate) async fn validate(call: Call) -> Result<Reply, ApiError> {
    let explain = call.params.flag("explain", false)? || call.params.flag("rewrite", false)?;
    let all_shards = call.params.flag("all_shards", false)?;
    // No body asks for all documents, one without a query for nothing that could be looked at.
    if let Ok(Some(Value::Object(body))) = call.json()
        && body.is_empty()
    {
        return Err(ApiError::validation("query cannot be null"));
    }
    let options = call.resolve_options_from(ResolveOptions {
        allow_no_indices: false,
        closed: ClosedNames::Allow,
        ..ResolveOptions::default()
    })?;
    let resolved = call
        .open(call.index_expression(), options, Purpose::Read)
        .await?;
    if let Some(refusal) = closed_ones(&resolved) {
        return Ok(Reply::json(&refusal));
    }
    let query = match query_of(&call).await {
        Ok(query) => query.unwrap_or_else(Query::match_all),
        Err(error) => {
            let mut body = json!({"valid": false});
            if explain {
                body["error"] = error.in_words().into();
            }
            return Ok(Reply::json(&body));
        }
    };
    let pinned = call.api.engine.pin(&resolved)?;
    let checked = call
        .blocking(move |engine| check(&pinned, (&query, engine.now_ms()), all_shards))
        .await?;
    let valid = checked.iter().all(|one| one["valid"] == true);
    let shards = checked.len().max(usize::from(resolved.is_empty()));
    let mut body = json!({
        "_shards": {"total": shards, "successful": shards, "failed": 0},
        "valid": valid,
    });
    if explain {
        body["explanations"] = Value::Array(checked);
    }
    Ok(Reply::json(&body))
}

/// What is told of queries to indexes of which some are closed: none is valid there.
fn closed_ones(resolved: &[IndexHandle]) -> Option<Value> {
    let closed = resolved.iter().filter(|handle| !handle.index().is_open());
    let blocks = closed.map(|handle| {
        let name = handle.index().name();
        format!("index [{name}] blocked by: [FORBIDDEN/4/index closed];")
    });
    let error: String = blocks.collect();
    (!error.is_empty()).then(|| {
        json!({
            "_shards": {"total": 0, "successful": 0, "failed": 0},
            "valid": false,
            "explanations": [{"valid": false, "error": error}],
        })
    })
}

/// Whether a query is one to a shard of each index, or to all of them.
fn check(
    pinned: &Pinned,
    (query, now_ms): (&Query, i64),
    all_shards: bool,
) -> Result<Vec<Value>, EngineError> {
    let mut checked = Vec::new();
    let mut last = None;
    for shard in pinned.shards() {
        let name = shard.index().name();
        if !all_shards && last == Some(name) {
            continue;
        }
        last = Some(name);
        let mut one = json!({"index": name});
        if all_shards {
            one["shard"] = shard.number().into();
        }
        match shard.validate(query, now_ms) {
            Ok(()) => {
                one["valid"] = true.into();
                let mapping = shard.index().mapping();
                one["explanation"] = describe_in(query, &mapping).into();
            }
            Err(error) if error.kind() != ErrorKind::Invalid => return Err(error),
            Err(error) => {
                one["valid"] = false.into();
                one["error"] = ApiError::from(error).in_words().into();
            }
        }
        checked.push(one);
    }
    Ok(checked)
}

/// The query together with what the aliases that it goes through let be seen.
async fn within_aliases(
    call: &Call,
    query: Query,
    resolved: &[IndexHandle],
    options: ResolveOptions,
) -> Result<Query, ApiError> {
    let parts = search_parts(call, resolved, options).await?;
    let filter = parts.into_values().find_map(|part| part.filter);
    Ok(match filter {
        None => query,
        Some(filter) => Query::Bool(Bool {
            must: vec![query],
            should: Vec::new(),
            must_not: Vec::new(),
            filter: vec![filter],
            minimum_should_match: None,
            boost: 1.0,
        }),
    })
}

/// `GET|POST /{index}/_explain/{id}`.
pub(crate) async fn explain_hit(call: Call) -> Result<Reply, ApiError> {
    let query = query_of(&call)
        .await?
        .ok_or_else(|| ApiError::validation("query is missing"))?;
    let id = call.path_required("id")?.to_string();
    let options = call.resolve_options()?;
    let resolved = call
        .open(call.index_expression(), options, Purpose::Read)
        .await?;
    let query = within_aliases(&call, query, &resolved, options).await?;
    // One index is meant, by a name or an alias that means no other.
    let (index, routing) = call.open_one(call.index_expression(), call.params.get("routing"))?;
    index.check_routing(&id, routing.as_deref())?;
    let pinned = call.api.engine.pin(&resolved)?;
    let key = routing.clone().unwrap_or_else(|| id.clone());
    let (asked, name) = (id.clone(), index.name().to_string());
    let index_of_shard = index.clone();
    let found = call
        .blocking(move |engine| match pinned.shard_of(&index_of_shard, &key) {
            Some(shard) => shard.explain(&query, engine.now_ms(), &asked),
            None => Ok(Explanation::NoDocument),
        })
        .await
        .map_err(|error| on_index(index.index(), error))?;
    let mut json = JsonWriter::with_capacity(512);
    json.begin_object()
        .string_field("_index", &name)
        .string_field("_id", &id);
    let (is_match, explanation) = match &found {
        Explanation::NoDocument => {
            json.boolean_field("matched", false).end_object();
            return Ok(Reply::written(json).with_status(StatusCode::NOT_FOUND));
        }
        Explanation::Match(explanation) => (true, explained(explanation)),
        Explanation::NoMatch(why) => (false, explained(why)),
    };
    json.boolean_field("matched", is_match);
    json.key("explanation").value(&explanation);
    let filter = SourceFilter::from_params(&call.params)?;
    let names = call.params.list("stored_fields");
    if filter.is_some() || names.is_some() {
        let mut stored = FieldList::default();
        if let Some(names) = names {
            stored.extend("stored_fields", &json!(names))?;
        }
        let shown = (filter.unwrap_or(SourceFilter::None), stored);
        write_get(&call, (&index, routing), &id, &shown, &mut json).await?;
    }
    json.end_object();
    Ok(Reply::written(json))
}

/// Writes what is shown of the document that was explained: its place among changes, its source and its stored fields.
async fn write_get(
    call: &Call,
    (index, routing): (&IndexHandle, Option<String>),
    id: &str,
    (filter, stored): &(SourceFilter, FieldList),
    json: &mut JsonWriter,
) -> Result<(), ApiError> {
    let (read_from, id) = (index.clone(), id.to_string());
    let read = move |engine: &Engine| {
        let routing = routing.as_deref();
        engine.get(&read_from, &id, routing, Freshness::Searchable)
    };
    let Some(document) = call.blocking(read).await? else {
        return Ok(());
    };
    json.key("get").begin_object();
    json.unsigned_field("_seq_no", document.seq_no)
        .unsigned_field("_primary_term", PRIMARY_TERM);
    if let Some(routing) = &document.routing {
        json.string_field("_routing", routing);
    }
    json.boolean_field("found", true);
    if *filter != SourceFilter::None {
        json.key("_source");
        filter.write(&document.source, json);
    }
    let mut values = Map::new();
    if !stored.is_empty()
        && let Ok(source) = serde_json::from_slice(&document.source)
    {
        stored.collect(&index.index().mapping(), (&source, None), &mut values);
    }
    if !values.is_empty() {
        json.key("fields").value(&Value::Object(values));
    }
    json.end_object();
    Ok(())
}
