//! A mapping made of what is said of it, or merged with it: what is new is added, what may change changes, and what
//! documents were indexed with stays or refuses the whole.

use std::sync::Arc;

use clew_analysis::shown_name;
use clew_vector::{ColumnOptions, Method, Space};
use serde_json::Value;

use super::compression::{CompressionLevel, VectorMode};
use super::definition::{Definition, definition_of, hidden_fields};
use super::error::{FieldParameter, MappingError, ParameterChange};
use super::field::{FieldKind, FieldSettings, MappedField, VectorMapping};
use super::names::check_field_name;
use super::number::FloatKind;
use super::schema::Mapping;
use super::spec::{FieldSpec, MappingPart, MappingSpec, ObjectSpec};
use super::template::DynamicTemplate;
use crate::date::DateFormat;

impl Mapping {
    /// The mapping of which this is said.
    ///
    /// # Errors
    /// [`MappingError`], when it makes no sense together.
    pub fn from_spec(spec: MappingSpec) -> Result<Mapping, MappingError> {
        let mut mapping = Mapping::new();
        mapping.merge(spec)?;
        Ok(mapping)
    }

    /// Adds what is new and changes what is said otherwise and may change; nothing happens if any of it is refused.
    ///
    /// # Errors
    /// [`MappingError`], when it makes no sense together or with what is there.
    pub fn merge(&mut self, spec: MappingSpec) -> Result<(), MappingError> {
        let mut next = self.clone();
        let columns = spec.columns.clone();
        let parts = next.merge_root(spec)?;
        for part in parts {
            next.merge_part(part)?;
        }
        for (path, vector) in columns {
            next.change_column(&path, vector)?;
        }
        next.check_aliases()?;
        next.check_derived()?;
        next.finish(self.sizes())?;
        next.check_copies(self)?;
        *self = next;
        Ok(())
    }

    /// Takes in what is said of the whole; what has a path is handed back.
    fn merge_root(&mut self, spec: MappingSpec) -> Result<Vec<MappingPart>, MappingError> {
        let root = &mut self.root;
        root.dynamic = spec.dynamic.or(root.dynamic);
        root.date_detection = spec.date_detection.unwrap_or(root.date_detection);
        root.numeric_detection = spec.numeric_detection.unwrap_or(root.numeric_detection);
        if let Some(formats) = spec.date_formats {
            let formats = formats.iter().map(|format| DateFormat::parse(format));
            root.date_formats = Arc::new(formats.collect::<Result<_, _>>()?);
        }
        if let Some(source) = spec.source {
            root.source = Arc::new(source);
        }
        root.routing_required = spec.routing_required.unwrap_or(root.routing_required);
        if let Some(templates) = spec.templates {
            let templates = templates.into_iter().map(DynamicTemplate::new);
            root.templates = Arc::new(templates.collect::<Result<_, _>>()?);
        }
        root.shown.extend(spec.shown);
        self.merge_derived(spec.derived)?;
        Ok(spec.parts)
    }

    /// Takes in an object, a field or an alias; [`Mapping::finish`] must follow.
    pub(super) fn merge_part(&mut self, part: MappingPart) -> Result<(), MappingError> {
        match part {
            MappingPart::Object(object) => self.merge_object(object),
            MappingPart::Field(field) => self.merge_field(*field),
            MappingPart::Alias { alias, path } => self.merge_alias(alias, path),
        }
    }

    fn merge_object(&mut self, spec: ObjectSpec) -> Result<(), MappingError> {
        let path = spec.path.as_str();
        check_field_name(path)?;
        self.check_depth(path, 1)?;
        self.check_names(path)?;
        let mut above = path.rmatch_indices('.').map(|(at, _)| &path[..at]);
        let field = self.field(path);
        if let Some(field) = field.or_else(|| above.find_map(|path| self.field(path))) {
            return Err(field.is_no_object());
        }
        let known = self.objects.get(path).copied();
        let mut settings = known.unwrap_or_default();
        settings.nested = self.nested_of(path, known, spec.nesting)?;
        settings.dynamic = spec.dynamic.or(settings.dynamic);
        settings.enabled = spec.enabled.unwrap_or(settings.enabled);
        self.objects.insert(spec.path, settings);
        Ok(())
    }

    /// Takes in a field, and those that follow from it.
    fn merge_field(&mut self, spec: FieldSpec) -> Result<(), MappingError> {
        check_field_name(&spec.path)?;
        let definition = definition_of(spec, &self.analysis)?;
        self.check_join(&definition.new.path, &definition.new.kind)?;
        let followers = hidden_fields(&definition);
        self.merge_definition(definition)?;
        for follower in followers {
            self.merge_definition(follower)?;
        }
        Ok(())
    }

