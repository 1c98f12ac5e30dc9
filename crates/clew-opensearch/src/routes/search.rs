//! Searches, and searches over several requests.

use super::endpoint::{Group, endpoint};
use super::params::{AFTER, ASYNCHRONOUS_SEARCH, INDICES, OF_EACH, OF_SEVERAL, SEARCH};
use crate::http::params::of_worded_queries;
use crate::indices::field_caps;
use crate::live::{changes, recall};
use crate::search;

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "search",
        params: &[FIELD_CAPS],
        endpoints: &[endpoint!(
            "GET POST",
            ["/_field_caps", "/{index}/_field_caps"],
            field_caps::field_caps
        )
        .takes_long("indices:data/read/field_caps")
        .takes("FieldCaps")],
    },
    Group {
        class: "search",
        params: &[SEARCH],
        endpoints: &[
            endpoint!("GET POST", ["/_search", "/{index}/_search"], search::search)
                .takes_long("indices:data/read/search")
                .takes("Search"),
        ],
    },
    Group {
        class: "search",
        params: &[INDICES, AFTER, OF_SEVERAL, OF_EACH],
        endpoints: &[endpoint!(
            "GET POST",
            ["/_msearch", "/{index}/_msearch"],
            search::msearch
        )
        .takes_long("indices:data/read/msearch")
        .takes_lines()],
    },
    Group {
        class: "search",
        params: &[COUNT],
        endpoints: &[
            endpoint!("GET POST", ["/_count", "/{index}/_count"], search::count)
                .takes_long("indices:data/read/search")
                .takes("Count"),
        ],
    },
    Group {
        class: "search",
        params: &[RANK_EVAL],
        endpoints: &[endpoint!(
            "GET POST",
            ["/_rank_eval", "/{index}/_rank_eval"],
            search::rank_eval
        )
        .takes_long("indices:data/read/rank_eval")],
    },
    Group {
        class: "search",
        params: &[&["scroll", "scroll_id", "rest_total_hits_as_int"]],
        endpoints: &[endpoint!(
            "GET POST",
            ["/_search/scroll", "/_search/scroll/{scroll_id}"],
            search::next_page
        )
        .takes_long("indices:data/read/scroll")
        .takes("Scroll")],
    },
    Group {
        class: "search",
        params: &[&["scroll_id"]],
        endpoints: &[endpoint!(
            "DELETE",
            ["/_search/scroll", "/_search/scroll/{scroll_id}"],
            search::clear_scroll
        )
        .takes("ClearScroll")],
    },
    Group {
        class: "search",
        params: &[INDICES, AFTER, PIT],
        endpoints: &[endpoint!(
            "POST",
            ["/{index}/_search/point_in_time"],
            search::create_pit
        )],
    },
    Group {
        class: "search",
        params: &[],
        endpoints: &[
            endpoint!("GET", ["/_search/point_in_time/_all"], search::list_pits),
            endpoint!(
                "DELETE",
                ["/_search/point_in_time/_all"],
                search::delete_all_pits
            ),
            endpoint!("DELETE", ["/_search/point_in_time"], search::delete_pit).takes("DeletePit"),
        ],
    },
    Group {
        class: "search",
        params: &[ASYNCHRONOUS_SEARCH],
        endpoints: &[endpoint!(
            "POST",
            [
                "/_plugins/_asynchronous_search",
                "/{index}/_plugins/_asynchronous_search",
                "/_opendistro/_asynchronous_search",
                "/{index}/_opendistro/_asynchronous_search"
            ],
            search::asynchronous::submit
        )
        .takes("Search")],
    },
    Group {
        class: "search",
        params: &[ASYNCHRONOUS_RESULTS],
        endpoints: &[
            endpoint!(
                "GET",
                [
                    "/_plugins/_asynchronous_search/stats",
                    "/_plugins/_asynchronous_search/_nodes/{node_id}/stats",
                    "/_opendistro/_asynchronous_search/stats",
                    "/_opendistro/_asynchronous_search/_nodes/{node_id}/stats"
                ],
                search::asynchronous::stats
            ),
            endpoint!(
                "GET",
                [
                    "/_plugins/_asynchronous_search/{id}",
                    "/_opendistro/_asynchronous_search/{id}"
                ],
                search::asynchronous::get
            ),
            endpoint!(
                "DELETE",
                [
                    "/_plugins/_asynchronous_search/{id}",
                    "/_opendistro/_asynchronous_search/{id}"
                ],
                search::asynchronous::delete
            ),
        ],
    },
    Group {
        class: "changes",
        params: &[changes::PARAMS],
        endpoints: &[endpoint!("GET", ["/{index}/_changes"], changes::page)],
    },
    Group {
        class: "tail",
        params: &[changes::TAIL_PARAMS],
        endpoints: &[endpoint!("GET POST", ["/{index}/_tail"], changes::tail).takes("Count")],
    },
    Group {
        class: "recall",
        params: &[recall::PARAMS],
        endpoints: &[endpoint!("GET", ["/{index}/_recall"], recall::measure)
            .takes_long("indices:data/read/recall")],
    },
];

const FIELD_CAPS: &[&str] = &[
    "fields",
    "include_unmapped",
    "ignore_unavailable",
    "ignore_throttled",
    "allow_no_indices",
    "expand_wildcards",
    "after_glsn",
];

const COUNT: &[&str] = of_worded_queries![
    "after_glsn",
    "min_score",
    "terminate_after",
    "routing",
    "preference",
    "expand_wildcards",
    "ignore_unavailable",
    "ignore_throttled",
    "allow_no_indices",
];

const RANK_EVAL: &[&str] = &[
    "ignore_unavailable",
    "ignore_throttled",
    "allow_no_indices",
    "expand_wildcards",
    "search_type",
    "after_glsn",
];

const ASYNCHRONOUS_RESULTS: &[&str] = &[
    "wait_for_completion_timeout",
    "keep_alive",
    "rest_total_hits_as_int",
    "typed_keys",
];

const PIT: &[&str] = &[
    "keep_alive",
    "allow_partial_pit_creation",
    "preference",
    "routing",
];
