//! Repositories and snapshots.

use super::endpoint::{Group, endpoint};
use crate::indices::snapshots;

pub(super) const GROUPS: &[Group] = &[Group {
    class: "snapshot",
    params: SNAPSHOT,
    endpoints: &[
        endpoint!(
            "GET",
            ["/_snapshot", "/_snapshot/{repository}"],
            snapshots::repository_get
        ),
        endpoint!(
            "PUT POST",
            ["/_snapshot/{repository}"],
            snapshots::repository_put
        )
        .takes("Repository"),
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
        endpoint!(
            "PUT POST",
            ["/_snapshot/{repository}/{snapshot}"],
            snapshots::create
        )
        .takes("Snapshot"),
        endpoint!(
            "GET",
            ["/_snapshot/{repository}/{snapshot}"],
            snapshots::get
        ),
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
        endpoint!(
            "POST",
            ["/_snapshot/{repository}/{snapshot}/_restore"],
            snapshots::restore
        )
        .takes("Restore"),
        endpoint!(
            "GET",
            [
                "/_snapshot/_status",
                "/_snapshot/{repository}/_status",
                "/_snapshot/{repository}/{snapshot}/_status",
                "/_snapshot/{repository}/{snapshot}/{index}/_status"
            ],
            snapshots::status
        ),
    ],
}];

const SNAPSHOT: &[&str] = &[
    "master_timeout",
    "cluster_manager_timeout",
    "timeout",
    "local",
    "verify",
    "verbose",
    "ignore_unavailable",
    "wait_for_completion",
];
