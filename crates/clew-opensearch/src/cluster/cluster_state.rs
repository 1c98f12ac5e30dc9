//! `_cluster/state`: everything that is known of the cluster, in the sections that are asked for.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use clew_engine::{Block, ClosedNames, Index, Purpose, ResolveOptions, Wildcards};
use clew_platform::stopped;
use serde_json::{Map, Value, json};

use crate::cluster::cluster_health::wait_until;
use crate::cluster::voting::VotingExclusions;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::aliases::aliases_of;
use crate::indices::copies::replicas;
use crate::indices::index_mapping::shown_mapping;
use crate::indices::index_settings::shown_settings;
use crate::indices::templates::{
    COMPONENT, COMPOSABLE, LEGACY, show_component, show_composable, show_legacy,
};
use crate::search::search_shards::{allocation_id, shown_node, shown_shard};
use crate::state::api::{Api, stable_id};
use crate::state::call::Call;

/// The sections that a request can name.
pub(crate) const METRICS: &[&str] = &[
    "version",
    "master_node",
    "cluster_manager_node",
    "blocks",
    "nodes",
    "metadata",
    "routing_table",
    "routing_nodes",
    "customs",
];
const WAIT_DEFAULT: Duration = Duration::from_secs(60);

/// `GET /_cluster/state/{metric}/{index}`.
pub(crate) async fn state(call: Call) -> Result<Reply, ApiError> {
    let metrics = read_metrics(call.path("metric").unwrap_or("_all"));
    let waited = wait_for_version(&call).await?;
    if waited == Some(false) {
        return Ok(Reply::json(&json!({
            "cluster_name": call.api.options.cluster_name,
            "wait_for_timed_out": true,
        })));
    }
    let indices = match call.path("index") {
        None => call.shown_indices(),
        Some(expression) => {
            let options = call.resolve_options_from(ResolveOptions {
                ignore_unavailable: true,
                wildcards: Wildcards::OPEN,
                closed: ClosedNames::Allow,
                ..ResolveOptions::default()
            })?;
            let opened = call.open(expression, options, Purpose::Watch).await?;
            opened.iter().map(|found| found.index().clone()).collect()
        }
    };
    let flat = call.params.flag("flat_settings", false)?;
    let api = call.api.clone();
    let made = move || {
        let mut body = shown_state(&api, &metrics, &indices, flat);
        body["cluster_name"] = Value::from(api.options.cluster_name.clone());
        if waited.is_some() {
            body["wait_for_timed_out"] = Value::from(false);
        }
        Ok(body)
    };
    call.showing(made).await
}

/// Whether the state became as new as the request wants; `None` when it does not say.
async fn wait_for_version(call: &Call) -> Result<Option<bool>, ApiError> {
    let Some(version) = call.params.unsigned("wait_for_metadata_version")? else {
        return Ok(None);
    };
    let timeout = call
        .params
        .time("wait_for_timeout")?
        .unwrap_or(WAIT_DEFAULT);
    let reached = || Ok(call.api.engine.stats().last.get() >= version);
    wait_until(timeout, reached).await.map(Some)
}

/// The sections of a comma-separated list. Names that are none choose nothing: OpenSearch passes them over.
pub(crate) fn read_metrics(text: &str) -> BTreeSet<&'static str> {
    let names: Vec<&str> = text.split(',').collect();
    let is_wanted = |metric: &&str| names.contains(metric) || names.contains(&"_all");
    METRICS.iter().copied().filter(is_wanted).collect()
}

/// The state's sections over some indexes.
pub(crate) fn shown_state(
    api: &Api,
    metrics: &BTreeSet<&'static str>,
    indices: &[Arc<Index>],
    flat: bool,
) -> Value {
    let version = api.engine.stats().last.get();
    let cluster_uuid = stable_id(&[&api.options.cluster_name]);
    let mut body = Map::new();
    body.insert(
        "cluster_uuid".to_string(),
        Value::from(cluster_uuid.clone()),
    );
    let mut put = |metric: &'static str, key: &str, value: &dyn Fn() -> Value| {
        if metrics.contains(metric) {
            body.insert(key.to_string(), value());
        }
    };
    put("version", "version", &|| Value::from(version));
    put("version", "state_uuid", &|| {
        Value::from(stable_id(&[&cluster_uuid, &version.to_string()]))
    });
    put("master_node", "master_node", &|| {
        Value::from(api.node_id.clone())
    });
    put("cluster_manager_node", "cluster_manager_node", &|| {
        Value::from(api.node_id.clone())
    });
    put("blocks", "blocks", &|| shown_blocks(indices));
    put("nodes", "nodes", &|| json!({&api.node_id: shown_node(api)}));
    put("metadata", "metadata", &|| {
        shown_metadata(api, indices, flat)
    });
    put("routing_table", "routing_table", &|| {
        let each = indices.iter().map(|index| {
            let shards = (0..index.settings().shards)
                .map(|shard| (shard.to_string(), Value::from(copies(api, index, shard))));
            let shards: Map<String, Value> = shards.collect();
            (index.name().to_string(), json!({ "shards": shards }))
        });
        let each: Map<String, Value> = each.collect();
        json!({ "indices": each })
    });
    put("routing_nodes", "routing_nodes", &|| {
        let all = indices.iter().flat_map(|index| {
            (0..index.settings().shards).flat_map(move |shard| copies(api, index, shard))
        });
        let (assigned, unassigned): (Vec<Value>, Vec<Value>) =
            all.partition(|copy| copy["node"].is_string());
        json!({"unassigned": unassigned, "nodes": {&api.node_id: assigned}})
    });
    Value::Object(body)
}

