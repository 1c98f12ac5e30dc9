//! `_nodes`: this node, with the members that benchmark tools and log shippers read without asking
//! whether they are there. There is no Java machine; its figures are zeros.

use std::sync::atomic::Ordering;

use clew_platform::whole_ms;
use clew_schema::glob::matches as glob;
use serde_json::{Map, Value, json};

use crate::cluster::machine::{DiskSpace, Machine, processors};
use crate::http::error::ApiError;
use crate::http::memory_stats;
use crate::http::reply::Reply;
use crate::indices::stats::{Sums, pick, sections_of, shard_stats, unknown_metric};
use crate::ingest;
use crate::state::api::{Api, BUILD_HASH, BUILD_TYPE, RestOptions};
use crate::state::call::Call;

pub(crate) const ROLES: [&str; 3] = ["cluster_manager", "data", "ingest"];

/// What clients look for among the plugins, and is built in: names and what they do.
pub(crate) const PLUGINS: &[(&str, &str)] = &[
    (
        "opensearch-index-management",
        "index state management, built in",
    ),
    ("opensearch-knn", "vector search, built in"),
    ("opensearch-sql", "SQL and PPL, built in"),
];

/// The modules of OpenSearch whose work is done here, and what that is.
const MODULES: &[(&str, &str)] = &[
    ("aggs-matrix-stats", "matrix statistics"),
    ("analysis-common", "analyzers and their parts"),
    ("geo", "aggregations of places"),
    ("ingest-common", "processors of documents"),
    ("ingest-geoip", "places of addresses"),
    ("ingest-user-agent", "what browsers call themselves"),
    ("lang-expression", "expressions"),
    ("lang-mustache", "templates of searches"),
    ("lang-painless", "scripts"),
    ("mapper-extras", "more types of fields"),
    ("parent-join", "relatives"),
    ("percolator", "stored queries"),
    ("rank-eval", "how good searches are"),
    ("reindex", "writes by query"),
    ("search-pipeline-common", "processors of searches"),
];

/// `GET /_nodes`.
pub(crate) async fn info(call: Call) -> Result<Reply, ApiError> {
    let options = &call.api.options;
    let address = options.publish_address.as_str();
    let host = options.publish_host();
    let flat = call.params.flag("flat_settings", false)?;
    let settings = settings_of(options, flat);
    let mut node = json!({
        "name": options.node_name,
        "transport_address": address,
        "host": host,
        "ip": host,
        "version": options.version_number,
        "build_type": BUILD_TYPE,
        "build_hash": BUILD_HASH,
        "total_indexing_buffer": 0,
        "roles": ROLES,
        "attributes": {},
        "settings": settings,
        "os": {
            "refresh_interval_in_millis": 1000,
            "name": std::env::consts::OS,
            "pretty_name": std::env::consts::OS,
            "arch": std::env::consts::ARCH,
            "version": "",
            "available_processors": processors(),
            "allocated_processors": processors(),
        },
        "process": {
            "refresh_interval_in_millis": 1000, "id": std::process::id(), "mlockall": false,
        },
        "jvm": no_jvm(&call.api),
        "transport": {"bound_address": [address], "publish_address": address, "profiles": {}},
        "http": {
            "bound_address": [address],
            "publish_address": address,
            "max_content_length_in_bytes": options.body_bytes_max,
        },
        "plugins": plugins(options),
        "modules": built_in(MODULES, options),
        "aggregations": crate::aggs::supported(),
        "ingest": {"processors": ingest::processors()},
        "search_pipelines": crate::search::search_pipeline::supported(),
    });
    let in_place_of_node = call.path("node").filter(|names| are_sections(names));
    if let Some(names) = call.path("metric").or(in_place_of_node) {
        keep_sections(&mut node, names);
    }
    Ok(Reply::json(&nodes_body(&call, node)))
}

/// The built-in plugins, with all that typed clients read of one.
pub(crate) fn plugins(options: &RestOptions) -> Vec<Value> {
    built_in(PLUGINS, options)
}

