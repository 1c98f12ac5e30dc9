//! `_cat`: what a person at a shell wants to know, as tables.

mod snapshots;
mod table;
mod templates;

use std::time::{SystemTime, UNIX_EPOCH};

use clew_engine::{Index, Wildcards};

use crate::aliases::is_wanted;
use crate::call::Call;
use crate::cluster::{ShardHealth, all_indices};
use crate::error::ApiError;
use crate::nodes::host_of;
use crate::reply::Reply;

pub(crate) use snapshots::{repositories, snapshots};
pub(crate) use templates::templates;

use table::{Column, Table, bytes, number, text};

/// `GET /_cat`.
pub(crate) async fn list(_call: Call) -> Result<Reply, ApiError> {
    let paths = ["aliases", "count", "health", "indices", "nodes", "repositories", "shards", "snapshots", "templates"];
    let mut listing = "=^.^=\n".to_string();
    listing.extend(paths.iter().map(|path| format!("/_cat/{path}\n")));
    Ok(Reply::text(listing))
}

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
    number(
        "store.size",
        &["ss", "storeSize"],
        "store size of primaries & replicas",
    ),
    number("pri.store.size", &[], "store size of primaries"),
];

/// `GET /_cat/indices/{index}`.
pub(crate) async fn indices(call: Call) -> Result<Reply, ApiError> {
    let unit = call.params.get("bytes");
    let wanted = call.params.get("health");
    let mut rows = Vec::new();
    for index in call.indices().await? {
        let stats = index.stats();
        let health = ShardHealth::of(std::slice::from_ref(&index)).status();
        if wanted.is_some_and(|wanted| wanted != health) {
            continue;
        }
        let size = bytes(stats.bytes, unit);
        rows.push(vec![
            health.to_string(),
            "open".to_string(),
            index.name().to_string(),
            index.uuid().to_string(),
            stats.shards.to_string(),
            replicas(&index),
            stats.docs.to_string(),
            stats.deleted.to_string(),
            size.clone(),
            size,
        ]);
    }
    Table {
        columns: INDICES,
        rows,
    }
    .reply(&call)
}

fn replicas(index: &Index) -> String {
    let given = index
        .settings()
        .given
        .get("index.number_of_replicas")
        .cloned();
    given.unwrap_or_else(|| "0".to_string())
}

const SHARDS: &[Column] = &[
    text("index", &["i", "idx"], "index name"),
    number("shard", &["s", "sh"], "shard name"),
    text(
        "prirep",
        &["p", "pr", "primaryOrReplica"],
        "primary or replica",
    ),
    text("state", &["st"], "shard state"),
    number(
        "docs",
        &["d", "dc"],
        "number of docs in shard, for an index of one shard",
    ),
    number(
        "store",
        &["sto"],
        "store size of shard, for an index of one shard",
    ),
    text("ip", &[], "ip of node where it lives"),
    text("node", &["n"], "name of node where it lives"),
];

/// `GET /_cat/shards/{index}`.
pub(crate) async fn shards(call: Call) -> Result<Reply, ApiError> {
    let unit = call.params.get("bytes");
    let options = &call.api.options;
    let mut rows = Vec::new();
    for index in call.indices().await? {
        let stats = index.stats();
        let only = stats.shards == 1;
        for shard in 0..stats.shards {
            rows.push(vec![
                index.name().to_string(),
                shard.to_string(),
                "p".to_string(),
                "STARTED".to_string(),
                if only {
                    stats.docs.to_string()
                } else {
                    String::new()
                },
                if only {
                    bytes(stats.bytes, unit)
                } else {
                    String::new()
                },
                host_of(&options.publish_address).to_string(),
                options.node_name.clone(),
            ]);
        }
    }
    Table {
        columns: SHARDS,
        rows,
    }
    .reply(&call)
}

const COUNT: &[Column] = &[
    number("epoch", &["t", "time"], "seconds since 1970-01-01 00:00:00"),
    text("timestamp", &["ts", "hms", "hhmmss"], "time in HH:MM:SS"),
    number(
        "count",
        &["dc", "docs.count", "docsCount"],
        "the document count",
    ),
];

/// `GET /_cat/count/{index}`: documents that searches see.
pub(crate) async fn count(call: Call) -> Result<Reply, ApiError> {
    let docs: u64 = call
        .indices()
        .await?
        .iter()
        .map(|index| index.stats().docs)
        .sum();
    let [epoch, timestamp] = now();
    Table {
        columns: COUNT,
        rows: vec![vec![epoch, timestamp, docs.to_string()]],
    }
    .reply(&call)
}

