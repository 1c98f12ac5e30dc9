//! `_cat/nodes`, `_cat/nodeattrs`, `_cat/plugins`, `_cat/allocation` and `_cat/tasks`: this node.

use clew_engine::IndexStats;
use clew_query::Script;

use super::indices::figures as of_indices;
use super::shards::{Figure, figure};
use super::table::{Column, Table, hidden, hidden_text, number, text};
use super::{shown_time, time_of_day};
use crate::cluster::machine::{DiskSpace, Machine};
use crate::cluster::nodes::{PLUGINS, names_this_node};
use crate::cluster::task_endpoints::WantedTasks;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::setting_values::size_in_words;
use crate::indices::copies::ShardHealth;
use crate::state::api::{BUILD_HASH, BUILD_TYPE};
use crate::state::call::Call;

const NODES: &[Column] = &[
    hidden_text("id", &["id", "nodeId"], "unique node id"),
    hidden("pid", &["p"], "process id"),
    text("ip", &["i"], "ip address"),
    hidden("port", &["po"], "bound transport port"),
    hidden_text("http_address", &["http"], "bound http address"),
    hidden_text("version", &["v"], "version"),
    hidden_text("type", &["t"], "os distribution type"),
    hidden_text("build", &["b"], "os build hash"),
    hidden_text("jdk", &["j"], "jdk version"),
    hidden("disk.total", &["dt", "diskTotal"], "total disk space"),
    hidden("disk.used", &["du", "diskUsed"], "used disk space"),
    hidden(
        "disk.avail",
        &["d", "da", "disk", "diskAvail"],
        "available disk space",
    ),
    hidden(
        "disk.used_percent",
        &["dup", "diskUsedPercent"],
        "used disk space percentage",
    ),
    hidden(
        "heap.current",
        &["hc", "heapCurrent"],
        "memory of the process",
    ),
    number(
        "heap.percent",
        &["hp", "heapPercent"],
        "memory of the process in percent of the machine's",
    ),
    hidden("heap.max", &["hm", "heapMax"], "memory of the machine"),
    hidden("ram.current", &["rc", "ramCurrent"], "used machine memory"),
    number(
        "ram.percent",
        &["rp", "ramPercent"],
        "used machine memory ratio",
    ),
    hidden("ram.max", &["rm", "ramMax"], "total machine memory"),
    hidden(
        "file_desc.current",
        &["fdc", "fileDescriptorCurrent"],
        "used file descriptors",
    ),
    hidden(
        "file_desc.percent",
        &["fdp", "fileDescriptorPercent"],
        "used file descriptor ratio",
    ),
    hidden(
        "file_desc.max",
        &["fdm", "fileDescriptorMax"],
        "max file descriptors",
    ),
    number("cpu", &["cpu"], "recent cpu usage"),
    number("load_1m", &["l"], "1m load avg"),
    number("load_5m", &["l"], "5m load avg"),
    number("load_15m", &["l"], "15m load avg"),
    hidden("uptime", &["u"], "node uptime"),
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

/// Characters of a node's id that are shown unless all are asked for.
const SHORT_ID_CHARS: usize = 4;

/// `GET /_cat/nodes`. There is no heap: its columns show the process's memory.
pub(crate) async fn nodes(call: Call) -> Result<Reply, ApiError> {
    let api = &call.api;
    let address = &api.options.publish_address;
    let unit = call.params.get("bytes");
    let (machine, disk) = (Machine::now(), DiskSpace::of(&api.options.data));
    let id = match call.params.flag("full_id", false)? {
        true => api.node_id.clone(),
        false => api.node_id.chars().take(SHORT_ID_CHARS).collect(),
    };
    let percent = disk.used_basis_points();
    let files_max = machine.open_files_max.max(1);
    let [load_1m, load_5m, load_15m] = machine.load.clone();
    let mut row = vec![
        id,
        std::process::id().to_string(),
        call.api.options.publish_host().to_string(),
        address.rsplit(':').next().unwrap_or_default().to_string(),
        address.clone(),
        api.options.version_number.clone(),
        BUILD_TYPE.to_string(),
        BUILD_HASH.to_string(),
        String::new(),
        size_in_words(disk.total, unit),
        size_in_words(disk.used(), unit),
        size_in_words(disk.available, unit),
        format!("{}.{:02}", percent / 100, percent % 100),
        size_in_words(machine.resident, unit),
        machine.resident_percent().to_string(),
        size_in_words(machine.memory_total, unit),
        size_in_words(machine.memory_used(), unit),
        machine.memory_used_percent().to_string(),
        size_in_words(machine.memory_total, unit),
        machine.open_files.to_string(),
        (machine.open_files * 100 / files_max).to_string(),
        machine.open_files_max.to_string(),
        machine.cpu_shares(api).machine.to_string(),
        load_1m,
        load_5m,
        load_15m,
        shown_time(api.started.elapsed()),
        "dim".to_string(),
        "cluster_manager,data,ingest".to_string(),
        "*".to_string(),
        api.options.node_name.clone(),
    ];
    let mut stats = IndexStats::default();
    for index in call.shown_indices() {
        stats.add(&index.stats());
    }
    row.extend(figures().map(|figure| (figure.cell)(&stats, unit)));
    let figures = figures().map(|figure| figure.column);
    let columns: Vec<Column> = NODES.iter().copied().chain(figures).collect();
    Table {
        columns: &columns,
        rows: vec![row],
    }
    .reply(&call)
}

/// What is told of a node alone, beside what is told of all its indexes. Scripts are not kept, so that none is thrown away.
const OF_NODE: &[Figure] = &[
    figure(
        "query_cache.hit_count",
        &["qchc", "queryCacheHitCount"],
        "query cache hit counts",
        |stats, _| stats.filters.hits.to_string(),
    ),
    figure(
        "query_cache.miss_count",
        &["qcmc", "queryCacheMissCount"],
        "query cache miss counts",
        |stats, _| stats.filters.misses.to_string(),
    ),
    figure(
        "script.compilations",
        &["scrcc", "scriptCompilations"],
        "script compilations",
        |_, _| Script::read_total().to_string(),
    ),
    figure(
        "script.cache_evictions",
        &["scrce", "scriptCacheEvictions"],
        "script cache evictions",
        |_, _| "0".to_string(),
    ),
    figure(
        "script.compilation_limit_triggered",
        &["scrclt", "scriptCacheCompilationLimitTriggered"],
        "script cache compilation limit triggered",
        |_, _| "0".to_string(),
    ),
];

/// What a node's indexes hold and have done, which is shown where it is asked for.
fn figures() -> impl Iterator<Item = &'static Figure> {
    let of_nodes = |figure: &&Figure| {
        let name = figure.column.name;
        !name.starts_with("warmer.") && !matches!(name, "memory.total" | "search.throttled")
    };
    of_indices().filter(of_nodes).chain(OF_NODE)
}

