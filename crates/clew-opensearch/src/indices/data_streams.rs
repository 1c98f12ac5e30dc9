//! Data streams: one name for a row of indexes that documents are only added to. Each index of a
//! stream says so in a private setting and has the stream's name as an alias; the newest one is
//! written to. Nothing else is kept, so a stream is there while an index of it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::{
    Access, Alias, AliasAction, Block, Definitions, Engine, EngineError, Index, IndexPlan, Purpose,
    SearchRequest,
};
use clew_query::SortValue;
use clew_schema::glob::matches as glob;
use clew_search::TrackTotal;
use serde_json::{Value, json};

use crate::dsl;
use crate::http::error::{ApiError, Cause};
use crate::http::human::of_figures;
use crate::http::reply::Reply;
use crate::indices::copies::ShardHealth;
use crate::indices::templates::{Request, compose, data_stream_template, plan_index};
use crate::state::call::Call;

/// The field that holds a document's time unless the template names another.
const TIMESTAMP: &str = "@timestamp";
/// A stream's name is a part of its indexes' names.
const NAME_BYTES_MAX: usize = 240;

/// A stream's indexes, oldest first.
pub(crate) type Streams = BTreeMap<String, Vec<Arc<Index>>>;

/// The streams of the indexes about which figures may be shown.
pub(crate) fn all(engine: &Engine, access: &Access) -> Streams {
    let mut streams = Streams::new();
    for index in engine.indices(access) {
        if let Some(stream) = index.data_stream() {
            streams.entry(stream).or_default().push(index);
        }
    }
    for indices in streams.values_mut() {
        indices.sort_by_key(|index| generation(index.name()));
    }
    streams
}

/// The name of a stream's index.
pub(crate) fn index_name(stream: &str, generation: u64) -> String {
    format!(".ds-{stream}-{generation:06}")
}

/// The number at the end of an index's name.
pub(crate) fn generation(index: &str) -> u64 {
    let number = index.rsplit('-').next().unwrap_or_default();
    number.parse().unwrap_or(0)
}

/// The plan for the first index of a stream.
pub(crate) fn first_index(
    definitions: &Definitions,
    stream: &str,
    template: (&str, &Value),
) -> Result<IndexPlan, ApiError> {
    let mut plan = next_index(definitions, stream, template, 1)?;
    let alias = Alias {
        is_write_index: Some(true),
        ..Alias::default()
    };
    plan.aliases.insert(stream.to_string(), alias);
    Ok(plan)
}

/// The plan for an index of a stream, not yet written to.
pub(crate) fn next_index(
    definitions: &Definitions,
    stream: &str,
    (_, template): (&str, &Value),
    generation: u64,
) -> Result<IndexPlan, ApiError> {
    check_name(stream)?;
    let field = template["data_stream"]["timestamp_field"]["name"]
        .as_str()
        .unwrap_or(TIMESTAMP);
    // What the template says of the field is stronger than that it is a date.
    let mut composed = compose(definitions, stream, Request::default())?;
    let missing = composed.mappings["properties"].get(field).is_none();
    if let Some(mappings) = composed.mappings.as_object_mut() {
        if missing {
            let fields = mappings.entry("properties").or_insert_with(|| json!({}));
            fields[field] = json!({"type": "date"});
        }
        let mut told = json!({"enabled": true});
        if field != TIMESTAMP {
            told["timestamp_field"] = json!({"name": field});
        }
        mappings.insert("_data_stream_timestamp".to_string(), told);
    }
    composed
        .settings
        .entry("index.hidden".to_string())
        .or_insert_with(|| Some("true".to_string()));
    let mut plan = plan_index(&composed)?;
    plan.settings.data_stream = Some(stream.to_string());
    plan.settings.time_field = Some(field.to_string());
    plan.name = Some(index_name(stream, generation));
    Ok(plan)
}

fn check_name(stream: &str) -> Result<(), ApiError> {
    let reason = if stream.len() > NAME_BYTES_MAX {
        "name is too long"
    } else if stream.chars().any(char::is_uppercase) {
        "must be lowercase"
    } else if stream.starts_with(['_', '-', '+', '.']) {
        "must not start with '_', '-', '+' or '.'"
    } else if stream.is_empty() || stream.contains(|c| "\\/*?\"<>| ,#:".contains(c)) {
        "must not contain the following characters [ , \", *, \\, <, |, ,, >, /, ?, #, :]"
    } else {
        return Ok(());
    };
    Err(ApiError::illegal_argument(format!(
        "data_stream [{stream}] {reason}"
    )))
}

