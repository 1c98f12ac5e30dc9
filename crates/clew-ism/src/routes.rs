//! Index state management.

// The description of the API names endpoints by these paths.
use crate as ism;
use clew_opensearch::wing::{Group, Wing, endpoint};

/// Index state management, as a part of the API.
pub const WING: Wing = Wing {
    groups: GROUPS,
    schemas: include_str!("schemas.json"),
    check_settings: Some(super::check_settings),
    background: Some(|api| Box::pin(super::run_job(api))),
};

const GROUPS: &[Group] = &[
    Group {
        class: "ism",
        params: &[POLICIES],
        endpoints: &[
            endpoint!(
                "GET",
                ["/_plugins/_ism/policies", "/_opendistro/_ism/policies"],
                ism::list
            ),
            endpoint!(
                "PUT",
                [
                    "/_plugins/_ism/policies/{id}",
                    "/_opendistro/_ism/policies/{id}"
                ],
                ism::put
            )
            .takes("IsmPolicy"),
            endpoint!(
                "GET HEAD",
                [
                    "/_plugins/_ism/policies/{id}",
                    "/_opendistro/_ism/policies/{id}"
                ],
                ism::get
            ),
            endpoint!(
                "DELETE",
                [
                    "/_plugins/_ism/policies/{id}",
                    "/_opendistro/_ism/policies/{id}"
                ],
                ism::delete
            ),
        ],
    },
    Group {
        class: "ism",
        params: &[MANAGED],
        endpoints: &[
            endpoint!(
                "POST",
                [
                    "/_plugins/_ism/add",
                    "/_plugins/_ism/add/{index}",
                    "/_opendistro/_ism/add",
                    "/_opendistro/_ism/add/{index}"
                ],
                ism::add
            )
            .takes("IsmPolicyName"),
            endpoint!(
                "POST",
                [
                    "/_plugins/_ism/remove",
                    "/_plugins/_ism/remove/{index}",
                    "/_opendistro/_ism/remove",
                    "/_opendistro/_ism/remove/{index}"
                ],
                ism::remove
            ),
            endpoint!(
                "POST",
                [
                    "/_plugins/_ism/change_policy",
                    "/_plugins/_ism/change_policy/{index}",
                    "/_opendistro/_ism/change_policy",
                    "/_opendistro/_ism/change_policy/{index}"
                ],
                ism::change_policy
            )
            .takes("IsmPolicyName"),
            endpoint!(
                "POST",
                [
                    "/_plugins/_ism/retry",
                    "/_plugins/_ism/retry/{index}",
                    "/_opendistro/_ism/retry",
                    "/_opendistro/_ism/retry/{index}"
                ],
                ism::retry
            )
            .takes("IsmRetry"),
            endpoint!(
                "GET POST",
                [
                    "/_plugins/_ism/explain",
                    "/_plugins/_ism/explain/{index}",
                    "/_opendistro/_ism/explain",
                    "/_opendistro/_ism/explain/{index}"
                ],
                ism::explain
            )
            .takes("IsmExplain"),
        ],
    },
];

const POLICIES: &[&str] = &[
    "if_seq_no",
    "if_primary_term",
    "refresh",
    "from",
    "size",
    "sortField",
    "sortOrder",
    "queryString",
];

const MANAGED: &[&str] = &[
    "show_policy",
    "validate_action",
    "local",
    "master_timeout",
    "cluster_manager_timeout",
    "expand_wildcards",
    "ignore_unavailable",
    "ignore_throttled",
    "allow_no_indices",
    "from",
    "size",
    "sortField",
    "sortOrder",
    "queryString",
];
