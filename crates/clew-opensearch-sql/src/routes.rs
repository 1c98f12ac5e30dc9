//! Statements of SQL and PPL.

use clew_opensearch::wing::{Group, Wing, endpoint};
// The description of the API names endpoints by these paths.
use crate as sql;

/// SQL and PPL, as a part of the API.
pub const WING: Wing = Wing {
    groups: GROUPS,
    schemas: include_str!("schemas.json"),
    check_settings: None,
    background: None,
};

const GROUPS: &[Group] = &[Group {
    class: "sql",
    params: &[sql::PARAMS],
    endpoints: &[
        endpoint!("POST", ["/_plugins/_sql", "/_opendistro/_sql"], sql::sql)
            .takes_long("cluster:admin/opensearch/sql")
            .takes("Sql"),
        endpoint!(
            "POST",
            ["/_plugins/_sql/_explain", "/_opendistro/_sql/_explain"],
            sql::explain_sql
        )
        .takes("Sql"),
        endpoint!(
            "POST",
            ["/_plugins/_sql/close", "/_opendistro/_sql/close"],
            sql::close
        )
        .takes("SqlCursor"),
        endpoint!("POST", ["/_plugins/_ppl", "/_opendistro/_ppl"], sql::ppl)
            .takes_long("cluster:admin/opensearch/ppl")
            .takes("Ppl"),
        endpoint!(
            "POST",
            ["/_plugins/_ppl/_explain", "/_opendistro/_ppl/_explain"],
            sql::explain_ppl
        )
        .takes("Ppl"),
        endpoint!(
            "GET POST",
            [
                "/_plugins/_sql/stats",
                "/_opendistro/_sql/stats",
                "/_plugins/_ppl/stats",
                "/_opendistro/_ppl/stats"
            ],
            sql::stats
        ),
        endpoint!("GET", ["/_plugins/_query/_datasources"], sql::data_sources),
    ],
}];
