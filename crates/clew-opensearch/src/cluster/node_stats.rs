//! `_nodes/stats`: what this node takes and has done, in the sections that exporters and dashboards read.

use std::sync::atomic::Ordering;

use clew_platform::whole_ms;
use clew_query::Script;
use serde_json::{Map, Value, json};

use super::disk::{Mount, io_stats};
use super::machine::{DiskSpace, Machine};
use super::nodes::{ROLES, nodes_body};
use crate::http::error::ApiError;
use crate::http::human::of_figures;
use crate::http::memory_stats;
use crate::http::reply::Reply;
use crate::indices::stats::{
    Sums, check_known, check_sections, pick, sections_of, shard_stats, with_fields,
};
use crate::ingest;
use crate::search::search_pipeline;
use crate::state::api::Api;
use crate::state::call::Call;

/// `GET /_nodes/{node}/stats/{metric}/{index_metric}`.
pub(crate) async fn stats(call: Call) -> Result<Reply, ApiError> {
    check_stats(&call)?;
    let api = &call.api;
    let options = &api.options;
    let mut node = json!({
        "timestamp": api.engine.now_ms(),
        "name": options.node_name,
        "transport_address": options.publish_address,
        "host": options.publish_host(),
        "ip": options.publish_address,
        "roles": ROLES,
        "attributes": {},
    });
    let mut sections = system_sections(api);
    sections.insert("indices".to_string(), indices_section(&call)?);
    sections.insert("ingest".to_string(), ingest::stats(&api.engine));
    sections.insert("search_pipeline".to_string(), search_pipeline::stats(api));
    let mut wanted = sections_of(call.path("metric"));
    // The one section that is asked for by another name than it has.
    for name in wanted.iter_mut().flatten() {
        if *name == "breaker" {
            *name = "breakers";
        }
    }
    if let Some(wanted) = &wanted {
        check_metrics(&call, wanted, &sections)?;
        sections.retain(|name, _| wanted.contains(&name.as_str()));
    }
    if let Value::Object(node) = &mut node {
        node.extend(sections);
    }
    of_figures(nodes_body(&call, node), &call.params)
}

fn indices_section(call: &Call) -> Result<Value, ApiError> {
    let groups = call.params.list("groups").unwrap_or_default();
    let wanted = sections_of(call.path("index_metric"));
    let mut sums = Sums::default();
    let level = call.params.get("level");
    let (mut each, mut shards) = (Map::new(), Map::new());
    for index in call.shown_indices() {
        sums.add(&index, &groups);
        let mut one = Sums::default();
        one.add(&index, &groups);
        let shown = with_fields(pick(one.to_json(), wanted.as_deref()), &call.params);
        each.insert(index.name().to_string(), shown);
        if level == Some("shards") {
            let of_shards = shard_stats(&call.api, &index, wanted.as_deref());
            let numbered = of_shards.into_iter().enumerate();
            let numbered = numbered.map(|(number, one)| json!({number.to_string(): one}));
            shards.insert(index.name().to_string(), numbered.collect());
        }
    }
    let mut section = with_fields(pick(sums.to_json(), wanted.as_deref()), &call.params);
    match level {
        Some("indices") => section["indices"] = Value::Object(each),
        Some("shards") => section["shards"] = Value::Object(shards),
        _ => {}
    }
    Ok(section)
}

/// The sections beside `indices`. One node has no transport and no elections.
fn system_sections(api: &Api) -> Map<String, Value> {
    let machine = Machine::now();
    let searches = api.engine.stats().search;
    let sections = json!({
        "os": machine.os_stats(api),
        "process": machine.process_stats(api),
        "jvm": jvm(api, &machine),
        "thread_pool": {"search": {
            "threads": searches.threads,
            "active": searches.active.min(searches.threads),
            "queue": searches.active.saturating_sub(searches.threads),
            "rejected": searches.rejected_total, "completed": searches.searches_total,
            "largest": searches.threads,
            "total_wait_time_in_nanos": searches.queue_wait_us_total.saturating_mul(1000),
        }},
        "fs": file_system(api),
        "transport": {
            "server_open": 0, "total_outbound_connections": 0, "rx_count": 0,
            "rx_size_in_bytes": 0, "tx_count": 0, "tx_size_in_bytes": 0,
        },
        "http": {
            "current_open": api.options.http.open.load(Ordering::Relaxed),
            "total_opened": api.options.http.opened.load(Ordering::Relaxed),
        },
        "breakers": memory_stats::breakers(api.engine.memory()),
        "discovery": {
            "cluster_state_queue": {"total": 0, "pending": 0, "committed": 0},
            "published_cluster_states": {
                "full_states": 0, "incompatible_diffs": 0, "compatible_diffs": 0,
            },
            "cluster_state_stats": {
                "overall": {"update_count": 0, "total_time_in_millis": 0, "failed_count": 0},
            },
        },
        "indexing_pressure": memory_stats::indexing_pressure(api.engine.memory()),
    });
    let all = [sections, scripts(), without_others()].into_iter();
    let members = all.filter_map(|sections| match sections {
        Value::Object(members) => Some(members),
        _ => None,
    });
    members.flatten().collect()
}

/// Scripts are read where they stand: none of them is kept, and no limit is on how often.
fn scripts() -> Value {
    let read = json!({
        "compilations": Script::read_total(), "cache_evictions": 0, "compilation_limit_triggered": 0,
    });
    json!({"script": read, "script_cache": {"sum": read}})
}

