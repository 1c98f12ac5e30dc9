//! `fields` and `docvalue_fields`: single values of a hit as flat arrays, taken from its source.

use clew_engine::Hit;
use serde_json::{Map, Value};

use super::source_filter::glob;
use crate::error::ApiError;

/// Field names and patterns that a search wants of each hit.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldList {
    patterns: Vec<String>,
}

impl FieldList {
    /// Adds names, each alone or as `{"field": .., "format": ..}`.
    pub(super) fn extend(&mut self, key: &str, value: &Value) -> Result<(), ApiError> {
        let refused = || {
            ApiError::bad_request(
                "parsing_exception",
                format!("expected field names or objects with [field] in [{key}]"),
            )
        };
        let items = match value {
            Value::Array(items) => items.as_slice(),
            other => std::slice::from_ref(other),
        };
        for item in items {
            let name = item
                .as_str()
                .or_else(|| item.get("field").and_then(Value::as_str));
            self.patterns.push(name.ok_or_else(refused)?.to_string());
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether any value comes from the source.
    pub(super) fn needs_source(&self) -> bool {
        self.patterns.iter().any(|pattern| !is_metadata(pattern))
    }

    /// Whether a field is among those wanted.
    pub(super) fn wants(&self, path: &str) -> bool {
        self.patterns
            .iter()
            .any(|pattern| glob(pattern.as_bytes(), path.as_bytes()))
    }

    /// The values of a hit.
    pub(super) fn values(&self, hit: &Hit) -> Map<String, Value> {
        let mut values = Map::new();
        for pattern in &self.patterns {
            match pattern.as_str() {
                "_id" => push(&mut values, "_id", Value::from(hit.id.as_str())),
                "_index" => push(&mut values, "_index", Value::from(hit.index.name())),
                "_seq_no" => push(&mut values, "_seq_no", Value::from(hit.seq_no)),
                "_routing" => {
                    if let Some(routing) = &hit.routing {
                        push(&mut values, "_routing", Value::from(routing.as_str()));
                    }
                }
                _ => {}
            }
        }
        if self.needs_source()
            && let Some(source) = &hit.source
            && let Ok(source) = serde_json::from_slice::<Value>(source)
        {
            self.collect(hit, "", source, &mut values);
        }
        values
    }

    /// Visits the leaves of a source; a field's multi-fields have its values.
    fn collect(&self, hit: &Hit, path: &str, value: Value, values: &mut Map<String, Value>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let path = if path.is_empty() {
                        name
                    } else {
                        format!("{path}.{name}")
                    };
                    self.collect(hit, &path, member, values);
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.collect(hit, path, item, values);
                }
            }
            Value::Null => {}
            leaf => {
                let mapping = hit.index.mapping();
                let multi_fields = mapping.fields().iter().filter(|field| {
                    field.multi_field
                        && field
                            .path
                            .rsplit_once('.')
                            .is_some_and(|(parent, _)| parent == path)
                });
                for field in multi_fields {
                    if self.wants(&field.path) {
                        push(values, &field.path, leaf.clone());
                    }
                }
                if self.wants(path) {
                    push(values, path, leaf);
                }
            }
        }
    }
}

fn is_metadata(pattern: &str) -> bool {
    matches!(
        pattern,
        "_id" | "_index" | "_routing" | "_source" | "_seq_no" | "_version"
    )
}

fn push(values: &mut Map<String, Value>, name: &str, value: Value) {
    let list = values
        .entry(name)
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(list) = list {
        list.push(value);
    }
}
