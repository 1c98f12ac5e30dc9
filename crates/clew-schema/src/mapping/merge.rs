//! A mapping made of what is said of it, or merged with it: what is new is added, what may change changes, and what
//! documents were indexed with stays or refuses the whole.

use std::sync::Arc;

use clew_vector::Space;

use super::changes::{ChangesFound, check_changes};
use super::definition::{Definition, definition_of, hidden_fields};
use super::error::{FieldParameter, MappingError};
use super::field::{FieldKind, MappedField, VectorMapping};
use super::names::check_field_name;
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
            next.merge_part(part)
                .map_err(|error| self.over_what_is_there(error))?;
        }
        for (path, vector) in columns {
            next.change_column(&path, vector)?;
        }
        next.check_aliases()?;
        next.check_derived()?;
        next.finish(self.sizes())?;
        next.check_copies(self)?;
        next.check_alias_scopes(self)?;
        *self = next;
        Ok(())
    }

    /// An object in the place of a field is refused otherwise where the field was there before.
    fn over_what_is_there(&self, error: MappingError) -> MappingError {
        match error {
            MappingError::NotAnObject { path, .. } if self.by_path.contains_key(&path) => {
                MappingError::NotAField { path }
            }
            other => other,
        }
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
        let above = path.rmatch_indices('.').map(|(at, _)| &path[..at]);
        for path in std::iter::once(path).chain(above) {
            if self.aliases.contains_key(path) {
                let path = path.to_string();
                return Err(MappingError::NotAField { path });
            }
            if let Some(field) = self.field(path) {
                return Err(field.is_no_object());
            }
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