const HEALTH: &[Column] = &[
    number("epoch", &["t", "time"], "seconds since 1970-01-01 00:00:00"),
    text("timestamp", &["ts", "hms", "hhmmss"], "time in HH:MM:SS"),
    text("cluster", &["cl"], "cluster name"),
    text("status", &["st"], "health status"),
    number("node.total", &["nt", "nodeTotal"], "total number of nodes"),
    number(
        "node.data",
        &["nd", "nodeData"],
        "number of nodes that can store data",
    ),
    text(
        "discovered_cluster_manager",
        &["dcm"],
        "cluster manager is discovered or not",
    ),
    number(
        "shards",
        &["t", "sh", "shards.total"],
        "total number of shards",
    ),
    number("pri", &["p", "shards.primary"], "number of primary shards"),
    number(
        "relo",
        &["r", "shards.relocating"],
        "number of relocating shards",
    ),
    number(
        "init",
        &["i", "shards.initializing"],
        "number of initializing shards",
    ),
    number(
        "unassign",
        &["u", "shards.unassigned"],
        "number of unassigned shards",
    ),
    number(
        "pending_tasks",
        &["pt", "pendingTasks"],
        "number of pending tasks",
    ),
    text(
        "max_task_wait_time",
        &["mtwt"],
        "wait time of longest task pending",
    ),
    number(
        "active_shards_percent",
        &["asp"],
        "active number of shards in percent",
    ),
];

/// `GET /_cat/health`.
pub(crate) async fn health(call: Call) -> Result<Reply, ApiError> {
    let health = ShardHealth::of(&all_indices(&call.api)?);
    let [epoch, timestamp] = now();
    let row = vec![
        epoch,
        timestamp,
        call.api.options.cluster_name.clone(),
        health.status().to_string(),
        "1".to_string(),
        "1".to_string(),
        "true".to_string(),
        health.active.to_string(),
        health.active.to_string(),
        "0".to_string(),
        "0".to_string(),
        health.failed.to_string(),
        "0".to_string(),
        "-".to_string(),
        format!("{:.1}%", health.active_percent()),
    ];
    Table {
        columns: HEALTH,
        rows: vec![row],
    }
    .reply(&call)
}

const NODES: &[Column] = &[
    text("ip", &["i"], "ip address"),
    number("heap.percent", &["hp", "heapPercent"], "used heap ratio"),
    number(
        "ram.percent",
        &["rp", "ramPercent"],
        "used machine memory ratio",
    ),
    number("cpu", &[], "recent cpu usage"),
    number("load_1m", &["l"], "1m load avg"),
    number("load_5m", &["l"], "5m load avg"),
    number("load_15m", &["l"], "15m load avg"),
    text(
        "node.role",
        &["r", "role", "nodeRole"],
        "d:data node, i:ingest node, m:manager node",
    ),
    text("node.roles", &["rs", "all roles"], "all roles of the node"),
    text(
        "cluster_manager",
        &["cm", "m", "master"],
        "*:current cluster manager",
    ),
    text("name", &["n"], "node name"),
];

/// `GET /_cat/nodes`. There is no heap, and load is for the machine's own tools.
pub(crate) async fn nodes(call: Call) -> Result<Reply, ApiError> {
    let options = &call.api.options;
    let unknown = || "0".to_string();
    let row = vec![
        host_of(&options.publish_address).to_string(),
        unknown(),
        unknown(),
        unknown(),
        unknown(),
        unknown(),
        unknown(),
        "dim".to_string(),
        "cluster_manager,data,ingest".to_string(),
        "*".to_string(),
        options.node_name.clone(),
    ];
    Table {
        columns: NODES,
        rows: vec![row],
    }
    .reply(&call)
}

const ALIASES: &[Column] = &[
    text("alias", &["a"], "alias name"),
    text("index", &["i", "idx"], "index alias points to"),
    text("filter", &["f", "fi"], "filter"),
    text("routing.index", &["ri", "routingIndex"], "index routing"),
    text("routing.search", &["rs", "routingSearch"], "search routing"),
    text("is_write_index", &["w", "isWriteIndex"], "write index"),
];

/// `GET /_cat/aliases/{alias}`.
pub(crate) async fn aliases(call: Call) -> Result<Reply, ApiError> {
    let names: Vec<&str> = call.path("alias").map_or(Vec::new(), |names| names.split(',').collect());
    let mut rows = Vec::new();
    for index in call.indices_from(Wildcards::ALL).await? {
        for (name, alias) in index.aliases().iter() {
            if !is_wanted(&names, name) {
                continue;
            }
            let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_string());
            rows.push(vec![
                name.clone(),
                index.name().to_string(),
                or_dash(alias.filter.as_ref().map(|_| "*".to_string())),
                or_dash(alias.index_routing.clone()),
                or_dash(alias.search_routing.clone()),
                or_dash(alias.is_write_index.map(|flag| flag.to_string())),
            ]);
        }
    }
    Table {
        columns: ALIASES,
        rows,
    }
    .reply(&call)
}

/// Seconds since the epoch, and the time of day in UTC.
fn now() -> [String; 2] {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
    [
        seconds.to_string(),
        format!("{hours:02}:{minutes:02}:{:02}", seconds % 60),
    ]
}
