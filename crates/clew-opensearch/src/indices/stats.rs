//! `_stats`: what indexes hold and have done, under the names that benchmark tools read.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use clew_engine::{Index, IndexStats, Purpose, SearchActivity, Took, Wildcards};
use clew_schema::glob::matches as glob;
use clew_search::FilterCacheFigures;
use serde_json::{Map, Value, json};

use crate::http::error::ApiError;
use crate::http::human::of_figures;
use crate::http::params::Params;
use crate::http::reply::Reply;
use crate::http::shard_outcomes::ShardOutcomes;
use crate::state::api::{Api, stable_id};
use crate::state::call::Call;

/// Counts of some indexes, and those of searches by group where groups are asked for.
#[derive(Clone, Default)]
pub(crate) struct Sums {
    stats: IndexStats,
    groups: BTreeMap<String, SearchActivity>,
}

impl Sums {
    /// Adds an index with the groups of searches that the patterns name.
    pub(crate) fn add(&mut self, index: &Index, groups: &[&str]) {
        self.stats.add(&index.stats());
        if groups.is_empty() {
            return;
        }
        for (name, activity) in index.search_groups() {
            let named = |pattern: &&str| *pattern == "_all" || glob(pattern, &name);
            if groups.iter().any(named) {
                let sum = self.groups.entry(name).or_default();
                sum.queries.total += activity.queries.total;
                sum.queries.ns += activity.queries.ns;
                sum.fetches.total += activity.fetches.total;
                sum.fetches.ns += activity.fetches.ns;
            }
        }
    }

    /// The sections. What is not counted is left out, or zero where tools read it without asking.
    pub(crate) fn to_json(&self) -> Value {
        let stats = &self.stats;
        let mut sections = documents(stats);
        sections.extend([
            ("search".to_string(), self.search()),
            ("merges".to_string(), merges(stats)),
            ("segments".to_string(), segments(stats)),
        ]);
        sections.extend(caches(stats));
        Value::Object(sections)
    }

    fn search(&self) -> Value {
        let mut search = searches(&self.stats.searches);
        search["open_contexts"] = json!(0);
        if !self.groups.is_empty() {
            let groups = self.groups.iter();
            let groups = groups.map(|(name, activity)| (name.clone(), searches(activity)));
            search["groups"] = Value::Object(groups.collect());
        }
        search
    }
}

fn searches(activity: &SearchActivity) -> Value {
    json!({
        "query_total": activity.queries.total,
        "query_time_in_millis": activity.queries.millis(),
        "query_current": 0,
        // Typed clients of OpenSearch read all of these; here they are counted as queries.
        "concurrent_query_total": 0, "concurrent_query_time_in_millis": 0,
        "concurrent_query_current": 0, "concurrent_avg_slice_count": 0.0,
        "fetch_total": activity.fetches.total,
        "fetch_time_in_millis": activity.fetches.millis(),
        "fetch_current": 0,
        "scroll_total": 0, "scroll_time_in_millis": 0, "scroll_current": 0,
        "point_in_time_total": 0, "point_in_time_time_in_millis": 0, "point_in_time_current": 0,
        "search_idle_reactivate_count_total": 0,
        "suggest_total": 0, "suggest_time_in_millis": 0, "suggest_current": 0,
    })
}

fn documents(stats: &IndexStats) -> Map<String, Value> {
    let (found, missing) = (&stats.gets_found, &stats.gets_missing);
    let sections = json!({
        "docs": {"count": stats.docs, "deleted": stats.deleted},
        "store": {"size_in_bytes": stats.bytes, "reserved_in_bytes": 0},
        "indexing": {
            "index_total": stats.indexed_total,
            "index_time_in_millis": stats.writes.millis(),
            "index_current": 0, "index_failed": 0,
            "delete_total": stats.deleted_total,
            "delete_time_in_millis": 0, "delete_current": 0,
            "noop_update_total": stats.noops_total, "is_throttled": false, "throttle_time_in_millis": 0,
            "doc_status": {},
        },
        "get": {
            "total": found.total + missing.total,
            "getTime": Took(Duration::from_millis(found.millis() + missing.millis())).to_string(),
            "time_in_millis": found.millis() + missing.millis(),
            "exists_total": found.total, "exists_time_in_millis": found.millis(),
            "missing_total": missing.total, "missing_time_in_millis": missing.millis(),
            "current": 0,
        },
        "refresh": {
            "total": stats.refreshes.total, "total_time_in_millis": stats.refreshes.millis(),
            "external_total": stats.refreshes.total,
            "external_total_time_in_millis": stats.refreshes.millis(),
            "listeners": 0,
        },
        "flush": {
            "total": stats.flushes.total, "periodic": 0,
            "total_time_in_millis": stats.flushes.millis(),
        },
        "translog": {
            "operations": stats.unflushed_operations,
            "size_in_bytes": stats.unflushed_bytes,
            "uncommitted_operations": stats.unflushed_operations,
            "uncommitted_size_in_bytes": stats.unflushed_bytes,
            "earliest_last_modified_age": 0,
            // There is no store elsewhere.
            "remote_store": {"upload": {
                "total_uploads": {"started": 0, "failed": 0, "succeeded": 0},
                "total_upload_size": {
                    "started_bytes": 0, "failed_bytes": 0, "succeeded_bytes": 0,
                },
            }},
        },
    });
    match sections {
        Value::Object(sections) => sections,
        _ => Map::new(),
    }
}

