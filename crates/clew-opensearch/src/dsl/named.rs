//! Documents that queries name. What they hold is put into the query tree by whoever searches.

use clew_query::{DocumentName, TermsOf};
use serde_json::{Map, Value};

use super::DslError;
use super::object::lacking;
use crate::http::place::Spot;

/// The members that name a document.
pub(super) struct Keys {
    pub(super) index: &'static str,
    pub(super) id: &'static str,
    pub(super) routing: &'static str,
}

/// As most queries call them.
pub(super) const PLAIN: Keys = Keys {
    index: "index",
    id: "id",
    routing: "routing",
};

/// As they are called where texts and documents stand beside each other.
pub(super) const UNDERSCORED: Keys = Keys {
    index: "_index",
    id: "_id",
    routing: "routing",
};

/// The document that an object names, if it does.
pub(super) fn document(object: &Map<String, Value>, keys: &Keys) -> Option<DocumentName> {
    let text = |name: &str| match object.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(value @ Value::Number(_)) => Some(value.to_string()),
        _ => None,
    };
    Some(DocumentName {
        index: text(keys.index),
        id: text(keys.id)?,
        routing: text(keys.routing),
    })
}

/// What says where the values of a `terms` query are.
const LOOKUP: [&str; 5] = ["index", "id", "path", "routing", "store"];

/// The values of a `terms` query that a document has, which stands in the place of a list.
pub(super) fn terms(field: &str, value: &Value, boost: f32) -> Result<TermsOf, DslError> {
    let object = value.as_object().into_iter().flatten();
    for (name, value) in object {
        if !LOOKUP.contains(&name.as_str()) {
            let reason = format!("[terms_lookup] unknown field [{name}]");
            return Err(DslError::content(reason).at(Spot::name_of(value)));
        }
    }
    let (index, path) = (value.get("index"), value.get("path"));
    let id = value
        .get("id")
        .filter(|id| id.is_string() || id.is_number());
    let document = value
        .as_object()
        .and_then(|object| document(object, &PLAIN));
    let (Some(document), Some(path)) = (document, path) else {
        return Err(lacking(&[("index", index), ("id", id), ("path", path)]));
    };
    Ok(TermsOf {
        field: field.to_string(),
        document,
        path: path.as_str().unwrap_or_default().to_string(),
        is_packed: false,
        boost,
    })
}
