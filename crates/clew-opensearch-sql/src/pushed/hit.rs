//! A document's values as a row has them.

use serde_json::Value;

use crate::fields::{Field, is_metadata};
use crate::stages::members::{at_path, typed};
use crate::statement::highlight;

/// What OpenSearch shows of a sequence number that is not known.
const NO_SEQUENCE_NUMBER: i64 = -2;

/// A column's value of a hit.
pub(crate) fn value_of(field: &Field, hit: &Value) -> Value {
    if field.path == "_sort" {
        // OpenSearch shows the sequence number there, which its search does not ask for.
        return NO_SEQUENCE_NUMBER.into();
    }
    if is_metadata(&field.path) {
        return hit.get(&field.path).cloned().unwrap_or_default();
    }
    if let Some((of, _)) = highlight::asked(&field.path) {
        return highlight::found(of, hit.get("highlight"));
    }
    let found = if field.in_source && !field.kind.is_time() {
        hit.get("_source")
            .and_then(|source| at_path(source, &field.path))
    } else {
        let listed = hit.get("fields").and_then(|fields| fields.get(&field.path));
        listed.map(|values| match values.as_array().map(Vec::as_slice) {
            Some([one]) => one.clone(),
            _ => values.clone(),
        })
    };
    found.map_or(Value::Null, |value| typed(field.kind, value))
}
