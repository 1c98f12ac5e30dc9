//! `_stats`: what indexes hold and have done, under the names that benchmark tools read.

use std::sync::Arc;

use clew_engine::{Index, IndexStats};
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::error::ApiError;
use crate::reply::Reply;

/// Sums over indexes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sums(IndexStats);

impl Sums {
    pub(crate) fn add(&mut self, stats: &IndexStats) {
        let sum = &mut self.0;
        sum.docs += stats.docs;
        sum.deleted += stats.deleted;
        sum.bytes += stats.bytes;
        sum.segments += stats.segments;
        sum.shards += stats.shards;
        sum.failed_shards += stats.failed_shards;
        sum.indexed_total += stats.indexed_total;
        sum.deleted_total += stats.deleted_total;
        sum.refreshes_total += stats.refreshes_total;
        sum.flushes_total += stats.flushes_total;
        sum.merges_total += stats.merges_total;
        sum.merges_running += stats.merges_running;
        sum.merge_rows_total += stats.merge_rows_total;
    }

    /// Times are not measured per index, so they are zeros rather than guesses.
    pub(crate) fn to_json(self) -> Value {
        let stats = self.0;
        json!({
            "docs": {"count": stats.docs, "deleted": stats.deleted},
            "store": {"size_in_bytes": stats.bytes, "reserved_in_bytes": 0},
            "indexing": {
                "index_total": stats.indexed_total, "index_time_in_millis": 0, "index_current": 0,
                "index_failed": 0, "delete_total": stats.deleted_total, "delete_time_in_millis": 0,
                "delete_current": 0, "noop_update_total": 0, "is_throttled": false,
                "throttle_time_in_millis": 0,
            },
            "get": {"total": 0, "time_in_millis": 0, "exists_total": 0, "missing_total": 0},
            "search": {
                "open_contexts": 0, "query_total": 0, "query_time_in_millis": 0, "query_current": 0,
                "fetch_total": 0, "fetch_time_in_millis": 0, "fetch_current": 0, "scroll_total": 0,
            },
            "merges": {
                "current": stats.merges_running, "current_docs": stats.merge_rows_total,
                "current_size_in_bytes": 0,
                "total": stats.merges_total, "total_time_in_millis": 0, "total_docs": 0,
                "total_size_in_bytes": 0, "total_stopped_time_in_millis": 0,
                "total_throttled_time_in_millis": 0,
            },
            "refresh": {
                "total": stats.refreshes_total, "total_time_in_millis": 0,
                "external_total": stats.refreshes_total, "external_total_time_in_millis": 0,
                "listeners": 0,
            },
            "flush": {
                "total": stats.flushes_total, "periodic": 0, "total_time_in_millis": 0,
            },
            "warmer": {"current": 0, "total": 0, "total_time_in_millis": 0},
            "query_cache": {"memory_size_in_bytes": 0, "hit_count": 0, "miss_count": 0},
            "fielddata": {"memory_size_in_bytes": 0, "evictions": 0},
            "completion": {"size_in_bytes": 0},
            "segments": {
                "count": stats.segments, "memory_in_bytes": 0, "terms_memory_in_bytes": 0,
                "stored_fields_memory_in_bytes": 0, "doc_values_memory_in_bytes": 0,
                "norms_memory_in_bytes": 0, "points_memory_in_bytes": 0,
                "index_writer_memory_in_bytes": 0, "version_map_memory_in_bytes": 0,
                "fixed_bit_set_memory_in_bytes": 0, "max_unsafe_auto_id_timestamp": -1,
                "file_sizes": {},
            },
            "translog": {
                "operations": 0, "size_in_bytes": 0, "uncommitted_operations": 0,
                "uncommitted_size_in_bytes": 0, "earliest_last_modified_age": 0,
            },
            "request_cache": {"memory_size_in_bytes": 0, "hit_count": 0, "miss_count": 0},
            "recovery": {"current_as_source": 0, "current_as_target": 0},
        })
    }
}

/// `GET /_stats`, `/{index}/_stats/{metric}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let indices = call.indices().await?;
    let wanted = call
        .path("metric")
        .filter(|metric| !metric.is_empty() && *metric != "_all");
    let wanted: Option<Vec<&str>> = wanted.map(|metrics| metrics.split(',').collect());
    let mut all = Sums::default();
    let mut each = Map::new();
    let mut shards = 0u32;
    for index in &indices {
        let stats = index.stats();
        shards += stats.shards;
        all.add(&stats);
        let mut sums = Sums::default();
        sums.add(&stats);
        each.insert(
            index.name().to_string(),
            index_stats(index, sums, wanted.as_deref(), &call),
        );
    }
    let all = pick(all.to_json(), wanted.as_deref());
    let mut body = json!({
        "_shards": {"total": shards, "successful": shards, "failed": 0},
        "_all": {"primaries": all, "total": all},
    });
    if call.params.get("level") != Some("cluster")
        && let Value::Object(body) = &mut body
    {
        body.insert("indices".to_string(), Value::Object(each));
    }
    Ok(Reply::json(&body))
}

fn index_stats(index: &Arc<Index>, sums: Sums, wanted: Option<&[&str]>, call: &Call) -> Value {
    let shown = pick(sums.to_json(), wanted);
    let mut body = json!({"uuid": index.uuid(), "primaries": shown, "total": shown});
    if call.params.get("level") == Some("shards")
        && let Value::Object(body) = &mut body
    {
        // Counts are kept per index: the first shard shows them all, so that sums are right.
        let empty = pick(Sums::default().to_json(), wanted);
        let shards = (0..index.stats().shards).map(|shard| {
            let mut one = if shard == 0 {
                shown.clone()
            } else {
                empty.clone()
            };
            if let Value::Object(one) = &mut one {
                let routing = json!({
                    "state": "STARTED", "primary": true, "node": call.api.node_id,
                    "relocating_node": null,
                });
                one.insert("routing".to_string(), routing);
            }
            (shard.to_string(), json!([one]))
        });
        body.insert("shards".to_string(), Value::Object(shards.collect()));
    }
    body
}

/// Only the sections that the path names.
fn pick(stats: Value, wanted: Option<&[&str]>) -> Value {
    let (Some(wanted), Value::Object(sections)) = (wanted, &stats) else {
        return stats;
    };
    let alias = |name: &str| match name {
        "merge" => "merges".to_string(),
        other => other.to_string(),
    };
    let names: Vec<String> = wanted.iter().map(|name| alias(name)).collect();
    let kept = sections.iter().filter(|(name, _)| names.contains(name));
    Value::Object(
        kept.map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}
