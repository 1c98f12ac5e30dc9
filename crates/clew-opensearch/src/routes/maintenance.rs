//! What keeps indexes in order, and their figures.

use super::endpoint::{Group, endpoint};
use super::params::MAINTENANCE;
use crate::indices::{index_recovery, maintenance, segments, stats, verify};

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "maintenance",
        params: MAINTENANCE,
        endpoints: &[
            endpoint!(
                "GET POST",
                ["/_refresh", "/{index}/_refresh"],
                maintenance::refresh
            ),
            endpoint!(
                "GET POST",
                ["/_flush", "/{index}/_flush"],
                maintenance::flush
            ),
            endpoint!(
                "POST",
                ["/_cache/clear", "/{index}/_cache/clear"],
                maintenance::clear_cache
            ),
            endpoint!(
                "POST",
                ["/_forcemerge", "/{index}/_forcemerge"],
                maintenance::force_merge
            ),
        ],
    },
    Group {
        class: "maintenance",
        params: SYNCED_FLUSH,
        endpoints: &[endpoint!(
            "GET POST",
            ["/_flush/synced", "/{index}/_flush/synced"],
            maintenance::synced_flush
        )],
    },
    Group {
        class: "verify",
        params: verify::PARAMS,
        endpoints: &[endpoint!(
            "POST",
            ["/_verify", "/{index}/_verify"],
            verify::verify
        )],
    },
    Group {
        class: "stats",
        params: STATS,
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
        params: RECOVERY,
        endpoints: &[endpoint!(
            "GET",
            ["/_recovery", "/{index}/_recovery"],
            index_recovery::get
        )],
    },
    Group {
        class: "stats",
        params: SEGMENTS,
        endpoints: &[endpoint!(
            "GET",
            ["/_segments", "/{index}/_segments"],
            segments::get
        )],
    },
];

const SYNCED_FLUSH: &[&str] = &[
    "allow_no_indices",
    "expand_wildcards",
    "ignore_unavailable",
    "ignore_throttled",
];

const STATS: &[&str] = &[
    "level",
    "groups",
    "fields",
    "completion_fields",
    "fielddata_fields",
    "types",
    "include_segment_file_sizes",
    "include_unloaded_segments",
    "forbid_closed_indices",
    "expand_wildcards",
    "after_glsn",
    "ignore_unavailable",
    "ignore_throttled",
    "allow_no_indices",
];

const SEGMENTS: &[&str] = &[
    "verbose",
    "ignore_unavailable",
    "ignore_throttled",
    "allow_no_indices",
    "expand_wildcards",
    "after_glsn",
];

const RECOVERY: &[&str] = &[
    "detailed",
    "active_only",
    "ignore_unavailable",
    "ignore_throttled",
    "allow_no_indices",
    "expand_wildcards",
];