const ATTRIBUTES: &[Column] = &[
    text("node", &["name"], "node name"),
    hidden_text("id", &["id", "nodeId"], "unique node id"),
    hidden("pid", &["p"], "process id"),
    text("host", &["h"], "host name"),
    text("ip", &["i"], "ip address"),
    hidden("port", &["po"], "bound transport port"),
    text("attr", &["attr.name"], "attribute description"),
    text("value", &["attr.value"], "attribute value"),
];

/// `GET /_cat/nodeattrs`: nodes have no attributes here.
pub(crate) async fn attributes(call: Call) -> Result<Reply, ApiError> {
    Table {
        columns: ATTRIBUTES,
        rows: Vec::new(),
    }
    .reply(&call)
}

const PLUGIN_COLUMNS: &[Column] = &[
    hidden_text("id", &[], "unique node id"),
    text("name", &["n"], "node name"),
    text("component", &["c"], "component"),
    text("version", &["v"], "component version"),
    hidden_text("description", &["d"], "plugin details"),
];

/// `GET /_cat/plugins`: what clients look for as plugins, and is built in.
pub(crate) async fn plugins(call: Call) -> Result<Reply, ApiError> {
    let options = &call.api.options;
    let row = |(name, about): &(&str, &str)| {
        vec![
            call.api.node_id.clone(),
            options.node_name.clone(),
            (*name).to_string(),
            options.version_number.clone(),
            (*about).to_string(),
        ]
    };
    Table {
        columns: PLUGIN_COLUMNS,
        rows: PLUGINS.iter().map(row).collect(),
    }
    .reply(&call)
}

