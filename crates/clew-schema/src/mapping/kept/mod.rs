//! A mapping as the catalog keeps it: the number of the format, and a [`MappingSpec`].
//!
//! Records of format 1 are read too (`format_1.rs`) but never written. Layout: `docs/formats/catalog.md`.

mod format_1;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_analysis::{Analysis, POSITION_GAP, shown_name};
use serde_json::{Value, json};

use super::field::{FieldKind, FieldSettings, IntegerKind, MappedField};
use super::read::hidden_fields;
use super::schema::{Definition, Mapping, MappingError, MappingLimits, NewField, Sizes};
use super::spec::{FieldSpec, MappingSpec, NumberedSpec};
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
        let spec = serde_json::to_value(self.spec()).expect("a spec has only plain members");
        let mut encoded = json!({ FORMAT_MEMBER: FORMAT });
        if let (Some(encoded), Value::Object(spec)) = (encoded.as_object_mut(), spec) {
            encoded.extend(spec);
        }
        encoded
    }

    /// The mapping that was encoded, with the same numbers and schema. Limits are not part of it.
    ///
    /// # Errors
    /// [`MappingError::Invalid`] when it is not an encoded mapping.
    pub fn decode(encoded: &Value) -> Result<Mapping, MappingError> {
        let mut members = encoded.as_object().cloned().unwrap_or_default();
        let mut mapping = match members.shift_remove(FORMAT_MEMBER) {
            None => Self::decode_format_1(encoded)?,
            Some(format) if format == FORMAT => {
                let spec = serde_json::from_value(Value::Object(members));
                Self::from_spec(
                    spec.map_err(|error| MappingError::invalid(format!("kept mapping: {error}")))?,
                )?
            }
            Some(other) => {
                return Err(MappingError::invalid(format!(
                    "format [{other}] of a kept mapping is not known"
                )));
            }
        };
        mapping.check_aliases()?;
        mapping.finish(Sizes::default())?;
        mapping.limits = MappingLimits::default();
        Ok(mapping)
    }

    /// A mapping without fields that takes what was once accepted, whatever limits say today.
    pub(super) fn unlimited() -> Mapping {
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
    pub(super) fn push_kept(
        &mut self,
        definition: Definition,
        followers: &mut BTreeMap<String, Definition>,
    ) -> Result<(), MappingError> {
        let path = &definition.new.path;
        if self.by_path.contains_key(path) {
            return Err(MappingError::invalid(format!(
                "field [{path}] is there twice"
            )));
        }
        for follower in hidden_fields(&definition) {
            followers.insert(follower.new.path.clone(), follower);
        }
        self.push(definition)
    }

    /// All that is said of it.
    fn spec(&self) -> MappingSpec {
        let root = &self.root;
        MappingSpec {
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
            shown: root.shown.clone(),
            objects: self.objects.clone(),
            aliases: self.aliases.clone(),
            fields: self.fields.iter().map(numbered_spec).collect(),
            analysis: self.analysis.source().clone(),
            similarities: self.similarities.given().clone(),
        }
    }

    /// The mapping of which all this is said; [`Mapping::finish`] must follow.
    fn from_spec(spec: MappingSpec) -> Result<Mapping, MappingError> {
        let invalid = |error: &dyn std::fmt::Display| MappingError::invalid(error.to_string());
        let mut mapping = Mapping::unlimited();
        if !spec.analysis.is_null() {
            mapping.set_analysis(Analysis::read(&spec.analysis).map_err(|error| invalid(&error))?);
        }
        let similarities = Similarities::read(spec.similarities);
        mapping.set_similarities(similarities.map_err(|error| invalid(&error))?);
        let formats = spec.date_formats.iter();
        let formats: Result<_, _> = formats.map(|format| DateFormat::parse(format)).collect();
        let templates = spec.templates.into_iter().map(DynamicTemplate::new);
        let root = &mut mapping.root;
        root.dynamic = spec.dynamic;
        root.date_detection = spec.date_detection;
        root.numeric_detection = spec.numeric_detection;
        root.date_formats = Arc::new(formats.map_err(|error| invalid(&error))?);
        root.source = Arc::new(spec.source);
        root.routing_required = spec.routing_required;
        root.templates = Arc::new(templates.collect::<Result<_, _>>()?);
        root.shown = spec.shown;
        mapping.objects = spec.objects;
        let mut followers = BTreeMap::new();
        for numbered in spec.fields {
            let definition = match numbered {
                NumberedSpec::Field(field) => definition_of(*field, &mapping.analysis)?,
                NumberedSpec::Follower(path) => followers.remove(&path).ok_or_else(|| {
                    MappingError::invalid(format!("field [{path}] follows from none before it"))
                })?,
            };
            mapping.push_kept(definition, &mut followers)?;
        }
        mapping.aliases = spec.aliases;
        Ok(mapping)
    }
}

