//! `_resolve/index`: what the names and patterns of an expression are.

use clew_engine::{ClosedNames, ResolveOptions};
use serde_json::{Map, Value, json};

use crate::aliases::is_wanted;
use crate::call::Call;
use crate::error::ApiError;
use crate::reply::Reply;

/// `GET /_resolve/index/{name}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let expression = call.path_required("name")?;
    let options = call.resolve_options_from(ResolveOptions {
        closed: ClosedNames::Allow,
        ..ResolveOptions::default()
    })?;
    let resolved = call.resolved_with(expression, options).await?;
    let mut indices = Vec::new();
    for found in resolved.iter().filter(|found| found.by_name) {
        let index = &found.index;
        let mut attributes = Vec::new();
        if index.is_hidden() {
            attributes.push("hidden");
        }
        attributes.push(if index.is_open() { "open" } else { "closed" });
        attributes.sort_unstable();
        let mut shown = Map::new();
        shown.insert("name".to_string(), Value::from(index.name()));
        let aliases: Vec<String> = index.aliases().keys().cloned().collect();
        if !aliases.is_empty() {
            shown.insert("aliases".to_string(), Value::from(aliases));
        }
        shown.insert("attributes".to_string(), Value::from(attributes));
        indices.push(Value::Object(shown));
    }
    let parts: Vec<&str> = expression.split(',').collect();
    let mut aliases = Vec::new();
    for (name, holders) in call.api.engine.aliases() {
        let hidden = holders.iter().any(|index| {
            let aliases = index.aliases();
            aliases.get(&name).and_then(|alias| alias.is_hidden) == Some(true)
        });
        let shown = !hidden || options.wildcards.hidden || parts.contains(&name.as_str());
        if shown && is_wanted(&parts, &name) {
            let indices: Vec<&str> = holders.iter().map(|index| index.name()).collect();
            aliases.push(json!({"name": name, "indices": indices}));
        }
    }
    Ok(Reply::json(&json!({
        "indices": indices,
        "aliases": aliases,
        "data_streams": [],
    })))
}