/// The copies of a shard: the one there is, and those that are asked for.
fn copies(api: &Api, index: &Index, shard: u32) -> Vec<Value> {
    /// Copies that are listed at most; the rest only adds to the counts.
    const LISTED_MAX: u32 = 1000;
    let failure = index.shard_failure(shard);
    let unassigned = |primary: bool| {
        let mut shown = json!({
            "state": "UNASSIGNED", "primary": primary, "node": null, "relocating_node": null,
            "shard": shard, "index": index.name(),
            "recovery_source": {"type": if primary { "EXISTING_STORE" } else { "PEER" }},
            "unassigned_info": {
                "reason": if primary { "ALLOCATION_FAILED" } else { "INDEX_CREATED" },
                "at": created_at(index), "delayed": false, "allocation_status": "no_attempt",
            },
        });
        if let (true, Some(reason)) = (primary, &failure) {
            shown["unassigned_info"]["details"] = Value::from(reason.as_str());
        }
        shown
    };
    let mut copies = vec![if failure.is_some() {
        unassigned(true)
    } else {
        shown_shard(api, index, shard)
    }];
    let missing = replicas(index).min(LISTED_MAX);
    copies.extend((0..missing).map(|_| unassigned(false)));
    copies
}

/// When an index was created, as text.
pub(crate) fn created_at(index: &Index) -> String {
    let millis = i64::try_from(index.created_ms()).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_millisecond(millis);
    time.map_or(String::new(), |time| format!("{time:.3}"))
}

fn shown_blocks(indices: &[Arc<Index>]) -> Value {
    let mut shown = Map::new();
    for index in indices {
        let mut blocks = Map::new();
        if !index.is_open() {
            let closed = json!({
                "description": "index closed", "retryable": false, "levels": ["read", "write"],
            });
            blocks.insert("4".to_string(), closed);
        }
        for block in index.blocks() {
            blocks.insert(block.number().to_string(), shown_block(block));
        }
        if !blocks.is_empty() {
            shown.insert(index.name().to_string(), Value::Object(blocks));
        }
    }
    if shown.is_empty() {
        return json!({});
    }
    json!({ "indices": shown })
}

fn shown_block(block: Block) -> Value {
    json!({
        "description": block.description(),
        "retryable": false,
        "levels": block.levels(),
    })
}

fn shown_metadata(api: &Api, indices: &[Arc<Index>], flat: bool) -> Value {
    let each = indices
        .iter()
        .take_while(|_| !stopped())
        .map(|index| (index.name().to_string(), shown_index(index, flat)));
    let each: Map<String, Value> = each.collect();
    let mut metadata = json!({
        "cluster_uuid": stable_id(&[&api.options.cluster_name]),
        "cluster_uuid_committed": true,
        "cluster_coordination": {
            "term": 1,
            "last_committed_config": [api.node_id],
            "last_accepted_config": [api.node_id],
            "voting_config_exclusions": api.parts.get::<VotingExclusions>().shown(),
        },
        "templates": shown_definitions(api, LEGACY, |value| show_legacy(value, flat)),
        "indices": each,
        "index-graveyard": {"tombstones": []},
    });
    let of_kind = [
        (
            COMPONENT,
            shown_definitions(api, COMPONENT, |value| show_component(value, flat)),
        ),
        (
            COMPOSABLE,
            shown_definitions(api, COMPOSABLE, |value| show_composable(value, flat)),
        ),
    ];
    for (kind, shown) in of_kind {
        if !shown.is_empty() {
            metadata[kind] = json!({ kind: shown });
        }
    }
    metadata
}

/// The templates of one kind.
fn shown_definitions(api: &Api, kind: &str, show: impl Fn(&Value) -> Value) -> Map<String, Value> {
    api.engine.with_definitions(|definitions| {
        let all = definitions.of(kind);
        all.map(|(name, value)| (name.to_string(), show(value)))
            .collect()
    })
}

fn shown_index(index: &Index, flat: bool) -> Value {
    let aliases: Vec<String> = aliases_of(index).into_keys().collect();
    let shards = 0..index.settings().shards;
    let terms: Map<String, Value> = shards
        .clone()
        .map(|shard| (shard.to_string(), json!(1)))
        .collect();
    let in_sync: Map<String, Value> = shards
        .map(|shard| (shard.to_string(), json!([allocation_id(index, shard)])))
        .collect();
    json!({
        "version": 1,
        "routing_num_shards": index.settings().routing_slots(),
        "state": if index.is_open() { "open" } else { "close" },
        "settings": shown_settings(index, flat),
        "mappings": {"_doc": shown_mapping(index)},
        "aliases": aliases,
        "primary_terms": terms,
        "in_sync_allocations": in_sync,
        "rollover_info": {},
        "system": false,
    })
}