/// `PUT /_data_stream/{name}`.
pub(crate) async fn create(call: Call) -> Result<Reply, ApiError> {
    let stream = call.path_required("name")?.to_string();
    check_name(&stream)?;
    let engine = &call.api.engine;
    let is_index = |name| {
        engine
            .open_exactly(name, &call.access, Purpose::Watch)
            .is_ok()
    };
    if is_index(&stream) || engine.is_alias(&stream) {
        let kind = "resource_already_exists_exception";
        let reason = format!("data_stream [{stream}] already exists");
        return Err(ApiError::bad_request(kind, reason));
    }
    let definitions = engine.with_definitions(Definitions::clone);
    let template = data_stream_template(&definitions, &stream).ok_or_else(|| {
        ApiError::illegal_argument(format!(
            "no matching index template found for data stream [{stream}]"
        ))
    })?;
    let plan = first_index(&definitions, &stream, template)?;
    let access = call.access.clone();
    let (_, glsn) = call
        .to_its_end(move |engine| engine.create_planned(&access, &stream, plan))
        .await?;
    Ok(Reply::acknowledged().at(glsn))
}

/// The streams that an expression names, all of which are there.
fn selected(call: &Call, expression: &str) -> Result<Streams, ApiError> {
    let streams = all(&call.api.engine, &call.access);
    for part in expression.split(',') {
        if !part.contains('*') && part != "_all" && !streams.contains_key(part) {
            let index = part.to_string();
            return Err(EngineError::IndexNotFound { index }.into());
        }
    }
    Ok(those_of(streams, expression))
}

/// Those of the streams that an expression names.
fn those_of(streams: Streams, expression: &str) -> Streams {
    let wanted = |name: &str| {
        expression
            .split(',')
            .any(|part| part == "_all" || glob(part, name))
    };
    streams
        .into_iter()
        .filter(|(name, _)| wanted(name))
        .collect()
}

/// `GET /_data_stream/{name}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let engine = &call.api.engine;
    let streams = selected(&call, call.path("name").unwrap_or("*"))?;
    let shown: Vec<Value> = engine.with_definitions(|definitions| {
        streams
            .iter()
            .map(|(name, indices)| show(definitions, name, indices))
            .collect()
    });
    Ok(Reply::json(&json!({"data_streams": shown})))
}

/// The field that holds the time of a stream's documents.
pub(crate) fn timestamp_field(definitions: &Definitions, stream: &str) -> String {
    let template = data_stream_template(definitions, stream);
    let field = template
        .and_then(|(_, template)| template["data_stream"]["timestamp_field"]["name"].as_str());
    field.unwrap_or(TIMESTAMP).to_string()
}

fn show(definitions: &Definitions, stream: &str, indices: &[Arc<Index>]) -> Value {
    let template = data_stream_template(definitions, stream);
    let newest = indices.last().map_or(0, |index| generation(index.name()));
    let each: Vec<Value> = indices
        .iter()
        .map(|index| json!({"index_name": index.name(), "index_uuid": index.uuid()}))
        .collect();
    let mut shown = json!({
        "name": stream,
        "timestamp_field": {"name": timestamp_field(definitions, stream)},
        "indices": each,
        "generation": newest,
        "status": ShardHealth::of(indices).status().to_uppercase(),
    });
    if let Some((name, _)) = template {
        shown["template"] = json!(name);
    }
    shown
}

/// `DELETE /_data_stream/{name}`: the streams with all their indexes; one that is not there is deleted already.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let expression = call.path_required("name")?.to_string();
    let streams = those_of(all(&call.api.engine, &call.access), &expression);
    if streams.is_empty() {
        return Ok(Reply::acknowledged());
    }
    let access = call.access.clone();
    let glsn = call
        .to_its_end(move |engine| {
            engine.change_aliases_by(&access, |names| {
                // What a rollover has made since goes with the others.
                let members = streams.keys().flat_map(|stream| names.of_alias(stream));
                let deleted = members.map(|index| AliasAction::RemoveIndex {
                    index: index.name().to_string(),
                });
                Ok::<_, EngineError>(deleted.collect())
            })
        })
        .await?;
    Ok(Reply::acknowledged().at(glsn))
}

