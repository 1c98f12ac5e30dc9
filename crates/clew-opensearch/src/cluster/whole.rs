//! What is counted over the whole cluster, which is one node.

use std::sync::Arc;

use clew_engine::{Index, Purpose};
use clew_platform::{MemoryPurpose, stopped, whole_ms};
use serde_json::{Value, json};

use crate::cluster::definitions_counted::{analysis, field_types};
use crate::cluster::machine::{DiskSpace, Machine, processors};
use crate::cluster::nodes::{names_this_node, plugins};
use crate::http::error::ApiError;
use crate::http::human::of_figures;
use crate::http::reply::Reply;
use crate::indices::copies::ShardHealth;
use crate::indices::index_mapping::shown_mapping;
use crate::indices::settings::analysis_of;
use crate::indices::stats::{Sums, check_known, pick, sections_of};
use crate::ingest;
use crate::state::api::{Api, stable_id};
use crate::state::call::Call;

/// Figures of the node, as a path names them.
const NODE_METRICS: [&str; 9] = [
    "os",
    "process",
    "jvm",
    "fs",
    "plugins",
    "ingest",
    "network_types",
    "discovery_types",
    "packaging_types",
];

/// Those of indexes.
const INDEX_METRICS: [&str; 9] = [
    "shards",
    "docs",
    "store",
    "fielddata",
    "query_cache",
    "completion",
    "segments",
    "mappings",
    "analysis",
];

/// The figures that a path names; `None` stands for all of them.
struct Figures<'c> {
    metrics: Option<Vec<&'c str>>,
    of_indices: Option<Vec<&'c str>>,
}

impl<'c> Figures<'c> {
    fn read(call: &'c Call) -> Result<Self, ApiError> {
        let mut path = "/_cluster/stats".to_string();
        for part in ["metric", "index_metric"] {
            if let Some(given) = call.path(part) {
                path.push_str(&format!("/{given}"));
            }
        }
        if let Some(node) = call.path("node") {
            path.push_str(&format!("/nodes/{node}"));
        }
        let known: Vec<&str> = NODE_METRICS.into_iter().chain(["indices"]).collect();
        let figures = Figures {
            metrics: listed(&path, call.path("metric"), ("metric", known.as_slice()))?,
            of_indices: listed(
                &path,
                call.path("index_metric"),
                ("index metric", INDEX_METRICS.as_slice()),
            )?,
        };
        if let Some(given) = call.path("index_metric")
            && !figures.has_indices()
        {
            return Err(ApiError::illegal_argument(format!(
                "request [{path}] contains index metrics [{given}] but indices stats not requested"
            )));
        }
        Ok(figures)
    }

    fn has_indices(&self) -> bool {
        let metrics = self.metrics.as_ref();
        metrics.is_none_or(|metrics| metrics.contains(&"indices"))
    }

    fn has_node(&self) -> bool {
        let metrics = self.metrics.as_ref();
        metrics.is_none_or(|metrics| metrics.iter().any(|name| *name != "indices"))
    }
}

/// The figures that one part of a path names; `None` for all of them.
fn listed<'c>(
    path: &str,
    given: Option<&'c str>,
    (what, known): (&str, &[&str]),
) -> Result<Option<Vec<&'c str>>, ApiError> {
    let Some(wanted) = sections_of(given) else {
        return match given.filter(|given| given.contains(',')) {
            Some(given) => Err(ApiError::illegal_argument(format!(
                "request [{path}] contains _all and individual {what}s [{given}]"
            ))),
            None => Ok(None),
        };
    };
    check_known(path, (what, &wanted), known)?;
    Ok(Some(wanted))
}

/// What is wanted of figures, and those that are there in any case.
fn kept(mut shown: Value, always: &[&str], wanted: Option<&[&str]>) -> Value {
    if let (Some(wanted), Value::Object(figures)) = (wanted, &mut shown) {
        figures.retain(|name, _| {
            let name = name.as_str();
            always.contains(&name) || wanted.contains(&name)
        });
    }
    shown
}

