//! `_nodes`: this node, with the members that benchmark tools and log shippers read without asking
//! whether they are there. There is no Java machine; its figures are zeros, but for those of a heap (`node_stats`). What the node did is told by `node_stats`.

use clew_platform::whole_ms;
use clew_schema::glob::matches as glob;
use serde_json::{Value, json};

use crate::cluster::machine::{Machine, processors};
use crate::http::error::ApiError;
use crate::http::human::of_figures;
use crate::http::reply::Reply;
use crate::ingest;
use crate::state::api::{Api, BUILD_HASH, BUILD_TYPE, RestOptions};
use crate::state::call::Call;
use crate::state::usage::Usage;

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
    let pool = call.api.engine.stats().search;
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
        "thread_pool": {"search": {
            "type": "fixed", "size": pool.threads, "queue_size": pool.waiting_max,
        }},
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
    of_figures(nodes_body(&call, node), &call.params)
}

/// `GET /_nodes/{node}/usage/{metric}`: how often each endpoint was asked for. What aggregations were is not counted.
pub(crate) async fn usage(call: Call) -> Result<Reply, ApiError> {
    let api = &call.api;
    let metrics = call.path("metric").unwrap_or("_all");
    let wanted: Vec<&str> = metrics.split(',').collect();
    let all = wanted.contains(&"_all");
    if all && wanted.len() > 1 {
        let mut path = "/_nodes".to_string();
        if let Some(node) = call.path("node") {
            path.push_str(&format!("/{node}"));
        }
        return Err(ApiError::illegal_argument(format!(
            "request [{path}/usage/{metrics}] contains _all and individual metrics [{metrics}]"
        )));
    }
    let mut node = json!({
        "timestamp": api.engine.now_ms(),
        "since": whole_ms(api.started_since_epoch()),
    });
    if all || wanted.contains(&"rest_actions") {
        node["rest_actions"] = json!(api.parts.get::<Usage>().asked());
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
            "heap_init_in_bytes": 0, "heap_max_in_bytes": Machine::now().memory_total,
            "non_heap_init_in_bytes": 0, "non_heap_max_in_bytes": 0, "direct_max_in_bytes": 0,
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

/// What is said of this node, where the path does not name others alone.
pub(super) fn nodes_body(call: &Call, node: Value) -> Value {
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
