//! Documents: one by one, in bulk, and by query.

use super::endpoint::{Group, endpoint};
use crate::documents::{bulk, by_query, document, document_write, mget};
use crate::http::params::of_worded_queries;

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "bulk",
        params: WRITE,
        endpoints: &[
            endpoint!("POST PUT", ["/_bulk", "/{index}/_bulk"], bulk::bulk)
                .ends_itself("indices:data/write/bulk")
                .takes_lines(),
        ],
    },
    Group {
        class: "write",
        params: WRITE,
        endpoints: &[
            endpoint!("POST", ["/{index}/_doc"], document_write::index).takes("Document"),
            endpoint!("PUT POST", ["/{index}/_doc/{id}"], document_write::index).takes("Document"),
            endpoint!(
                "PUT POST",
                ["/{index}/_create/{id}"],
                document_write::create
            )
            .takes("Document"),
            endpoint!("DELETE", ["/{index}/_doc/{id}"], document_write::delete),
        ],
    },
    Group {
        class: "write",
        params: UPDATE,
        endpoints: &[
            endpoint!("POST", ["/{index}/_update/{id}"], document_write::update).takes("Update"),
        ],
    },
    Group {
        class: "get",
        params: GET_DOCUMENT,
        endpoints: &[
            endpoint!("GET", ["/{index}/_doc/{id}"], document::get),
            endpoint!("HEAD", ["/{index}/_doc/{id}"], document::get),
            endpoint!("GET HEAD", ["/{index}/_source/{id}"], document::source),
            endpoint!("GET POST", ["/_mget", "/{index}/_mget"], mget::mget)
                .takes_long("indices:data/read/mget")
                .takes("MultiGet"),
        ],
    },
    Group {
        class: "write",
        params: DELETE_BY_QUERY,
        endpoints: &[
            endpoint!("POST", ["/{index}/_delete_by_query"], by_query::delete)
                .ends_itself("indices:data/write/delete/byquery")
                .takes("ByQuery"),
        ],
    },
    Group {
        class: "write",
        params: UPDATE_BY_QUERY,
        endpoints: &[
            endpoint!("POST", ["/{index}/_update_by_query"], by_query::update)
                .ends_itself("indices:data/write/update/byquery")
                .takes("ByQuery"),
        ],
    },
    Group {
        class: "write",
        params: REINDEX,
        endpoints: &[endpoint!("POST", ["/_reindex"], by_query::reindex)
            .ends_itself("indices:data/write/reindex")
            .takes("Reindex")],
    },
];

const WRITE: &[&str] = &[
    "refresh",
    "routing",
    "timeout",
    "if_seq_no",
    "if_primary_term",
    "op_type",
    "pipeline",
    "require_alias",
    "wait_for_active_shards",
    "version",
    "version_type",
    "_source",
    "_source_includes",
    "_source_excludes",
    "retry_on_conflict",
    "type",
    "lang",
    "batch_size",
    "require_data_stream",
    "include_source_on_error",
];

/// An update goes through no pipeline but those of its index.
const UPDATE: &[&str] = &[
    "refresh",
    "routing",
    "timeout",
    "if_seq_no",
    "if_primary_term",
    "doc_as_upsert",
    "require_alias",
    "wait_for_active_shards",
    "version",
    "version_type",
    "_source",
    "_source_includes",
    "_source_excludes",
    "retry_on_conflict",
    "lang",
    "include_source_on_error",
];

const GET_DOCUMENT: &[&str] = &[
    "after_glsn",
    "routing",
    "preference",
    "realtime",
    "refresh",
    "stored_fields",
    "version",
    "version_type",
    "_source",
    "_source_includes",
    "_source_excludes",
];

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
            "require_alias",
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
