//! The `mappings` body of OpenSearch's API, read into a [`Mapping`] or merged into one that exists.

use std::collections::BTreeSet;
use std::sync::Arc;

use clew_analysis::shown_name;
use clew_vector::ColumnOptions;
use serde_json::{Map, Value};

use super::compression::COMPRESSION;
use super::field::{DOC_COUNT, Dynamic, FieldKind, FieldSettings, FloatKind, MappedField};
use super::join::parent_path;
use super::parameters::{as_object, boolean, read_field, show};
use super::schema::{Definition, Mapping, MappingError, NewField, NewFields};
use super::source::{SourceShown, read_routing};
use super::template;
use super::typing;
use crate::date::DateFormat;
use crate::similarity::CLASSIC_REFUSED;

/// Names that a document's own fields cannot have.
const METADATA: [&str; 9] = [
    "_id",
    "_index",
    "_source",
    "_routing",
    "_field_names",
    "_ignored",
    "_version",
    "_seq_no",
    "_nested_path",
];

/// The field beside a `flat_object` that has its leaves with their paths.
pub const PATHS_AND_VALUES: &str = "_valueAndPath";

/// Parameters of the whole mapping that are only shown again.
const ROOT_SHOWN: [&str; 7] = [
    "_meta",
    "_routing",
    "_field_names",
    "_size",
    "_data_stream_timestamp",
    "derived",
    "context_aware_grouping",
];

/// The field beside a `percolator` that has the words its queries need.
pub fn words_path(path: &str) -> String {
    format!("{path}#words")
}

/// Whether a document may not have a field of this name.
pub(crate) fn is_metadata(name: &str) -> bool {
    METADATA.contains(&name)
}

impl Mapping {
    /// Reads a `mappings` body.
    ///
    /// # Errors
    /// [`MappingError`], in OpenSearch's words.
    pub fn from_opensearch(body: &Value) -> Result<Mapping, MappingError> {
        let mut mapping = Mapping::new();
        mapping.merge_opensearch(body)?;
        Ok(mapping)
    }

    /// Adds the fields of a `mappings` body and changes those settings that may change; nothing
    /// happens if any of it is refused.
    ///
    /// # Errors
    /// [`MappingError`], in OpenSearch's words.
    pub fn merge_opensearch(&mut self, body: &Value) -> Result<(), MappingError> {
        let mut next = self.clone();
        let root = as_object(body, "mappings")?;
        for (key, value) in root {
            if key != "properties" {
                next.merge_root(key, value)?;
            }
        }
        if let Some(properties) = root.get("properties") {
            next.merge_properties("", as_object(properties, "properties")?)?;
        }
        next.check_aliases()?;
        next.finish(self.sizes())?;
        *self = next;
        Ok(())
    }

    pub(super) fn merge_root(&mut self, key: &str, value: &Value) -> Result<(), MappingError> {
        match key {
            "dynamic" => self.root.dynamic = Some(dynamic(value)?),
            "date_detection" => self.root.date_detection = boolean(key, value)?,
            "numeric_detection" => self.root.numeric_detection = boolean(key, value)?,
            "dynamic_date_formats" => {
                let names = value
                    .as_array()
                    .map_or(std::slice::from_ref(value), Vec::as_slice);
                let formats = names
                    .iter()
                    .map(|name| DateFormat::parse(name.as_str().unwrap_or_default()))
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(|error| MappingError::invalid(error.to_string()))?;
                self.root.date_formats = Arc::new(formats);
            }
            "dynamic_templates" => self.root.templates = Arc::new(template::read(value)?),
            "_source" => self.root.source = Arc::new(SourceShown::read(value)?),
            "_routing" => self.root.routing_required = read_routing(value)?,
            _ if ROOT_SHOWN.contains(&key) => {}
            _ => {
                return Err(MappingError::invalid(format!(
                    "Root mapping definition has unsupported parameters:  [{key} : {}]",
                    show(value)
                )));
            }
        }
        if key != "dynamic" {
            self.root.shown.insert(key.to_string(), value.clone());
        }
        Ok(())
    }

    /// Takes in the children of an object.
    fn merge_properties(
        &mut self,
        object: &str,
        properties: &Map<String, Value>,
    ) -> Result<(), MappingError> {
        for (name, value) in properties {
            check_name(name)?;
            if object.is_empty() && is_metadata(name) {
                return Err(MappingError::invalid(format!(
                    "Field [{name}] is defined both as a field in [_doc] and a metadata field"
                )));
            }
            if object.is_empty() && name == DOC_COUNT {
                return Err(MappingError::invalid(format!(
                    "Field [{name}] is defined more than once"
                )));
            }
            let path = if object.is_empty() {
                name.clone()
            } else {
                format!("{object}.{name}")
            };
            let parameters = value.as_object().ok_or_else(|| {
                MappingError::invalid(format!("Expected map for property [{name}]"))
            })?;
            match type_of(name, parameters)? {
                "object" | "nested" => self.merge_object(&path, parameters)?,
                "alias" => self.merge_alias(&path, parameters)?,
                _ => self.merge_field(&path, parameters)?,
            }
        }
        Ok(())
    }

