//! A mapping as JSON: as OpenSearch's API shows it, and as the catalog keeps it.
//!
//! The catalog's form lists fields in the order of their numbers, each with the parameters that the
//! API would show, so that there is one reader and one writer of parameters.

use std::collections::BTreeMap;

use clew_analysis::{Analysis, POSITION_GAP, shown_name};
use serde_json::{Map, Value, json};

use super::field::{
    Dynamic, FieldKind, FieldSettings, FloatKind, MappedField, RangeKind, TextStyle,
};
use super::nested::Nested;
use super::parameters::{boolean, read_field, show};
use super::read::{dynamic, hidden_fields};
use super::schema::{Definition, Mapping, MappingError, MappingLimits, ObjectSettings, Sizes};
use super::tree::{Node, ObjectNode};
use super::typing::SIZE_PARAMETER;
use crate::date::DATE_FORMAT_DEFAULT;
use crate::similarity::Similarities;

/// Objects inside objects that an encoded mapping may have: more than any limit that was sensible
/// when it was made, few enough to walk.
const DEPTH_DECODED_MAX: usize = 500;

impl Mapping {
    /// What `GET _mapping` shows under `mappings`; what is as usual is left out.
    pub fn to_opensearch(&self) -> Value {
        let mut root = self.root_json();
        if !self.tree.children.is_empty() {
            root.insert("properties".to_string(), self.properties("", &self.tree));
        }
        Value::Object(root)
    }

    fn root_json(&self) -> Map<String, Value> {
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

    /// The mapping for the catalog.
    pub fn encode(&self) -> Value {
        let objects: Map<String, Value> = self
            .objects
            .iter()
            .map(|(path, settings)| (path.clone(), object_settings_json(*settings).into()))
            .collect();
        let fields: Vec<Value> = self
            .fields
            .iter()
            .map(|field| {
                json!({
                    "path": field.path,
                    "multi_field": field.multi_field,
                    "hidden": field.settings.hidden,
                    "mapping": field_json(field),
                })
            })
            .collect();
        let aliases: Map<String, Value> = self
            .aliases
            .iter()
            .map(|(alias, path)| (alias.clone(), json!(path)))
            .collect();
        json!({ "root": self.root_json(), "objects": objects, "aliases": aliases, "fields": fields, "analysis": self.analysis.source(), "similarities": self.similarities.given() })
    }

    /// The mapping that was encoded, with the same numbers and schema. Limits are not part of it.
    ///
    /// # Errors
    /// [`MappingError::Invalid`] when it is not an encoded mapping.
    pub fn decode(encoded: &Value) -> Result<Mapping, MappingError> {
        let mut mapping = Mapping::new();
        mapping.limits = MappingLimits {
            fields_max: usize::MAX,
            depth_max: DEPTH_DECODED_MAX,
            nested_fields_max: usize::MAX,
            name_chars_max: usize::MAX,
            ..MappingLimits::default()
        };
        // Mappings from before there were analyzers of settings have none.
        if let Some(analysis) = encoded.get("analysis").filter(|source| !source.is_null()) {
            mapping.set_analysis(Analysis::read(analysis).map_err(MappingError::invalid)?);
        }
        // Nor have those from before there were similarities.
        if let Some(given) = encoded.get("similarities").and_then(Value::as_object) {
            let given = given
                .iter()
                .map(|(name, value)| (name.clone(), show(value)));
            let similarities = Similarities::read(given.collect());
            mapping.set_similarities(
                similarities.map_err(|error| MappingError::invalid(error.to_string()))?,
            );
        }
        for (key, value) in part(encoded, "root", Value::as_object)? {
            mapping.merge_root(key, value)?;
        }
        for (path, value) in part(encoded, "objects", Value::as_object)? {
            let mut settings = ObjectSettings::default();
            if value.get("type").is_some_and(|kind| kind == "nested") {
                settings.nested = Some(Nested::read(value.as_object())?);
            }
            if let Some(value) = value.get("dynamic") {
                settings.dynamic = Some(dynamic(value)?);
            }
            if let Some(value) = value.get("enabled") {
                settings.enabled = boolean("enabled", value)?;
            }
            mapping.objects.insert(path.clone(), settings);
        }
        let mut hidden: BTreeMap<String, Definition> = BTreeMap::new();
        for field in part(encoded, "fields", Value::as_array)? {
            let path = part(field, "path", Value::as_str)?;
            let multi_field = part(field, "multi_field", Value::as_bool)?;
            let parameters = part(field, "mapping", Value::as_object)?;
            if mapping.by_path.contains_key(path) {
                return Err(MappingError::invalid(format!(
                    "field [{path}] is there twice"
                )));
            }
            // What follows from another field does so again.
            let definition = match hidden.remove(path) {
                Some(definition) => definition,
                None => read_field(path, parameters, multi_field, &mapping.analysis)?,
            };
            for follower in hidden_fields(&definition) {
                hidden.insert(follower.new.path.clone(), follower);
            }
            mapping.push(definition)?;
        }
        // Mappings from before there were aliases have none.
        let aliases = encoded.get("aliases").and_then(Value::as_object);
        for (alias, path) in aliases.into_iter().flatten() {
            let path = path.as_str().unwrap_or_default().to_string();
            mapping.aliases.insert(alias.clone(), path);
        }
        mapping.check_aliases()?;
        mapping.finish(Sizes::default())?;
        mapping.limits = MappingLimits::default();
        Ok(mapping)
    }
}

fn part<'v, T>(
    value: &'v Value,
    name: &str,
    kind: impl Fn(&'v Value) -> Option<T>,
) -> Result<T, MappingError> {
    value
        .get(name)
        .and_then(kind)
        .ok_or_else(|| MappingError::invalid(format!("encoded mapping has no [{name}]")))
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

fn object_settings_json(settings: ObjectSettings) -> Map<String, Value> {
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
fn field_json(field: &MappedField) -> Map<String, Value> {
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
            if let Some(method) = &vector.method {
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
