//! A document of a simulation as its request gives it.

use clew_ingest::template::plain;
use clew_ingest::{CONDITIONS, DefinitionError, Document};
use clew_schema::java_class;
use serde_json::{Map, Value};

use crate::http::error::ApiError;

/// What versions there are.
const VERSION_TYPES: [&str; 4] = ["internal", "external", "external_gt", "external_gte"];

/// Reads a document.
///
/// # Errors
/// What it lacks, and members with values of other types.
pub(super) fn document_of(doc: &Value, now_ms: i64) -> Result<Document, ApiError> {
    let Some(members) = doc.as_object() else {
        return Err(ApiError::illegal_argument(
            "malformed [docs] section, should include an inner object",
        ));
    };
    let source = match members.get("_source") {
        None | Some(Value::Null) => return Err(DefinitionError::missing("_source").into()),
        Some(source) if source.is_object() => source.clone(),
        Some(other) => return Err(wrong_type("_source", "a map", other)),
    };
    for name in CONDITIONS {
        if let Some(value) = members.get(name).filter(|value| !value.is_null()) {
            check_condition(name, value)?;
        }
    }
    let index = text(members, "_index")?.unwrap_or_else(|| "_index".to_string());
    let mut document = Document::new(index, source, now_ms);
    let id = text(members, "_id")?.unwrap_or_else(|| "_id".to_string());
    document.id = Some(id);
    document.routing = match text(members, "routing")? {
        Some(routing) => Some(routing),
        None => text(members, "_routing")?,
    };
    document.take_metadata();
    for name in CONDITIONS {
        let said = members.get(name).cloned().unwrap_or_default();
        document.set_condition(name, said);
    }
    Ok(document)
}

/// A member that is a text, or a number as one.
fn text(members: &Map<String, Value>, name: &str) -> Result<Option<String>, ApiError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value @ (Value::String(_) | Value::Number(_))) => Ok(Some(plain(value))),
        Some(other) => Err(wrong_type(name, "a string or int", other)),
    }
}

fn check_condition(name: &str, value: &Value) -> Result<(), ApiError> {
    match (name, value) {
        ("_version_type", Value::String(kind)) if VERSION_TYPES.contains(&kind.as_str()) => Ok(()),
        ("_version_type", Value::String(kind)) => Err(ApiError::illegal_argument(format!(
            "No version type match [{kind}]"
        ))),
        ("_version_type", other) => Err(wrong_type(name, "a string", other)),
        _ if value.is_i64() => Ok(()),
        _ => Err(ApiError::illegal_argument(format!(
            "Failed to parse parameter [{name}], only int or long is accepted"
        ))),
    }
}

fn wrong_type(name: &str, wanted: &str, found: &Value) -> ApiError {
    let class = java_class(found);
    let reason = format!("property isn't {wanted}, but of type [{class}]");
    DefinitionError::refused(name, reason).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_that_are_none_are_refused_in_the_words_of_opensearch() {
        #[rustfmt::skip]
        let rows = [
            (json!(5), "malformed [docs] section, should include an inner object"),
            (json!({}), "[_source] required property is missing"),
            (json!({"_source": []}), "[_source] property isn't a map, but of type [java.util.ArrayList]"),
            (json!({"_source": {}, "_index": {}}), "[_index] property isn't a string or int, but of type [java.util.HashMap]"),
            (json!({"_source": {}, "_version": "5"}), "Failed to parse parameter [_version], only int or long is accepted"),
            (json!({"_source": {}, "_if_seq_no": 1.5}), "Failed to parse parameter [_if_seq_no], only int or long is accepted"),
            (json!({"_source": {}, "_version_type": "x"}), "No version type match [x]"),
            (json!({"_source": {}, "_version_type": 5}), "[_version_type] property isn't a string, but of type [java.lang.Integer]"),
        ];
        for (doc, told) in rows {
            let refused = document_of(&doc, 0)
                .map(drop)
                .map_err(|error| error.reason());
            assert_eq!(refused, Err(told.to_string()), "{doc}");
        }
        let doc =
            json!({"_source": {"a": 1}, "_id": 5, "_version": 3, "_version_type": "external"});
        let document = document_of(&doc, 0).map_err(|error| error.reason());
        assert!(document.is_ok_and(|document| document.id.as_deref() == Some("5")));
    }
}
