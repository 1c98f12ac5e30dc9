//! What keeps indexes in order, and their figures.

use super::endpoint::{Group, endpoint};
use super::params::{AFTER, INDICES};
use crate::indices::{index_recovery, maintenance, segments, stats, verify};

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "maintenance",
        params: &[INDICES],
        endpoints: &[
            endpoint!(
                "GET POST",
                ["/_refresh", "/{index}/_refresh"],
                maintenance::refresh
            ),
            endpoint!(
                "GET POST",
                ["/_flush/synced", "/{index}/_flush/synced"],
                maintenance::synced_flush
            ),
        ],
    },
    Group {
        class: "maintenance",
        params: &[INDICES, &["force", "wait_if_ongoing"]],
        endpoints: &[endpoint!(
            "GET POST",
            ["/_flush", "/{index}/_flush"],
            maintenance::flush
        )],
    },
    Group {
        class: "maintenance",
        params: &[
            INDICES,
            &["fielddata", "fields", "file", "query", "request"],
        ],
        endpoints: &[endpoint!(
            "POST",
            ["/_cache/clear", "/{index}/_cache/clear"],
            maintenance::clear_cache
        )],
    },
    Group {
        class: "maintenance",
        params: &[INDICES, MERGE],
        endpoints: &[endpoint!(
            "POST",
            ["/_forcemerge", "/{index}/_forcemerge"],
            maintenance::force_merge
        )],
    },
    Group {
        class: "verify",
        params: &[verify::PARAMS],
        endpoints: &[endpoint!(
            "POST",
            ["/_verify", "/{index}/_verify"],
            verify::verify
        )],
    },
    Group {
        class: "stats",
        params: &[INDICES, AFTER, STATS],
        endpoints: &[endpoint!(
            "GET",
            [
                "/_stats",
                "/_stats/{metric}",
                "/{index}/_stats",
                "/{index}/_stats/{metric}"
            ],
            stats::get
        )],
    },
    Group {
        class: "index_admin",
        params: &[INDICES, &["detailed", "active_only"]],
        endpoints: &[endpoint!(
            "GET",
            ["/_recovery", "/{index}/_recovery"],
            index_recovery::get
        )],
    },
    Group {
        class: "stats",
        params: &[INDICES, AFTER, &["verbose"]],
        endpoints: &[endpoint!(
            "GET",
            ["/_segments", "/{index}/_segments"],
            segments::get
        )],
    },
];

const MERGE: &[&str] = &[
    "flush",
    "max_num_segments",
    "only_expunge_deletes",
    "primary_only",
    "wait_for_completion",
];

const STATS: &[&str] = &[
    "level",
    "groups",
    "fields",
    "completion_fields",
    "fielddata_fields",
    "include_segment_file_sizes",
    "include_unloaded_segments",
    "forbid_closed_indices",
];
