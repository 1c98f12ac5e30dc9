//! The leaves of an object that is one field: every value as a term, with the path that leads to it.

use serde_json::Value;
use tantivy::schema::OwnedValue;

use super::convert::{Misfit, check_term};

/// Paths and values of all leaves below `path`, as text; nulls are none.
pub(crate) fn leaves(path: &str, value: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    gather(path, value, &mut found);
    found
}

fn gather(path: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                gather(&format!("{path}.{name}"), member, found);
            }
        }
        Value::Array(items) => {
            for item in items {
                gather(path, item, found);
            }
        }
        Value::Null => {}
        Value::String(text) => found.push((path.to_string(), text.clone())),
        leaf => found.push((path.to_string(), leaf.to_string())),
    }
}

/// A term of the field, if it is not too long for one.
pub(super) fn term(text: String) -> Result<Option<OwnedValue>, Misfit> {
    check_term(&text)?;
    Ok(Some(OwnedValue::Str(text)))
}