    /// Gives a vector field another column. Segments know the options of theirs.
    fn change_column(&mut self, path: &str, to: VectorMapping) -> Result<(), MappingError> {
        let missing = || MappingError::NoSuchVector {
            path: path.to_string(),
        };
        let id = self.by_path.get(path).copied().ok_or_else(missing)?;
        let field = &mut self.fields[id.0 as usize];
        let FieldKind::Vector(from) = &mut field.kind else {
            return Err(missing());
        };
        let mut found = ChangesFound::default();
        let [before, after] = [&*from, &to].map(|vector| vector.column.dimension.to_string());
        found.texts(FieldParameter::Dimension, &before, &after);
        let (before, after) = (from.column.element.name(), to.column.element.name());
        found.texts(FieldParameter::Element, before, after);
        if !found.0.is_empty() || from.column.multi != to.column.multi {
            return Err(MappingError::Parameters {
                path: path.to_string(),
                changes: found.0,
            });
        }
        self.column_changes += u64::from(from.column != to.column);
        // Documents may have vectors that were taken when no direction was asked for.
        let directionless = from.directionless || from.column.space != Space::Cosine;
        *from = VectorMapping {
            directionless: directionless || to.directionless,
            ..to
        };
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
        Err(MappingError::UnknownSimilarity {
            path: definition.new.path.clone(),
            name: name.to_string(),
        })
    }

    /// Adds a field, or gives one that exists the settings that may change.
    fn merge_definition(&mut self, mut definition: Definition) -> Result<(), MappingError> {
        self.check_similarity(&definition)?;
        let Some(id) = self.by_path.get(&definition.new.path).copied() else {
            return self.push(definition);
        };
        let field = &mut self.fields[id.0 as usize];
        field.check_type(&definition.new)?;
        keep_column(field, &mut definition);
        check_changes(field, &definition)?;
        let known = std::mem::replace(&mut field.kind, definition.new.kind);
        match (&mut field.kind, known) {
            (FieldKind::Constant { value }, FieldKind::Constant { value: known }) => {
                *value = value.take().or(known);
            }
            (FieldKind::Vector(vector), FieldKind::Vector(known)) => {
                vector.directionless |= known.directionless;
            }
            _ => {}
        }
        field.settings = definition.settings;
        Ok(())
    }
}

/// Refuses what cannot change, because documents were indexed with it.
fn check_changes(field: &MappedField, definition: &Definition) -> Result<(), MappingError> {
    let path = field.path.clone();
    if let (Some(from), Some(to)) = (&field.settings.join, &definition.settings.join) {
        let changes = from.conflicts(to);
        return match changes.is_empty() {
            true => Ok(()),
            false => Err(MappingError::Joins { path, changes }),
        };
    }
    let mut found = ChangesFound::default();
    found.in_settings(field, definition);
    found.in_words(field, definition);
    found.in_kinds(&field.kind, &definition.new.kind);
    if let (FieldKind::Vector(from), FieldKind::Vector(to)) = (&field.kind, &definition.new.kind) {
        found.in_vectors((&field.settings, from), (&definition.settings, to));
    }
    match found.0.is_empty() {
        true => Ok(()),
        false => Err(MappingError::Parameters {
            path,
            changes: found.0,
        }),
    }
}

/// A vector field that is said in the very words that it was made by stays what it is: an older build may have made
/// another column of them.
fn keep_column(field: &MappedField, definition: &mut Definition) {
    let shown = &field.settings.shown;
    let is_said_again = !shown.is_empty() && *shown == definition.settings.shown;
    if let (FieldKind::Vector(from), FieldKind::Vector(to)) =
        (&field.kind, &mut definition.new.kind)
        && is_said_again
        && from.column.dimension == to.column.dimension
    {
        *to = from.clone();
    }
}

/// A value in a message: text without its quotes.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What would change, in the order in which it was found.
#[derive(Default)]
struct ChangesFound(Vec<ParameterChange>);

impl ChangesFound {
    fn compare(&mut self, parameter: FieldParameter, from: Option<String>, to: Option<String>) {
        if from != to {
            self.0.push(ParameterChange {
                parameter,
                from,
                to,
            });
        }
    }

    fn flags(&mut self, parameter: FieldParameter, from: bool, to: bool) {
        self.compare(parameter, Some(from.to_string()), Some(to.to_string()));
    }

    fn texts(&mut self, parameter: FieldParameter, from: &str, to: &str) {
        self.compare(parameter, Some(from.to_string()), Some(to.to_string()));
    }

