//! Statements of SQL and PPL.

use super::endpoint::{Group, endpoint};
use crate::sql;

pub(super) const GROUPS: &[Group] = &[Group {
    class: "sql",
    params: sql::PARAMS,
    endpoints: &[
        endpoint!("POST", ["/_plugins/_sql", "/_opendistro/_sql"], sql::sql).takes("Sql"),
        endpoint!(
            "POST",
            ["/_plugins/_sql/_explain", "/_opendistro/_sql/_explain"],
            sql::explain_sql
        )
        .takes("Sql"),
        endpoint!("POST", ["/_plugins/_sql/close"], sql::close).takes("SqlCursor"),
        endpoint!("POST", ["/_plugins/_ppl", "/_opendistro/_ppl"], sql::ppl).takes("Ppl"),
        endpoint!(
            "POST",
            ["/_plugins/_ppl/_explain", "/_opendistro/_ppl/_explain"],
            sql::explain_ppl
        )
        .takes("Ppl"),
    ],
}];
