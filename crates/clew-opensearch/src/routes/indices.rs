//! Indexes as a whole: their life, mappings, settings and states.

use super::endpoint::{Group, endpoint};
use super::params::{AFTER, CHANGE, INDICES, MANAGER, OF_OLD};
use crate::indices::{
    index_admin, index_mapping, index_settings, index_state, resolve_index, shard_stores,
};
use crate::search::search_shards;

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "index_admin",
        params: &[CHANGE, &["wait_for_active_shards"], OF_OLD],
        endpoints: &[endpoint!("PUT", ["/{index}"], index_admin::create).takes("IndexBody")],
    },
    Group {
        class: "index_admin",
        params: &[CHANGE, INDICES],
        endpoints: &[
            endpoint!("DELETE", ["/{index}"], index_admin::delete),
            endpoint!("PUT", ["/{index}/_block/{block}"], index_state::add_block),
        ],
    },
    Group {
        class: "index_admin",
        params: &[CHANGE, INDICES, &["write_index_only"], OF_OLD],
        endpoints: &[endpoint!(
            "PUT POST",
            ["/{index}/_mapping", "/{index}/_mappings", "/_mapping"],
            index_mapping::put
        )
        .takes("Mapping")],
    },
    Group {
        class: "index_admin",
        params: &[CHANGE, INDICES, &["flat_settings", "preserve_existing"]],
        endpoints: &[endpoint!(
            "PUT",
            ["/{index}/_settings", "/_settings"],
            index_settings::put
        )
        .takes("Settings")],
    },
    Group {
        class: "index_admin",
        params: &[MANAGER, INDICES, AFTER, OF_SETTINGS, OF_OLD],
        endpoints: &[
            endpoint!("GET", ["/{index}"], index_admin::get),
            endpoint!("HEAD", ["/{index}"], index_admin::exists),
        ],
    },
    Group {
        class: "index_admin",
        params: &[MANAGER, INDICES, AFTER, &["local"], OF_OLD],
        endpoints: &[endpoint!(
            "GET",
            [
                "/_mapping",
                "/_mappings",
                "/{index}/_mapping",
                "/{index}/_mappings"
            ],
            index_mapping::get
        )],
    },
    Group {
        class: "index_admin",
        params: &[INDICES, AFTER, &["local", "include_defaults"], OF_OLD],
        endpoints: &[endpoint!(
            "GET",
            [
                "/_mapping/field/{fields}",
                "/{index}/_mapping/field/{fields}"
            ],
            index_mapping::get_fields
        )],
    },
    Group {
        class: "index_admin",
        params: &[MANAGER, INDICES, AFTER, OF_SETTINGS, &["name"]],
        endpoints: &[endpoint!(
            "GET",
            [
                "/_settings",
                "/_settings/{name}",
                "/{index}/_settings",
                "/{index}/_settings/{name}"
            ],
            index_settings::get
        )],
    },
    Group {
        class: "index_admin",
        params: &[
            CHANGE,
            INDICES,
            &[
                "wait_for_active_shards",
                "wait_for_completion",
                "task_execution_timeout",
            ],
        ],
        endpoints: &[endpoint!(
            "POST",
            ["/{index}/_open", "/_open"],
            index_state::open
        )],
    },
    Group {
        class: "index_admin",
        params: &[CHANGE, INDICES, &["wait_for_active_shards"]],
        endpoints: &[endpoint!(
            "POST",
            ["/{index}/_close", "/_close"],
            index_state::close
        )],
    },
    Group {
        class: "index_admin",
        params: &[INDICES, AFTER],
        endpoints: &[endpoint!(
            "GET",
            ["/_resolve/index/{name}"],
            resolve_index::get
        )],
    },
    Group {
        class: "index_admin",
        params: &[INDICES, &["status"]],
        endpoints: &[endpoint!(
            "GET",
            ["/_shard_stores", "/{index}/_shard_stores"],
            shard_stores::get
        )],
    },
    Group {
        class: "index_admin",
        params: &[INDICES, &["local", "preference", "routing"]],
        endpoints: &[endpoint!(
            "GET POST",
            ["/_search_shards", "/{index}/_search_shards"],
            search_shards::get
        )],
    },
    Group {
        class: "maintenance",
        params: &[INDICES, &["only_ancient_segments"]],
        endpoints: &[endpoint!(
            "POST",
            ["/_upgrade", "/{index}/_upgrade"],
            shard_stores::upgrade
        )],
    },
    Group {
        class: "maintenance",
        params: &[INDICES],
        endpoints: &[endpoint!(
            "GET",
            ["/_upgrade", "/{index}/_upgrade"],
            shard_stores::upgrade_status
        )],
    },
];

/// How settings are shown.
const OF_SETTINGS: &[&str] = &["local", "flat_settings", "include_defaults"];