/// What typed clients read of plugins and modules, by their names and what they are for.
fn built_in(parts: &[(&str, &str)], options: &RestOptions) -> Vec<Value> {
    let plugin = |(name, about): &(&str, &str)| {
        json!({
            "name": name,
            "version": options.version_number,
            "opensearch_version": options.version_number,
            "java_version": "none",
            "description": about,
            "classname": "builtin",
            "custom_foldername": "",
            "extended_plugins": [],
            "optional_extended_plugins": [],
            "has_native_controller": false,
        })
    };
    parts.iter().map(plugin).collect()
}

/// What typed clients read of the Java machine that there is not.
fn no_jvm(api: &Api) -> Value {
    let started_ms = whole_ms(api.started_since_epoch());
    json!({
        "pid": std::process::id(),
        "version": "none",
        "vm_name": "none",
        "vm_version": "none",
        "vm_vendor": "none",
        "bundled_jdk": false,
        "using_bundled_jdk": false,
        "start_time_in_millis": started_ms,
        "mem": {
            "heap_init_in_bytes": 0, "heap_max_in_bytes": 0, "non_heap_init_in_bytes": 0,
            "non_heap_max_in_bytes": 0, "direct_max_in_bytes": 0,
        },
        "gc_collectors": [],
        "memory_pools": [],
        "using_compressed_ordinary_object_pointers": "false",
        "input_arguments": [],
    })
}

/// The settings that the node was started with, as clients read them. Logs go to standard error.
fn settings_of(options: &RestOptions, flat: bool) -> Value {
    let (data, repositories) = (&options.data, &options.repository_roots);
    match flat {
        true => json!({
            "client.type": "node", "cluster.name": options.cluster_name, "node.name": options.node_name,
            "path.data": [data], "path.home": data, "path.logs": "", "path.repo": repositories,
            "http.type.default": "clew", "transport.type.default": "clew",
        }),
        false => json!({
            "client": {"type": "node"},
            "cluster": {"name": options.cluster_name},
            "node": {"name": options.node_name},
            "path": {"data": [data], "home": data, "logs": "", "repo": repositories},
            "http": {"type": {"default": "clew"}},
            "transport": {"type": {"default": "clew"}},
        }),
    }
}

/// `POST /_nodes/reload_secure_settings`: there is no keystore, so that nothing is read again, and no password is right.
pub(crate) async fn reload_secure_settings(call: Call) -> Result<Reply, ApiError> {
    let body = call.json()?.unwrap_or(Value::Null);
    let password = body.get("secure_settings_password").and_then(Value::as_str);
    let mut node = json!({"name": call.api.options.node_name});
    if password.is_some_and(|password| !password.is_empty()) {
        node["reload_exception"] = json!({
            "type": "security_exception",
            "reason": "Provided keystore password was incorrect",
        });
    }
    Ok(Reply::json(&nodes_body(&call, node)))
}

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
    Ok(Reply::json(&nodes_body(&call, node)))
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
        let shown = pick(one.to_json(), wanted.as_deref());
        each.insert(index.name().to_string(), shown);
        if level == Some("shards") {
            let of_shards = shard_stats(&call.api, &index, wanted.as_deref());
            let numbered = of_shards.into_iter().enumerate();
            let numbered = numbered.map(|(number, one)| json!({number.to_string(): one}));
            shards.insert(index.name().to_string(), numbered.collect());
        }
    }
    let mut section = pick(sums.to_json(), wanted.as_deref());
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
    let disk = DiskSpace::of(&api.options.data);
    let space = json!({
        "total_in_bytes": disk.total,
        "free_in_bytes": disk.free,
        "available_in_bytes": disk.available,
    });
    let mut place = space.clone();
    place["path"] = json!(api.options.data);
    let estimate = json!({
        "path": api.options.data,
        "total_in_bytes": disk.total,
        "available_in_bytes": disk.available,
        "used_disk_percent": 100.0 - disk.free_percent(),
    });
    place["type"] = json!(std::env::consts::OS);
    place["mount"] = json!("");
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
        }},
        "fs": {
            "timestamp": api.engine.now_ms(),
            "total": space,
            "data": [place],
            "least_usage_estimate": estimate,
            "most_usage_estimate": estimate,
        },
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
        },
        "indexing_pressure": memory_stats::indexing_pressure(api.engine.memory()),
    });
    match sections {
        Value::Object(sections) => sections,
        _ => Map::new(),
    }
}

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
            "heap_used_in_bytes": 0, "heap_used_percent": 0, "heap_max_in_bytes": 0,
            "heap_committed_in_bytes": 0, "non_heap_used_in_bytes": 0,
            "non_heap_committed_in_bytes": 0,
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
    // Sections of a Java node that stay empty here.
    const ABSENT: [&str; 16] = [
        "adaptive_selection",
        "admission_control",
        "caches",
        "cluster_manager_throttling",
        "file_cache",
        "remote_store",
        "repositories",
        "resource_usage_stats",
        "script",
        "script_cache",
        "search_backpressure",
        "search_pipeline",
        "segment_replication_backpressure",
        "shard_indexing_pressure",
        "task_cancellation",
        "weighted_routing",
    ];
    let known: Vec<&str> = sections.keys().map(String::as_str).chain(ABSENT).collect();
    let Some(unknown) = wanted.iter().find(|name| !known.contains(name)) else {
        return Ok(());
    };
    Err(unknown_metric(
        &stats_path(call),
        ("metric", *unknown),
        &known,
    ))
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
    let sections = Sums::default().to_json();
    let sections = sections.as_object().into_iter().flat_map(Map::keys);
    let known: Vec<&str> = sections
        .map(String::as_str)
        .chain(["merge", "suggest"])
        .collect();
    let wanted = sections_of(Some(of_indices)).unwrap_or_default();
    match wanted.iter().find(|name| !known.contains(name)) {
        Some(unknown) => Err(unknown_metric(&path, ("index metric", *unknown), &known)),
        None => Ok(()),
    }
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