fn merges(stats: &IndexStats) -> Value {
    json!({
        "current": stats.merges_running, "current_docs": stats.merge_rows_total,
        "current_size_in_bytes": 0,
        "total": stats.merges.total, "total_time_in_millis": stats.merges.millis(),
        "total_docs": stats.merged_docs, "total_size_in_bytes": stats.merged_bytes,
        "total_stopped_time_in_millis": 0,
        "total_throttled_time_in_millis": 0,
        "total_auto_throttle_in_bytes": 0,
        "unreferenced_file_cleanups_performed": 0,
    })
}

fn segments(stats: &IndexStats) -> Value {
    // There is no store elsewhere.
    let moved = json!({"started_bytes": 0, "succeeded_bytes": 0, "failed_bytes": 0});
    json!({
        "count": stats.segments, "memory_in_bytes": stats.impacts_bytes,
        "terms_memory_in_bytes": stats.impacts_bytes,
        "stored_fields_memory_in_bytes": 0, "term_vectors_memory_in_bytes": 0,
        "doc_values_memory_in_bytes": 0,
        "norms_memory_in_bytes": 0, "points_memory_in_bytes": 0,
        "index_writer_memory_in_bytes": stats.buffer_bytes,
        "version_map_memory_in_bytes": 0,
        "fixed_bit_set_memory_in_bytes": 0, "max_unsafe_auto_id_timestamp": -1,
        "remote_store": {
            "upload": {
                "total_upload_size": moved,
                "refresh_size_lag": {"total_bytes": 0, "max_bytes": 0},
                "max_refresh_time_lag_in_millis": 0, "total_time_spent_in_millis": 0,
                "pressure": {"total_rejections": 0},
            },
            "download": {"total_download_size": moved, "total_time_spent_in_millis": 0},
        },
        "segment_replication": {
            "max_bytes_behind": 0, "total_bytes_behind": 0, "max_replication_lag": 0,
        },
        "file_sizes": {},
    })
}

/// The cache of filters, and sections of what Clew does not have: no cache of requests, no warming, no copies
/// between nodes.
fn caches(stats: &IndexStats) -> [(String, Value); 6] {
    let cache = json!({"memory_size_in_bytes": 0, "evictions": 0, "hit_count": 0, "miss_count": 0});
    [
        (
            "warmer",
            json!({"current": 0, "total": 0, "total_time_in_millis": 0}),
        ),
        ("query_cache", query_cache(stats.filters)),
        (
            "fielddata",
            json!({"memory_size_in_bytes": 0, "evictions": 0}),
        ),
        ("completion", json!({"size_in_bytes": 0})),
        ("request_cache", cache),
        (
            "recovery",
            json!({"current_as_source": 0, "current_as_target": 0, "throttle_time_in_millis": 0}),
        ),
    ]
    .map(|(name, value)| (name.to_string(), value))
}

fn query_cache(filters: FilterCacheFigures) -> Value {
    json!({
        "memory_size_in_bytes": filters.bytes, "total_count": filters.hits + filters.misses,
        "hit_count": filters.hits, "miss_count": filters.misses, "cache_size": filters.count,
        "cache_count": filters.kept, "evictions": filters.evictions,
    })
}

/// `GET /_stats`, `/{index}/_stats/{metric}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let indices = if call.params.flag("forbid_closed_indices", true)? {
        call.indices(Purpose::Watch).await?
    } else {
        call.indices_from(Wildcards::OPEN, Purpose::Watch).await?
    };
    if let Some(level) = call.params.get("level")
        && !matches!(level, "cluster" | "indices" | "shards")
    {
        return Err(ApiError::illegal_argument(format!(
            "level parameter must be one of [cluster] or [indices] or [shards] but was [{level}]"
        )));
    }
    let wanted = sections_of(call.path("metric"));
    check_metrics(&call, wanted.as_deref())?;
    let groups = call.params.list("groups").unwrap_or_default();
    let mut all = Sums::default();
    let mut each = Map::new();
    for index in &indices {
        all.add(index, &groups);
        let mut sums = Sums::default();
        sums.add(index, &groups);
        let shown = index_stats(index, &sums, wanted.as_deref(), &call);
        each.insert(index.name().to_string(), shown);
    }
    let shards = ShardOutcomes::of_serving(&indices).shown();
    // Without any index there are no sums.
    let all = match indices.is_empty() {
        true => json!({}),
        false => with_fields(pick(all.to_json(), wanted.as_deref()), &call.params),
    };
    let mut body = json!({
        "_shards": shards,
        "_all": {"primaries": all, "total": all},
    });
    if call.params.get("level") != Some("cluster") {
        body["indices"] = Value::Object(each);
    }
    of_figures(body, &call.params)
}

