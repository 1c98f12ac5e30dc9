//! `_cat/shards`: every shard, and what it holds and has done.

use std::sync::Arc;
use std::time::Duration;

use clew_engine::{Counted, Index, IndexStats, Purpose, Wildcards};

use super::shown_time;
use super::table::{Column, Table, hidden, hidden_text, number, text};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::setting_values::size_in_words;
use crate::indices::copies::replicas;
use crate::search::search_shards::shard_state;
use crate::state::call::Call;

const PLACE: &[Column] = &[
    text("index", &["i", "idx"], "index name"),
    text("shard", &["s", "sh"], "shard name"),
    text(
        "prirep",
        &["p", "pr", "primaryOrReplica"],
        "primary or replica",
    ),
    text("state", &["st"], "shard state"),
    number("docs", &["d", "dc"], "number of docs in shard"),
    number(
        "store",
        &["sto"],
        "store size of shard (how much disk it uses)",
    ),
    text("ip", &[], "ip of node where it lives"),
    hidden_text("id", &[], "unique id of node where it lives"),
    text("node", &["n"], "name of node where it lives"),
];

/// A column behind the place of a shard, with its cell.
pub(super) struct Figure {
    pub(super) column: Column,
    /// Sizes are in the unit that a request names.
    pub(super) cell: fn(&IndexStats, Option<&str>) -> String,
}

impl Figure {
    /// Whether it is told of an index, too, and not of the place of one shard.
    pub(super) fn is_of_index(&self) -> bool {
        let of_shard = [
            "sync_id",
            "unassigned.",
            "recoverysource.",
            "seq_no.",
            "path.",
            "docs.deleted",
            "search.search_idle_",
        ];
        !of_shard
            .iter()
            .any(|begin| self.column.name.starts_with(*begin))
    }
}

pub(super) const fn figure(
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
    cell: fn(&IndexStats, Option<&str>) -> String,
) -> Figure {
    Figure {
        column: hidden(name, aliases, about),
        cell,
    }
}

/// The cells of what there is none of here, as `_stats` tells them: tools read them as numbers.
fn none(_: &IndexStats, _: Option<&str>) -> String {
    "0".to_string()
}

fn no_time(_: &IndexStats, _: Option<&str>) -> String {
    "0s".to_string()
}

fn no_size(_: &IndexStats, unit: Option<&str>) -> String {
    size_in_words(0, unit)
}

/// The cell of what does not concern a shard that is there, or is not known of it.
fn unknown(_: &IndexStats, _: Option<&str>) -> String {
    String::new()
}

fn took(counts: &[Counted]) -> String {
    let ns = counts.iter().map(|counted| counted.ns).sum();
    shown_time(Duration::from_nanos(ns))
}

