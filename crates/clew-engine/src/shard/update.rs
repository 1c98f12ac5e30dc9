//! Partial updates: merging JSON into a stored source, and putting vectors back into one.

use std::collections::HashSet;

use clew_schema::{FieldId, Mapping, VectorValue};
use serde_json::{Map, Value};

use crate::base::error::EngineError;
use crate::base::operation::Body;
use crate::base::write_request::{ListChange, UpdateSpec};

/// What an update comes to.
pub(crate) enum Merged {
    /// There is no document and nothing to write in its place.
    Missing,
    /// The document stays as it is.
    Noop,
    /// The source to write, and its vectors that are not in it.
    Document(Vec<u8>, Vec<(FieldId, VectorValue)>),
}

/// Merges an update into the existing source.
///
/// # Errors
/// [`EngineError::InvalidRequest`] when `doc` or `upsert` is not a JSON object, or a list becomes too long.
pub(crate) fn merge_source(
    spec: &UpdateSpec,
    existing: Option<&[u8]>,
    mapping: &Mapping,
) -> Result<Merged, EngineError> {
    let Some(existing) = existing else {
        return where_absent(spec);
    };
    let Some(doc) = &spec.doc else {
        // With an upsert alone, an existing document is left as it is.
        return Ok(Merged::Noop);
    };
    let before = parse(existing)?;
    let mut after = before.clone();
    match &spec.only_joins {
        None => merge_into(&mut after, parse(doc)?),
        Some(joined) => join_into(&mut after, parse(doc)?, (joined, &spec.lists))?,
    }
    if spec.detect_noop && spec.vectors.is_empty() && after == before {
        return Ok(Merged::Noop);
    }
    for (field, _) in &spec.vectors {
        if let Some(field) = mapping.by_id(*field) {
            remove(&mut after, &field.path);
        }
    }
    let source = after.to_string().into_bytes();
    Ok(Merged::Document(source, spec.vectors.clone()))
}

/// What an update writes where there is no document.
///
/// # Errors
/// As [`merge_source`].
pub(crate) fn where_absent(spec: &UpdateSpec) -> Result<Merged, EngineError> {
    let Some(source) = spec.doc.as_ref().filter(|_| spec.doc_as_upsert) else {
        return Ok(match &spec.upsert {
            Some(upsert) => Merged::Document(upsert.to_vec(), Vec::new()),
            None => Merged::Missing,
        });
    };
    let mut source = source.to_vec();
    if !spec.lists.is_empty() || spec.defaults.is_some() {
        // What lists become where there are none yet.
        let mut new = match &spec.defaults {
            Some(defaults) => parse(defaults)?,
            None => Value::Object(Map::new()),
        };
        join_into(&mut new, parse(&source)?, (&[], &spec.lists))?;
        source = new.to_string().into_bytes();
    }
    Ok(Merged::Document(source, spec.vectors.clone()))
}

/// Reads a JSON object.
fn parse(bytes: &[u8]) -> Result<Value, EngineError> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| EngineError::InvalidRequest {
            reason: error.to_string(),
        })?;
    match value {
        Value::Object(_) => Ok(value),
        _ => Err(EngineError::InvalidRequest {
            reason: "doc must be an object".into(),
        }),
    }
}

/// Takes away what stands at a dotted path, whichever way it is written.
fn remove(target: &mut Value, path: &str) {
    match target {
        Value::Array(values) => values.iter_mut().for_each(|value| remove(value, path)),
        Value::Object(members) => {
            members.shift_remove(path);
            for (at, _) in path.match_indices('.') {
                if let Some(inner) = members.get_mut(&path[..at]) {
                    remove(inner, &path[at + 1..]);
                }
            }
        }
        _ => {}
    }
}

/// Objects merge key by key; anything else is replaced.
fn merge_into(target: &mut Value, change: Value) {
    match (target, change) {
        (Value::Object(target), Value::Object(change)) => {
            for (key, value) in change {
                merge_into(target.entry(key).or_insert(Value::Null), value);
            }
        }
        (target, change) => *target = change,
    }
}

/// Members take the places of those that are there; of the objects named, their own members do, and lists change as is
/// said of them.
fn join_into(
    target: &mut Value,
    change: Value,
    (joined, lists): (&[String], &[(String, ListChange)]),
) -> Result<(), EngineError> {
    let (Value::Object(target), Value::Object(change)) = (target, change) else {
        return Ok(());
    };
    for (key, value) in change {
        if let Some((_, how)) = lists.iter().find(|(member, _)| *member == key) {
            change_list(target.entry(key).or_insert(Value::Null), value, *how)?;
            continue;
        }
        let value = match value {
            Value::Object(own) if joined.contains(&key) => {
                if let Some(Value::Object(there)) = target.get_mut(&key) {
                    there.extend(own);
                    continue;
                }
                Value::Object(own)
            }
            other => other,
        };
        target.insert(key, value);
    }
    Ok(())
}

/// A list becomes what the values of another one make of it; where that is none, it stays.
fn change_list(there: &mut Value, change: Value, how: ListChange) -> Result<(), EngineError> {
    let Value::Array(change) = change else {
        return Ok(());
    };
    let mut values = match there.take() {
        Value::Null => Vec::new(),
        Value::Array(values) => values,
        // One value may stand alone.
        one => vec![one],
    };
    match how {
        ListChange::Append { length_max } => {
            values.extend(change);
            if values.len() > length_max {
                return Err(EngineError::InvalidRequest {
                    reason: format!(
                        "array length {} exceeds max_capacity {length_max}",
                        values.len()
                    ),
                });
            }
        }
        ListChange::Remove => {
            let gone: HashSet<String> = change.iter().map(Value::to_string).collect();
            values.retain(|value| !gone.contains(&value.to_string()));
        }
    }
    *there = Value::Array(values);
    Ok(())
}

/// The full source of a logged operation; empty for a delete.
pub(crate) fn with_vectors(mapping: &Mapping, body: Body<'_>) -> Vec<u8> {
    let Body::Index { vectors, source } = body else {
        return Vec::new();
    };
    mapping.with_vectors(source, &vectors)
}

#[cfg(test)]
mod tests;
