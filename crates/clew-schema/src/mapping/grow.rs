//! What documents add to a mapping.

use std::collections::BTreeSet;

use super::definition::Definition;
use super::error::MappingError;
use super::field::{FieldKind, FieldSettings, is_asked_for};
use super::limits::MappingLimits;
use super::reader::MappingReader;
use super::schema::Mapping;
use super::spec::{MappingPart, NestingSpec, ObjectSpec};
use super::template::TemplateField;

/// The fields that a document brings.
#[derive(Clone, Debug, Default)]
pub struct NewFields {
    /// Those whose type follows from their value.
    pub fields: Vec<NewField>,
    /// Those that dynamic templates make.
    pub from_templates: Vec<TemplateField>,
    /// Paths of objects without any field in them.
    pub objects: BTreeSet<String>,
    /// Paths and values of those that have the same in every document, and none so far.
    pub constants: Vec<(String, String)>,
}

/// A field to be added.
#[derive(Clone, Debug)]
pub struct NewField {
    /// Full dotted path.
    pub path: String,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether it can be searched.
    pub indexed: bool,
    /// Whether it is filled from its parent's value.
    pub multi_field: bool,
}

impl Mapping {
    /// Adds fields (path, kind, indexed, multi-field); the schema is built once for all.
    /// Nothing is added if one is refused.
    ///
    /// # Errors
    /// [`MappingError::Conflict`] when a path exists with a different kind; an equal one is kept.
    pub fn add(&mut self, fields: impl IntoIterator<Item = NewField>) -> Result<(), MappingError> {
        let mut next = self.clone();
        next.take_in(fields)?;
        next.finish(self.sizes())?;
        *self = next;
        Ok(())
    }

    /// Takes in fields; [`Mapping::finish`] must follow.
    fn take_in(&mut self, fields: impl IntoIterator<Item = NewField>) -> Result<(), MappingError> {
        for new in fields {
            if let Some(have) = self.field(&new.path) {
                have.check_type(&new)?;
                continue;
            }
            let settings = FieldSettings {
                hidden: is_asked_for(&new.path, &new.kind),
                ..FieldSettings::default()
            };
            self.push(Definition { new, settings })?;
        }
        Ok(())
    }

    /// Adds the fields that a document brought.
    ///
    /// # Errors
    /// [`MappingError`]; nothing is added then.
    pub fn grow(&mut self, new: NewFields) -> Result<(), MappingError> {
        *self = self.grown(new, self.limits)?;
        Ok(())
    }

    /// A mapping with the fields that a document brought beside its own, and with these limits. It is as much work as the mapping
    /// is large: the schema is built once for all that is new.
    ///
    /// # Errors
    /// [`MappingError`].
    pub fn grown(&self, new: NewFields, limits: MappingLimits) -> Result<Mapping, MappingError> {
        let mut next = self.clone();
        next.set_limits(limits);
        for made in new.from_templates {
            // Another document may have brought it by now.
            if next.by_path.contains_key(&made.path) || next.objects.contains_key(&made.path) {
                continue;
            }
            let MappingReader { template, .. } = next.reader.ok_or(MappingError::NoReader {
                what: "what a dynamic template makes",
            })?;
            for part in template(&made, &next.analysis)? {
                next.merge_part(part)?;
            }
        }
        next.take_in(new.fields)?;
        for path in new.objects {
            // What is something else by now refuses the document itself.
            if !next.by_path.contains_key(&path) {
                next.merge_part(MappingPart::Object(ObjectSpec {
                    path,
                    dynamic: None,
                    enabled: None,
                    nesting: NestingSpec::Unsaid,
                }))?;
            }
        }
        next.finish(self.sizes())?;
        for (path, first) in new.constants {
            let id = next.by_path.get(&path).copied();
            let kind = id.map(|id| &mut next.fields[id.0 as usize].kind);
            // Another document may have settled it by now.
            if let Some(FieldKind::Constant { value }) = kind {
                value.get_or_insert(first);
            }
        }
        Ok(next)
    }
}