fn numbered_spec(field: &MappedField) -> NumberedSpec {
    let is_asked_for = field.kind == FieldKind::Integer(IntegerKind::DocumentCount);
    if field.settings.hidden && !is_asked_for {
        return NumberedSpec::Follower(field.path.clone());
    }
    NumberedSpec::Field(Box::new(spec_of(field)))
}

/// All that is said of a field; analyzers under the names that the index's settings give them.
fn spec_of(field: &MappedField) -> FieldSpec {
    let settings = field.settings.clone();
    let shown = |name: Option<String>| name.map(|name| shown_name(&name).to_string());
    let mut kind = field.kind.clone();
    let mut position_gap = None;
    if let FieldKind::Text { analyzer, .. } = &mut kind {
        *analyzer = shown_name(analyzer).to_string();
        position_gap = Some(settings.position_gap);
    }
    FieldSpec {
        path: field.path.clone(),
        multi_field: field.multi_field,
        kind,
        indexed: field.indexed,
        doc_values: settings.doc_values,
        store: settings.store,
        coerce: settings.coerce,
        ignore_malformed: settings.ignore_malformed,
        null_value: settings.null_value,
        copy_to: settings.copy_to,
        search_analyzer: shown(settings.search_analyzer),
        search_quote_analyzer: shown(settings.search_quote_analyzer),
        count_analyzer: shown(settings.count_analyzer),
        count_gaps: settings.count_gaps,
        normalizer: shown(settings.normalizer),
        split_queries: settings.split_queries,
        position_gap,
        similarity: settings.similarity,
        fielddata: settings.fielddata,
        term_vectors: settings.term_vectors,
        inverse: settings.inverse,
        meta: settings.meta,
        join: settings.join.as_deref().cloned(),
        shown: settings.shown,
    }
}

/// The field of which all this is said.
fn definition_of(spec: FieldSpec, analysis: &Analysis) -> Result<Definition, MappingError> {
    let known = |name: String| {
        analysis.analyzer(&name).ok_or_else(|| {
            MappingError::invalid(format!("analyzer [{name}] of a field is not there"))
        })
    };
    let normalizer = |name: String| {
        analysis.normalizer(&name).ok_or_else(|| {
            MappingError::invalid(format!("normalizer [{name}] of a field is not there"))
        })
    };
    let mut kind = spec.kind;
    if let FieldKind::Text { analyzer, .. } = &mut kind {
        *analyzer = known(std::mem::take(analyzer))?;
    }
    if let Some(relations) = &spec.join {
        relations.check(&spec.path)?;
    }
    let settings = FieldSettings {
        hidden: kind == FieldKind::Integer(IntegerKind::DocumentCount),
        coerce: spec.coerce,
        ignore_malformed: spec.ignore_malformed,
        null_value: spec.null_value,
        copy_to: spec.copy_to,
        search_analyzer: spec.search_analyzer.map(known).transpose()?,
        search_quote_analyzer: spec.search_quote_analyzer.map(known).transpose()?,
        count_analyzer: spec.count_analyzer.map(known).transpose()?,
        count_gaps: spec.count_gaps,
        normalizer: spec.normalizer.map(normalizer).transpose()?,
        split_queries: spec.split_queries,
        store: spec.store,
        doc_values: spec.doc_values,
        position_gap: spec.position_gap.unwrap_or(POSITION_GAP),
        similarity: spec.similarity,
        fielddata: spec.fielddata,
        term_vectors: spec.term_vectors,
        inverse: spec.inverse,
        meta: spec.meta,
        join: spec.join.map(Arc::new),
        shown: spec.shown,
    };
    Ok(Definition {
        new: NewField {
            path: spec.path,
            kind,
            indexed: spec.indexed,
            multi_field: spec.multi_field,
        },
        settings,
    })
}
