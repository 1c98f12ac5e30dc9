//! Showing and extending the mappings of indexes.

use std::sync::Arc;

use clew_engine::{CatalogChange, ClosedNames, Index, Purpose, ResolveOptions, Wildcards};
use clew_platform::stopped;
use clew_schema::glob::matches as glob;
use serde_json::{Map, Value, json};

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::mapping_defaults;
use crate::indices::settings::SPACE_TYPE;
use crate::state::call::Call;

/// The mapping as `GET _mapping` shows it.
pub fn shown_mapping(index: &Index) -> Value {
    clew_opensearch_mapping::shown(&index.mapping())
}

/// The indexes of the path, none of which forbids to look at its mapping.
async fn readable(call: &Call) -> Result<Vec<Arc<Index>>, ApiError> {
    call.indices_from(Wildcards::OPEN, Purpose::Show).await
}

/// `GET /{index}/_mapping`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let indices = readable(&call).await?;
    let show = |index: &Arc<Index>| {
        let shown = json!({"mappings": shown_mapping(index)});
        (index.name().to_string(), shown)
    };
    let made = move || {
        let wanted = indices.iter().take_while(|_| !stopped());
        Ok(Value::Object(wanted.map(show).collect()))
    };
    call.showing(made).await
}

/// `GET /{index}/_mapping/field/{fields}`.
pub(crate) async fn get_fields(call: Call) -> Result<Reply, ApiError> {
    let patterns = call.path_required("fields")?.to_string();
    let with_defaults = call.params.flag("include_defaults", false)?;
    let indices = readable(&call).await?;
    call.showing(move || Ok(shown_fields(&indices, &patterns, with_defaults)))
        .await
}

/// The fields of indexes that some patterns, with commas between them, fit.
fn shown_fields(indices: &[Arc<Index>], patterns: &str, with_defaults: bool) -> Value {
    let patterns: Vec<&str> = patterns.split(',').collect();
    let mut body = Map::new();
    for index in indices.iter().take_while(|_| !stopped()) {
        let mut fields = Map::new();
        let mut add = |path: &str, mapping: &Value| {
            if patterns.iter().any(|pattern| glob(pattern, path)) {
                let name = path.rsplit('.').next().unwrap_or(path);
                let mapping = if with_defaults {
                    mapping_defaults::filled(mapping)
                } else {
                    mapping.clone()
                };
                let shown = json!({"full_name": path, "mapping": {name: mapping}});
                fields.insert(path.to_string(), shown);
            }
        };
        let shown = shown_mapping(index);
        collect_fields("", &shown, &mut add);
        let derived = shown.get("derived").and_then(Value::as_object);
        for (name, field) in derived.into_iter().flatten() {
            add(name, field);
        }
        body.insert(index.name().to_string(), json!({"mappings": fields}));
    }
    Value::Object(body)
}

/// Visits every field with its full path, multi-fields too.
fn collect_fields(path: &str, mapping: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    for children in ["properties", "fields"] {
        for (name, child) in mapping
            .get(children)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            if child.get("properties").is_none() {
                visit(&path, child);
            }
            collect_fields(&path, child, visit);
        }
    }
}

/// Of the indexes of each alias that an expression names, the one that takes writes; the others as they are.
///
/// # Errors
/// An alias none of whose indexes takes writes.
fn writers_alone(
    expression: &str,
    mut indices: Vec<Arc<Index>>,
) -> Result<Vec<Arc<Index>>, ApiError> {
    let names = || expression.split(',').map(str::trim);
    for name in names() {
        let said = |index: &Arc<Index>| {
            let aliases = index.aliases();
            aliases.get(name).map(|alias| alias.is_write_index)
        };
        let behind = indices.iter().filter(|index| said(index).is_some()).count();
        let is_other = |index: &Arc<Index>| match said(index) {
            _ if names().any(|name| name == index.name()) => false,
            // The only index of an alias takes writes unless it is said that it does not.
            Some(None) => behind > 1,
            Some(Some(writes)) => !writes,
            None => false,
        };
        if behind > 0 && indices.iter().filter(|index| is_other(index)).count() == behind {
            return Err(ApiError::illegal_argument(format!(
                "no write index is defined for alias [{name}]. The write index may be explicitly \
                 disabled using is_write_index=false or the alias points to multiple indices \
                 without one being designated as a write index"
            )));
        }
        indices.retain(|index| !is_other(index));
    }
    Ok(indices)
}

/// `PUT /{index}/_mapping`.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let body = call.definition()?;
    let is_typed = |body: &Value| {
        let members = body.as_object().filter(|members| members.len() == 1);
        members.is_some_and(|members| members.contains_key("_doc"))
    };
    if is_typed(&body) {
        return Err(ApiError::illegal_argument(
            "Types cannot be provided in put mapping requests",
        ));
    }
    let options = call.resolve_options_from(ResolveOptions {
        allow_no_indices: false,
        wildcards: Wildcards::SHOWN,
        closed: ClosedNames::Allow,
        ..ResolveOptions::default()
    })?;
    let mut indices = call
        .indices_with(call.index_expression(), options, Purpose::Change)
        .await?;
    if call.params.flag("write_index_only", false)? {
        indices = writers_alone(call.index_expression(), indices)?;
    }
    // Each index has its own analyzers, and so its own reading of the body.
    let change = move |index: &Arc<Index>| {
        let mapping = index.mapping();
        let mut spec = clew_opensearch_mapping::read(&body, mapping.analysis())?;
        mapping.check_said(&spec)?;
        if let Some(space) = index.settings().given.get(SPACE_TYPE) {
            clew_opensearch_mapping::set_usual_space(&mut spec, space)?;
        }
        Ok(CatalogChange::Mapping {
            index: index.name().to_string(),
            uuid: index.uuid().to_string(),
            spec: Box::new(spec),
        })
    };
    let changes = call.blocking(move |_| indices.iter().map(change).collect());
    call.change_catalog(changes.await?).await
}
