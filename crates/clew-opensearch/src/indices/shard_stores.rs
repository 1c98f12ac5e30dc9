//! `_shard_stores`, which tells where copies of shards lie, and `_upgrade`, which has nothing to do:
//! segments of every version that can be opened are written anew by merges.

use std::collections::BTreeMap;

use clew_engine::{Purpose, Wildcards};
use serde_json::{Map, Value, json};

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::copies::ShardHealth;
use crate::search::search_shards::{allocation_id, shown_node};
use crate::state::api::LUCENE_VERSION;
use crate::state::call::Call;

/// `GET /{index}/_shard_stores`: of indexes that are not green, unless `status` asks for others.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let wanted = call.params.list("status").unwrap_or(vec!["yellow", "red"]);
    for status in &wanted {
        if !["green", "yellow", "red", "all"].contains(status) {
            let reason = format!("unknown cluster health status [{status}]");
            return Err(ApiError::illegal_argument(reason));
        }
    }
    let mut indices = Map::new();
    for index in call.indices_from(Wildcards::SHOWN, Purpose::Watch).await? {
        let status = ShardHealth::of(std::slice::from_ref(&index)).status();
        if !wanted.contains(&status) && !wanted.contains(&"all") {
            continue;
        }
        let shards = (0..index.settings().shards).map(|shard| {
            let store = json!({
                &call.api.node_id: shown_node(&call.api),
                "allocation_id": allocation_id(&index, shard),
                "allocation": "primary",
            });
            (shard.to_string(), json!({"stores": [store]}))
        });
        let shards: BTreeMap<String, Value> = shards.collect();
        indices.insert(index.name().to_string(), json!({ "shards": shards }));
    }
    Ok(Reply::json(&json!({ "indices": indices })))
}

/// `POST /{index}/_upgrade`.
pub(crate) async fn upgrade(call: Call) -> Result<Reply, ApiError> {
    let mut upgraded = Map::new();
    let mut shards = 0;
    for index in call.indices(Purpose::Watch).await? {
        shards += index.settings().shards;
        let versions = json!({
            "upgrade_version": call.api.options.version_number,
            "oldest_lucene_segment_version": LUCENE_VERSION,
        });
        upgraded.insert(index.name().to_string(), versions);
    }
    Ok(Reply::json(&json!({
        "_shards": {"total": shards, "successful": shards, "failed": 0},
        "upgraded_indices": upgraded,
    })))
}

/// `GET /{index}/_upgrade`: how much there is to upgrade.
pub(crate) async fn upgrade_status(call: Call) -> Result<Reply, ApiError> {
    let mut indices = Map::new();
    let mut all = 0;
    for index in call.indices(Purpose::Watch).await? {
        let bytes = index.stats().bytes;
        all += bytes;
        indices.insert(index.name().to_string(), upgrade_sizes(bytes));
    }
    let mut body = upgrade_sizes(all);
    body["indices"] = Value::Object(indices);
    Ok(Reply::json(&body))
}

fn upgrade_sizes(bytes: u64) -> Value {
    json!({
        "size_in_bytes": bytes,
        "size_to_upgrade_in_bytes": 0,
        "size_to_upgrade_ancient_in_bytes": 0,
    })
}
