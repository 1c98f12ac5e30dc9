//! Copies of indexes, rollovers and data streams.

use super::endpoint::{Group, endpoint};
use crate::indices::{data_streams, resize, rollover};

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "resize",
        params: RESIZE,
        endpoints: &[
            endpoint!("PUT POST", ["/{index}/_clone/{target}"], resize::clone).takes("Resize"),
            endpoint!("PUT POST", ["/{index}/_shrink/{target}"], resize::shrink).takes("Resize"),
            endpoint!("PUT POST", ["/{index}/_split/{target}"], resize::split).takes("Resize"),
        ],
    },
    Group {
        class: "rollover",
        params: ROLLOVER,
        endpoints: &[endpoint!(
            "POST",
            ["/{index}/_rollover", "/{index}/_rollover/{new_index}"],
            rollover::rollover
        )
        .takes("Rollover")],
    },
    Group {
        class: "data_stream",
        params: STREAMS,
        endpoints: &[
            endpoint!("PUT", ["/_data_stream/{name}"], data_streams::create),
            endpoint!(
                "GET",
                ["/_data_stream", "/_data_stream/{name}"],
                data_streams::get
            ),
            endpoint!("DELETE", ["/_data_stream/{name}"], data_streams::delete),
            endpoint!(
                "GET",
                ["/_data_stream/_stats", "/_data_stream/{name}/_stats"],
                data_streams::stats
            ),
        ],
    },
];

const RESIZE: &[&str] = &[
    "copy_settings",
    "master_timeout",
    "cluster_manager_timeout",
    "timeout",
    "wait_for_active_shards",
    "wait_for_completion",
    "task_execution_timeout",
];

const ROLLOVER: &[&str] = &[
    "dry_run",
    "master_timeout",
    "cluster_manager_timeout",
    "timeout",
    "wait_for_active_shards",
    "include_type_name",
];

const STREAMS: &[&str] = &[
    "master_timeout",
    "cluster_manager_timeout",
    "timeout",
    "expand_wildcards",
];
