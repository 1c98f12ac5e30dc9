//! Copies of indexes, rollovers and data streams.

use super::endpoint::{Group, endpoint};
use super::params::{CHANGE, OF_OLD};
use crate::indices::{data_streams, resize, rollover};

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "resize",
        params: &[
            CHANGE,
            &[
                "copy_settings",
                "wait_for_active_shards",
                "wait_for_completion",
                "task_execution_timeout",
            ],
        ],
        endpoints: &[
            endpoint!("PUT POST", ["/{index}/_clone/{target}"], resize::clone).takes("Resize"),
            endpoint!("PUT POST", ["/{index}/_shrink/{target}"], resize::shrink).takes("Resize"),
            endpoint!("PUT POST", ["/{index}/_split/{target}"], resize::split).takes("Resize"),
        ],
    },
    Group {
        class: "rollover",
        params: &[CHANGE, &["dry_run", "wait_for_active_shards"], OF_OLD],
        endpoints: &[endpoint!(
            "POST",
            ["/{index}/_rollover", "/{index}/_rollover/{new_index}"],
            rollover::rollover
        )
        .takes("Rollover")],
    },
    Group {
        class: "data_stream",
        params: &[],
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
