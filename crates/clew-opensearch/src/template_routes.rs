//! The paths of templates, rollovers, data streams, copies of indexes, snapshots and tasks.

use crate::routes::{CAT, Route, class};
use crate::{cat, data_streams, index_recovery, resize, rollover, snapshots, tasks, templates};

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

const RESIZE: &[&str] = &[
    "copy_settings",
    "master_timeout",
    "cluster_manager_timeout",
    "timeout",
    "wait_for_active_shards",
    "wait_for_completion",
    "task_execution_timeout",
];
const ROLLOVER: &[&str] = &[
    "dry_run",
    "master_timeout",
    "cluster_manager_timeout",
    "timeout",
    "wait_for_active_shards",
    "include_type_name",
];
const RECOVERY: &[&str] = &[
    "detailed",
    "active_only",
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
];
const STREAMS: &[&str] = &[
    "master_timeout",
    "cluster_manager_timeout",
    "timeout",
    "expand_wildcards",
];
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

const TASKS: &[&str] = &[
    "nodes",
    "actions",
    "detailed",
    "parent_task_id",
    "group_by",
    "timeout",
    "wait_for_completion",
];

/// Adds them to the table.
pub(crate) fn add(routes: &mut Vec<Route>) {
    template_routes(routes);
    resize_routes(routes);
    snapshot_routes(routes);
    task_routes(routes);
    stream_routes(routes);
}

fn template_routes(routes: &mut Vec<Route>) {
    class(routes, "template", TEMPLATE)
        .add("PUT POST", &["/_template/{name}"], |call| {
            Box::pin(templates::legacy_put(call))
        })
        .add("GET HEAD", &["/_template", "/_template/{name}"], |call| {
            Box::pin(templates::legacy_get(call))
        })
        .add("DELETE", &["/_template/{name}"], |call| {
            Box::pin(templates::legacy_delete(call))
        })
        .add("PUT POST", &["/_component_template/{name}"], |call| {
            Box::pin(templates::component_put(call))
        })
        .add(
            "GET HEAD",
            &["/_component_template", "/_component_template/{name}"],
            |call| Box::pin(templates::component_get(call)),
        )
        .add("DELETE", &["/_component_template/{name}"], |call| {
            Box::pin(templates::component_delete(call))
        })
        .add("PUT POST", &["/_index_template/{name}"], |call| {
            Box::pin(templates::index_put(call))
        })
        .add(
            "GET HEAD",
            &["/_index_template", "/_index_template/{name}"],
            |call| Box::pin(templates::index_get(call)),
        )
        .add("DELETE", &["/_index_template/{name}"], |call| {
            Box::pin(templates::index_delete(call))
        })
        .add(
            "POST",
            &["/_index_template/_simulate_index/{name}"],
            |call| Box::pin(templates::simulate_index(call)),
        )
        .add(
            "POST",
            &[
                "/_index_template/_simulate",
                "/_index_template/_simulate/{name}",
            ],
            |call| Box::pin(templates::simulate_template(call)),
        );
    class(routes, "cat", CAT).add(
        "GET",
        &["/_cat/templates", "/_cat/templates/{name}"],
        |call| Box::pin(cat::templates(call)),
    );
}

fn resize_routes(routes: &mut Vec<Route>) {
    class(routes, "resize", RESIZE)
        .add("PUT POST", &["/{index}/_clone/{target}"], |call| {
            Box::pin(resize::clone(call))
        })
        .add("PUT POST", &["/{index}/_shrink/{target}"], |call| {
            Box::pin(resize::shrink(call))
        })
        .add("PUT POST", &["/{index}/_split/{target}"], |call| {
            Box::pin(resize::split(call))
        });
}

fn snapshot_routes(routes: &mut Vec<Route>) {
    class(routes, "snapshot", SNAPSHOT)
        .add("GET", &["/_snapshot", "/_snapshot/{repository}"], |call| {
            Box::pin(snapshots::repository_get(call))
        })
        .add("PUT POST", &["/_snapshot/{repository}"], |call| {
            Box::pin(snapshots::repository_put(call))
        })
        .add("DELETE", &["/_snapshot/{repository}"], |call| {
            Box::pin(snapshots::repository_delete(call))
        })
        .add("POST", &["/_snapshot/{repository}/_verify"], |call| {
            Box::pin(snapshots::repository_verify(call))
        })
        .add("POST", &["/_snapshot/{repository}/_cleanup"], |call| {
            Box::pin(snapshots::repository_cleanup(call))
        })
        .add(
            "PUT POST",
            &["/_snapshot/{repository}/{snapshot}"],
            |call| Box::pin(snapshots::create(call)),
        )
        .add("GET", &["/_snapshot/{repository}/{snapshot}"], |call| {
            Box::pin(snapshots::get(call))
        })
        .add("DELETE", &["/_snapshot/{repository}/{snapshot}"], |call| {
            Box::pin(snapshots::delete(call))
        })
        .add(
            "POST",
            &["/_snapshot/{repository}/{snapshot}/_restore"],
            |call| Box::pin(snapshots::restore(call)),
        )
        .add(
            "GET",
            &[
                "/_snapshot/_status",
                "/_snapshot/{repository}/_status",
                "/_snapshot/{repository}/{snapshot}/_status",
            ],
            |call| Box::pin(snapshots::status(call)),
        );
    class(routes, "cat", CAT)
        .add("GET", &["/_cat/repositories"], |call| {
            Box::pin(cat::repositories(call))
        })
        .add(
            "GET",
            &["/_cat/snapshots", "/_cat/snapshots/{repository}"],
            |call| Box::pin(cat::snapshots(call)),
        );
}

fn task_routes(routes: &mut Vec<Route>) {
    class(routes, "cluster", TASKS)
        .add("GET", &["/_tasks"], |call| Box::pin(tasks::list(call)))
        .add("GET", &["/_tasks/{task}"], |call| {
            Box::pin(tasks::get(call))
        })
        .add(
            "POST",
            &["/_tasks/_cancel", "/_tasks/{task}/_cancel"],
            |call| Box::pin(tasks::cancel(call)),
        );
}

fn stream_routes(routes: &mut Vec<Route>) {
    class(routes, "index_admin", RECOVERY).add(
        "GET",
        &["/_recovery", "/{index}/_recovery"],
        |call| Box::pin(index_recovery::get(call)),
    );
    class(routes, "rollover", ROLLOVER).add(
        "POST",
        &["/{index}/_rollover", "/{index}/_rollover/{new_index}"],
        |call| Box::pin(rollover::rollover(call)),
    );
    class(routes, "data_stream", STREAMS)
        .add("PUT", &["/_data_stream/{name}"], |call| {
            Box::pin(data_streams::create(call))
        })
        .add("GET", &["/_data_stream", "/_data_stream/{name}"], |call| {
            Box::pin(data_streams::get(call))
        })
        .add("DELETE", &["/_data_stream/{name}"], |call| {
            Box::pin(data_streams::delete(call))
        })
        .add(
            "GET",
            &["/_data_stream/_stats", "/_data_stream/{name}/_stats"],
            |call| Box::pin(data_streams::stats(call)),
        );
}