/// `GET /_cluster/stats`, `/_cluster/stats/{metric}/{index_metric}/nodes/{node}`.
pub(crate) async fn stats(call: Call) -> Result<Reply, ApiError> {
    let figures = Figures::read(&call)?;
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
        if figures.has_indices() {
            let shown = call.off_thread(move || of_indices(&indices)).await?;
            body["indices"] = kept(shown, &["count"], figures.of_indices.as_deref());
        }
        if figures.has_node() {
            let shown = of_node(&call.api);
            body["nodes"] = kept(shown, &["count", "versions"], figures.metrics.as_deref());
        }
    }
    of_figures(body, &call.params)
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
            "cpu": {"percent": machine.cpu_shares(api).process},
            "open_file_descriptors": {"min": files, "max": files, "avg": files},
        },
        // There is no Java machine, and no heap: in its place stands the memory of the process.
        "jvm": {
            "max_uptime_in_millis": uptime_ms,
            "versions": [],
            "mem": {
                "heap_used_in_bytes": machine.resident, "heap_max_in_bytes": machine.memory_total,
            },
            "threads": machine.threads,
        },
        "fs": {
            "total_in_bytes": disk.total,
            "free_in_bytes": disk.free,
            "available_in_bytes": disk.available,
            "cache_reserved_in_bytes": 0,
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

/// `GET /_remotestore/stats/{index}/{shard}`: shards lie on the disk alone, so that nothing is told of any.
pub(crate) async fn remote_store_stats(call: Call) -> Result<Reply, ApiError> {
    call.indices(Purpose::Watch).await?;
    Ok(Reply::json(&json!({
        "_shards": {"total": 0, "successful": 0, "failed": 0},
        "indices": {},
    })))
}

/// The group of searches that belong to no other.
const SEARCH_GROUP: &str = "DEFAULT_QUERY_GROUP";

/// `GET /_wlm/{node}/stats/{group}`: searches are all of one group. Its share of the processors is that of the process,
/// and what it takes of the memory is what searches have booked.
pub(crate) async fn workload_stats(call: Call) -> Result<Reply, ApiError> {
    let api = &call.api;
    let mut nodes = json!({"total": 0, "successful": 0, "failed": 0});
    let mut body = json!({"cluster_name": api.options.cluster_name});
    let groups = call.path("group").unwrap_or("_all");
    let is_known = |name: &&str| matches!(*name, "_all" | SEARCH_GROUP);
    let unknown = groups.split(',').find(|name| !is_known(name));
    let named = call.path("node");
    if named.is_none_or(|node| names_this_node(api, node)) {
        nodes["total"] = 1.into();
        match unknown {
            Some(unknown) => {
                let reason = format!("QueryGroup with id {unknown} does not exist");
                nodes["failed"] = 1.into();
                nodes["failures"] = json!([{
                    "type": "failed_node_exception",
                    "reason": format!("Failed node [{}]", api.node_id),
                    "node_id": api.node_id,
                    "caused_by": {"type": "resource_not_found_exception", "reason": reason},
                }]);
            }
            None => {
                nodes["successful"] = 1.into();
                body[api.node_id.as_str()] = json!({"query_groups": {SEARCH_GROUP: searches(api)}});
            }
        }
    }
    body["_nodes"] = nodes;
    Ok(Reply::json(&body))
}

/// Figures of all searches as those of a group.
fn searches(api: &Api) -> Value {
    let pool = api.engine.stats().search;
    let booked = api.engine.memory().figures(MemoryPurpose::Searches);
    #[allow(clippy::cast_precision_loss, reason = "shares are told, not bytes")]
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let cpu = share(Machine::now().cpu_shares(api).process, 100);
    let memory = share(booked.used as u64, api.engine.memory_bytes());
    json!({
        "total_completions": pool.searches_total,
        "total_rejections": pool.rejected_total,
        "total_cancellations": 0,
        "cpu": {"current_usage": cpu, "cancellations": 0, "rejections": 0},
        "memory": {"current_usage": memory, "cancellations": 0, "rejections": booked.refused},
    })
}

/// `GET /_remote/info`: there are no remote clusters.
pub(crate) async fn remote_info(_call: Call) -> Result<Reply, ApiError> {
    Ok(Reply::json(&json!({})))
}