    fn merge_object(
        &mut self,
        path: &str,
        parameters: &Map<String, Value>,
    ) -> Result<(), MappingError> {
        self.check_depth(path, 1)?;
        self.check_names(path)?;
        let above = path.rmatch_indices('.').map(|(at, _)| &path[..at]);
        if let Some(field) = std::iter::once(path)
            .chain(above)
            .find_map(|p| self.field(p))
        {
            return Err(MappingError::Conflict {
                path: field.path.clone(),
                from: field.kind.type_name(),
                to: "ObjectMapper".to_string(),
            });
        }
        let known = self.objects.get(path).copied();
        let mut settings = known.unwrap_or_default();
        settings.nested = self.nested_of(path, known, parameters)?;
        for (key, value) in parameters {
            match key.as_str() {
                "type" | "properties" => {}
                "include_in_parent" | "include_in_root" if settings.nested.is_some() => {}
                "dynamic" => settings.dynamic = Some(dynamic(value)?),
                "enabled" => settings.enabled = boolean(key, value)?,
                _ => {
                    return Err(MappingError::invalid(format!(
                        "Mapping definition for [{path}] has unsupported parameters:  [{key} : {}]",
                        show(value)
                    )));
                }
            }
        }
        self.objects.insert(path.to_string(), settings);
        match parameters.get("properties") {
            Some(properties) => self.merge_properties(path, as_object(properties, path)?),
            None => Ok(()),
        }
    }

    /// Takes in a field and its multi-fields.
    fn merge_field(
        &mut self,
        path: &str,
        parameters: &Map<String, Value>,
    ) -> Result<(), MappingError> {
        let definition = read_field(path, parameters, false, &self.analysis)?;
        self.check_join(path, &definition.new.kind)?;
        let hidden = hidden_fields(&definition);
        self.merge_definition(definition)?;
        for definition in hidden {
            self.merge_definition(definition)?;
        }
        let Some(multi_fields) = parameters.get("fields") else {
            return Ok(());
        };
        let mut seen = BTreeSet::new();
        for (name, value) in as_object(multi_fields, "fields")? {
            check_name(name)?;
            if name.contains('.') || !seen.insert(name) {
                return Err(MappingError::invalid(format!(
                    "Field name [{name}] which is a multi field of [{path}] cannot contain '.'"
                )));
            }
            let parameters = as_object(value, name)?;
            let type_name = type_of(name, parameters)?;
            if matches!(
                type_name,
                "object"
                    | "nested"
                    | "knn_vector"
                    | "alias"
                    | "flat_object"
                    | "flattened"
                    | "percolator"
            ) {
                return Err(MappingError::invalid(format!(
                    "Type [{type_name}] cannot be used in multi field"
                )));
            }
            let path = format!("{path}.{name}");
            let definition = read_field(&path, parameters, true, &self.analysis)?;
            self.check_join(&path, &definition.new.kind)?;
            let hidden = hidden_fields(&definition);
            self.merge_definition(definition)?;
            for definition in hidden {
                self.merge_definition(definition)?;
            }
        }
        Ok(())
    }

    /// Adds the fields that a document brought.
    ///
    /// # Errors
    /// [`MappingError`]; nothing is added then.
    pub fn grow(&mut self, new: NewFields) -> Result<(), MappingError> {
        let mut next = self.clone();
        for (path, parameters) in new.from_templates {
            // Another document may have brought it by now.
            if next.by_path.contains_key(&path) || next.objects.contains_key(&path) {
                continue;
            }
            match type_of(&path, &parameters)? {
                "object" => next.merge_object(&path, &parameters)?,
                _ => next.merge_field(&path, &parameters)?,
            }
        }
        next.finish(self.sizes())?;
        next.add(new.fields)?;
        for (path, first) in new.constants {
            let id = next.by_path.get(&path).copied();
            let kind = id.map(|id| &mut next.fields[id.0 as usize].kind);
            // Another document may have settled it by now.
            if let Some(FieldKind::Constant { value }) = kind {
                value.get_or_insert(first);
            }
        }
        *self = next;
        Ok(())
    }