/// The disk of the data folder.
fn file_system(api: &Api) -> Value {
    let disk = DiskSpace::of(&api.options.data);
    let space = json!({
        "total_in_bytes": disk.total,
        "free_in_bytes": disk.free,
        "available_in_bytes": disk.available,
        "cache_reserved_in_bytes": 0,
    });
    let mount = Mount::of(&api.options.data);
    let mut place = space.clone();
    place["path"] = json!(api.options.data);
    place["mount"] = json!(mount.shown);
    place["type"] = json!(mount.kind);
    let estimate = json!({
        "path": api.options.data,
        "total_in_bytes": disk.total,
        "available_in_bytes": disk.available,
        "used_disk_percent": 100.0 - disk.free_percent(),
    });
    json!({
        "timestamp": api.engine.now_ms(),
        "total": space,
        "data": [place],
        "least_usage_estimate": estimate,
        "most_usage_estimate": estimate,
        "io_stats": io_stats(&api.options.data),
    })
}

/// Sections about other nodes, stores elsewhere and limits that are switched off: there are none of these here, and so
/// nothing has come of them.
fn without_others() -> Value {
    let admitted = json!({"transport": {"rejection_count": {}}});
    json!({
        "adaptive_selection": {},
        "admission_control": {"global_cpu_usage": admitted, "global_io_usage": admitted},
        "caches": {"request_cache": {
            "size_in_bytes": 0, "evictions": 0, "hit_count": 0, "miss_count": 0, "item_count": 0,
            "store_name": "noop_store",
        }},
        "cluster_manager_throttling": {
            "stats": {"total_throttled_tasks": 0, "throttled_tasks_per_task_type": {}},
        },
        "remote_store": {"last_successful_fetch_of_pinned_timestamps": 0},
        "repositories": [],
        "resource_usage_stats": {},
        "segment_replication_backpressure": {"total_rejected_requests": 0},
        "shard_indexing_pressure": {
            "stats": {},
            "total_rejections_breakup_shadow_mode": {
                "node_limits": 0, "no_successful_request_limits": 0,
                "throughput_degradation_limits": 0,
            },
            "enabled": false,
            "enforced": false,
        },
        "weighted_routing": {"stats": {"fail_open_count": 0}},
    })
}

/// There is no heap: in its place stands what the process takes of the machine's memory.
fn jvm(api: &Api, machine: &Machine) -> Value {
    let collector = json!({"collection_count": 0, "collection_time_in_millis": 0});
    let pool = json!({
        "used_in_bytes": 0, "max_in_bytes": 0, "peak_used_in_bytes": 0, "peak_max_in_bytes": 0,
    });
    let buffers = json!({"count": 0, "used_in_bytes": 0, "total_capacity_in_bytes": 0});
    let uptime_ms = whole_ms(api.started.elapsed());
    json!({
        "timestamp": api.engine.now_ms(),
        "uptime_in_millis": uptime_ms,
        "mem": {
            "heap_used_in_bytes": machine.resident,
            "heap_used_percent": machine.resident_percent(),
            "heap_max_in_bytes": machine.memory_total,
            "heap_committed_in_bytes": machine.resident,
            "non_heap_used_in_bytes": 0, "non_heap_committed_in_bytes": 0,
            "pools": {"young": pool, "survivor": pool, "old": pool},
        },
        "gc": {"collectors": {"young": collector, "old": collector}},
        "buffer_pools": {"direct": buffers, "mapped": buffers},
        "threads": {"count": machine.threads, "peak_count": machine.threads},
        "classes": {
            "current_loaded_count": 0, "total_loaded_count": 0, "total_unloaded_count": 0,
        },
    })
}

/// Refuses sections that there are not, with the nearest one.
fn check_metrics(
    call: &Call,
    wanted: &[&str],
    sections: &Map<String, Value>,
) -> Result<(), ApiError> {
    // Sections of a Java node whose figures nobody counts here.
    const ABSENT: [&str; 3] = ["file_cache", "search_backpressure", "task_cancellation"];
    let known: Vec<&str> = sections.keys().map(String::as_str).chain(ABSENT).collect();
    check_known(&stats_path(call), ("metric", wanted), &known)
}

/// Refuses parts of a path that contradict each other, sections of indexes that there are not, and a level that none is.
fn check_stats(call: &Call) -> Result<(), ApiError> {
    let metrics = call.path("metric").unwrap_or("_all");
    let names: Vec<&str> = metrics.split(',').collect();
    let level = call.params.get("level").unwrap_or("node");
    // Caches have levels of their own.
    let is_level = ["node", "indices", "shards"].contains(&level) || names.contains(&"caches");
    if !is_level {
        return Err(ApiError::illegal_argument(format!(
            "level parameter must be one of [indices] or [node] or [shards] but was [{level}]"
        )));
    }
    let path = stats_path(call);
    let all = names.contains(&"_all");
    if all && names.len() > 1 {
        return Err(ApiError::illegal_argument(format!(
            "request [{path}] contains _all and individual metrics [{metrics}]"
        )));
    }
    let Some(of_indices) = call.path("index_metric") else {
        return Ok(());
    };
    if all || !names.contains(&"indices") {
        let why = if all {
            "but all stats requested"
        } else {
            "but indices stats not requested"
        };
        return Err(ApiError::illegal_argument(format!(
            "request [{path}] contains index metrics [{of_indices}] {why}"
        )));
    }
    let wanted = sections_of(Some(of_indices)).unwrap_or_default();
    check_sections(&path, ("index metric", &wanted))
}

/// The path of a request for figures, as it is told where it is refused.
fn stats_path(call: &Call) -> String {
    let mut path = "/_nodes".to_string();
    if let Some(node) = call.path("node") {
        path.push_str(&format!("/{node}"));
    }
    path.push_str("/stats");
    for part in ["metric", "index_metric"] {
        if let Some(given) = call.path(part) {
            path.push_str(&format!("/{given}"));
        }
    }
    path
}