pub(super) const FIGURES: &[Figure] = &[
    figure("sync_id", &["sync_id"], "sync id", unknown),
    figure(
        "unassigned.reason",
        &["ur"],
        "reason shard became unassigned",
        unknown,
    ),
    figure(
        "unassigned.at",
        &["ua"],
        "time shard became unassigned (UTC)",
        unknown,
    ),
    figure(
        "unassigned.for",
        &["uf"],
        "time has been unassigned",
        unknown,
    ),
    figure(
        "unassigned.details",
        &["ud"],
        "additional details as to why the shard became unassigned",
        unknown,
    ),
    figure(
        "recoverysource.type",
        &["rs"],
        "recovery source type",
        unknown,
    ),
    figure(
        "completion.size",
        &["cs", "completionSize"],
        "size of completion",
        |_, unit| size_in_words(0, unit),
    ),
    figure(
        "fielddata.memory_size",
        &["fm", "fielddataMemory"],
        "used fielddata cache",
        |_, unit| size_in_words(0, unit),
    ),
    figure(
        "fielddata.evictions",
        &["fe", "fielddataEvictions"],
        "fielddata evictions",
        |_, _| "0".to_string(),
    ),
    figure(
        "query_cache.memory_size",
        &["qcm", "queryCacheMemory"],
        "used query cache",
        |s, unit| size_in_words(s.filters.bytes, unit),
    ),
    figure(
        "query_cache.evictions",
        &["qce", "queryCacheEvictions"],
        "query cache evictions",
        |s, _| s.filters.evictions.to_string(),
    ),
    figure(
        "flush.total",
        &["ft", "flushTotal"],
        "number of flushes",
        |s, _| s.flushes.total.to_string(),
    ),
    figure(
        "flush.total_time",
        &["ftt", "flushTotalTime"],
        "time spent in flush",
        |s, _| took(&[s.flushes]),
    ),
    figure(
        "get.current",
        &["gc", "getCurrent"],
        "number of current get ops",
        |_, _| "0".to_string(),
    ),
    figure(
        "get.time",
        &["gti", "getTime"],
        "time spent in get",
        |s, _| took(&[s.gets_found, s.gets_missing]),
    ),
    figure(
        "get.total",
        &["gto", "getTotal"],
        "number of get ops",
        |s, _| (s.gets_found.total + s.gets_missing.total).to_string(),
    ),
    figure(
        "get.exists_time",
        &["geti", "getExistsTime"],
        "time spent in successful gets",
        |s, _| took(&[s.gets_found]),
    ),
    figure(
        "get.exists_total",
        &["geto", "getExistsTotal"],
        "number of successful gets",
        |s, _| s.gets_found.total.to_string(),
    ),
    figure(
        "get.missing_time",
        &["gmti", "getMissingTime"],
        "time spent in failed gets",
        |s, _| took(&[s.gets_missing]),
    ),
    figure(
        "get.missing_total",
        &["gmto", "getMissingTotal"],
        "number of failed gets",
        |s, _| s.gets_missing.total.to_string(),
    ),
    figure(
        "indexing.delete_current",
        &["idc", "indexingDeleteCurrent"],
        "number of current deletions",
        |_, _| "0".to_string(),
    ),
    figure(
        "indexing.delete_time",
        &["idti", "indexingDeleteTime"],
        "time spent in deletions",
        no_time,
    ),
    figure(
        "indexing.delete_total",
        &["idto", "indexingDeleteTotal"],
        "number of delete ops",
        |s, _| s.deleted_total.to_string(),
    ),
    figure(
        "indexing.index_current",
        &["iic", "indexingIndexCurrent"],
        "number of current indexing ops",
        |_, _| "0".to_string(),
    ),
    figure(
        "indexing.index_time",
        &["iiti", "indexingIndexTime"],
        "time spent in indexing",
        |s, _| took(&[s.writes]),
    ),
    figure(
        "indexing.index_total",
        &["iito", "indexingIndexTotal"],
        "number of indexing ops",
        |s, _| s.indexed_total.to_string(),
    ),
    figure(
        "indexing.index_failed",
        &["iif", "indexingIndexFailed"],
        "number of failed indexing ops",
        none,
    ),
    figure(
        "merges.current",
        &["mc", "mergesCurrent"],
        "number of current merges",
        |s, _| s.merges_running.to_string(),
    ),
    figure(
        "merges.current_docs",
        &["mcd", "mergesCurrentDocs"],
        "number of current merging docs",
        |s, _| s.merge_rows_total.to_string(),
    ),
    figure(
        "merges.current_size",
        &["mcs", "mergesCurrentSize"],
        "size of current merges",
        no_size,
    ),
    figure(
        "merges.total",
        &["mt", "mergesTotal"],
        "number of completed merge ops",
        |s, _| s.merges.total.to_string(),
    ),
    figure(
        "merges.total_docs",
        &["mtd", "mergesTotalDocs"],
        "docs merged",
        |s, _| s.merged_docs.to_string(),
    ),
    figure(
        "merges.total_size",
        &["mts", "mergesTotalSize"],
        "size merged",
        |s, unit| size_in_words(s.merged_bytes, unit),
    ),
    figure(
        "merges.total_time",
        &["mtt", "mergesTotalTime"],
        "time spent in merges",
        |s, _| took(&[s.merges]),
    ),
    figure(
        "refresh.total",
        &["rto", "refreshTotal"],
        "total refreshes",
        |s, _| s.refreshes.total.to_string(),
    ),
    figure(
        "refresh.time",
        &["rti", "refreshTime"],
        "time spent in refreshes",
        |s, _| took(&[s.refreshes]),
    ),
    figure(
        "refresh.external_total",
        &["rto", "refreshTotal"],
        "total external refreshes",
        |s, _| s.refreshes.total.to_string(),
    ),
    figure(
        "refresh.external_time",
        &["rti", "refreshTime"],
        "time spent in external refreshes",
        |s, _| took(&[s.refreshes]),
    ),
    figure(
        "refresh.listeners",
        &["rli", "refreshListeners"],
        "number of pending refresh listeners",
        |_, _| "0".to_string(),
    ),
    figure(
        "search.fetch_current",
        &["sfc", "searchFetchCurrent"],
        "current fetch phase ops",
        |_, _| "0".to_string(),
    ),
    figure(
        "search.fetch_time",
        &["sfti", "searchFetchTime"],
        "time spent in fetch phase",
        |s, _| took(&[s.searches.fetches]),
    ),
    figure(
        "search.fetch_total",
        &["sfto", "searchFetchTotal"],
        "total fetch ops",
        |s, _| s.searches.fetches.total.to_string(),
    ),
    figure(
        "search.open_contexts",
        &["so", "searchOpenContexts"],
        "open search contexts",
        none,
    ),
    figure(
        "search.query_current",
        &["sqc", "searchQueryCurrent"],
        "current query phase ops",
        |_, _| "0".to_string(),
    ),
    figure(
        "search.query_time",
        &["sqti", "searchQueryTime"],
        "time spent in query phase",
        |s, _| took(&[s.searches.queries]),
    ),
    figure(
        "search.query_total",
        &["sqto", "searchQueryTotal"],
        "total query phase ops",
        |s, _| s.searches.queries.total.to_string(),
    ),
    figure(
        "search.concurrent_query_current",
        &["scqc", "searchConcurrentQueryCurrent"],
        "current concurrent query phase ops",
        none,
    ),
    figure(
        "search.concurrent_query_time",
        &["scqti", "searchConcurrentQueryTime"],
        "time spent in concurrent query phase",
        no_time,
    ),
    figure(
        "search.concurrent_query_total",
        &["scqto", "searchConcurrentQueryTotal"],
        "total concurrent query phase ops",
        none,
    ),
    figure(
        "search.concurrent_avg_slice_count",
        &["casc", "searchConcurrentAvgSliceCount"],
        "average query concurrency",
        |_, _| "0.0".to_string(),
    ),
    figure(
        "search.scroll_current",
        &["scc", "searchScrollCurrent"],
        "open scroll contexts",
        none,
    ),
    figure(
        "search.scroll_time",
        &["scti", "searchScrollTime"],
        "time scroll contexts held open",
        no_time,
    ),
    figure(
        "search.scroll_total",
        &["scto", "searchScrollTotal"],
        "completed scroll contexts",
        none,
    ),
    figure(
        "search.point_in_time_current",
        &["spc", "searchPointInTimeCurrent"],
        "open point in time contexts",
        none,
    ),
    figure(
        "search.point_in_time_time",
        &["spti", "searchPointInTimeTime"],
        "time point in time contexts held open",
        no_time,
    ),
    figure(
        "search.point_in_time_total",
        &["spto", "searchPointInTimeTotal"],
        "completed point in time contexts",
        none,
    ),
    figure(
        "search.search_idle_reactivate_count_total",
        &["ssirct", "searchSearchIdleReactivateCountTotal"],
        "number of times a shard reactivated",
        none,
    ),
    figure(
        "segments.count",
        &["sc", "segmentsCount"],
        "number of segments",
        |s, _| s.segments.to_string(),
    ),
    figure(
        "segments.memory",
        &["sm", "segmentsMemory"],
        "memory used by segments",
        |s, unit| size_in_words(s.impacts_bytes, unit),
    ),
    figure(
        "segments.index_writer_memory",
        &["siwm", "segmentsIndexWriterMemory"],
        "memory used by the write buffer",
        |s, unit| size_in_words(s.buffer_bytes, unit),
    ),
    figure(
        "segments.version_map_memory",
        &["svmm", "segmentsVersionMapMemory"],
        "memory used by version map",
        no_size,
    ),
    figure(
        "segments.fixed_bitset_memory",
        &["sfbm", "fixedBitsetMemory"],
        "memory used by fixed bit sets",
        no_size,
    ),
    figure(
        "seq_no.max",
        &["sqm", "maxSeqNo"],
        "max sequence number",
        unknown,
    ),
    figure(
        "seq_no.local_checkpoint",
        &["sql", "localCheckpoint"],
        "local checkpoint",
        unknown,
    ),
    figure(
        "seq_no.global_checkpoint",
        &["sqg", "globalCheckpoint"],
        "global checkpoint",
        unknown,
    ),
    figure(
        "warmer.current",
        &["wc", "warmerCurrent"],
        "current warmer ops",
        |_, _| "0".to_string(),
    ),
    figure(
        "warmer.total",
        &["wto", "warmerTotal"],
        "total warmer ops",
        |_, _| "0".to_string(),
    ),
    figure(
        "warmer.total_time",
        &["wtt", "warmerTotalTime"],
        "time spent in warmers",
        |_, _| "0s".to_string(),
    ),
    figure("path.data", &["pd", "dataPath"], "shard data path", unknown),
    figure(
        "path.state",
        &["ps", "statsPath"],
        "shard state path",
        unknown,
    ),
    figure(
        "docs.deleted",
        &["dd", "docsDeleted"],
        "number of deleted docs in shard",
        |s, _| s.deleted.to_string(),
    ),
];