    /// A similarity must be one of those that are always there or that the settings name.
    fn check_similarity(&self, definition: &Definition) -> Result<(), MappingError> {
        let Some(name) = definition.settings.similarity.as_deref() else {
            return Ok(());
        };
        if self.similarities.named(name).is_some() {
            return Ok(());
        }
        if name == "classic" {
            return Err(MappingError::Refused {
                reason: CLASSIC_REFUSED.to_string(),
            });
        }
        let path = &definition.new.path;
        let field = path.rsplit('.').next().unwrap_or(path);
        Err(MappingError::invalid(format!(
            "Unknown Similarity type [{name}] for field [{field}]"
        )))
    }

    /// Adds a field, or gives one that exists the settings that may change.
    fn merge_definition(&mut self, definition: Definition) -> Result<(), MappingError> {
        self.check_similarity(&definition)?;
        let Some(id) = self.by_path.get(&definition.new.path).copied() else {
            return self.push(definition);
        };
        let field = &mut self.fields[id.0 as usize];
        field.check_type(&definition.new)?;
        let conflicts = conflicts(field, &definition);
        if !conflicts.is_empty() {
            if definition.settings.join.is_some() {
                return Err(MappingError::Refused {
                    reason: format!(
                        "Mapper for [{}] conflicts with existing mapping:\n[{}]",
                        field.path,
                        conflicts.join(", ")
                    ),
                });
            }
            return Err(MappingError::Refused {
                reason: format!(
                    "Mapper for [{}] conflicts with existing mapper:\n\t{}",
                    field.path,
                    conflicts.join("\n\t")
                ),
            });
        }
        let known = match &field.kind {
            FieldKind::Constant { value } => value.clone(),
            _ => None,
        };
        field.kind = definition.new.kind;
        if let FieldKind::Constant { value } = &mut field.kind {
            *value = value.take().or(known);
        }
        field.settings = definition.settings;
        Ok(())
    }
}

/// The fields that come with one of this kind.
pub(super) fn hidden_fields(definition: &Definition) -> Vec<Definition> {
    let hidden = |name: &str, kind: FieldKind| Definition {
        new: NewField {
            path: format!("{}.{name}", definition.new.path),
            kind,
            indexed: true,
            multi_field: true,
        },
        settings: FieldSettings {
            hidden: true,
            ..FieldSettings::default()
        },
    };
    match definition.new.kind {
        FieldKind::Flat => vec![hidden(PATHS_AND_VALUES, FieldKind::keyword(None))],
        FieldKind::Percolator => {
            let mut words = hidden("", FieldKind::keyword(None));
            words.new.path = words_path(&definition.new.path);
            words.new.multi_field = false;
            vec![words]
        }
        _ if definition.settings.join.is_some() => {
            let relations = definition.settings.join.iter();
            let parents = relations.flat_map(|relations| relations.parents());
            let ids = |parent| {
                let mut ids = hidden("", FieldKind::keyword(None));
                ids.new.path = parent_path(&definition.new.path, parent);
                ids.new.multi_field = false;
                ids
            };
            parents.map(ids).collect()
        }
        _ => typing::beside(definition)
            .into_iter()
            .map(|(name, kind, settings)| Definition {
                settings,
                ..hidden(&name, kind)
            })
            .collect(),
    }
}

