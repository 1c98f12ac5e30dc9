//! Repositories and snapshots.

use super::endpoint::{Group, endpoint};
use super::params::{CHANGE, MANAGER};
use crate::indices::snapshots;

pub(super) const GROUPS: &[Group] = &[
    Group {
        class: "snapshot",
        params: &[MANAGER, &["local"]],
        endpoints: &[endpoint!(
            "GET",
            ["/_snapshot", "/_snapshot/{repository}"],
            snapshots::repository_get
        )],
    },
    Group {
        class: "snapshot",
        params: &[CHANGE, &["verify"]],
        endpoints: &[endpoint!(
            "PUT POST",
            ["/_snapshot/{repository}"],
            snapshots::repository_put
        )
        .takes("Repository")],
    },
    Group {
        class: "snapshot",
        params: &[CHANGE],
        endpoints: &[
            endpoint!(
                "DELETE",
                ["/_snapshot/{repository}"],
                snapshots::repository_delete
            ),
            endpoint!(
                "POST",
                ["/_snapshot/{repository}/_verify"],
                snapshots::repository_verify
            ),
            endpoint!(
                "POST",
                ["/_snapshot/{repository}/_cleanup"],
                snapshots::repository_cleanup
            ),
        ],
    },
    Group {
        class: "snapshot",
        params: &[MANAGER, &["wait_for_completion"]],
        endpoints: &[
            endpoint!(
                "PUT POST",
                ["/_snapshot/{repository}/{snapshot}"],
                snapshots::create
            )
            .takes("Snapshot"),
            endpoint!(
                "POST",
                ["/_snapshot/{repository}/{snapshot}/_restore"],
                snapshots::restore
            )
            .takes("Restore"),
        ],
    },
    Group {
        class: "snapshot",
        params: &[MANAGER, &["ignore_unavailable", "verbose"]],
        endpoints: &[endpoint!(
            "GET",
            ["/_snapshot/{repository}/{snapshot}"],
            snapshots::get
        )],
    },
    Group {
        class: "snapshot",
        params: &[MANAGER],
        endpoints: &[
            endpoint!(
                "DELETE",
                ["/_snapshot/{repository}/{snapshot}"],
                snapshots::delete
            ),
            endpoint!(
                "PUT",
                ["/_snapshot/{repository}/{snapshot}/_clone/{target}"],
                snapshots::clone
            )
            .takes("SnapshotClone"),
        ],
    },
    Group {
        class: "snapshot",
        params: &[MANAGER, &["ignore_unavailable"]],
        endpoints: &[endpoint!(
            "GET",
            [
                "/_snapshot/_status",
                "/_snapshot/{repository}/_status",
                "/_snapshot/{repository}/{snapshot}/_status",
                "/_snapshot/{repository}/{snapshot}/{index}/_status"
            ],
            snapshots::status
        )],
    },
];