/// `GET /_cat/shards/{index}`. Reads, searches and the time of writes are counted for an index: its first
/// shard shows them.
pub(crate) async fn shards(call: Call) -> Result<Reply, ApiError> {
    let mut rows = Vec::new();
    let meant = match call.path("index") {
        Some(_) => Wildcards::SHOWN,
        None => Wildcards::ALL,
    };
    for index in call.indices_from(meant, Purpose::Watch).await? {
        for (number, stats) in (0_u32..).zip(index.shard_stats()) {
            rows.extend(rows_of_shard(&call, (&index, number), &stats));
        }
    }
    Table {
        columns: &columns(),
        rows,
    }
    .reply(&call)
}

/// What is told of a shard.
pub(super) fn columns() -> Vec<Column> {
    let columns = PLACE.iter().chain(FIGURES.iter().map(|f| &f.column));
    columns.copied().collect()
}

/// That of each copy of a shard, the primary first.
pub(super) fn rows_of_shard(
    call: &Call,
    (index, number): (&Arc<Index>, u32),
    stats: &IndexStats,
) -> Vec<Vec<String>> {
    let mut rows = vec![match index.shard_failure(number) {
        None => started_row(call, (index, number), stats, call.params.get("bytes")),
        Some(failure) => failed_row(index, number, &failure),
    }];
    rows.extend((0..replicas(index)).map(|_| unassigned_row(index, number, "r")));
    rows
}

