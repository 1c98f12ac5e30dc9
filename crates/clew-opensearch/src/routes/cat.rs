//! Tables for people.

use super::endpoint::{Group, endpoint};
use super::params::MANAGER;
use crate::cluster::cat;

pub(super) const GROUPS: &[Group] = &[TABLES, ABOUT_NODES, OF_ALIASES, BESIDE_MANAGER, PAGES];

/// Of what the cluster's manager knows.
const TABLES: Group = Group {
    class: "cat",
    params: &[CAT, LOCAL, MANAGER],
    endpoints: &[
        endpoint!(
            "GET",
            ["/_cat/indices", "/_cat/indices/{index}"],
            cat::indices
        ),
        endpoint!("GET", ["/_cat/shards", "/_cat/shards/{index}"], cat::shards),
        endpoint!("GET", ["/_cat/nodeattrs"], cat::attributes),
        endpoint!("GET", ["/_cat/plugins"], cat::plugins),
        endpoint!(
            "GET",
            ["/_cat/allocation", "/_cat/allocation/{node}"],
            cat::allocation
        ),
        endpoint!(
            "GET",
            ["/_cat/segments", "/_cat/segments/{index}"],
            cat::segments
        ),
        endpoint!(
            "GET",
            ["/_cat/cluster_manager", "/_cat/master"],
            cat::cluster_manager
        ),
        endpoint!("GET", ["/_cat/pending_tasks"], cat::pending_tasks),
        endpoint!(
            "GET",
            ["/_cat/thread_pool", "/_cat/thread_pool/{pool}"],
            cat::thread_pool
        ),
        endpoint!(
            "GET",
            ["/_cat/templates", "/_cat/templates/{name}"],
            cat::templates
        ),
        endpoint!("GET", ["/_cat/repositories"], cat::repositories),
        endpoint!(
            "GET",
            ["/_cat/snapshots", "/_cat/snapshots/{repository}"],
            cat::snapshots
        ),
    ],
};

/// Of nodes, whose ids are cut off unless they are asked for.
const ABOUT_NODES: Group = Group {
    class: "cat",
    params: &[CAT, LOCAL, MANAGER, &["full_id"]],
    endpoints: &[endpoint!("GET", ["/_cat/nodes"], cat::nodes)],
};

/// Of aliases.
const OF_ALIASES: Group = Group {
    class: "cat",
    params: &[CAT, LOCAL],
    endpoints: &[endpoint!(
        "GET",
        ["/_cat/aliases", "/_cat/aliases/{alias}"],
        cat::aliases
    )],
};

/// Of what every node is asked for: there is no manager to wait for.
const BESIDE_MANAGER: Group = Group {
    class: "cat",
    params: &[CAT],
    endpoints: &[
        endpoint!("GET", ["/_cat"], cat::list),
        endpoint!("GET", ["/_cat/count", "/_cat/count/{index}"], cat::count),
        endpoint!("GET", ["/_cat/health"], cat::health),
        endpoint!("GET", ["/_cat/tasks"], cat::tasks),
        endpoint!("GET", ["/_cat/pit_segments"], cat::pit_segments).takes("DeletePit"),
        endpoint!("GET", ["/_cat/pit_segments/_all"], cat::all_pit_segments),
        endpoint!(
            "GET",
            ["/_cat/fielddata", "/_cat/fielddata/{fields}"],
            cat::field_data
        ),
        endpoint!(
            "GET",
            ["/_cat/recovery", "/_cat/recovery/{index}"],
            cat::recovery
        ),
        endpoint!(
            "GET",
            [
                "/_cat/segment_replication",
                "/_cat/segment_replication/{index}"
            ],
            cat::segment_replication
        ),
    ],
};

const PAGES: Group = Group {
    class: "cat",
    params: &[LIST, LOCAL, MANAGER],
    endpoints: &[
        endpoint!("GET", ["/_list"], cat::list_help),
        endpoint!(
            "GET",
            ["/_list/indices", "/_list/indices/{index}"],
            cat::list_indices
        ),
        endpoint!(
            "GET",
            ["/_list/shards", "/_list/shards/{index}"],
            cat::list_shards
        ),
    ],
};

const LIST: &[&str] = &[
    "v",
    "h",
    "s",
    "help",
    "bytes",
    "time",
    "timeout",
    "ts",
    "pri",
    "health",
    "include_unloaded_segments",
    "expand_wildcards",
    "ignore_unavailable",
    "ignore_throttled",
    "allow_no_indices",
    "next_token",
    "size",
    "sort",
];

/// What every table takes.
const CAT: &[&str] = &[
    "v",
    "h",
    "s",
    "help",
    "bytes",
    "time",
    "pri",
    "health",
    "expand_wildcards",
    "include_unloaded_segments",
    "fields",
    "size",
    "ignore_unavailable",
    "ignore_throttled",
    "allow_no_indices",
    "ts",
    "timeout",
    "detailed",
    "active_only",
    "shards",
    "actions",
    "nodes",
    "parent_task_id",
    "after_glsn",
];

const LOCAL: &[&str] = &["local"];
