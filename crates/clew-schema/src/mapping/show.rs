//! A mapping as JSON, as OpenSearch's API shows it.

use clew_analysis::{POSITION_GAP, shown_name};
use serde_json::{Map, Value, json};

use super::field::{
    Dynamic, FieldKind, FieldSettings, FloatKind, MappedField, RangeKind, TextStyle,
};
use super::schema::{Mapping, ObjectSettings};
use super::tree::{Node, ObjectNode};
use super::typing::SIZE_PARAMETER;
use crate::date::DATE_FORMAT_DEFAULT;

impl Mapping {
    /// What `GET _mapping` shows under `mappings`; what is as usual is left out.
    pub fn to_opensearch(&self) -> Value {
        let mut root = self.root_json();
        if !self.tree.children.is_empty() {
            root.insert("properties".to_string(), self.properties("", &self.tree));
        }
        Value::Object(root)
    }

    pub(super) fn root_json(&self) -> Map<String, Value> {
        let mut root = Map::new();
        if let Some(dynamic) = self.root.dynamic {
            root.insert("dynamic".to_string(), json!(dynamic_name(dynamic)));
        }
        root.extend(self.root.shown.clone());
        root
    }

    fn properties(&self, path: &str, object: &ObjectNode) -> Value {
        let children = object.children.iter().map(|(name, node)| {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            let shown = match node {
                Node::Object(object) => self.object_json(&path, object),
                Node::Alias(target) => alias_json(target),
                Node::Leaf(leaf) => {
                    let mut shown = field_json(&self.fields[leaf.id.0 as usize]);
                    let multi_fields: Map<String, Value> = leaf
                        .multi_fields
                        .iter()
                        .map(|id| &self.fields[id.0 as usize])
                        .filter(|field| !field.settings.hidden)
                        .map(|field| (last_name(&field.path), Value::Object(field_json(field))))
                        .collect();
                    if !multi_fields.is_empty() {
                        shown.insert("fields".to_string(), Value::Object(multi_fields));
                    }
                    shown
                }
            };
            (name.clone(), Value::Object(shown))
        });
        Value::Object(children.collect())
    }

    fn object_json(&self, path: &str, object: &ObjectNode) -> Map<String, Value> {
        let mut shown = Map::new();
        if object.children.is_empty() && object.nested.is_none() {
            shown.insert("type".to_string(), json!("object"));
        }
        if let Some(settings) = self.objects.get(path) {
            shown.extend(object_settings_json(*settings));
        }
        if !object.children.is_empty() {
            shown.insert("properties".to_string(), self.properties(path, object));
        }
        shown
    }
}

fn last_name(path: &str) -> String {
    path.rsplit('.').next().unwrap_or(path).to_string()
}

fn dynamic_name(dynamic: Dynamic) -> &'static str {
    match dynamic {
        Dynamic::True => "true",
        Dynamic::False => "false",
        Dynamic::Strict => "strict",
        Dynamic::FalseAllowTemplates => "false_allow_templates",
        Dynamic::StrictAllowTemplates => "strict_allow_templates",
    }
}

pub(super) fn object_settings_json(settings: ObjectSettings) -> Map<String, Value> {
    let mut shown = Map::new();
    if let Some(nested) = settings.nested {
        nested.show(&mut shown);
    }
    if let Some(dynamic) = settings.dynamic {
        shown.insert("dynamic".to_string(), json!(dynamic_name(dynamic)));
    }
    if !settings.enabled {
        shown.insert("enabled".to_string(), json!(false));
    }
    shown
}

fn alias_json(target: &str) -> Map<String, Value> {
    let mut shown = Map::new();
    shown.insert("type".to_string(), json!("alias"));
    shown.insert("path".to_string(), json!(target));
    shown
}

/// The parameters of a field that are not as usual.
pub(super) fn field_json(field: &MappedField) -> Map<String, Value> {
    let mut shown = Map::new();
    let mut set = |key: &str, value: Value| {
        shown.insert(key.to_string(), value);
    };
    set("type", json!(field.kind.type_name()));
    match &field.kind {
        FieldKind::Text { analyzer, .. } if *analyzer != field.analysis.default_analyzer() => {
            set("analyzer", json!(shown_name(analyzer)));
        }
        FieldKind::Keyword {
            ignore_above: Some(length),
            ..
        } => set("ignore_above", json!(length)),
        FieldKind::Keyword { .. } => {
            if let Some(relations) = &field.settings.join {
                relations.show(&mut set);
            }
        }
        FieldKind::Float(FloatKind::Scaled { factor }) => set("scaling_factor", json!(factor)),
        FieldKind::Constant { value: Some(value) } => set("value", json!(value)),
        FieldKind::Binary { doc_values: true } => set("doc_values", json!(true)),
        FieldKind::Date { format }
        | FieldKind::DateNanos { format }
        | FieldKind::Range {
            format,
            kind: RangeKind::Date,
        } if format != DATE_FORMAT_DEFAULT => {
            set("format", json!(format));
        }
        FieldKind::Vector(vector) => {
            set("dimension", json!(vector.column.dimension));
            if let Some(method) = field.settings.shown.get("method") {
                set("method", method.clone());
            }
        }
        _ => {}
    }
    if !field.indexed {
        set("index", json!(false));
    }
    shown.extend(settings_json(&field.settings));
    if let FieldKind::Text {
        style: TextStyle::AsYouType { neighbours },
        ..
    } = field.kind
    {
        shown.insert(SIZE_PARAMETER.to_string(), json!(neighbours));
    }
    shown.extend(field.settings.shown.clone());
    shown
}

fn settings_json(settings: &FieldSettings) -> Map<String, Value> {
    let mut shown = Map::new();
    let mut set = |key: &str, value: Value| {
        shown.insert(key.to_string(), value);
    };
    if !settings.coerce {
        set("coerce", json!(false));
    }
    if settings.ignore_malformed {
        set("ignore_malformed", json!(true));
    }
    if let Some(value) = &settings.null_value {
        set("null_value", value.clone());
    }
    if !settings.copy_to.is_empty() {
        set("copy_to", json!(settings.copy_to));
    }
    if let Some(analyzer) = &settings.search_analyzer {
        set("search_analyzer", json!(shown_name(analyzer)));
    }
    if let Some(analyzer) = &settings.search_quote_analyzer {
        set("search_quote_analyzer", json!(shown_name(analyzer)));
    }
    if let Some(analyzer) = &settings.count_analyzer {
        set("analyzer", json!(shown_name(analyzer)));
    }
    if !settings.count_gaps {
        set("enable_position_increments", json!(false));
    }
    if let Some(normalizer) = &settings.normalizer {
        set("normalizer", json!(shown_name(normalizer)));
    }
    if settings.split_queries {
        set("split_queries_on_whitespace", json!(true));
    }
    if settings.store {
        set("store", json!(true));
    }
    if !settings.doc_values {
        set("doc_values", json!(false));
    }
    if settings.position_gap != POSITION_GAP {
        set("position_increment_gap", json!(settings.position_gap));
    }
    shown
}
