//! `_resolve/index`: what the names and patterns of an expression are.

use clew_engine::{ClosedNames, Purpose, ResolveOptions};
use serde_json::{Map, Value, json};

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::aliases::{aliases_of, is_wanted};
use crate::indices::data_streams;
use crate::indices::data_streams::Streams;
use crate::state::call::Call;

/// `GET /_resolve/index/{name}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let expression = call.path_required("name")?;
    let options = call.resolve_options_from(ResolveOptions {
        // A name that means nothing is told by what is not in the answer.
        ignore_unavailable: true,
        closed: ClosedNames::Allow,
        ..ResolveOptions::default()
    })?;
    let resolved = call.open(expression, options, Purpose::Watch).await?;
    let mut indices = Vec::new();
    for found in resolved.iter().filter(|found| found.is_found_by_name()) {
        let index = found.index();
        let mut attributes = Vec::new();
        if index.is_hidden() {
            attributes.push("hidden");
        }
        attributes.push(if index.is_open() { "open" } else { "closed" });
        attributes.sort_unstable();
        let mut shown = Map::new();
        shown.insert("name".to_string(), Value::from(index.name()));
        let aliases: Vec<String> = aliases_of(index).into_keys().collect();
        if !aliases.is_empty() {
            shown.insert("aliases".to_string(), Value::from(aliases));
        }
        shown.insert("attributes".to_string(), Value::from(attributes));
        if let Some(stream) = index.data_stream() {
            shown.insert("data_stream".to_string(), Value::from(stream));
        }
        indices.push(Value::Object(shown));
    }
    let parts: Vec<&str> = expression.split(',').collect();
    let streams = data_streams::all(&call.api.engine, &call.access);
    let mut aliases = Vec::new();
    for (name, holders) in call.api.engine.aliases() {
        let hidden = holders.iter().any(|index| {
            let aliases = index.aliases();
            aliases.get(&name).and_then(|alias| alias.is_hidden) == Some(true)
        });
        let shown = !hidden || options.wildcards.hidden || parts.contains(&name.as_str());
        if shown && is_wanted(&parts, &name) && !streams.contains_key(&name) {
            let indices: Vec<&str> = holders.iter().map(|index| index.name()).collect();
            aliases.push(json!({"name": name, "indices": indices}));
        }
    }
    Ok(Reply::json(&json!({
        "indices": indices,
        "aliases": aliases,
        "data_streams": shown_streams(&call, &streams, &parts),
    })))
}

fn shown_streams(call: &Call, streams: &Streams, parts: &[&str]) -> Vec<Value> {
    let wanted = streams.iter().filter(|(name, _)| is_wanted(parts, name));
    let shown = wanted.map(|(name, indices)| {
        let indices: Vec<&str> = indices.iter().map(|index| index.name()).collect();
        let engine = &call.api.engine;
        let field = engine.with_definitions(|all| data_streams::timestamp_field(all, name));
        json!({"name": name, "backing_indices": indices, "timestamp_field": field})
    });
    shown.collect()
}
