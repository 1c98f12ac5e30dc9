//! Pipelines for documents and searches, and scripts.

use super::endpoint::{Group, endpoint};
use super::params::{CHANGE, MANAGER};
use crate::ingest;
use crate::search::{scripts, search_pipeline, tried_script};

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "cluster",
        params: &[CHANGE],
        endpoints: &[
            endpoint!("PUT", ["/_search/pipeline/{id}"], search_pipeline::put)
                .takes("SearchPipeline"),
            endpoint!(
                "DELETE",
                ["/_search/pipeline/{id}"],
                search_pipeline::delete
            ),
            endpoint!("DELETE", ["/_scripts/{id}"], scripts::delete),
            endpoint!("PUT", ["/_ingest/pipeline/{id}"], ingest::put).takes("IngestPipeline"),
            endpoint!("DELETE", ["/_ingest/pipeline/{id}"], ingest::delete),
        ],
    },
    Group {
        class: "cluster",
        params: &[MANAGER],
        endpoints: &[
            endpoint!(
                "GET",
                ["/_search/pipeline", "/_search/pipeline/{id}"],
                search_pipeline::get
            ),
            endpoint!("GET", ["/_scripts/{id}"], scripts::get),
            endpoint!(
                "GET",
                ["/_ingest/pipeline", "/_ingest/pipeline/{id}"],
                ingest::get
            ),
        ],
    },
    Group {
        class: "cluster",
        params: &[],
        endpoints: &[
            endpoint!(
                "GET POST",
                ["/_scripts/painless/_execute"],
                tried_script::execute
            ),
            endpoint!("GET", ["/_script_context"], scripts::contexts),
            endpoint!("GET", ["/_script_language"], scripts::languages),
        ],
    },
    Group {
        class: "cluster",
        params: &[&["context"]],
        endpoints: &[endpoint!(
            "GET",
            ["/_scripts/painless/_context"],
            scripts::painless_contexts
        )],
    },
    Group {
        class: "cluster",
        params: &[CHANGE, &["context"]],
        endpoints: &[endpoint!(
            "PUT POST",
            ["/_scripts/{id}", "/_scripts/{id}/{context}"],
            scripts::put
        )
        .takes("StoredScript")],
    },
    Group {
        class: "cluster",
        params: &[&["s"]],
        endpoints: &[endpoint!(
            "GET",
            ["/_ingest/processor/grok"],
            ingest::patterns
        )],
    },
    Group {
        class: "cluster",
        params: &[&["verbose"]],
        endpoints: &[endpoint!(
            "GET POST",
            [
                "/_ingest/pipeline/_simulate",
                "/_ingest/pipeline/{id}/_simulate"
            ],
            ingest::simulate
        )
        .takes_long("cluster:admin/ingest/pipeline/simulate")
        .takes("IngestSimulate")],
    },
];
