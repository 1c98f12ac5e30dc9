//! `_cat/indices` and `_cat/count`.

use std::sync::Arc;

use clew_engine::{Index, Purpose, Wildcards};

use super::now;
use super::shards::{FIGURES, Figure, figure};
use super::table::{Column, Table, hidden, number, text};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::setting_values::size_in_words;
use crate::http::shard_outcomes::ShardOutcomes;
use crate::indices::copies::{ShardHealth, replicas};
use crate::state::call::Call;

const INDICES: &[Column] = &[
    text("health", &["h"], "current health status"),
    text("status", &["s"], "open/close status"),
    text("index", &["i", "idx"], "index name"),
    text("uuid", &["id", "uuid"], "index uuid"),
    number(
        "pri",
        &["p", "shards.primary", "shardsPrimary"],
        "number of primary shards",
    ),
    number(
        "rep",
        &["r", "shards.replica", "shardsReplica"],
        "number of replica shards",
    ),
    number("docs.count", &["dc", "docsCount"], "available docs"),
    number("docs.deleted", &["dd", "docsDeleted"], "deleted docs"),
    hidden(
        "creation.date",
        &["cd"],
        "index creation date (millisecond value)",
    ),
    hidden(
        "creation.date.string",
        &["cds"],
        "index creation date (as string)",
    ),
    number(
        "store.size",
        &["ss", "storeSize"],
        "store size of primaries & replicas",
    ),
    number("pri.store.size", &[], "store size of primaries"),
];

/// What is told of indexes alone, beside the figures of shards. There is no cache of requests.
const OF_INDEX: &[Figure] = &[
    figure(
        "request_cache.memory_size",
        &["rcm", "requestCacheMemory"],
        "used request cache",
        |_, unit| size_in_words(0, unit),
    ),
    figure(
        "request_cache.evictions",
        &["rce", "requestCacheEvictions"],
        "request cache evictions",
        |_, _| "0".to_string(),
    ),
    figure(
        "request_cache.hit_count",
        &["rchc", "requestCacheHitCount"],
        "request cache hit count",
        |_, _| "0".to_string(),
    ),
    figure(
        "request_cache.miss_count",
        &["rcmc", "requestCacheMissCount"],
        "request cache miss count",
        |_, _| "0".to_string(),
    ),
    figure(
        "suggest.current",
        &["suc", "suggestCurrent"],
        "number of current suggest ops",
        |_, _| "0".to_string(),
    ),
    figure(
        "suggest.time",
        &["suti", "suggestTime"],
        "time spend in suggest",
        |_, _| "0s".to_string(),
    ),
    figure(
        "suggest.total",
        &["suto", "suggestTotal"],
        "number of suggest ops",
        |_, _| "0".to_string(),
    ),
    figure(
        "memory.total",
        &["tm", "memoryTotal"],
        "total used memory",
        |stats, unit| size_in_words(stats.impacts_bytes + stats.buffer_bytes, unit),
    ),
    figure(
        "search.throttled",
        &["sth"],
        "indicates if the index is search throttled",
        |_, _| "false".to_string(),
    ),
];

/// What an index holds and has done, which is shown where it is asked for.
pub(super) fn figures() -> impl Iterator<Item = &'static Figure> {
    let of_shards = FIGURES.iter().filter(|figure| figure.is_of_index());
    of_shards.chain(OF_INDEX)
}

/// What is told of an index.
pub(super) fn index_columns() -> Vec<Column> {
    let figures = figures().map(|figure| Column {
        of_copies: figure.column.name != "search.throttled",
        ..figure.column
    });
    INDICES.iter().copied().chain(figures).collect()
}

/// `GET /_cat/indices/{index}`.
pub(crate) async fn indices(call: Call) -> Result<Reply, ApiError> {
    let indices = call.indices_from(Wildcards::SHOWN, Purpose::Watch).await?;
    Table {
        columns: &index_columns(),
        rows: index_rows(&call, &indices)?,
    }
    .reply(&call)
}

/// The lines of those indexes whose `health` is asked for; of all where none is.
pub(super) fn index_rows(
    call: &Call,
    indices: &[Arc<Index>],
) -> Result<Vec<Vec<String>>, ApiError> {
    let unit = call.params.get("bytes");
    let wanted = call.params.get("health").map(str::to_ascii_lowercase);
    if let Some(wanted) = &wanted
        && !["green", "yellow", "red"].contains(&&**wanted)
    {
        return Err(ApiError::illegal_argument(format!(
            "unknown cluster health status [{wanted}]"
        )));
    }
    let mut rows: Vec<Vec<String>> = indices.iter().map(|index| index_row(index, unit)).collect();
    if let Some(wanted) = wanted {
        rows.retain(|row| row[0] == wanted);
    }
    Ok(rows)
}

/// The cells of an index; its health comes first.
fn index_row(index: &Arc<Index>, unit: Option<&str>) -> Vec<String> {
    let stats = index.stats();
    let size = size_in_words(stats.bytes, unit);
    let mut row = vec![
        ShardHealth::of(std::slice::from_ref(index))
            .status()
            .to_string(),
        if index.is_open() { "open" } else { "close" }.to_string(),
        index.name().to_string(),
        index.uuid().to_string(),
        stats.shards.to_string(),
        replicas(index).to_string(),
        counted(index, stats.docs.to_string()),
        counted(index, stats.deleted.to_string()),
        index.created_ms().to_string(),
        date_text(index.created_ms()),
        counted(index, size.clone()),
        counted(index, size),
    ];
    row.extend(figures().map(|figure| counted(index, (figure.cell)(&stats, unit))));
    row
}

/// A closed index counts nothing.
fn counted(index: &Index, count: String) -> String {
    if index.is_open() {
        count
    } else {
        String::new()
    }
}

fn date_text(since_epoch_ms: u64) -> String {
    let ms = i64::try_from(since_epoch_ms).unwrap_or(i64::MAX);
    let date = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    date.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

const COUNT: &[Column] = &[
    text("epoch", &["t", "time"], "seconds since 1970-01-01 00:00:00"),
    text("timestamp", &["ts", "hms", "hhmmss"], "time in HH:MM:SS"),
    text(
        "count",
        &["dc", "docs.count", "docsCount"],
        "the document count",
    ),
];

/// `GET /_cat/count/{index}`: documents that searches see.
pub(crate) async fn count(call: Call) -> Result<Reply, ApiError> {
    let indices = call.indices(Purpose::Read).await?;
    // A table has no place for what is missing.
    ShardOutcomes::of_serving(&indices).whole()?;
    let docs: u64 = indices.iter().map(|index| index.stats().docs).sum();
    let [epoch, timestamp] = now(&call);
    Table {
        columns: COUNT,
        rows: vec![vec![epoch, timestamp, docs.to_string()]],
    }
    .reply(&call)
}
