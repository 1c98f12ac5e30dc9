//! `_cluster`: one node that is green unless a shard has failed.

use std::sync::Arc;

use clew_engine::{Index, ResolveOptions};
use serde_json::{Map, Value, json};

use crate::api::{Api, stable_id};
use crate::call::Call;
use crate::error::ApiError;
use crate::index_mapping::shown_mapping;
use crate::index_settings::nested_settings;
use crate::reply::Reply;

/// Every index of the node.
pub(crate) fn all_indices(api: &Api) -> Result<Vec<Arc<Index>>, ApiError> {
    Ok(api.engine.resolve("", ResolveOptions::everything())?)
}

/// Shards that serve and shards that have failed.
#[derive(Clone, Copy, Default)]
pub(crate) struct ShardHealth {
    pub(crate) active: u64,
    pub(crate) failed: u64,
    /// Replicas that settings ask for, and that have no second node to be on.
    pub(crate) unassigned: u64,
}

impl ShardHealth {
    pub(crate) fn of(indices: &[Arc<Index>]) -> Self {
        let mut health = ShardHealth::default();
        for index in indices {
            let stats = index.stats();
            health.active += u64::from(stats.shards - stats.failed_shards);
            health.failed += u64::from(stats.failed_shards);
            health.unassigned += u64::from(stats.shards) * u64::from(replicas(index));
        }
        health
    }

    pub(crate) fn status(self) -> &'static str {
        match (self.failed, self.unassigned) {
            (0, 0) => "green",
            (0, _) => "yellow",
            _ => "red",
        }
    }

    /// How many of a hundred shards serve.
    pub(crate) fn active_percent(self) -> f64 {
        let all = self.active + self.failed + self.unassigned;
        if all == 0 {
            return 100.0;
        }
        #[allow(
            clippy::cast_precision_loss,
            reason = "counts of shards are far below 2^52"
        )]
        let share = self.active as f64 / all as f64;
        share * 100.0
    }
}

/// Copies of each shard that the settings ask for. There is one node, so none of them exists.
pub(crate) fn replicas(index: &Index) -> u32 {
    let settings = index.settings();
    let given = settings.given.get("index.number_of_replicas");
    given.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// `GET /_cluster/health`. The `wait_for_*` parameters are met at once or never on one node, so
/// nothing waits.
pub(crate) async fn health(call: Call) -> Result<Reply, ApiError> {
    let indices = call.indices().await?;
    let health = ShardHealth::of(&indices);
    let mut body = json!({
        "cluster_name": call.api.options.cluster_name,
        "status": health.status(),
        "timed_out": false,
        "number_of_nodes": 1,
        "number_of_data_nodes": 1,
        "discovered_master": true,
        "discovered_cluster_manager": true,
        "active_primary_shards": health.active,
        "active_shards": health.active,
        "relocating_shards": 0,
        "initializing_shards": 0,
        "unassigned_shards": health.failed + health.unassigned,
        "delayed_unassigned_shards": 0,
        "number_of_pending_tasks": 0,
        "number_of_in_flight_fetch": 0,
        "task_max_waiting_in_queue_millis": 0,
        "active_shards_percent_as_number": health.active_percent(),
    });
    if matches!(call.params.get("level"), Some("indices" | "shards"))
        && let Value::Object(body) = &mut body
    {
        let each = indices
            .iter()
            .map(|index| (index.name().to_string(), index_health(index)));
        body.insert("indices".to_string(), Value::Object(each.collect()));
    }
    Ok(Reply::json(&body))
}

fn index_health(index: &Arc<Index>) -> Value {
    let health = ShardHealth::of(std::slice::from_ref(index));
    json!({
        "status": health.status(),
        "number_of_shards": health.active + health.failed,
        "number_of_replicas": replicas(index),
        "active_primary_shards": health.active,
        "active_shards": health.active,
        "relocating_shards": 0,
        "initializing_shards": 0,
        "unassigned_shards": health.failed + health.unassigned,
    })
}

/// `GET /_cluster/state`: who is there and which indexes exist.
pub(crate) async fn state(call: Call) -> Result<Reply, ApiError> {
    let api = &call.api;
    let mut indices = Map::new();
    for index in call.indices().await? {
        let shown = json!({
            "version": 1,
            "state": "open",
            "settings": nested_settings(&index),
            "mappings": {"_doc": shown_mapping(&index)},
            "aliases": [],
        });
        indices.insert(index.name().to_string(), shown);
    }
    let node = json!({
        "name": api.options.node_name,
        "transport_address": api.options.publish_address,
        "attributes": {},
    });
    Ok(Reply::json(&json!({
        "cluster_name": api.options.cluster_name,
        "cluster_uuid": stable_id(&[&api.options.cluster_name]),
        "version": api.engine.stats().last.get(),
        "master_node": api.node_id,
        "cluster_manager_node": api.node_id,
        "blocks": {},
        "nodes": {&api.node_id: node},
        "metadata": {
            "cluster_uuid": stable_id(&[&api.options.cluster_name]),
            "templates": {},
            "indices": indices,
        },
    })))
}

/// `GET /_cluster/stats`.
pub(crate) async fn stats(call: Call) -> Result<Reply, ApiError> {
    let indices = all_indices(&call.api)?;
    let health = ShardHealth::of(&indices);
    let (mut docs, mut deleted, mut bytes, mut segments) = (0, 0, 0, 0);
    for index in &indices {
        let stats = index.stats();
        docs += stats.docs;
        deleted += stats.deleted;
        bytes += stats.bytes;
        segments += stats.segments;
    }
    Ok(Reply::json(&json!({
        "_nodes": {"total": 1, "successful": 1, "failed": 0},
        "cluster_name": call.api.options.cluster_name,
        "cluster_uuid": stable_id(&[&call.api.options.cluster_name]),
        "status": health.status(),
        "indices": {
            "count": indices.len(),
            "shards": {"total": health.active, "primaries": health.active},
            "docs": {"count": docs, "deleted": deleted},
            "store": {"size_in_bytes": bytes, "reserved_in_bytes": 0},
            "segments": {"count": segments},
        },
        "nodes": {
            "count": {"total": 1, "data": 1, "ingest": 1, "cluster_manager": 1, "master": 1},
            "versions": [call.api.options.version_number],
        },
    })))
}