/// What cannot change, because documents were indexed with it.
fn conflicts(field: &MappedField, definition: &Definition) -> Vec<String> {
    if let (Some(from), Some(to)) = (&field.settings.join, &definition.settings.join) {
        return from.conflicts(&field.path, to);
    }
    let mut found = Vec::new();
    let mut compare = |parameter: &str, from: String, to: String| {
        if from != to {
            found.push(format!(
                "Cannot update parameter [{parameter}] from [{from}] to [{to}]"
            ));
        }
    };
    let new = &definition.new;
    let settings = [&field.settings, &definition.settings];
    // Words of documents that are there already have no column.
    let [from, to] = settings.map(|settings| settings.fielddata.to_string());
    compare("fielddata", from, to);
    compare("index", field.indexed.to_string(), new.indexed.to_string());
    let [from, to] = settings.map(|settings| settings.store.to_string());
    compare("store", from, to);
    let [from, to] = settings.map(|settings| settings.doc_values.to_string());
    compare("doc_values", from, to);
    let normalizer = |settings: &FieldSettings| settings.normalizer.clone().unwrap_or_default();
    let [from, to] = settings.map(normalizer);
    compare("normalizer", from, to);
    let similarity =
        |settings: &FieldSettings| settings.similarity.clone().unwrap_or("null".to_string());
    let [from, to] = settings.map(similarity);
    compare("similarity", from, to);
    match (&field.kind, &new.kind) {
        (FieldKind::Text { analyzer: from, .. }, FieldKind::Text { analyzer: to, .. }) => {
            let [from, to] = [from, to].map(|name| shown_name(name).to_string());
            compare("analyzer", from, to);
        }
        (FieldKind::Date { format: from }, FieldKind::Date { format: to })
        | (FieldKind::DateNanos { format: from }, FieldKind::DateNanos { format: to })
        | (FieldKind::Range { format: from, .. }, FieldKind::Range { format: to, .. }) => {
            compare("format", from.clone(), to.clone());
        }
        (FieldKind::Constant { value: Some(from) }, FieldKind::Constant { value: Some(to) }) => {
            compare("value", from.clone(), to.clone());
        }
        (
            FieldKind::Float(FloatKind::Scaled { factor: from }),
            FieldKind::Float(FloatKind::Scaled { factor: to }),
        ) => compare("scaling_factor", from.to_string(), to.to_string()),
        (FieldKind::Vector(from), FieldKind::Vector(to)) => {
            let shown = [&field.settings.shown, &definition.settings.shown];
            let written = COMPRESSION.map(|key| (key, shown.map(|shown| written(shown, key))));
            let level_stays = written.iter().all(|(_, [from, to])| from == to);
            for (key, [from, to]) in written {
                compare(key, from, to);
            }
            compare_columns(&from.column, &to.column, level_stays, compare);
        }
        _ => {}
    }
    found
}

/// A parameter as it was written, for a message.
fn written(shown: &Map<String, Value>, key: &str) -> String {
    shown.get(key).map_or("null".to_string(), show)
}

/// Compares what columns are built by; the type of element only where no level has chosen it.
fn compare_columns(
    from: &ColumnOptions,
    to: &ColumnOptions,
    level_stays: bool,
    mut compare: impl FnMut(&str, String, String),
) {
    let dimension = |column: &ColumnOptions| column.dimension.to_string();
    compare("dimension", dimension(from), dimension(to));
    if level_stays {
        let element = |column: &ColumnOptions| column.element.name().to_string();
        compare("data_type", element(from), element(to));
    }
    let space = |column: &ColumnOptions| column.space.name().to_string();
    compare("space_type", space(from), space(to));
    let method = |column: &ColumnOptions| format!("{:?}, {:?}", column.method, column.hnsw);
    compare("method", method(from), method(to));
}

/// The type a field declares; one with properties is an object without saying so.
fn type_of<'v>(name: &str, parameters: &'v Map<String, Value>) -> Result<&'v str, MappingError> {
    match parameters.get("type") {
        Some(Value::String(type_name)) => Ok(type_name),
        Some(other) => Err(MappingError::invalid(format!(
            "No handler for type [{}] declared on field [{name}]",
            show(other)
        ))),
        None if parameters.contains_key("properties") => Ok("object"),
        None if parameters.len() == 1 && parameters.contains_key("enabled") => Ok("object"),
        None if parameters.len() == 1 && parameters.contains_key("dynamic") => Ok("object"),
        None => Err(MappingError::invalid(format!(
            "No type specified for field [{name}]"
        ))),
    }
}

pub(super) fn dynamic(value: &Value) -> Result<Dynamic, MappingError> {
    match show(value).as_str() {
        "true" => Ok(Dynamic::True),
        "false" => Ok(Dynamic::False),
        "strict" => Ok(Dynamic::Strict),
        "false_allow_templates" => Ok(Dynamic::FalseAllowTemplates),
        "strict_allow_templates" => Ok(Dynamic::StrictAllowTemplates),
        other => Err(MappingError::invalid(format!(
            "Could not convert [dynamic] to boolean: failed to parse value [{other}] as only [true] or [false] are allowed."
        ))),
    }
}

fn check_name(name: &str) -> Result<(), MappingError> {
    if name.is_empty() {
        return Err(MappingError::Refused {
            reason: "name cannot be empty string".to_string(),
        });
    }
    name_problem(name).map_or(Ok(()), |reason| Err(MappingError::Invalid { reason }))
}

/// Why no field can have this name, dots in it making objects.
pub(crate) fn name_problem(name: &str) -> Option<String> {
    if name.is_empty() {
        Some("field name cannot be an empty string".to_string())
    } else if name.split('.').any(str::is_empty) {
        Some(format!(
            "object field starting or ending with a [.] makes object resolution ambiguous: [{name}]"
        ))
    } else if name.split('.').any(|part| part.trim().is_empty()) {
        Some(format!(
            "object field cannot contain only whitespace: ['{name}']"
        ))
    } else {
        None
    }
}
