//! What looks into queries, texts and terms, and searches that are kept as templates.

use super::endpoint::{Group, endpoint};
use super::params::{AFTER, OF_SEVERAL, SEARCH};
use crate::documents::term_vectors;
use crate::http::params::of_worded_queries;
use crate::indices::analyze;
use crate::search;
use crate::search::validate;

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "search",
        params: &[VALIDATE],
        endpoints: &[endpoint!(
            "GET POST",
            ["/_validate/query", "/{index}/_validate/query"],
            validate::validate
        )
        .takes_long("indices:admin/validate/query")
        .takes("Count")],
    },
    Group {
        class: "search",
        params: &[EXPLAIN],
        endpoints: &[endpoint!(
            "GET POST",
            ["/{index}/_explain/{id}"],
            validate::explain_hit
        )
        .takes_long("indices:data/read/explain")
        .takes("Count")],
    },
    Group {
        class: "search",
        params: &[ANALYZE],
        endpoints: &[endpoint!(
            "GET POST",
            ["/_analyze", "/{index}/_analyze"],
            analyze::analyze
        )
        .takes_long("indices:admin/analyze")
        .takes("Analyze")],
    },
    Group {
        class: "search",
        params: &[TERM_VECTORS],
        endpoints: &[
            endpoint!(
                "GET POST",
                ["/{index}/_termvectors", "/{index}/_termvectors/{id}"],
                term_vectors::one
            )
            .takes_long("indices:data/read/tv")
            .takes("TermVectors"),
            endpoint!(
                "GET POST",
                ["/_mtermvectors", "/{index}/_mtermvectors"],
                term_vectors::many
            )
            .takes_long("indices:data/read/mtv")
            .takes("MultiTermVectors"),
        ],
    },
    Group {
        class: "search",
        params: &[SEARCH],
        endpoints: &[endpoint!(
            "GET POST",
            ["/_search/template", "/{index}/_search/template"],
            search::search_template
        )
        .takes_long("indices:data/read/search/template")
        .takes("SearchTemplate")],
    },
    Group {
        class: "search",
        params: &[],
        endpoints: &[endpoint!(
            "GET POST",
            ["/_render/template", "/_render/template/{id}"],
            search::render_template
        )
        .takes("SearchTemplate")],
    },
    Group {
        class: "search",
        params: &[AFTER, OF_SEVERAL],
        endpoints: &[endpoint!(
            "GET POST",
            ["/_msearch/template", "/{index}/_msearch/template"],
            search::msearch_template
        )
        .takes_long("indices:data/read/msearch/template")
        .takes_lines()],
    },
];

const VALIDATE: &[&str] = of_worded_queries![
    "after_glsn",
    "explain",
    "rewrite",
    "all_shards",
    "expand_wildcards",
    "ignore_unavailable",
    "ignore_throttled",
    "allow_no_indices",
];

const EXPLAIN: &[&str] = of_worded_queries![
    "after_glsn",
    "routing",
    "preference",
    "stored_fields",
    "_source",
    "_source_includes",
    "_source_excludes",
];

const ANALYZE: &[&str] = &[
    "after_glsn",
    "analyzer",
    "field",
    "text",
    "explain",
    "expand_wildcards",
    "ignore_unavailable",
    "ignore_throttled",
    "allow_no_indices",
];

const TERM_VECTORS: &[&str] = &[
    "ids",
    "fields",
    "offsets",
    "positions",
    "payloads",
    "term_statistics",
    "field_statistics",
    "routing",
    "realtime",
    "preference",
    "version",
    "version_type",
];
