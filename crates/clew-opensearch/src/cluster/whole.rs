//! What is counted over the whole cluster, which is one node.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::copies::ShardHealth;
use crate::state::api::stable_id;
use crate::state::call::Call;

/// `GET /_cluster/stats`.
pub(crate) async fn stats(call: Call) -> Result<Reply, ApiError> {
    let indices = call.shown_indices();
    let health = ShardHealth::of(&indices);
    let (mut docs, mut deleted, mut bytes, mut segments) = (0, 0, 0, 0);
    for index in &indices {
        let stats = index.stats();
        docs += stats.docs;
        deleted += stats.deleted;
        bytes += stats.bytes;
        segments += stats.segments;
    }
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Ok(Reply::json(&json!({
        "_nodes": {"total": 1, "successful": 1, "failed": 0},
        "cluster_name": call.api.options.cluster_name,
        "cluster_uuid": stable_id(&[&call.api.options.cluster_name]),
        "timestamp": u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX),
        "status": health.status(),
        "indices": {
            "count": indices.len(),
            "shards": {"total": health.active, "primaries": health.active},
            "docs": {"count": docs, "deleted": deleted},
            "store": {"size_in_bytes": bytes, "reserved_in_bytes": 0},
            "segments": {"count": segments},
            "fielddata": {"memory_size_in_bytes": 0, "evictions": 0},
            "query_cache": {"memory_size_in_bytes": 0, "hit_count": 0, "miss_count": 0},
            "completion": {"size_in_bytes": 0},
        },
        "nodes": {
            "count": {
                "total": 1, "cluster_manager": 1, "master": 1, "data": 1, "ingest": 1,
                "coordinating_only": 0, "remote_cluster_client": 0, "search": 0, "warm": 0,
            },
            "versions": [call.api.options.version_number],
            "discovery_types": {"single-node": 1},
            "packaging_types": [{"type": "tar", "count": 1}],
            "plugins": [],
            "network_types": {"transport_types": {}, "http_types": {}},
        },
    })))
}

/// `GET /_cluster/pending_tasks`: changes of the cluster's state are made at once, so none waits.
pub(crate) async fn pending_tasks(_call: Call) -> Result<Reply, ApiError> {
    Ok(Reply::json(&json!({"tasks": []})))
}

/// `GET /_remote/info`: there are no remote clusters.
pub(crate) async fn remote_info(_call: Call) -> Result<Reply, ApiError> {
    Ok(Reply::json(&json!({})))
}
