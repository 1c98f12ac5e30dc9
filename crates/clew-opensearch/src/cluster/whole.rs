//! What is counted over the whole cluster, which is one node.

use std::sync::Arc;

use clew_engine::Index;
use clew_platform::{stopped, whole_ms};
use serde_json::{Value, json};

use crate::cluster::definitions_counted::{analysis, field_types};
use crate::cluster::machine::{DiskSpace, Machine, processors};
use crate::cluster::nodes::{names_this_node, plugins};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::copies::ShardHealth;
use crate::indices::index_mapping::shown_mapping;
use crate::indices::settings::analysis_of;
use crate::indices::stats::{Sums, pick};
use crate::ingest;
use crate::state::api::{Api, stable_id};
use crate::state::call::Call;

/// `GET /_cluster/stats`, `/_cluster/stats/nodes/{node}`.
pub(crate) async fn stats(call: Call) -> Result<Reply, ApiError> {
    let options = &call.api.options;
    let named = call
        .path("node")
        .is_none_or(|node| names_this_node(&call.api, node));
    let count = u32::from(named);
    let mut body = json!({
        "_nodes": {"total": count, "successful": count, "failed": 0},
        "cluster_name": options.cluster_name,
        "cluster_uuid": stable_id(&[&options.cluster_name]),
        "timestamp": call.api.engine.now_ms(),
    });
    if named {
        let indices = call.shown_indices();
        body["status"] = ShardHealth::of(&indices).status().into();
        body["indices"] = call.off_thread(move || of_indices(&indices)).await?;
        body["nodes"] = of_node(&call.api);
    }
    Ok(Reply::json(&body))
}

/// Figures of all indexes together.
fn of_indices(indices: &[Arc<Index>]) -> Value {
    let mut sums = Sums::default();
    for index in indices {
        sums.add(index, &[]);
    }
    let sections = [
        "docs",
        "store",
        "fielddata",
        "query_cache",
        "completion",
        "segments",
    ];
    let mut shown = json!({"count": indices.len(), "shards": of_shards(indices)});
    if let (Value::Object(shown), Value::Object(sections)) =
        (&mut shown, pick(sums.to_json(), Some(&sections)))
    {
        shown.extend(sections);
    }
    let wanted = indices.iter().take_while(|_| !stopped());
    let mappings: Vec<Value> = wanted.map(|index| shown_mapping(index)).collect();
    shown["mappings"] = field_types(&mappings);
    let settings = indices
        .iter()
        .map(|index| analysis_of(&index.settings().given));
    let settings = settings.map(Option::unwrap_or_default);
    let defined: Vec<(Value, Value)> = settings.zip(mappings).collect();
    shown["analysis"] = analysis(&defined);
    shown
}

/// How many shards indexes have: together, least, most and in the mean.
fn of_shards(indices: &[Arc<Index>]) -> Value {
    let each = || indices.iter().map(|index| index.settings().shards);
    let total: u32 = each().sum();
    if total == 0 {
        return json!({});
    }
    let count = u32::try_from(indices.len()).unwrap_or(u32::MAX);
    let range = json!({
        "min": each().min(), "max": each().max(), "avg": f64::from(total) / f64::from(count),
    });
    json!({
        "total": total,
        "primaries": total,
        "replication": 0.0,
        "index": {
            "shards": range,
            "primaries": range,
            "replication": {"min": 0.0, "max": 0.0, "avg": 0.0},
        },
    })
}

/// Figures of the node, which is the whole cluster.
fn of_node(api: &Api) -> Value {
    let options = &api.options;
    let machine = Machine::now();
    let disk = DiskSpace::of(&options.data);
    let uptime_ms = whole_ms(api.started.elapsed());
    let system = std::env::consts::OS;
    let files = machine.open_files;
    json!({
        "count": {
            "total": 1, "cluster_manager": 1, "master": 1, "data": 1, "ingest": 1,
            "coordinating_only": 0, "remote_cluster_client": 0, "search": 0, "warm": 0,
        },
        "versions": [options.version_number],
        "os": {
            "available_processors": processors(),
            "allocated_processors": processors(),
            "names": [{"name": system, "count": 1}],
            "pretty_names": [{"pretty_name": system, "count": 1}],
            "mem": machine.os_stats(api)["mem"],
        },
        "process": {
            "cpu": {"percent": machine.cpu_percent(api.started)},
            "open_file_descriptors": {"min": files, "max": files, "avg": files},
        },
        // There is no Java machine.
        "jvm": {
            "max_uptime_in_millis": uptime_ms,
            "versions": [],
            "mem": {"heap_used_in_bytes": 0, "heap_max_in_bytes": 0},
            "threads": machine.threads,
        },
        "fs": {
            "total_in_bytes": disk.total,
            "free_in_bytes": disk.free,
            "available_in_bytes": disk.available,
        },
        "plugins": plugins(options),
        "ingest": {
            "number_of_pipelines": ingest::count(&api.engine),
            "processor_stats": ingest::by_kind(&api.engine),
        },
        "network_types": {"transport_types": {}, "http_types": {}},
        "discovery_types": {"single-node": 1},
        "packaging_types": [{"type": "tar", "count": 1}],
    })
}

/// `GET /_cluster/pending_tasks`: changes of the cluster's state are made at once, so none waits.
pub(crate) async fn pending_tasks(_call: Call) -> Result<Reply, ApiError> {
    Ok(Reply::json(&json!({"tasks": []})))
}

/// `GET /_dangling`: what the catalog does not know is no index, so that none is left over.
pub(crate) async fn dangling(call: Call) -> Result<Reply, ApiError> {
    Ok(Reply::json(&json!({
        "_nodes": {"total": 1, "successful": 1, "failed": 0},
        "cluster_name": call.api.options.cluster_name,
        "dangling_indices": [],
    })))
}

/// `GET /_remote/info`: there are no remote clusters.
pub(crate) async fn remote_info(_call: Call) -> Result<Reply, ApiError> {
    Ok(Reply::json(&json!({})))
}
