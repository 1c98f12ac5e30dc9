//! `_nodes`: this node, with the members that benchmark tools and log shippers read without asking
//! whether they are there. There is no Java machine; its figures are zeros.

use serde_json::{Value, json};

use crate::api::Api;
use crate::call::Call;
use crate::cluster::all_indices;
use crate::error::ApiError;
use crate::reply::Reply;
use crate::stats::Sums;

const ROLES: [&str; 3] = ["cluster_manager", "data", "ingest"];

/// `GET /_nodes`.
pub(crate) async fn info(call: Call) -> Result<Reply, ApiError> {
    let options = &call.api.options;
    let address = options.publish_address.as_str();
    let host = host_of(address);
    let node = json!({
        "name": options.node_name,
        "transport_address": address,
        "host": host,
        "ip": host,
        "version": options.version_number,
        "build_type": "tar",
        "build_hash": "unknown",
        "total_indexing_buffer": 0,
        "roles": ROLES,
        "attributes": {},
        "settings": {"cluster": {"name": options.cluster_name}, "node": {"name": options.node_name}},
        "os": {
            "refresh_interval_in_millis": 1000,
            "name": std::env::consts::OS,
            "pretty_name": std::env::consts::OS,
            "arch": std::env::consts::ARCH,
            "version": "",
            "available_processors": processors(),
            "allocated_processors": processors(),
        },
        "process": {"id": std::process::id(), "mlockall": false},
        "jvm": {
            "pid": std::process::id(),
            "version": "none",
            "vm_name": "none",
            "vm_version": "none",
            "vm_vendor": "none",
            "mem": {"heap_init_in_bytes": 0, "heap_max_in_bytes": 0},
            "gc_collectors": [],
            "memory_pools": [],
        },
        "transport": {"bound_address": [address], "publish_address": address, "profiles": {}},
        "http": {
            "bound_address": [address],
            "publish_address": address,
            "max_content_length_in_bytes": options.body_bytes_max,
        },
        "plugins": [{
            "name": "opensearch-knn",
            "version": options.version_number,
            "opensearch_version": options.version_number,
            "description": "vector search, built in",
            "classname": "builtin",
            "has_native_controller": false,
        }],
        "modules": [],
        "ingest": {"processors": []},
    });
    Ok(Reply::json(&nodes_body(&call.api, node)))
}

/// `GET /_nodes/stats`.
pub(crate) async fn stats(call: Call) -> Result<Reply, ApiError> {
    let options = &call.api.options;
    let mut sums = Sums::default();
    for index in all_indices(&call.api)? {
        sums.add(&index.stats());
    }
    let collector = json!({"collection_count": 0, "collection_time_in_millis": 0});
    let pool = json!({
        "used_in_bytes": 0, "max_in_bytes": 0, "peak_used_in_bytes": 0, "peak_max_in_bytes": 0,
    });
    let node = json!({
        "timestamp": 0,
        "name": options.node_name,
        "transport_address": options.publish_address,
        "host": host_of(&options.publish_address),
        "ip": options.publish_address,
        "roles": ROLES,
        "attributes": {},
        "indices": sums.to_json(),
        "os": {"cpu": {"percent": 0}, "mem": {"total_in_bytes": 0, "used_percent": 0}},
        "process": {"open_file_descriptors": 0, "cpu": {"percent": 0, "total_in_millis": 0}},
        "jvm": {
            "uptime_in_millis": 0,
            "mem": {
                "heap_used_in_bytes": 0, "heap_used_percent": 0, "heap_max_in_bytes": 0,
                "pools": {"young": pool, "survivor": pool, "old": pool},
            },
            "gc": {"collectors": {"young": collector, "old": collector}},
            "buffer_pools": {},
            "threads": {"count": 0, "peak_count": 0},
        },
        "thread_pool": {},
        "fs": {"total": {}},
        "transport": {},
        "http": {"current_open": 0, "total_opened": 0},
        "breakers": {},
    });
    Ok(Reply::json(&nodes_body(&call.api, node)))
}

fn nodes_body(api: &Api, node: Value) -> Value {
    json!({
        "_nodes": {"total": 1, "successful": 1, "failed": 0},
        "cluster_name": api.options.cluster_name,
        "nodes": {&api.node_id: node},
    })
}

pub(crate) fn host_of(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
