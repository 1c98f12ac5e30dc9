//! A mapping as the catalog keeps it: the number of the format, and a [`KeptMapping`].
//!
//! Records of format 1 are read by whoever wrote them ([`MappingReader`]) and never written. Layout:
//! `docs/formats/catalog.md`.

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_analysis::Analysis;
use serde_json::{Value, json};

use super::compression::VectorCompression;
use super::definition::{Definition, definition_of, hidden_fields, spec_of};
use super::error::MappingError;
use super::field::{FieldKind, MappedField, is_asked_for};
use super::limits::{MappingLimits, Sizes};
use super::reader::MappingReader;
use super::schema::Mapping;
use super::spec::{FieldSpec, KeptMapping, NumberedSpec};
use super::template::DynamicTemplate;
use crate::date::DateFormat;
use crate::similarity::Similarities;

/// The format that is written.
const FORMAT: u64 = 2;
/// The member that says in which format a mapping is kept; those of format 1 have none.
const FORMAT_MEMBER: &str = "format";
/// Objects inside objects that an encoded mapping may have: more than any limit that was sensible
/// when it was made, few enough to walk.
const DEPTH_DECODED_MAX: usize = 500;

impl Mapping {
    /// The mapping for the catalog.
    pub fn encode(&self) -> Value {
        let kept = serde_json::to_value(self.kept()).expect("a mapping has only plain members");
        let mut encoded = json!({ FORMAT_MEMBER: FORMAT });
        if let (Some(encoded), Value::Object(kept)) = (encoded.as_object_mut(), kept) {
            encoded.extend(kept);
        }
        encoded
    }

    /// The mapping that was encoded, with the same numbers and schema. Limits are not part of it. `reader` reads what was
    /// kept in the words of a protocol, now and when documents grow the mapping.
    ///
    /// # Errors
    /// [`MappingError::Kept`] when it is not an encoded mapping, [`MappingError::NoReader`] when it is one of format 1.
    pub fn decode(encoded: &Value, reader: Option<MappingReader>) -> Result<Mapping, MappingError> {
        let mut members = encoded.as_object().cloned().unwrap_or_default();
        let kept = match members.shift_remove(FORMAT_MEMBER) {
            None => {
                let what = "a mapping of format 1 of the catalog";
                let MappingReader { format_1, .. } =
                    reader.ok_or(MappingError::NoReader { what })?;
                format_1(encoded)?
            }
            Some(format) if format == FORMAT => {
                let kept = serde_json::from_value(Value::Object(members));
                kept.map_err(|error| MappingError::kept(error.to_string()))?
            }
            Some(other) => {
                return Err(MappingError::kept(format!("format [{other}] is not known")));
            }
        };
        let mut mapping = Self::from_kept(kept)?;
        mapping.reader = reader;
        mapping.check_aliases()?;
        mapping.finish(Sizes::default())?;
        mapping.limits = MappingLimits::default();
        Ok(mapping)
    }

    /// The same mapping with other analyzers, as settings name them: its fields find theirs by name. What is indexed
    /// stays as it is.
    ///
    /// # Errors
    /// [`MappingError::UnknownAnalyzer`] and its like when the settings lack one that a field names.
    pub fn with_analysis(&self, source: Value) -> Result<Mapping, MappingError> {
        let kept = KeptMapping {
            analysis: source,
            ..self.kept()
        };
        let mut mapping = Self::from_kept(kept)?;
        mapping.reader = self.reader;
        mapping.check_aliases()?;
        mapping.finish(Sizes::default())?;
        mapping.limits = self.limits;
        mapping.column_changes = self.column_changes + 1;
        Ok(mapping)
    }

    /// A mapping without fields that takes what was once accepted, whatever limits say today.
    fn unlimited() -> Mapping {
        let mut mapping = Mapping::new();
        mapping.limits = MappingLimits {
            fields_max: usize::MAX,
            depth_max: DEPTH_DECODED_MAX,
            nested_fields_max: usize::MAX,
            name_chars_max: usize::MAX,
            ..MappingLimits::default()
        };
        mapping
    }

