//! Showing and changing the settings of indexes.

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_engine::{Access, ClosedNames, Engine, Index, Purpose, ResolveOptions, Wildcards};
use clew_log::Glsn;
use clew_schema::glob::matches as glob;
use serde_json::{Map, Value, json};

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::setting_values::{Flat, settings_json};
use crate::indices::snapshots::iso;
use crate::indices::{known_settings, settings, usual_settings};
use crate::state::call::Call;

/// The internal version number that 2.19.0 puts into `index.version.created`.
pub(crate) const VERSION_CREATED: &str = "136408127";

/// The name that an index was made by, which may have had a date in it.
pub(crate) const PROVIDED_NAME: &str = "index.provided_name";

/// Given settings and those that every index has, flat.
fn flat_settings(index: &Index) -> BTreeMap<String, String> {
    let settings = index.settings();
    let mut flat = settings.given.clone();
    // What the server alone gives an index could be given to no other.
    flat.retain(|name, _| !name.starts_with(settings::PRIVATE));
    let mut default = |name: &str, value: String| {
        flat.entry(format!("index.{name}")).or_insert(value);
    };
    default("number_of_shards", settings.shards.to_string());
    default("number_of_replicas", "0".to_string());
    let provided = settings.given.get(PROVIDED_NAME);
    if provided.is_none_or(|given| !given.starts_with('<')) {
        flat.insert(PROVIDED_NAME.to_string(), index.name().to_string());
    }
    // Set by the user, or by the node as long as its disk is nearly full.
    for block in index.blocks() {
        flat.insert(format!("index.blocks.{}", block.name()), "true".to_string());
    }
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

/// The settings, nested or flat.
pub(crate) fn shown_settings(index: &Index, flat: bool) -> Value {
    settings_json(&flat_settings(index), flat)
}

/// The same as a request wants them: with dates and versions that people can read, if it asks for these.
///
/// # Errors
/// Parameters that are neither true nor false.
pub(crate) fn settings_for(call: &Call, index: &Index) -> Result<Value, ApiError> {
    let flat = call.params.flag("flat_settings", false)?;
    let mut settings = flat_settings(index);
    add_words(call, index, &mut settings)?;
    Ok(settings_json(&settings, flat))
}

/// Adds dates and versions that people can read, where a request asks for them (`human`).
fn add_words(
    call: &Call,
    index: &Index,
    settings: &mut BTreeMap<String, String>,
) -> Result<(), ApiError> {
    if call.params.flag("human", false)? {
        let created = iso(index.created_ms());
        settings.insert("index.creation_date_string".to_string(), created);
        let version = call.api.options.version_number.clone();
        settings.insert("index.version.created_string".to_string(), version);
    }
    Ok(())
}

/// `GET /{index}/_settings/{name}`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let flat = call.params.flag("flat_settings", false)?;
    let defaults = call.params.flag("include_defaults", false)?;
    let names = call.path("name").or(call.params.get("name")).unwrap_or("*");
    let patterns: Vec<&str> = names.split(',').collect();
    let mut body = Map::new();
    for index in call.indices_from(Wildcards::SHOWN, Purpose::Watch).await? {
        let mut settings = flat_settings(&index);
        add_words(&call, &index, &mut settings)?;
        let is_asked = |name: &str| {
            let mut patterns = patterns.iter();
            patterns.any(|pattern| *pattern == "_all" || glob(pattern, name))
        };
        settings.retain(|name, _| is_asked(name));
        let mut unset = if defaults {
            usual_settings::unset(&index)
        } else {
            BTreeMap::new()
        };
        unset.retain(|name, _| is_asked(name));
        if settings.is_empty() && unset.is_empty() {
            continue;
        }
        let mut shown = json!({"settings": settings_json(&settings, flat)});
        if defaults && let Value::Object(shown) = &mut shown {
            shown.insert("defaults".to_string(), settings_json(&unset, flat));
        }
        body.insert(index.name().to_string(), shown);
    }
    Ok(Reply::json(&Value::Object(body)))
}

/// Changes settings of one index; durable when it returns. Blocks.
///
/// # Errors
/// Settings that there are not, that cannot change, or whose values are wrong.
pub fn change(
    (engine, access): (&Engine, &Access),
    index: &Index,
    flat: &Flat,
) -> Result<Glsn, ApiError> {
    Ok(engine.change_catalog(access, vec![settings::change(index, flat)?])?)
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
    let flat = settings::flatten(members)?;
    if flat.is_empty() {
        return Err(ApiError::validation("no settings to update"));
    }
    settings::refuse_managed(&flat)?;
    let options = call.resolve_options_from(ResolveOptions {
        allow_no_indices: false,
        wildcards: Wildcards::SHOWN,
        closed: ClosedNames::Allow,
        ..ResolveOptions::default()
    })?;
    let indices: Vec<Arc<Index>> = call
        .indices_with(call.index_expression(), options, Purpose::Change)
        .await?;
    let has = |name: &String| {
        let mut all = indices.iter();
        all.any(|index| index.settings().given.contains_key(name))
    };
    // What an index has can be taken from it, whoever knew it once.
    let is_new = |(name, text): &(&String, &Option<String>)| text.is_some() || !has(name);
    let new = flat.iter().filter(is_new);
    known_settings::check(
        &new.map(|(name, text)| (name.clone(), text.clone()))
            .collect(),
    )?;
    let mut changes = Vec::new();
    for index in &indices {
        let mut flat = expanded(&flat, index);
        if call.params.flag("preserve_existing", false)? {
            let current = index.settings();
            flat.retain(|name, _| !current.given.contains_key(name));
        }
        settings::refuse_fixed(index, &flat)?;
        changes.push(settings::change(index, &flat)?);
        changes.extend(settings::change_analysis(index, &flat)?);
    }
    call.change_catalog(changes).await
}

/// The same settings, where patterns stand for those that an index has and that can change as it is now.
fn expanded(flat: &Flat, index: &Index) -> Flat {
    let settings = index.settings();
    let stays: fn(&str) -> bool = match index.is_open() {
        true => known_settings::is_fixed,
        false => known_settings::is_final,
    };
    let mut all = Flat::new();
    for (name, text) in flat {
        if !name.contains('*') {
            all.insert(name.clone(), text.clone());
            continue;
        }
        let fitting = settings.given.keys().filter(|known| glob(name, known));
        let changing = fitting.filter(|known| !stays(known));
        all.extend(changing.map(|known| (known.clone(), text.clone())));
    }
    all
}
