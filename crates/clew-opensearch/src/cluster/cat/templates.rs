//! `_cat/templates`.

use clew_schema::glob::matches as glob;

use super::table::{Column, Table, number, text};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::templates::{self, ListedTemplate};
use crate::state::call::Call;

const TEMPLATES: &[Column] = &[
    text("name", &["n"], "template name"),
    text("index_patterns", &["t"], "template index patterns"),
    number(
        "order",
        &["o", "p"],
        "template application order/priority number",
    ),
    number("version", &["v"], "version"),
    text(
        "composed_of",
        &["c"],
        "component templates comprising index template",
    ),
];

/// `GET /_cat/templates/{name}`.
pub(crate) async fn templates(call: Call) -> Result<Reply, ApiError> {
    let listed = call.api.engine.with_definitions(templates::list_all);
    let wanted = call.path("name").unwrap_or("*");
    let rows = listed
        .into_iter()
        .filter(|template| glob(wanted, &template.name))
        .map(|template| {
            let ListedTemplate {
                name,
                patterns,
                order,
                version,
                composed_of,
            } = template;
            vec![name, patterns, order, version, composed_of]
        });
    Table {
        columns: TEMPLATES,
        rows: rows.collect(),
    }
    .reply(&call)
}
