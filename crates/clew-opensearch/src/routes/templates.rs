//! Templates of indexes.

use super::endpoint::{Group, endpoint};
use crate::indices::templates;

pub(super) const GROUPS: &[Group] = &[Group {
    class: "template",
    params: TEMPLATE,
    endpoints: &[
        endpoint!("PUT POST", ["/_template/{name}"], templates::legacy_put).takes("LegacyTemplate"),
        endpoint!(
            "GET HEAD",
            ["/_template", "/_template/{name}"],
            templates::legacy_get
        ),
        endpoint!("DELETE", ["/_template/{name}"], templates::legacy_delete),
        endpoint!(
            "PUT POST",
            ["/_component_template/{name}"],
            templates::component_put
        )
        .takes("ComponentTemplate"),
        endpoint!(
            "GET HEAD",
            ["/_component_template", "/_component_template/{name}"],
            templates::component_get
        ),
        endpoint!(
            "DELETE",
            ["/_component_template/{name}"],
            templates::component_delete
        ),
        endpoint!(
            "PUT POST",
            ["/_index_template/{name}"],
            templates::index_put
        )
        .takes("IndexTemplate"),
        endpoint!(
            "GET HEAD",
            ["/_index_template", "/_index_template/{name}"],
            templates::index_get
        ),
        endpoint!(
            "DELETE",
            ["/_index_template/{name}"],
            templates::index_delete
        ),
        endpoint!(
            "POST",
            ["/_index_template/_simulate_index/{name}"],
            templates::simulate_index
        )
        .takes("IndexTemplate"),
        endpoint!(
            "POST",
            [
                "/_index_template/_simulate",
                "/_index_template/_simulate/{name}"
            ],
            templates::simulate_template
        )
        .takes("IndexTemplate"),
    ],
}];

const TEMPLATE: &[&str] = &[
    "create",
    "order",
    "cause",
    "master_timeout",
    "cluster_manager_timeout",
    "timeout",
    "local",
    "flat_settings",
    "include_type_name",
    "include_defaults",
];