fn started_row(
    call: &Call,
    (index, number): (&Arc<Index>, u32),
    stats: &IndexStats,
    unit: Option<&str>,
) -> Vec<String> {
    let options = &call.api.options;
    let mut row = vec![
        index.name().to_string(),
        number.to_string(),
        "p".to_string(),
        shard_state(index).to_string(),
        stats.docs.to_string(),
        size_in_words(stats.bytes, unit),
        options.publish_host().to_string(),
        call.api.node_id.clone(),
        options.node_name.clone(),
    ];
    row.extend(FIGURES.iter().map(|figure| (figure.cell)(stats, unit)));
    // Numbers begin at 0 and have no gaps; there is no other copy that could lag behind.
    let operations = index.operations().into_iter().nth(number as usize);
    let last = operations.map_or(String::new(), |count| (i128::from(count) - 1).to_string());
    for (cell, figure) in row.iter_mut().skip(PLACE.len()).zip(FIGURES) {
        match figure.column.name {
            "seq_no.max" | "seq_no.local_checkpoint" | "seq_no.global_checkpoint" => {
                cell.clone_from(&last);
            }
            "path.data" | "path.state" => *cell = options.data.display().to_string(),
            _ => {}
        }
    }
    row
}

/// A shard that serves nothing, and why.
fn failed_row(index: &Arc<Index>, number: u32, failure: &str) -> Vec<String> {
    let mut row = unassigned_row(index, number, "p");
    for (cell, figure) in row.iter_mut().skip(PLACE.len()).zip(FIGURES) {
        match figure.column.name {
            "unassigned.reason" => *cell = "ALLOCATION_FAILED".to_string(),
            "unassigned.details" => *cell = failure.to_string(),
            _ => {}
        }
    }
    row
}

/// A copy that is nowhere: a replica that the settings ask for has no second node to be on.
fn unassigned_row(index: &Arc<Index>, number: u32, copy: &str) -> Vec<String> {
    let mut row = vec![
        index.name().to_string(),
        number.to_string(),
        copy.to_string(),
        "UNASSIGNED".to_string(),
    ];
    row.resize(PLACE.len() + FIGURES.len(), String::new());
    row
}
