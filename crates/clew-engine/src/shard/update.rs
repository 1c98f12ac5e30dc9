//! Partial updates: merging JSON into a stored source, and putting vectors back into one.

use clew_schema::{FieldKind, Mapping, StoredVector, restore_vectors};
use serde_json::Value;

use crate::base::error::EngineError;
use crate::base::operation::Body;
use crate::base::write_request::UpdateSpec;

/// What an update comes to.
pub(crate) enum Merged {
    /// There is no document and nothing to write in its place.
    Missing,
    /// The document stays as it is.
    Noop,
    /// The source to write.
    Source(Vec<u8>),
}

/// Merges an update into the existing source.
///
/// # Errors
/// [`EngineError::InvalidRequest`] when `doc` or `upsert` is not a JSON object.
pub(crate) fn merge_source(
    spec: &UpdateSpec,
    existing: Option<&[u8]>,
) -> Result<Merged, EngineError> {
    let parse = |bytes: &[u8]| -> Result<Value, EngineError> {
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
    };
    let Some(existing) = existing else {
        let new = spec
            .upsert
            .as_ref()
            .or(spec.doc.as_ref().filter(|_| spec.doc_as_upsert));
        return Ok(new.map_or(Merged::Missing, |source| Merged::Source(source.to_vec())));
    };
    let Some(doc) = &spec.doc else {
        // With an upsert alone, an existing document is left as it is.
        return Ok(Merged::Noop);
    };
    let before = parse(existing)?;
    let mut after = before.clone();
    merge_into(&mut after, parse(doc)?);
    if spec.detect_noop && after == before {
        return Ok(Merged::Noop);
    }
    Ok(Merged::Source(after.to_string().into_bytes()))
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

/// The full source of a logged operation; empty for a delete.
pub(crate) fn with_vectors(mapping: &Mapping, body: Body<'_>) -> Vec<u8> {
    let Body::Index { vectors, source } = body else {
        return Vec::new();
    };
    let named = vectors.iter().filter_map(|(field, vector)| {
        let field = mapping.by_id(*field)?;
        let FieldKind::Vector(kind) = &field.kind else {
            return None;
        };
        Some(StoredVector {
            path: &field.path,
            element: kind.column.element,
            numbers: vector.into(),
        })
    });
    let named: Vec<StoredVector<'_>> = named.collect();
    if named.is_empty() {
        source.to_vec()
    } else {
        restore_vectors(source, &named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn check(existing: Option<&str>, spec: &UpdateSpec, want: Option<&str>) {
        let got = match merge_source(spec, existing.map(str::as_bytes)).unwrap() {
            Merged::Missing => "missing".to_string(),
            Merged::Noop => "noop".to_string(),
            Merged::Source(source) => String::from_utf8(source).unwrap(),
        };
        assert_eq!(got, want.unwrap_or("missing"));
    }

    #[test]
    fn objects_merge_and_everything_else_is_replaced() {
        let doc = |text: &'static str| UpdateSpec {
            doc: Some(Bytes::from_static(text.as_bytes())),
            detect_noop: true,
            ..UpdateSpec::default()
        };
        let existing = Some(r#"{"a":{"b":1,"c":[1,2]},"d":2}"#);
        check(
            existing,
            &doc(r#"{"a":{"c":[3]}}"#),
            Some(r#"{"a":{"b":1,"c":[3]},"d":2}"#),
        );
        check(existing, &doc(r#"{"d":2}"#), Some("noop"));
        check(None, &doc(r#"{"d":2}"#), None);
        let upsert = UpdateSpec {
            doc_as_upsert: true,
            ..doc(r#"{"d":2}"#)
        };
        check(None, &upsert, Some(r#"{"d":2}"#));
    }
}