const ALLOCATION: &[Column] = &[
    number("shards", &["s"], "number of shards on node"),
    number(
        "disk.indices",
        &["di", "diskIndices"],
        "disk used by OpenSearch indices",
    ),
    number(
        "disk.used",
        &["du", "diskUsed"],
        "disk used (total, not just OpenSearch)",
    ),
    number("disk.avail", &["da", "diskAvail"], "disk available"),
    number(
        "disk.total",
        &["dt", "diskTotal"],
        "total capacity of all volumes",
    ),
    number("disk.percent", &["dp", "diskPercent"], "percent disk used"),
    text("host", &["h"], "host of node"),
    text("ip", &[], "ip of node"),
    text("node", &["n"], "name of node"),
];

/// `GET /_cat/allocation/{node}`.
pub(crate) async fn allocation(call: Call) -> Result<Reply, ApiError> {
    let api = &call.api;
    let unit = call.params.get("bytes");
    let mut rows = Vec::new();
    if names_this_node(api, call.path("node").unwrap_or("_all")) {
        let (mut shards, mut size, mut unassigned) = (0_u64, 0, 0_u64);
        for index in call.shown_indices() {
            let stats = index.stats();
            let health = ShardHealth::of(std::slice::from_ref(&index));
            shards += health.active;
            unassigned += health.lacking();
            size += stats.bytes;
        }
        let disk = DiskSpace::of(&api.options.data);
        let host = api.options.publish_host();
        rows.push(vec![
            shards.to_string(),
            size_in_words(size, unit),
            size_in_words(disk.used(), unit),
            size_in_words(disk.available, unit),
            size_in_words(disk.total, unit),
            (disk.used_basis_points() / 100).to_string(),
            host.to_string(),
            host.to_string(),
            api.options.node_name.clone(),
        ]);
        if unassigned > 0 {
            let mut row = vec![String::new(); ALLOCATION.len()];
            row[0] = unassigned.to_string();
            row[ALLOCATION.len() - 1] = "UNASSIGNED".to_string();
            rows.push(row);
        }
    }
    Table {
        columns: ALLOCATION,
        rows,
    }
    .reply(&call)
}

const TASKS: &[Column] = &[
    hidden_text("id", &[], "id of the task with the node"),
    text("action", &["ac"], "task action"),
    text("task_id", &["ti"], "unique task id"),
    text("parent_task_id", &["pti"], "parent task id"),
    text("type", &["ty"], "task type"),
    text("start_time", &["start"], "start time in ms"),
    text(
        "timestamp",
        &["ts", "hms", "hhmmss"],
        "start time in HH:MM:SS",
    ),
    hidden("running_time_ns", &["time"], "running time ns"),
    text("running_time", &["time"], "running time"),
    hidden_text("node_id", &["ni"], "unique node id"),
    text("ip", &["i"], "ip address"),
    hidden("port", &["po"], "bound transport port"),
    text("node", &["n"], "node name"),
    hidden_text("version", &["v"], "version"),
    hidden_text("x_opaque_id", &["x"], "X-Opaque-ID header"),
];

/// Shown last when details are asked for.
const TASK_DESCRIPTION: Column = text("description", &["desc"], "task action");

/// `GET /_cat/tasks`: those that are running, this request among them.
pub(crate) async fn tasks(call: Call) -> Result<Reply, ApiError> {
    let api = &call.api;
    let address = &api.options.publish_address;
    let detailed = call.params.flag("detailed", false)?;
    let wanted = WantedTasks::of(&call)?;
    let columns = TASKS.iter().chain(detailed.then_some(&TASK_DESCRIPTION));
    let columns: Vec<Column> = columns.copied().collect();
    let mut running = api.tasks.running();
    running.push(call.task("cluster:monitor/tasks/lists"));
    running.retain(|task| wanted.has(&call, task));
    let rows = running.iter().map(|task| {
        let mut row = vec![
            task.number.to_string(),
            task.action.to_string(),
            format!("{}:{}", api.node_id, task.number),
            "-".to_string(),
            "transport".to_string(),
            task.started_ms.to_string(),
            time_of_day(task.started_ms / 1000),
            task.running_ns.to_string(),
            shown_time(std::time::Duration::from_nanos(task.running_ns)),
            api.node_id.clone(),
            call.api.options.publish_host().to_string(),
            address.rsplit(':').next().unwrap_or_default().to_string(),
            api.options.node_name.clone(),
            api.options.version_number.clone(),
            task.opaque_id.clone().unwrap_or_else(|| "-".to_string()),
        ];
        if detailed {
            row.push(task.description.clone());
        }
        row
    });
    Table {
        columns: &columns,
        rows: rows.collect(),
    }
    .reply(&call)
}