/// Adds what is kept in memory of single fields to the sections that tell it where it is asked for, which is nothing.
pub(crate) fn with_fields(mut sections: Value, params: &Params) -> Value {
    for (name, asked) in [
        ("fielddata", "fielddata_fields"),
        ("completion", "completion_fields"),
    ] {
        let section = sections.get_mut(name).and_then(Value::as_object_mut);
        if let Some(section) = section
            && (params.has("fields") || params.has(asked))
        {
            section.insert("fields".to_string(), json!({}));
        }
    }
    sections
}

/// Refuses sections that there are not.
fn check_metrics(call: &Call, wanted: Option<&[&str]>) -> Result<(), ApiError> {
    let metric = call.path("metric").unwrap_or_default();
    let path = match call.path("index") {
        Some(index) => format!("/{index}/_stats/{metric}"),
        None => format!("/_stats/{metric}"),
    };
    check_sections(&path, ("metric", wanted.unwrap_or_default()))
}

/// Refuses sections of an index' figures that there are not.
pub(crate) fn check_sections(path: &str, wanted: (&str, &[&str])) -> Result<(), ApiError> {
    let sections = Sums::default().to_json();
    let sections = sections.as_object().into_iter().flat_map(Map::keys);
    let known = sections.map(String::as_str).chain(["merge", "suggest"]);
    check_known(path, wanted, &known.collect::<Vec<_>>())
}

/// Refuses sections of figures that there are not by what such a section is called, with the nearest one that there is.
pub(crate) fn check_known(
    path: &str,
    (what, wanted): (&str, &[&str]),
    known: &[&str],
) -> Result<(), ApiError> {
    let Some(unknown) = wanted.iter().find(|name| !known.contains(name)) else {
        return Ok(());
    };
    let nearest = known
        .iter()
        .map(|name| (strsim::jaro_winkler(unknown, name), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = nearest.map_or(String::new(), |(_, name)| {
        format!(" -> did you mean [{name}]?")
    });
    Err(ApiError::illegal_argument(format!(
        "request [{path}] contains unrecognized {what}: [{unknown}]{hint}"
    )))
}

/// The sections that a path names; `None` for all of them.
pub(crate) fn sections_of(metric: Option<&str>) -> Option<Vec<&str>> {
    let names: Vec<&str> = metric?.split(',').collect();
    let all = names.iter().any(|name| name.is_empty() || *name == "_all");
    (!all).then_some(names)
}

fn index_stats(index: &Arc<Index>, sums: &Sums, wanted: Option<&[&str]>, call: &Call) -> Value {
    let shown = with_fields(pick(sums.to_json(), wanted), &call.params);
    let mut body = json!({"uuid": index.uuid(), "primaries": shown, "total": shown});
    if call.params.get("level") == Some("shards") {
        let shards = shard_stats(&call.api, index, wanted).into_iter();
        let shards = shards
            .enumerate()
            .map(|(number, one)| (number.to_string(), json!([one])));
        body["shards"] = Value::Object(shards.collect());
    }
    body
}

/// The sections of each shard.
pub(crate) fn shard_stats(api: &Api, index: &Index, wanted: Option<&[&str]>) -> Vec<Value> {
    let counts = index.commits().into_iter().zip(index.operations());
    let shards = index.shard_stats().into_iter().zip(counts);
    let shards = shards.enumerate().map(|(number, (stats, (commit, operations)))| {
        let docs = stats.docs;
        let sums = Sums {
            stats,
            groups: BTreeMap::new(),
        };
        let mut one = pick(sums.to_json(), wanted);
        one["routing"] = json!({
            "state": "STARTED", "primary": true, "node": api.node_id, "relocating_node": null,
        });
        one["commit"] = json!({
            "id": stable_id(&[index.uuid(), &number.to_string(), &commit.to_string()]),
            "generation": commit,
            "user_data": {},
            "num_docs": docs,
        });
        // Numbers begin at 0 and have no gaps; there is no other copy that could lag behind.
        let last = i64::try_from(operations).map_or(i64::MAX, |count| count - 1);
        one["seq_no"] = json!({
            "max_seq_no": last, "local_checkpoint": last, "global_checkpoint": last,
        });
        one["retention_leases"] = json!({"primary_term": 1, "version": 0, "leases": []});
        one["shard_path"] = json!({
            "state_path": api.options.data, "data_path": api.options.data, "is_custom_data_path": false,
        });
        one
    });
    shards.collect()
}

/// Only the sections that the path names.
pub(crate) fn pick(stats: Value, wanted: Option<&[&str]>) -> Value {
    let (Some(wanted), Value::Object(sections)) = (wanted, &stats) else {
        return stats;
    };
    let section = |name: &str| match name {
        "merge" => "merges".to_string(),
        // Suggestions are counted among the searches.
        "suggest" => "search".to_string(),
        other => other.to_string(),
    };
    let names: Vec<String> = wanted.iter().map(|name| section(name)).collect();
    let kept = sections.iter().filter(|(name, _)| names.contains(name));
    Value::Object(
        kept.map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}
