//! Templates of indexes.

use super::endpoint::{Group, endpoint};
use super::params::{MANAGER, OF_OLD};
use crate::indices::templates;

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "template",
        params: &[MANAGER, OF_NEW, &["order"], OF_OLD],
        endpoints: &[
            endpoint!("PUT POST", ["/_template/{name}"], templates::legacy_put)
                .takes("LegacyTemplate"),
        ],
    },
    Group {
        class: "template",
        params: &[MANAGER, OF_NEW],
        endpoints: &[
            endpoint!(
                "PUT POST",
                ["/_component_template/{name}"],
                templates::component_put
            )
            .takes("ComponentTemplate"),
            endpoint!(
                "PUT POST",
                ["/_index_template/{name}"],
                templates::index_put
            )
            .takes("IndexTemplate"),
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
    },
    Group {
        class: "template",
        params: &[MANAGER, &["local", "flat_settings"], OF_OLD],
        endpoints: &[
            endpoint!(
                "GET HEAD",
                ["/_template", "/_template/{name}"],
                templates::legacy_get
            ),
            endpoint!(
                "GET HEAD",
                ["/_component_template", "/_component_template/{name}"],
                templates::component_get
            ),
            endpoint!(
                "GET HEAD",
                ["/_index_template", "/_index_template/{name}"],
                templates::index_get
            ),
        ],
    },
    Group {
        class: "template",
        params: &[MANAGER],
        endpoints: &[
            endpoint!("DELETE", ["/_template/{name}"], templates::legacy_delete),
            endpoint!(
                "DELETE",
                ["/_component_template/{name}"],
                templates::component_delete
            ),
            endpoint!(
                "DELETE",
                ["/_index_template/{name}"],
                templates::index_delete
            ),
        ],
    },
];

/// What is said of a template that is to be made.
const OF_NEW: &[&str] = &["create", "cause"];
