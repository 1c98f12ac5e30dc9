//! `_cat/cluster_manager`, `_cat/pending_tasks`, `_cat/fielddata` and `_cat/thread_pool`: what is left of a
//! cluster on one node.

use std::time::Duration;

use clew_schema::glob::matches as glob;

use super::shown_time;
use super::table::{Column, Table, hidden, hidden_text, number, text};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::state::call::Call;

const CLUSTER_MANAGER: &[Column] = &[
    text("id", &[], "node id"),
    text("host", &["h"], "host name"),
    text("ip", &[], "ip address"),
    text("node", &["n"], "node name"),
];

/// `GET /_cat/cluster_manager`.
pub(crate) async fn cluster_manager(call: Call) -> Result<Reply, ApiError> {
    let host = call.api.options.publish_host();
    let row = vec![
        call.api.node_id.clone(),
        host.to_string(),
        host.to_string(),
        call.api.options.node_name.clone(),
    ];
    Table {
        columns: CLUSTER_MANAGER,
        rows: vec![row],
    }
    .reply(&call)
}

const PENDING_TASKS: &[Column] = &[
    number("insertOrder", &["o"], "task insertion order"),
    number("timeInQueue", &["t"], "how long task has been in queue"),
    text("priority", &["p"], "task priority"),
    text("source", &["s"], "task source"),
];

/// `GET /_cat/pending_tasks`: a change of the cluster is done while its request waits.
pub(crate) async fn pending_tasks(call: Call) -> Result<Reply, ApiError> {
    Table {
        columns: PENDING_TASKS,
        rows: Vec::new(),
    }
    .reply(&call)
}

const FIELD_DATA: &[Column] = &[
    text("id", &[], "node id"),
    text("host", &["h"], "host name"),
    text("ip", &[], "ip address"),
    text("node", &["n"], "node name"),
    text("field", &["f"], "field name"),
    text("size", &["s"], "field data usage"),
];

/// `GET /_cat/fielddata`: columns are read where they lie, nothing is built of them in memory.
pub(crate) async fn field_data(call: Call) -> Result<Reply, ApiError> {
    Table {
        columns: FIELD_DATA,
        rows: Vec::new(),
    }
    .reply(&call)
}

const THREAD_POOL: &[Column] = &[
    text("node_name", &["nn"], "node name"),
    hidden_text("node_id", &["id"], "persistent node id"),
    hidden_text("ephemeral_node_id", &["eid"], "ephemeral node id"),
    hidden("pid", &["p"], "process id"),
    hidden_text("host", &["h"], "host name"),
    hidden_text("ip", &["i"], "ip address"),
    hidden("port", &["po"], "bound transport port"),
    text("name", &["n"], "thread pool name"),
    hidden_text("type", &["t"], "thread pool type"),
    number("active", &["a"], "number of active threads"),
    hidden("pool_size", &["psz"], "number of threads"),
    number("queue", &["q"], "number of tasks currently in queue"),
    hidden(
        "queue_size",
        &["qs"],
        "maximum number of tasks permitted in queue",
    ),
    number("rejected", &["r"], "number of rejected tasks"),
    hidden("largest", &["l"], "highest number of seen active threads"),
    hidden("completed", &["c"], "number of completed tasks"),
    hidden(
        "total_wait_time",
        &["twt"],
        "total time tasks spent waiting in queue",
    ),
    hidden(
        "core",
        &["cr"],
        "core number of threads in a scaling thread pool",
    ),
    hidden(
        "max",
        &["mx"],
        "maximum number of threads in a scaling thread pool",
    ),
    hidden("size", &["sz"], "number of threads in a fixed thread pool"),
    hidden("keep_alive", &["ka"], "thread keep alive time"),
];

/// `GET /_cat/thread_pool/{pool}`: the threads of searches are the only ones that requests wait for.
pub(crate) async fn thread_pool(call: Call) -> Result<Reply, ApiError> {
    let options = &call.api.options;
    let patterns = call.path("pool").unwrap_or("*");
    let wanted = patterns.split(',').any(|pattern| glob(pattern, "search"));
    let pool = call.api.engine.stats().search;
    let waited = Duration::from_micros(pool.queue_wait_us_total);
    let address = options.publish_address.as_str();
    let port = address.rsplit_once(':').map_or("-", |(_, port)| port);
    let row = vec![
        options.node_name.clone(),
        call.api.node_id.clone(),
        call.api.node_id.clone(),
        std::process::id().to_string(),
        options.publish_host().to_string(),
        options.publish_host().to_string(),
        port.to_string(),
        "search".to_string(),
        "fixed".to_string(),
        pool.active.min(pool.threads).to_string(),
        pool.threads.to_string(),
        pool.active.saturating_sub(pool.threads).to_string(),
        pool.waiting_max.to_string(),
        pool.rejected_total.to_string(),
        // All of them are there from the start.
        pool.threads.to_string(),
        pool.searches_total.to_string(),
        shown_time(waited),
        String::new(),
        String::new(),
        pool.threads.to_string(),
        String::new(),
    ];
    Table {
        columns: THREAD_POOL,
        rows: if wanted { vec![row] } else { Vec::new() },
    }
    .reply(&call)
}