/// `GET /_data_stream/{name}/_stats`. Takes one search for each stream.
pub(crate) async fn stats(call: Call) -> Result<Reply, ApiError> {
    let streams = selected(&call, call.path("name").unwrap_or("*"))?;
    let bytes =
        |indices: &[Arc<Index>]| -> u64 { indices.iter().map(|index| index.stats().bytes).sum() };
    let mut each = Vec::with_capacity(streams.len());
    for (name, indices) in &streams {
        each.push(json!({
            "data_stream": name,
            "backing_indices": indices.len(),
            "store_size_bytes": bytes(indices),
            "maximum_timestamp": newest_ms(&call, name, indices).await?,
        }));
    }
    let total: u64 = streams.values().map(|indices| bytes(indices)).sum();
    let backing: usize = streams.values().map(Vec::len).sum();
    let shards: u32 = streams
        .values()
        .flatten()
        .map(|index| index.settings().shards)
        .sum();
    let body = json!({
        "_shards": {"total": shards, "successful": shards, "failed": 0},
        "data_stream_count": streams.len(),
        "backing_indices": backing,
        "total_store_size_bytes": total,
        "data_streams": each,
    });
    of_figures(body, &call.params)
}

/// The time of a stream's newest document, in milliseconds since the epoch; 0 where there is none. What is closed or
/// blocked, or may not be read by who asks, has none to tell of.
async fn newest_ms(call: &Call, stream: &str, indices: &[Arc<Index>]) -> Result<i64, ApiError> {
    let engine = &call.api.engine;
    let is_read = |index: &&Arc<Index>| index.is_open() && !index.blocks().contains(&Block::Read);
    let open = |index: &Arc<Index>| engine.open_exactly(index.name(), &call.access, Purpose::Read);
    let handles: Vec<_> = indices
        .iter()
        .filter(is_read)
        .filter_map(|index| open(index).ok())
        .collect();
    if handles.is_empty() {
        return Ok(0);
    }
    let field = engine.with_definitions(|definitions| timestamp_field(definitions, stream));
    let newest_first = json!([{field: {"order": "desc", "unmapped_type": "date"}}]);
    let request = SearchRequest {
        sort: dsl::parse_sort(&newest_first)?,
        size: 1,
        track_total: TrackTotal::No,
        ..SearchRequest::new(
            engine.pin(&handles)?,
            dsl::parse_query(&json!({"match_all": {}}))?,
        )
    };
    let found = engine.search(request).await?;
    let newest = found.hits.first().and_then(|hit| hit.sort.first());
    Ok(match newest {
        Some(SortValue::I64(ms)) => *ms,
        _ => 0,
    })
}

/// Refuses to close the indexes that streams are written to.
///
/// # Errors
/// Some of these indexes are such indexes.
pub(crate) fn refuse_closing<'i>(
    engine: &Engine,
    indices: impl IntoIterator<Item = &'i Index>,
) -> Result<(), ApiError> {
    let mut streams: Option<Streams> = None;
    let mut written_to = Vec::new();
    for index in indices {
        let Some(stream) = index.data_stream() else {
            continue;
        };
        let streams = streams.get_or_insert_with(|| all(engine, &Access::everything()));
        let newest = streams.get(&stream).and_then(|members| members.last());
        if newest.is_some_and(|newest| newest.name() == index.name()) {
            written_to.push(index.name());
        }
    }
    if written_to.is_empty() {
        return Ok(());
    }
    Err(ApiError::illegal_argument(format!(
        "cannot close the following data stream write indices [{}]",
        written_to.join(",")
    )))
}

/// Refuses to delete the index that a stream is written to. Only patterns may mean all of a stream: `named` are the names that
/// were asked for as they are.
///
/// # Errors
/// One of these indexes is such an index, and it is named or others of its stream would stay.
pub fn refuse_write_index(
    engine: &Engine,
    indices: &[Arc<Index>],
    named: &[&str],
) -> Result<(), ApiError> {
    let mut streams: Option<Streams> = None;
    for index in indices {
        let Some(stream) = index.data_stream() else {
            continue;
        };
        let streams = streams.get_or_insert_with(|| all(engine, &Access::everything()));
        let members = streams.get(&stream).map_or(&[][..], Vec::as_slice);
        let newest = members
            .last()
            .is_some_and(|last| last.name() == index.name());
        // All of a stream together may go.
        let whole = || {
            let mut members = members.iter();
            members.all(|member| indices.iter().any(|gone| gone.name() == member.name()))
        };
        if newest && (named.contains(&index.name()) || !whole()) {
            let cause = Cause::new(
                "illegal_argument_exception",
                format!(
                    "index [{}] is the write index for data stream [{stream}] and cannot be \
                     deleted",
                    index.name()
                ),
            );
            return Err(ApiError::new(StatusCode::BAD_REQUEST, cause));
        }
    }
    Ok(())
}