    /// Adds a field under the next number. `followers` has the fields that follow from those before
    /// it, by path.
    fn push_kept(
        &mut self,
        definition: Definition,
        followers: &mut BTreeMap<String, Definition>,
    ) -> Result<(), MappingError> {
        let path = &definition.new.path;
        if self.by_path.contains_key(path) {
            return Err(MappingError::kept(format!("field [{path}] is there twice")));
        }
        for follower in hidden_fields(&definition) {
            followers.insert(follower.new.path.clone(), follower);
        }
        self.push(definition)
    }

    /// All that is known of it.
    pub fn kept(&self) -> KeptMapping {
        let root = &self.root;
        KeptMapping {
            dynamic: root.dynamic,
            date_detection: root.date_detection,
            numeric_detection: root.numeric_detection,
            date_formats: root
                .date_formats
                .iter()
                .map(|format| format.as_str().to_string())
                .collect(),
            source: (*root.source).clone(),
            routing_required: root.routing_required,
            templates: root.templates.iter().map(|t| t.spec.clone()).collect(),
            derived: (*root.derived).clone(),
            shown: root.shown.clone(),
            objects: self.objects.clone(),
            aliases: self.aliases.clone(),
            fields: self.fields.iter().map(numbered_spec).collect(),
            analysis: self.analysis.source().clone(),
            similarities: self.similarities.given().clone(),
        }
    }

    /// The mapping of which all this is known; [`Mapping::finish`] must follow.
    fn from_kept(spec: KeptMapping) -> Result<Mapping, MappingError> {
        let senseless = |error: &dyn std::fmt::Display| MappingError::kept(error.to_string());
        let mut mapping = Mapping::unlimited();
        if !spec.analysis.is_null() {
            mapping.set_analysis(Analysis::kept(&spec.analysis));
        }
        let similarities = Similarities::read(spec.similarities);
        mapping.set_similarities(similarities.map_err(|error| senseless(&error))?);
        let formats = spec.date_formats.iter();
        let formats: Result<_, _> = formats.map(|format| DateFormat::parse(format)).collect();
        let templates = spec.templates.into_iter().map(DynamicTemplate::new);
        let root = &mut mapping.root;
        root.dynamic = spec.dynamic;
        root.date_detection = spec.date_detection;
        root.numeric_detection = spec.numeric_detection;
        root.date_formats = Arc::new(formats.map_err(|error| senseless(&error))?);
        root.source = Arc::new(spec.source);
        root.routing_required = spec.routing_required;
        root.templates = Arc::new(templates.collect::<Result<_, _>>()?);
        root.derived = Arc::new(spec.derived);
        root.shown = spec.shown;
        mapping.objects = spec.objects;
        let mut followers = BTreeMap::new();
        for numbered in spec.fields {
            let definition = match numbered {
                NumberedSpec::Field(field) => kept_field(*field, &mapping.analysis)?,
                NumberedSpec::Follower(path) => followers.remove(&path).ok_or_else(|| {
                    MappingError::kept(format!("field [{path}] follows from none before it"))
                })?,
            };
            mapping.push_kept(definition, &mut followers)?;
        }
        mapping.aliases = spec.aliases;
        Ok(mapping)
    }
}

fn kept_field(mut spec: FieldSpec, analysis: &Analysis) -> Result<Definition, MappingError> {
    if matches!(spec.kind, FieldKind::Vector(_)) {
        spec.compression = VectorCompression::of_kept(&spec.shown);
    }
    definition_of(spec, analysis)
}

fn numbered_spec(field: &MappedField) -> NumberedSpec {
    if field.settings.hidden && !is_asked_for(&field.path, &field.kind) {
        return NumberedSpec::Follower(field.path.clone());
    }
    let mut spec = spec_of(field);
    spec.compression.keep(&mut spec.shown);
    NumberedSpec::Field(Box::new(spec))
}