/// Whether a list of nodes in a path has this one: by id, name, address, role, or a word for it.
pub(crate) fn names_this_node(api: &Api, expression: &str) -> bool {
    let options = &api.options;
    let own = [
        api.node_id.as_str(),
        &options.node_name,
        &options.publish_address,
        options.publish_host(),
        "_local",
        "_all",
        "_master",
        "_cluster_manager",
        "master:true",
        "cluster_manager:true",
        "data:true",
        "ingest:true",
    ];
    let named = |part: &str| own.iter().any(|name| glob(part, name));
    expression.split(',').any(named)
}

fn nodes_body(call: &Call, node: Value) -> Value {
    let api = &call.api;
    // Without a node in the path the same place may hold a section.
    let named = call
        .path("node")
        .is_none_or(|node| are_sections(node) || names_this_node(api, node));
    let nodes = match named {
        true => json!({&api.node_id: node}),
        false => json!({}),
    };
    let count = u32::from(named);
    json!({
        "_nodes": {"total": count, "successful": count, "failed": 0},
        "cluster_name": api.options.cluster_name,
        "nodes": nodes,
    })
}

/// Whether a list in the place of nodes names sections.
fn are_sections(names: &str) -> bool {
    names.split(',').all(|name| SECTIONS.contains(&name))
}

/// Leaves only the sections that a list names, and what is told of every node.
fn keep_sections(node: &mut Value, names: &str) {
    let Value::Object(node) = node else {
        return;
    };
    let is_wanted = |section: &str| {
        let mut names = names.split(',');
        names.any(|name| name == section || name == "_all")
    };
    node.retain(|member, _| match member.as_str() {
        "total_indexing_buffer" => is_wanted("indices"),
        "modules" => is_wanted("plugins"),
        section => !SECTIONS.contains(&section) || is_wanted(section),
    });
}

/// Sections of `GET /_nodes/{node}`, which may stand in the place of a node.
const SECTIONS: [&str; 13] = [
    "settings",
    "os",
    "process",
    "jvm",
    "thread_pool",
    "transport",
    "http",
    "plugins",
    "ingest",
    "aggregations",
    "indices",
    "search_pipelines",
    "timestamp",
];
