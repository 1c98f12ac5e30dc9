//! Which nodes a path of `_nodes` names, and which sections of one: both may stand in the same place.

use clew_schema::glob::matches as glob;
use serde_json::{Value, json};

use crate::state::api::Api;
use crate::state::call::Call;

/// Sections of `GET /_nodes/{node}`, which may stand in the place of a node.
const SECTIONS: [&str; 13] = [
    "settings",
    "os",
    "process",
    "jvm",
    "thread_pool",
    "transport",
    "http",
    "plugins",
    "ingest",
    "aggregations",
    "indices",
    "search_pipelines",
    "timestamp",
];

/// Whether a list of nodes in a path has this one: by id, name, address, role, or a word for it.
pub(super) fn names_this_node(api: &Api, expression: &str) -> bool {
    let options = &api.options;
    let own = [
        api.node_id.as_str(),
        &options.node_name,
        &options.publish_address,
        options.publish_host(),
        "_local",
        "_all",
        "_master",
        "_cluster_manager",
        "master:true",
        "cluster_manager:true",
        "data:true",
        "ingest:true",
    ];
    let named = |part: &str| own.iter().any(|name| glob(part, name));
    expression.split(',').any(named)
}

/// The answer of the nodes that a path names: of this one, or of none.
pub(super) fn nodes_body(call: &Call, node: Value) -> Value {
    let api = &call.api;
    // Without a node in the path the same place may hold a section.
    let named = call
        .path("node")
        .is_none_or(|node| are_sections(node) || names_this_node(api, node));
    let nodes = match named {
        true => json!({&api.node_id: node}),
        false => json!({}),
    };
    let count = u32::from(named);
    json!({
        "_nodes": {"total": count, "successful": count, "failed": 0},
        "cluster_name": api.options.cluster_name,
        "nodes": nodes,
    })
}

/// Whether a list in the place of nodes names sections.
pub(super) fn are_sections(names: &str) -> bool {
    names.split(',').all(|name| SECTIONS.contains(&name))
}

/// Leaves only the sections that a list names, and what is told of every node.
pub(super) fn keep_sections(node: &mut Value, names: &str) {
    let Value::Object(node) = node else {
        return;
    };
    let is_wanted = |section: &str| {
        let mut names = names.split(',');
        names.any(|name| name == section || name == "_all")
    };
    node.retain(|member, _| match member.as_str() {
        "total_indexing_buffer" => is_wanted("indices"),
        "modules" => is_wanted("plugins"),
        section => !SECTIONS.contains(&section) || is_wanted(section),
    });
}
