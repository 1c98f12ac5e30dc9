//! Documents: one by one, in bulk, and by query.

use super::endpoint::{Group, endpoint};
use crate::documents::{bulk, by_query, document, document_write, mget};
use crate::http::params::of_worded_queries;

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "bulk",
        params: &[SHARDS, SHOWN, &["pipeline", "require_alias", "batch_size"]],
        endpoints: &[
            endpoint!("POST PUT", ["/_bulk", "/{index}/_bulk"], bulk::bulk)
                .ends_itself("indices:data/write/bulk")
                .takes_lines(),
        ],
    },
    Group {
        class: "write",
        params: &[SHARDS, STATE, &["op_type", "pipeline", "require_alias"]],
        endpoints: &[
            endpoint!("POST", ["/{index}/_doc"], document_write::index).takes("Document"),
            endpoint!("PUT POST", ["/{index}/_doc/{id}"], document_write::index).takes("Document"),
            endpoint!(
                "PUT POST",
                ["/{index}/_create/{id}"],
                document_write::create
            )
            .takes("Document"),
        ],
    },
    Group {
        class: "write",
        params: &[SHARDS, STATE],
        endpoints: &[endpoint!(
            "DELETE",
            ["/{index}/_doc/{id}"],
            document_write::delete
        )],
    },
    Group {
        class: "write",
        // An update goes through no pipeline but those of its index.
        params: &[
            SHARDS,
            STATE,
            SHOWN,
            &["doc_as_upsert", "require_alias", "retry_on_conflict"],
        ],
        endpoints: &[
            endpoint!("POST", ["/{index}/_update/{id}"], document_write::update).takes("Update"),
        ],
    },
    Group {
        class: "get",
        params: &[READ, SHOWN, &["stored_fields", "version", "version_type"]],
        endpoints: &[
            endpoint!("GET", ["/{index}/_doc/{id}"], document::get),
            endpoint!("HEAD", ["/{index}/_doc/{id}"], document::get),
        ],
    },
    Group {
        class: "get",
        params: &[READ, SHOWN],
        endpoints: &[endpoint!(
            "GET HEAD",
            ["/{index}/_source/{id}"],
            document::source
        )],
    },
    Group {
        class: "get",
        params: &[READ, SHOWN, &["stored_fields"]],
        endpoints: &[
            endpoint!("GET POST", ["/_mget", "/{index}/_mget"], mget::mget)
                .takes_long("indices:data/read/mget")
                .takes("MultiGet"),
        ],
    },
    Group {
        class: "write",
        params: &[DELETE_BY_QUERY],
        endpoints: &[
            endpoint!("POST", ["/{index}/_delete_by_query"], by_query::delete)
                .ends_itself("indices:data/write/delete/byquery")
                .takes("ByQuery"),
        ],
    },
    Group {
        class: "write",
        params: &[UPDATE_BY_QUERY],
        endpoints: &[
            endpoint!("POST", ["/{index}/_update_by_query"], by_query::update)
                .ends_itself("indices:data/write/update/byquery")
                .takes("ByQuery"),
        ],
    },
    Group {
        class: "write",
        params: &[REINDEX],
        endpoints: &[endpoint!("POST", ["/_reindex"], by_query::reindex)
            .ends_itself("indices:data/write/reindex")
            .takes("Reindex")],
    },
];

/// What every write takes.
const SHARDS: &[&str] = &["refresh", "routing", "timeout", "wait_for_active_shards"];

/// What state a document is to be in that is written.
const STATE: &[&str] = &["if_seq_no", "if_primary_term", "version", "version_type"];

/// What of a document is shown.
const SHOWN: &[&str] = &["_source", "_source_includes", "_source_excludes"];

/// How a document is read.
const READ: &[&str] = &["after_glsn", "routing", "preference", "realtime", "refresh"];

/// What every write by query takes, and more.
macro_rules! of_writes_by_query {
    ($($more:literal),*) => {
        of_worded_queries![
            "conflicts",
            "from",
            "max_docs",
            "size",
            "scroll_size",
            "scroll",
            "slices",
            "refresh",
            "timeout",
            "wait_for_active_shards",
            "wait_for_completion",
            "requests_per_second",
            "routing",
            "preference",
            "request_cache",
            "search_type",
            "search_timeout",
            "_source",
            "_source_includes",
            "_source_excludes",
            "sort",
            "stats",
            "terminate_after",
            "version",
            "expand_wildcards",
            "ignore_unavailable",
            "ignore_throttled",
            "allow_no_indices",
            $($more),*
        ]
    };
}

const DELETE_BY_QUERY: &[&str] = of_writes_by_query![];

const UPDATE_BY_QUERY: &[&str] = of_writes_by_query!["pipeline"];

/// What it copies is said by its body; `pipeline` is known so that it can be refused with a reason.
const REINDEX: &[&str] = &[
    "max_docs",
    "pipeline",
    "refresh",
    "requests_per_second",
    "require_alias",
    "scroll",
    "slices",
    "timeout",
    "wait_for_active_shards",
    "wait_for_completion",
];