    fn in_settings(&mut self, field: &MappedField, definition: &Definition) {
        let (from, to) = (&field.settings, &definition.settings);
        // Words of documents that are there already have no column.
        self.flags(FieldParameter::Fielddata, from.fielddata, to.fielddata);
        self.flags(
            FieldParameter::Indexed,
            field.indexed,
            definition.new.indexed,
        );
        self.flags(FieldParameter::Store, from.store, to.store);
        self.flags(FieldParameter::DocValues, from.doc_values, to.doc_values);
        let [was, now] = [from, to].map(|settings| settings.normalizer.clone());
        self.compare(FieldParameter::Normalizer, was, now);
        // Words of documents that are there already stay as they were cut.
        let [was, now] =
            [from, to].map(|settings| settings.choice.as_ref().map(|one| one.by.clone()));
        self.compare(FieldParameter::Analyzer, was, now);
        let [was, now] = [from, to].map(|settings| settings.similarity.clone());
        self.compare(FieldParameter::Similarity, was, now);
        if field.kind != FieldKind::GeoPoint {
            let [was, now] = [from, to].map(|settings| settings.null_value.as_ref().map(written));
            self.compare(FieldParameter::NullValue, was, now);
        }
    }

    /// Compares what is said of words and only shown again: who says something else would think that it holds.
    fn in_words(&mut self, field: &MappedField, definition: &Definition) {
        let (places, normed) = match field.kind {
            FieldKind::Text { .. } => ("positions", "true"),
            FieldKind::Keyword { .. } => ("docs", "false"),
            _ => return,
        };
        let said = |settings: &FieldSettings, member: &str, usual: &str| {
            let shown = settings.shown.get(member);
            shown.map_or_else(|| usual.to_string(), written)
        };
        let both = [&field.settings, &definition.settings];
        let [was, now] = both.map(|settings| said(settings, "index_options", places));
        self.texts(FieldParameter::IndexOptions, &was, &now);
        let [was, now] = both.map(|settings| said(settings, "norms", normed));
        // They may end.
        if now == "true" {
            self.texts(FieldParameter::Norms, &was, &now);
        }
        let [was, now] = both.map(|settings| {
            let usual = if settings.term_vectors { "yes" } else { "no" };
            said(settings, "term_vector", usual)
        });
        self.texts(FieldParameter::TermVector, &was, &now);
    }

    fn in_kinds(&mut self, from: &FieldKind, to: &FieldKind) {
        match (from, to) {
            (FieldKind::Text { analyzer: from, .. }, FieldKind::Text { analyzer: to, .. }) => {
                let [from, to] = [from, to].map(|name| shown_name(name));
                self.texts(FieldParameter::Analyzer, from, to);
            }
            (FieldKind::Date { format: from }, FieldKind::Date { format: to })
            | (FieldKind::DateNanos { format: from }, FieldKind::DateNanos { format: to })
            | (FieldKind::Range { format: from, .. }, FieldKind::Range { format: to, .. }) => {
                self.texts(FieldParameter::Format, from, to);
            }
            (FieldKind::Completion(from), FieldKind::Completion(to)) => {
                let [was, now] = [from, to].map(|mapping| shown_name(&mapping.analyzer));
                self.texts(FieldParameter::Analyzer, was, now);
                let [was, now] = [from, to].map(|mapping| mapping.keep_separators);
                self.flags(FieldParameter::Separators, was, now);
            }
            (
                FieldKind::Constant { value: Some(from) },
                FieldKind::Constant { value: Some(to) },
            ) => self.texts(FieldParameter::Value, from, to),
            (
                FieldKind::Float(FloatKind::Scaled { factor: from }),
                FieldKind::Float(FloatKind::Scaled { factor: to }),
            ) => {
                let [from, to] = [from, to].map(ToString::to_string);
                self.texts(FieldParameter::ScalingFactor, &from, &to);
            }
            _ => {}
        }
    }

    /// Compares what columns are built by; the type of element only where no level has chosen it.
    fn in_vectors(
        &mut self,
        (was, from): (&FieldSettings, &VectorMapping),
        (now, to): (&FieldSettings, &VectorMapping),
    ) {
        let (was, now) = (was.compression, now.compression);
        let name = |mode: VectorMode| mode.name().to_string();
        self.compare(FieldParameter::Mode, was.mode.map(name), now.mode.map(name));
        let name = |level: CompressionLevel| level.name().to_string();
        let parameter = FieldParameter::CompressionLevel;
        self.compare(parameter, was.level.map(name), now.level.map(name));
        let (from, to) = (&from.column, &to.column);
        let [before, after] = [from, to].map(|column| column.dimension.to_string());
        self.texts(FieldParameter::Dimension, &before, &after);
        if was == now {
            let (before, after) = (from.element.name(), to.element.name());
            self.texts(FieldParameter::Element, before, after);
        }
        self.texts(FieldParameter::Space, from.space.name(), to.space.name());
        self.texts(FieldParameter::Method, &method(from), &method(to));
    }
}

/// What a column is searched through, with all that tells it from another.
fn method(column: &ColumnOptions) -> String {
    match column.method {
        Method::Graph => {
            let hnsw = column.hnsw;
            format!(
                "hnsw, m {}, ef_construction {}",
                hnsw.m, hnsw.ef_construction
            )
        }
        Method::Lists(lists) => format!("ivf, nlist {}, codes {:?}", lists.lists, lists.codes),
    }
}
