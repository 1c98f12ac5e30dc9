//! A mapping as JSON, as OpenSearch's API shows it.

use clew_analysis::{POSITION_GAP, shown_name};
use clew_schema::{
    DATE_FORMAT_DEFAULT, Dynamic, FieldId, FieldKind, FieldSettings, FloatKind, KeywordStyle,
    MappedField, Mapping, MappingNode, NestedSettings, ObjectNode, ObjectSettings, RangeKind,
    TextStyle,
};
use serde_json::{Map, Value, json};

use crate::derived::shown_derived;
use crate::join::show_relations;
use crate::kinds::SIZE_PARAMETER;
use crate::unwritten::unwritten;

/// What `GET _mapping` shows under `mappings`; what is as usual is left out.
pub fn shown(mapping: &Mapping) -> Value {
    let mut root = root_json(mapping);
    let tree = mapping.tree();
    if tree.children().len() > 0 {
        let properties = Shower { mapping }.properties("", tree);
        root.insert("properties".to_string(), properties);
    }
    Value::Object(root)
}

pub(crate) fn root_json(mapping: &Mapping) -> Map<String, Value> {
    let mut root = Map::new();
    if let Some(dynamic) = mapping.dynamic_said() {
        root.insert("dynamic".to_string(), json!(dynamic_name(dynamic)));
    }
    root.extend(mapping.shown().clone());
    if !mapping.derived().is_empty() {
        root.insert("derived".to_string(), shown_derived(mapping.derived()));
    }
    root
}

/// Walks down the objects of a mapping.
#[derive(Clone, Copy)]
struct Shower<'m> {
    mapping: &'m Mapping,
}

impl Shower<'_> {
    fn properties(self, path: &str, object: &ObjectNode) -> Value {
        let children = object.children().map(|(name, node)| {
            let path = if path.is_empty() {
                name.to_string()
            } else {
                format!("{path}.{name}")
            };
            let shown = match node {
                MappingNode::Object(object) => self.object(&path, object),
                MappingNode::Alias(target) => alias_json(target),
                MappingNode::Leaf(leaf) => self.field(leaf.id(), leaf.multi_fields()),
            };
            (name.to_string(), Value::Object(shown))
        });
        Value::Object(children.collect())
    }

    fn field(self, id: FieldId, multi_fields: &[FieldId]) -> Map<String, Value> {
        let mut shown = self.mapping.by_id(id).map(field_json).unwrap_or_default();
        let multi_fields: Map<String, Value> = multi_fields
            .iter()
            .filter_map(|id| self.mapping.by_id(*id))
            .filter(|field| !field.settings.hidden)
            .map(|field| (last_name(&field.path), Value::Object(field_json(field))))
            .collect();
        if !multi_fields.is_empty() {
            shown.insert("fields".to_string(), Value::Object(multi_fields));
        }
        shown
    }

    fn object(self, path: &str, object: &ObjectNode) -> Map<String, Value> {
        let mut shown = Map::new();
        if object.children().len() == 0 && !object.is_nested() {
            shown.insert("type".to_string(), json!("object"));
        }
        if let Some(settings) = self.mapping.object_settings(path) {
            shown.extend(object_settings_json(settings));
        }
        if object.children().len() > 0 {
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

pub(crate) fn object_settings_json(settings: ObjectSettings) -> Map<String, Value> {
    let mut shown = Map::new();
    if let Some(nested) = settings.nested {
        show_nested(nested, &mut shown);
    }
    if let Some(dynamic) = settings.dynamic {
        shown.insert("dynamic".to_string(), json!(dynamic_name(dynamic)));
    }
    if !settings.enabled {
        shown.insert("enabled".to_string(), json!(false));
    }
    shown
}

fn show_nested(nested: NestedSettings, shown: &mut Map<String, Value>) {
    shown.insert("type".to_string(), json!("nested"));
    if nested.include_in_parent {
        shown.insert("include_in_parent".to_string(), json!(true));
    }
    if nested.include_in_root {
        shown.insert("include_in_root".to_string(), json!(true));
    }
}

fn alias_json(target: &str) -> Map<String, Value> {
    let mut shown = Map::new();
    shown.insert("type".to_string(), json!("alias"));
    shown.insert("path".to_string(), json!(target));
    shown
}

/// The parameters of a field that are not as usual.
pub(crate) fn field_json(field: &MappedField) -> Map<String, Value> {
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
                show_relations(relations, &mut set);
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
    let is_wildcard = matches!(
        field.kind,
        FieldKind::Keyword {
            style: KeywordStyle::Wildcard,
            ..
        }
    );
    // Wildcard fields always tell it, as in OpenSearch.
    let doc_values = field.settings.doc_values;
    if is_wildcard || !doc_values {
        shown.insert("doc_values".to_string(), json!(doc_values));
    }
    if let FieldKind::Text {
        style: TextStyle::AsYouType { neighbours },
        ..
    } = field.kind
    {
        shown.insert(SIZE_PARAMETER.to_string(), json!(neighbours));
    }
    if field.settings.shown.is_empty() {
        shown.extend(unwritten(field));
    } else {
        shown.extend(field.settings.shown.clone());
    }
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
    if settings.position_gap != POSITION_GAP {
        set("position_increment_gap", json!(settings.position_gap));
    }
    shown
}
