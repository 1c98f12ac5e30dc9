//! `_search_shards`: which shards a search would go to, and what the aliases make of it.

use clew_engine::{Alias, BlockLevel, Index, IndexHandle, Purpose, ResolveOptions, Slice};
use serde_json::{Map, Value, json};

use super::control;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::search::search_parts;
use crate::state::api::{Api, stable_id};
use crate::state::call::Call;

/// `GET /{index}/_search_shards`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let options = call.resolve_options_from(ResolveOptions {
        ignore_unavailable: true,
        ..ResolveOptions::default()
    })?;
    let resolved = call
        .open(call.index_expression(), options, Purpose::Watch)
        .await?;
    let parts = search_parts(&call, &resolved, options).await?;
    let slice = match call.json()? {
        Some(body) => body.get("slice").map(control::slice).transpose()?,
        None => None,
    };
    let mut indices = Map::new();
    let mut shards = Vec::new();
    for found in &resolved {
        let index = found.index();
        index.check_own_blocks(BlockLevel::MetadataRead)?;
        indices.insert(index.name().to_string(), shown_index(found));
        let part = parts.get(index.uuid());
        let wanted = part.and_then(|part| part.shards.as_ref());
        for shard in 0..index.settings().shards {
            if wanted.is_none_or(|wanted| wanted.contains(&shard)) {
                shards.push(json!([shown_shard(&call.api, index, shard)]));
            }
        }
    }
    if let Some(Slice { id, max }) = slice {
        let parts = (0..max).cycle();
        let own = shards.into_iter().zip(parts);
        shards = own
            .filter(|(_, part)| *part == id)
            .map(|(shard, _)| shard)
            .collect();
    }
    let mut nodes = Map::new();
    if !shards.is_empty() {
        nodes.insert(call.api.node_id.clone(), shown_node(&call.api));
    }
    Ok(Reply::json(&json!({
        "nodes": nodes,
        "indices": indices,
        "shards": shards,
    })))
}

/// The node as listings of shards show it.
pub(crate) fn shown_node(api: &Api) -> Value {
    json!({
        "name": api.options.node_name,
        "ephemeral_id": stable_id(&[&api.node_id, "ephemeral"]),
        "transport_address": api.options.publish_address,
        "attributes": {},
    })
}

/// The one copy of a shard.
pub(crate) fn shown_shard(api: &Api, index: &Index, shard: u32) -> Value {
    json!({
        "state": shard_state(index),
        "primary": true,
        "node": api.node_id,
        "relocating_node": null,
        "shard": shard,
        "index": index.name(),
        "allocation_id": {"id": allocation_id(index, shard)},
    })
}

/// How far the shards of an index are that have not failed.
pub(crate) fn shard_state(index: &Index) -> &'static str {
    if index.is_unfinished() {
        "INITIALIZING"
    } else {
        "STARTED"
    }
}

/// An id that the copy of a shard keeps as long as its index lives.
pub(crate) fn allocation_id(index: &Index, shard: u32) -> String {
    stable_id(&[index.uuid(), &shard.to_string()])
}

fn shown_index(found: &IndexHandle) -> Value {
    let mut shown = Map::new();
    let aliases = found.found_by_aliases();
    if !aliases.is_empty() {
        let aliases: Vec<&str> = aliases.iter().map(String::as_str).collect();
        shown.insert("aliases".to_string(), json!(aliases));
    }
    if let Some(filter) = shown_filter(&found.through()) {
        shown.insert("filter".to_string(), filter);
    }
    Value::Object(shown)
}

/// The filters of the aliases as one query; none as soon as one alias has none.
fn shown_filter(through: &[Alias]) -> Option<Value> {
    let filters: Option<Vec<&Value>> = through.iter().map(|alias| alias.filter.as_ref()).collect();
    let filters = filters.filter(|filters| !filters.is_empty())?;
    let mut spelled: Vec<Value> = filters.into_iter().map(spell_out).collect();
    if spelled.len() == 1 {
        return spelled.pop();
    }
    Some(json!({"bool": {"should": spelled, "adjust_pure_negative": true, "boost": 1.0}}))
}

/// A `term` written short, with the members that it has when it is written in full.
fn spell_out(filter: &Value) -> Value {
    let term = filter.get("term").and_then(Value::as_object);
    match term.and_then(|term| term.iter().next()) {
        Some((field, value)) if !value.is_object() => {
            json!({"term": {field: {"value": value, "boost": 1.0}}})
        }
        _ => filter.clone(),
    }
}
