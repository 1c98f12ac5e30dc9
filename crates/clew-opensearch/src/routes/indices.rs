//! Indexes as a whole: their life, mappings, settings and states.

use super::endpoint::{Group, endpoint};
use super::params::{ADMIN, MAINTENANCE, READ};
use crate::indices::{
    index_admin, index_mapping, index_settings, index_state, resolve_index, shard_stores,
};
use crate::search::search_shards;

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "index_admin",
        params: ADMIN,
        endpoints: &[
            endpoint!("PUT", ["/{index}"], index_admin::create).takes("IndexBody"),
            endpoint!("DELETE", ["/{index}"], index_admin::delete),
            endpoint!(
                "PUT POST",
                ["/{index}/_mapping", "/{index}/_mappings", "/_mapping"],
                index_mapping::put
            )
            .takes("Mapping"),
            endpoint!(
                "PUT",
                ["/{index}/_settings", "/_settings"],
                index_settings::put
            )
            .takes("Settings"),
        ],
    },
    Group {
        class: "index_admin",
        params: READ,
        endpoints: &[
            endpoint!("GET", ["/{index}"], index_admin::get),
            endpoint!("HEAD", ["/{index}"], index_admin::exists),
            endpoint!(
                "GET",
                [
                    "/_mapping",
                    "/_mappings",
                    "/{index}/_mapping",
                    "/{index}/_mappings"
                ],
                index_mapping::get
            ),
            endpoint!(
                "GET",
                [
                    "/_mapping/field/{fields}",
                    "/{index}/_mapping/field/{fields}"
                ],
                index_mapping::get_fields
            ),
            endpoint!(
                "GET",
                [
                    "/_settings",
                    "/_settings/{name}",
                    "/{index}/_settings",
                    "/{index}/_settings/{name}"
                ],
                index_settings::get
            ),
        ],
    },
    Group {
        class: "index_admin",
        params: ADMIN,
        endpoints: &[
            endpoint!("POST", ["/{index}/_open", "/_open"], index_state::open),
            endpoint!("POST", ["/{index}/_close", "/_close"], index_state::close),
            endpoint!("PUT", ["/{index}/_block/{block}"], index_state::add_block),
        ],
    },
    Group {
        class: "index_admin",
        params: READ,
        endpoints: &[endpoint!(
            "GET",
            ["/_resolve/index/{name}"],
            resolve_index::get
        )],
    },
    Group {
        class: "index_admin",
        params: SHARDS,
        endpoints: &[
            endpoint!(
                "GET",
                ["/_shard_stores", "/{index}/_shard_stores"],
                shard_stores::get
            ),
            endpoint!(
                "GET POST",
                ["/_search_shards", "/{index}/_search_shards"],
                search_shards::get
            ),
        ],
    },
    Group {
        class: "maintenance",
        params: MAINTENANCE,
        endpoints: &[
            endpoint!(
                "POST",
                ["/_upgrade", "/{index}/_upgrade"],
                shard_stores::upgrade
            ),
            endpoint!(
                "GET",
                ["/_upgrade", "/{index}/_upgrade"],
                shard_stores::upgrade_status
            ),
        ],
    },
];

const SHARDS: &[&str] = &[
    "allow_no_indices",
    "expand_wildcards",
    "ignore_unavailable",
    "ignore_throttled",
    "local",
    "preference",
    "routing",
    "status",
];
