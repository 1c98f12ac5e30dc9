//! Logstash's `xml`.

use clew_ingest::Plan;
use serde_json::{Map, Value, json};

use super::filters::pairs;
use super::path;
use crate::config::import::conditions::only_if;
use crate::config::import::keys::Keys;
use crate::config::import::texts;
use crate::config::import::told::Told;

/// `xml`: a document as a field, and parts of it as others; false where it does not say which text is one.
pub(super) fn xml(
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) -> bool {
    let Some(source) = keys.take_text("source").map(|source| path(&source)) else {
        return false;
    };
    let stores = keys.take_flag("store_xml").unwrap_or(true);
    let target = keys.take_text("target").filter(|_| stores);
    if stores && target.is_none() {
        told.tell(line, place, "has no [target] for what is in a document");
    }
    let has_lists = keys.take_flag("force_array").unwrap_or(true);
    let drops_empty = keys.take_flag("suppress_empty").unwrap_or(true);
    let empty = if drops_empty { "drop" } else { "object" };
    let mut parts = json!({
        "field": source, "keep_root": false, "text_field": "content", "lists": has_lists, "empty": empty,
    });
    if let Some(target) = &target {
        parts["target_field"] = path(target).into();
    }
    if keys.take_flag("force_content") == Some(true) {
        parts["text_objects"] = true.into();
    }
    let paths = paths(keys, (line, place, told));
    let namespaces = pairs(keys.take("namespaces"));
    // Names are those of any namespace where they have no prefix, and all documents are read strictly.
    keys.take("remove_namespaces");
    keys.take("parse_options");
    if target.is_none() && paths.is_empty() {
        return true;
    }
    for (key, given) in [("paths", paths), ("namespaces", namespaces)] {
        if !given.is_empty() {
            parts[key] = given.into();
        }
    }
    let mut step = json!({"xml": parts});
    only_if(&mut step, json!({"has_fields": [source]}));
    steps.push(step);
    true
}

/// Fields by the paths of what goes into them, but for paths that have no counterpart.
fn paths(keys: &mut Keys, (line, place, told): (usize, &str, &mut Told)) -> Map<String, Value> {
    let mut paths = Map::new();
    for (expression, field) in pairs(keys.take("xpath")) {
        let Some(field) = texts(field).pop() else {
            continue;
        };
        let alone = json!({"xml": {"field": "a", "paths": {(expression.as_str()): "b"}}});
        match Plan::default().add(&alone) {
            Ok(()) => {
                paths.insert(expression, path(&field).into());
            }
            Err(error) => told.tell(line, place, format!("[xpath] of [{field}]: {error}")),
        }
    }
    paths
}
