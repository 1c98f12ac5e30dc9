//! `index.sort.*`: in which order the documents of a segment lie. What an index asks for is checked as OpenSearch checks
//! it, and shown again; it changes no answer of a search with a `sort`, and segments keep the order of the writes.

use std::collections::BTreeMap;

use clew_schema::{
    FieldKind, FloatKind, IntegerKind, KeywordStyle, MappedField, Mapping, MappingNode, ObjectNode,
    text_of,
};
use serde_json::Value;

use crate::http::error::ApiError;
use crate::http::setting_values::shown;

const FIELD: &str = "index.sort.field";

/// What stands beside the fields: the setting, what it may say, and how a refusal of it begins and ends.
const BESIDE: [(&str, &[&str], (&str, &str)); 3] = [
    (
        "index.sort.order",
        &["asc", "desc"],
        ("Illegal sort order:", ""),
    ),
    (
        "index.sort.mode",
        &["min", "max"],
        ("Illegal sort mode: ", ""),
    ),
    (
        "index.sort.missing",
        &["_last", "_first"],
        (
            "Illegal missing value:[",
            "], must be one of [_last, _first]",
        ),
    ),
];

/// Refuses an order that the documents of an index cannot have.
///
/// # Errors
/// Lists that do not fit to each other, words that they cannot hold, and fields that documents cannot be ordered by.
pub(crate) fn check(given: &BTreeMap<String, String>, mapping: &Mapping) -> Result<(), ApiError> {
    let list = |name: &str| given.get(name).map(|text| list_of(text));
    let fields = list(FIELD).unwrap_or_default();
    for (name, words, (before, after)) in BESIDE {
        let Some(values) = list(name) else {
            continue;
        };
        if values.len() != fields.len() {
            return Err(ApiError::illegal_argument(format!(
                "{FIELD}:[{}] {name}:[{}], size mismatch",
                fields.join(", "),
                values.join(", ")
            )));
        }
        let strange = |value: &&String| !words.contains(&value.to_ascii_lowercase().as_str());
        if let Some(value) = values.iter().find(strange) {
            return Err(ApiError::illegal_argument(format!(
                "{before}{value}{after}"
            )));
        }
    }
    if !fields.is_empty() && has_nested(mapping.tree()) {
        let reason = "cannot have nested fields when index sort is activated";
        return Err(ApiError::illegal_argument(reason));
    }
    fields
        .iter()
        .try_for_each(|path| check_field(path, mapping))
        .map_err(ApiError::illegal_argument)
}

fn has_nested(object: &ObjectNode) -> bool {
    let below = |node: &MappingNode| match node {
        MappingNode::Object(object) => has_nested(object),
        MappingNode::Leaf(_) | MappingNode::Alias(_) => false,
    };
    object.is_nested() || object.children().any(|(_, node)| below(node))
}

fn check_field(path: &str, mapping: &Mapping) -> Result<(), String> {
    let Some(field) = mapping.field(path) else {
        return Err(format!("unknown index sort field:[{path}]"));
    };
    if field.path != path {
        return Err(format!("Cannot use alias [{path}] as an index sort field"));
    }
    if !orders(field) {
        return Err(format!("invalid index sort field:[{path}]"));
    }
    if !field.settings.doc_values {
        return Err(format!("docvalues not found for index sort field:[{path}]"));
    }
    Ok(())
}

/// Whether documents can be ordered by the values of a field.
fn orders(field: &MappedField) -> bool {
    match &field.kind {
        FieldKind::Keyword { style, .. } => *style == KeywordStyle::Keyword,
        FieldKind::Integer(kind) => {
            !matches!(kind, IntegerKind::DocumentCount | IntegerKind::Murmur3)
        }
        FieldKind::Float(kind) => !matches!(kind, FloatKind::Half | FloatKind::RankFeature),
        FieldKind::Unsigned
        | FieldKind::Boolean
        | FieldKind::Date { .. }
        | FieldKind::DateNanos { .. }
        | FieldKind::Ip => true,
        _ => false,
    }
}

/// The items of a list that is written as one, or with commas.
fn list_of(text: &str) -> Vec<String> {
    match shown(text) {
        Value::Array(items) => items.iter().map(text_of).collect(),
        _ => text
            .split(',')
            .map(|item| item.trim().to_string())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::indices::settings;

    fn refused(given: &Value) -> Option<String> {
        let flat = settings::flatten(given.as_object().expect("an object")).expect("plain");
        let settings = settings::create(&flat).expect("settings");
        let fields = json!({"properties": {
            "n": {"type": "long"}, "k": {"type": "keyword"}, "t": {"type": "text"},
            "h": {"type": "half_float"}, "d": {"type": "date", "doc_values": false},
            "a": {"type": "alias", "path": "n"},
        }});
        let mut mapping = Mapping::new();
        clew_opensearch_mapping::merge(&mut mapping, &fields).expect("a mapping");
        let checked = check(&settings.given, &mapping);
        checked.err().map(|error| error.reason())
    }

    #[test]
    fn orders_that_documents_can_have_are_taken() {
        for given in [
            json!({}),
            json!({"sort.field": "n"}),
            json!({"sort.field": ["n", "k"], "sort.order": ["desc", "ASC"]}),
            json!({"sort.field": "n,k", "sort.order": "desc,asc", "sort.missing": ["_last", "_first"]}),
            json!({"index": {"sort": {"field": "n", "mode": "max"}}}),
        ] {
            assert_eq!(refused(&given), None, "{given}");
        }
    }

    #[test]
    fn others_are_refused_in_the_known_words() {
        for (given, want) in [
            (
                json!({"sort.field": "nope"}),
                "unknown index sort field:[nope]",
            ),
            (json!({"sort.field": "t"}), "invalid index sort field:[t]"),
            (json!({"sort.field": "h"}), "invalid index sort field:[h]"),
            (
                json!({"sort.field": "d"}),
                "docvalues not found for index sort field:[d]",
            ),
            (
                json!({"sort.field": "a"}),
                "Cannot use alias [a] as an index sort field",
            ),
            (
                json!({"sort.field": "n", "sort.order": ["asc", "desc"]}),
                "index.sort.field:[n] index.sort.order:[asc, desc], size mismatch",
            ),
            (
                json!({"sort.order": "asc"}),
                "index.sort.field:[] index.sort.order:[asc], size mismatch",
            ),
            (
                json!({"sort.field": "n", "sort.order": "up"}),
                "Illegal sort order:up",
            ),
            (
                json!({"sort.field": "n", "sort.mode": "avg"}),
                "Illegal sort mode: avg",
            ),
            (
                json!({"sort.field": "n", "sort.missing": "0"}),
                "Illegal missing value:[0], must be one of [_last, _first]",
            ),
        ] {
            assert_eq!(refused(&given).as_deref(), Some(want));
        }
    }
}
