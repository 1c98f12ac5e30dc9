//! `_cat`: what a person at a shell wants to know, as tables.

mod cluster;
mod indices;
mod nodes;
mod pages;
mod recovery;
mod segments;
mod shards;
mod snapshots;
mod table;
mod templates;

use std::time::Duration;

use clew_engine::{Purpose, Took, Wildcards};

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::aliases::{aliases_of, is_wanted};
use crate::indices::copies::ShardHealth;
use crate::state::call::Call;

pub(crate) use cluster::{cluster_manager, field_data, pending_tasks, thread_pool};
pub(crate) use indices::{count, indices};
pub(crate) use nodes::{allocation, attributes, nodes, plugins, tasks};
pub(crate) use pages::{list_help, list_indices, list_shards};
pub(crate) use recovery::{recovery, segment_replication};
pub(crate) use segments::{all_pit_segments, pit_segments, segments};
pub(crate) use shards::shards;
pub(crate) use snapshots::{repositories, snapshots};
use table::{Column, Table, number, text};
pub(crate) use templates::templates;

/// `GET /_cat`.
pub(crate) async fn list(_call: Call) -> Result<Reply, ApiError> {
    let paths = [
        "aliases",
        "allocation",
        "cluster_manager",
        "count",
        "fielddata",
        "health",
        "indices",
        "nodeattrs",
        "nodes",
        "pending_tasks",
        "pit_segments",
        "plugins",
        "recovery",
        "repositories",
        "segment_replication",
        "segments",
        "shards",
        "snapshots",
        "tasks",
        "templates",
        "thread_pool",
    ];
    let mut listing = "=^.^=\n".to_string();
    listing.extend(paths.iter().map(|path| format!("/_cat/{path}\n")));
    Ok(Reply::text(listing))
}

const HEALTH: &[Column] = &[
    text("epoch", &["t", "time"], "seconds since 1970-01-01 00:00:00"),
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
        &["dcm", "dm", "discovered_master"],
        "cluster manager is discovered or not",
    ),
    number(
        "shards",
        &["t", "sh", "shards.total", "shardsTotal"],
        "total number of shards",
    ),
    number(
        "pri",
        &["p", "shards.primary", "shardsPrimary"],
        "number of primary shards",
    ),
    number(
        "relo",
        &["r", "shards.relocating", "shardsRelocating"],
        "number of relocating nodes",
    ),
    number(
        "init",
        &["i", "shards.initializing", "shardsInitializing"],
        "number of initializing nodes",
    ),
    number(
        "unassign",
        &["u", "shards.unassigned", "shardsUnassigned"],
        "number of unassigned shards",
    ),
    number(
        "pending_tasks",
        &["pt", "pendingTasks"],
        "number of pending tasks",
    ),
    text(
        "max_task_wait_time",
        &["mtwt", "maxTaskWaitTime"],
        "wait time of longest task pending",
    ),
    number(
        "active_shards_percent",
        &["asp", "activeShardsPercent"],
        "active number of shards in percent",
    ),
];

/// `GET /_cat/health`.
pub(crate) async fn health(call: Call) -> Result<Reply, ApiError> {
    let health = ShardHealth::of(&call.shown_indices());
    let [epoch, timestamp] = now(&call);
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
        health.initializing.to_string(),
        health.lacking().to_string(),
        "0".to_string(),
        "-".to_string(),
        format!("{:.1}%", health.active_percent()),
    ];
    let clock = if call.params.flag("ts", true)? { 0 } else { 2 };
    Table {
        columns: &HEALTH[clock..],
        rows: vec![row[clock..].to_vec()],
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
    let names: Vec<&str> = call
        .path("alias")
        .map_or(Vec::new(), |names| names.split(',').collect());
    let mut rows = Vec::new();
    for index in call.indices_from(Wildcards::ALL, Purpose::Watch).await? {
        for (name, alias) in &aliases_of(&index) {
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
fn now(call: &Call) -> [String; 2] {
    let seconds = call.api.engine.now().as_secs();
    [seconds.to_string(), time_of_day(seconds)]
}

/// The time of day in UTC, of seconds since the epoch.
fn time_of_day(seconds: u64) -> String {
    let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
}

/// How long something took, as OpenSearch tells it: `1.5m`.
fn shown_time(time: Duration) -> String {
    Took(time).to_string()
}
