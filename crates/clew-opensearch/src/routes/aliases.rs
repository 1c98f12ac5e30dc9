//! Aliases.

use super::endpoint::{Group, endpoint};
use super::params::{AFTER, CHANGE, INDICES};
use crate::indices::aliases;

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "index_admin",
        params: &[INDICES, AFTER, &["local"]],
        endpoints: &[endpoint!(
            "GET HEAD",
            [
                "/_alias",
                "/_aliases",
                "/_alias/{alias}",
                "/{index}/_alias",
                "/{index}/_aliases",
                "/{index}/_alias/{alias}"
            ],
            aliases::get
        )],
    },
    Group {
        class: "index_admin",
        params: &[CHANGE],
        endpoints: &[
            endpoint!("POST", ["/_aliases"], aliases::update).takes("AliasActions"),
            endpoint!(
                "PUT POST",
                [
                    "/{index}/_alias/{alias}",
                    "/{index}/_aliases/{alias}",
                    "/_alias/{alias}",
                    "/_aliases/{alias}"
                ],
                aliases::put
            )
            .takes("Alias"),
            endpoint!(
                "PUT",
                ["/{index}/_alias", "/{index}/_aliases", "/_alias"],
                aliases::put
            )
            .takes("Alias"),
            endpoint!(
                "DELETE",
                ["/{index}/_alias/{alias}", "/{index}/_aliases/{alias}"],
                aliases::delete
            ),
        ],
    },
];
