//! What the mapping says of `_source`: whether it is handed out, and which parts of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::parameters::{as_object, boolean, show};
use super::schema::{Mapping, MappingError};

/// What of a document is handed out as it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceShown {
    enabled: bool,
    /// Patterns of paths; none means all.
    includes: Vec<String>,
    excludes: Vec<String>,
}

impl Default for SourceShown {
    fn default() -> Self {
        SourceShown {
            enabled: true,
            includes: Vec::new(),
            excludes: Vec::new(),
        }
    }
}

impl SourceShown {
    pub(super) fn read(value: &Value) -> Result<Self, MappingError> {
        let mut shown = SourceShown::default();
        for (key, value) in as_object(value, "_source")? {
            match key.as_str() {
                "enabled" => shown.enabled = boolean(key, value)?,
                "includes" => shown.includes = texts(value),
                "excludes" => shown.excludes = texts(value),
                "recovery_source_enabled"
                | "recovery_source_includes"
                | "recovery_source_excludes" => {}
                _ => {
                    return Err(MappingError::invalid(format!(
                        "unknown parameter [{key}] on mapper [_source] of type [null]"
                    )));
                }
            }
        }
        Ok(shown)
    }
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => {
            let texts = items.iter().filter_map(Value::as_str);
            texts.map(String::from).collect()
        }
        Value::String(text) => vec![text.clone()],
        _ => Vec::new(),
    }
}

/// Whether `_routing` says that every document must name its own.
pub(super) fn read_routing(value: &Value) -> Result<bool, MappingError> {
    match value.get("required").map(show).as_deref() {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(other) => Err(MappingError::invalid(format!(
            "Failed to parse value [{other}] as only [true] or [false] are allowed."
        ))),
    }
}

impl Mapping {
    /// Whether documents are handed out as they came.
    pub fn is_source_enabled(&self) -> bool {
        self.root.source.enabled
    }

    /// Patterns of paths that are handed out, and of those that are not; an empty first list means
    /// all.
    pub fn source_paths_shown(&self) -> (&[String], &[String]) {
        (&self.root.source.includes, &self.root.source.excludes)
    }

    /// Whether every document must name its routing.
    pub fn is_routing_required(&self) -> bool {
        self.root.routing_required
    }

    /// Paths of objects, those that only follow from the paths of fields too.
    pub fn object_paths(&self) -> Vec<String> {
        let mut paths: std::collections::BTreeSet<String> = self.objects.keys().cloned().collect();
        for field in self.fields.iter().filter(|field| !field.multi_field) {
            paths.extend(
                field
                    .path
                    .match_indices('.')
                    .map(|(at, _)| field.path[..at].to_string()),
            );
        }
        paths.into_iter().collect()
    }
}
