//! Showing and changing the settings of indexes.

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_engine::{Index, Wildcards};
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::error::ApiError;
use crate::reply::Reply;
use crate::search::glob;
use crate::settings::{self, shown, unflatten};

/// The internal version number that 2.19.0 puts into `index.version.created`.
const VERSION_CREATED: &str = "136408127";

/// Given settings and those that every index has, flat.
fn flat_settings(index: &Index) -> BTreeMap<String, String> {
    let settings = index.settings();
    let mut flat = settings.given.clone();
    let mut default = |name: &str, value: String| {
        flat.entry(format!("index.{name}")).or_insert(value);
    };
    default("number_of_shards", settings.shards.to_string());
    default("number_of_replicas", "0".to_string());
    default("provided_name", index.name().to_string());
    flat.insert("index.uuid".to_string(), index.uuid().to_string());
    flat.insert(
        "index.creation_date".to_string(),
        index.created_ms().to_string(),
    );
    flat.insert(
        "index.version.created".to_string(),
        VERSION_CREATED.to_string(),
    );
    flat
}

/// `{"index": {...}}`.
pub(crate) fn nested_settings(index: &Index) -> Value {
    shown_settings(index, false)
}

/// The settings, nested or flat.
pub(crate) fn shown_settings(index: &Index, flat: bool) -> Value {
    render(&flat_settings(index), flat)
}

fn render(settings: &BTreeMap<String, String>, flat: bool) -> Value {
    let pairs = settings
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    if flat {
        Value::Object(
            pairs
                .map(|(name, text)| (name.to_string(), shown(text)))
                .collect(),
        )
    } else {
        Value::Object(unflatten(pairs))
    }
}

/// `GET /{index}/_settings/{name}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let flat = call.params.flag("flat_settings", false)?;
    let defaults = call.params.flag("include_defaults", false)?;
    let names = call.path("name").or(call.params.get("name")).unwrap_or("*");
    let patterns: Vec<&str> = names.split(',').collect();
    let mut body = Map::new();
    for index in call.indices_from(Wildcards::SHOWN).await? {
        let mut settings = flat_settings(&index);
        settings.retain(|name, _| {
            patterns
                .iter()
                .any(|pattern| *pattern == "_all" || glob(pattern.as_bytes(), name.as_bytes()))
        });
        let mut shown = json!({"settings": render(&settings, flat)});
        if defaults && let Value::Object(shown) = &mut shown {
            shown.insert(
                "defaults".to_string(),
                render(&default_settings(&index), flat),
            );
        }
        body.insert(index.name().to_string(), shown);
    }
    Ok(Reply::json(&Value::Object(body)))
}

/// Values in force that nobody gave.
fn default_settings(index: &Index) -> BTreeMap<String, String> {
    let settings = index.settings();
    let refresh = settings
        .refresh_interval
        .map_or("-1".to_string(), |every| format!("{}ms", every.as_millis()));
    let sync_ms = settings.sync_interval.as_millis();
    let durability = match settings.durability {
        clew_engine::TranslogDurability::Request => "REQUEST",
        clew_engine::TranslogDurability::Async => "ASYNC",
    };
    let all = [
        ("index.refresh_interval", refresh),
        (
            "index.max_result_window",
            settings.max_result_window.to_string(),
        ),
        ("index.translog.durability", durability.to_string()),
        ("index.translog.sync_interval", format!("{sync_ms}ms")),
        (
            "index.translog.flush_threshold_size",
            format!("{}b", settings.flush_threshold_bytes),
        ),
        (
            "index.knn.algo_param.ef_search",
            settings.ef_search.to_string(),
        ),
    ];
    let given = |name: &str| settings.given.contains_key(name);
    let unset = all.into_iter().filter(|(name, _)| !given(name));
    unset
        .map(|(name, value)| (name.to_string(), value))
        .collect()
}

/// `PUT /{index}/_settings`.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let body = call.json_object()?;
    let empty = Map::new();
    let members = body.as_object().unwrap_or(&empty);
    // Some clients wrap the settings as they do when they create an index.
    let members = match members.get("settings").and_then(Value::as_object) {
        Some(inner) if members.len() == 1 => inner,
        _ => members,
    };
    let mut flat = settings::flatten(members)?;
    let indices: Vec<Arc<Index>> = call.indices_from(Wildcards::SHOWN).await?;
    let mut changes = Vec::new();
    for index in indices {
        let current = index.settings();
        if call.params.flag("preserve_existing", false)? {
            flat.retain(|name, _| !current.given.contains_key(name));
        }
        let next = settings::update(&current, &flat, index.name(), index.uuid())?;
        changes.push((index.name().to_string(), next));
    }
    let glsn = call
        .blocking(move |engine| {
            let mut last = None;
            for (name, settings) in changes {
                last = Some(engine.put_settings(&name, settings)?);
            }
            Ok(last)
        })
        .await?;
    Ok(Reply::acknowledged().at(glsn))
}
