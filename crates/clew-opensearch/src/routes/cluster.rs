//! The cluster, its nodes and its tasks, and the k-NN plugin's own paths.

use super::endpoint::{Group, endpoint};
use super::params::{AFTER, CHANGE, INDICES, MANAGER, SEARCH};
use crate::cluster::{
    allocation, cluster_health, cluster_settings_endpoints, cluster_state, hot_threads, knn_plugin,
    node_stats, nodes, root, task_endpoints, voting, whole,
};
use crate::routes::openapi;

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "cluster",
        params: &[],
        endpoints: &[
            endpoint!("GET HEAD", ["/"], root::info),
            endpoint!("GET", ["/_openapi.json"], openapi::describe),
            endpoint!("GET", ["/_license"], root::license),
            endpoint!("GET", ["/_xpack"], root::xpack),
            endpoint!("GET", ["/_remote/info"], whole::remote_info),
            endpoint!("GET", ["/_dangling"], whole::dangling),
        ],
    },
    Group {
        class: "cluster",
        params: &[&["timeout"]],
        endpoints: &[endpoint!(
            "GET",
            [
                "/_cluster/stats",
                "/_cluster/stats/nodes/{node}",
                "/_cluster/stats/{metric}/nodes/{node}",
                "/_cluster/stats/{metric}/{index_metric}/nodes/{node}"
            ],
            whole::stats
        )],
    },
    Group {
        class: "cluster",
        params: &[MANAGER, INDICES, AFTER, STATE],
        endpoints: &[endpoint!(
            "GET",
            [
                "/_cluster/state",
                "/_cluster/state/{metric}",
                "/_cluster/state/{metric}/{index}"
            ],
            cluster_state::state
        )],
    },
    Group {
        class: "cluster",
        params: &[&["timeout", "local", "breach"]],
        endpoints: &[
            endpoint!(
                "GET",
                [
                    "/_wlm/stats",
                    "/_wlm/stats/{group}",
                    "/_wlm/{node}/stats",
                    "/_wlm/{node}/stats/{group}"
                ],
                whole::workload_stats
            ),
            endpoint!(
                "GET",
                [
                    "/_remotestore/stats/{index}",
                    "/_remotestore/stats/{index}/{shard}"
                ],
                whole::remote_store_stats
            ),
        ],
    },
    Group {
        class: "cluster",
        params: &[HEALTH],
        endpoints: &[endpoint!(
            "GET",
            ["/_cluster/health", "/_cluster/health/{index}"],
            cluster_health::health
        )],
    },
    Group {
        class: "cluster",
        params: &[MANAGER, &["flat_settings", "include_defaults", "local"]],
        endpoints: &[endpoint!(
            "GET",
            ["/_cluster/settings"],
            cluster_settings_endpoints::get
        )],
    },
    Group {
        class: "cluster",
        params: &[CHANGE, &["flat_settings"]],
        endpoints: &[endpoint!(
            "PUT",
            ["/_cluster/settings", "/_plugins/_query/settings"],
            cluster_settings_endpoints::put
        )
        .takes("ClusterSettings")],
    },
    Group {
        class: "nodes",
        params: &[NODE_STATS],
        endpoints: &[endpoint!(
            "GET",
            [
                "/_nodes/stats",
                "/_nodes/stats/{metric}",
                "/_nodes/stats/{metric}/{index_metric}",
                "/_nodes/{node}/stats",
                "/_nodes/{node}/stats/{metric}",
                "/_nodes/{node}/stats/{metric}/{index_metric}"
            ],
            node_stats::stats
        )],
    },
    Group {
        class: "nodes",
        params: &[&["timeout", "flat_settings"]],
        endpoints: &[endpoint!(
            "GET",
            [
                "/_nodes",
                "/_nodes/{node}",
                "/_nodes/{node}/{metric}",
                "/_nodes/{node}/info/{metric}"
            ],
            nodes::info
        )],
    },
    Group {
        class: "nodes",
        params: &[&["timeout"]],
        endpoints: &[
            endpoint!(
                "GET",
                [
                    "/_nodes/usage",
                    "/_nodes/usage/{metric}",
                    "/_nodes/{node}/usage",
                    "/_nodes/{node}/usage/{metric}"
                ],
                nodes::usage
            ),
            endpoint!(
                "POST",
                [
                    "/_nodes/reload_secure_settings",
                    "/_nodes/{node}/reload_secure_settings"
                ],
                nodes::reload_secure_settings
            ),
        ],
    },
    Group {
        class: "nodes",
        params: &[HOT_THREADS],
        endpoints: &[endpoint!(
            "GET",
            [
                "/_nodes/hot_threads",
                "/_nodes/hotthreads",
                "/_nodes/{node}/hot_threads",
                "/_nodes/{node}/hotthreads",
                "/_cluster/nodes/hot_threads",
                "/_cluster/nodes/hotthreads",
                "/_cluster/nodes/{node}/hot_threads",
                "/_cluster/nodes/{node}/hotthreads"
            ],
            hot_threads::get
        )
        .takes_long("cluster:monitor/nodes/hot_threads")],
    },
    Group {
        class: "knn",
        params: &[INDICES, AFTER, &["timeout"]],
        endpoints: &[
            endpoint!(
                "GET POST",
                [
                    "/_plugins/_knn/warmup/{index}",
                    "/_opendistro/_knn/warmup/{index}"
                ],
                knn_plugin::warmup
            ),
            endpoint!(
                "POST",
                ["/_plugins/_knn/clear_cache/{index}"],
                knn_plugin::clear_cache
            ),
            endpoint!(
                "POST",
                [
                    "/_plugins/_knn/models/_train",
                    "/_plugins/_knn/models/{model}/_train"
                ],
                knn_plugin::train
            ),
            endpoint!(
                "GET DELETE",
                ["/_plugins/_knn/models/{model}"],
                knn_plugin::no_model
            ),
            endpoint!(
                "GET",
                [
                    "/_plugins/_knn/stats",
                    "/_plugins/_knn/stats/{stat}",
                    "/_plugins/_knn/{node}/stats",
                    "/_plugins/_knn/{node}/stats/{stat}",
                    "/_opendistro/_knn/stats",
                    "/_opendistro/_knn/stats/{stat}",
                    "/_opendistro/_knn/{node}/stats",
                    "/_opendistro/_knn/{node}/stats/{stat}"
                ],
                knn_plugin::stats
            ),
        ],
    },
    Group {
        class: "knn",
        params: &[SEARCH],
        endpoints: &[endpoint!(
            "GET POST",
            ["/_plugins/_knn/models/_search"],
            knn_plugin::search_models
        )],
    },
    Group {
        class: "cluster",
        params: &[&["include_yes_decisions", "include_disk_info"]],
        endpoints: &[endpoint!(
            "GET POST",
            ["/_cluster/allocation/explain"],
            allocation::explain
        )
        .takes("AllocationExplain")],
    },
    Group {
        class: "cluster",
        params: &[CHANGE, &["dry_run", "explain", "retry_failed", "metric"]],
        endpoints: &[
            endpoint!("POST", ["/_cluster/reroute"], allocation::reroute).takes("Reroute"),
        ],
    },
    Group {
        class: "cluster",
        params: &[CHANGE, &["node_ids", "node_names"]],
        endpoints: &[endpoint!(
            "POST",
            ["/_cluster/voting_config_exclusions"],
            voting::add
        )],
    },
    Group {
        class: "cluster",
        params: &[&["wait_for_removal"]],
        endpoints: &[endpoint!(
            "DELETE",
            ["/_cluster/voting_config_exclusions"],
            voting::clear
        )],
    },
    Group {
        class: "cluster",
        params: &[MANAGER, &["local"]],
        endpoints: &[endpoint!(
            "GET",
            ["/_cluster/pending_tasks"],
            whole::pending_tasks
        )],
    },
    Group {
        class: "cluster",
        params: &[TASKS, &["detailed", "timeout"]],
        endpoints: &[endpoint!("GET", ["/_tasks"], task_endpoints::list)],
    },
    Group {
        class: "cluster",
        params: &[&["timeout", "wait_for_completion"]],
        endpoints: &[endpoint!("GET", ["/_tasks/{task}"], task_endpoints::get)],
    },
    Group {
        class: "cluster",
        params: &[TASKS],
        endpoints: &[endpoint!(
            "POST",
            ["/_tasks/_cancel", "/_tasks/{task}/_cancel"],
            task_endpoints::cancel
        )],
    },
    Group {
        class: "cluster",
        params: &[&["requests_per_second", "group_by"]],
        endpoints: &[endpoint!(
            "POST",
            [
                "/_reindex/{task}/_rethrottle",
                "/_update_by_query/{task}/_rethrottle",
                "/_delete_by_query/{task}/_rethrottle"
            ],
            task_endpoints::rethrottle
        )],
    },
];

const HEALTH: &[&str] = &[
    "level",
    "local",
    "timeout",
    "master_timeout",
    "cluster_manager_timeout",
    "expand_wildcards",
    "wait_for_active_shards",
    "wait_for_nodes",
    "wait_for_events",
    "wait_for_status",
    "wait_for_no_relocating_shards",
    "wait_for_no_initializing_shards",
    "awareness_attribute",
    "ensure_node_weighed_in",
    "after_glsn",
    "ignore_unavailable",
    "ignore_throttled",
    "allow_no_indices",
];

const STATE: &[&str] = &[
    "local",
    "flat_settings",
    "wait_for_metadata_version",
    "wait_for_timeout",
];

const NODE_STATS: &[&str] = &[
    "timeout",
    "level",
    "groups",
    "fields",
    "completion_fields",
    "fielddata_fields",
    "include_segment_file_sizes",
];

const HOT_THREADS: &[&str] = &[
    "interval",
    "snapshots",
    "threads",
    "ignore_idle_threads",
    "type",
    "timeout",
];

/// Which tasks are meant, and how they are shown.
const TASKS: &[&str] = &[
    "nodes",
    "actions",
    "parent_task_id",
    "group_by",
    "wait_for_completion",
];
