//! How large a mapping may grow, and what else an index says of all its fields.

use serde::{Deserialize, Serialize};

use super::error::MappingError;
use super::schema::Mapping;

/// So much of a name that is too long is told of it.
const NAME_CHARS_SHOWN: usize = 100;

/// How large a mapping may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MappingLimits {
    /// Fields, multi-fields and objects together.
    pub fields_max: usize,
    /// Objects inside objects, the document itself included.
    pub depth_max: usize,
    /// Objects of type `nested`.
    pub nested_fields_max: usize,
    /// Nested objects of one document.
    pub nested_objects_max: usize,
    /// Characters of the name of a field or object, those around it left out.
    pub name_chars_max: usize,
    /// Whether a value that does not fit its field is left out instead of refusing its document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignores_malformed: bool,
    /// Whether numbers that do not say for themselves whether they coerce take neither text nor fractions of whole
    /// numbers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coerces_nothing: bool,
}

impl MappingLimits {
    /// What no mapping may exceed, whatever is asked for: each field costs memory in every segment.
    const BOUNDS: MappingLimits = MappingLimits {
        fields_max: 100_000,
        depth_max: 100,
        nested_fields_max: 10_000,
        nested_objects_max: 1_000_000,
        name_chars_max: 1_000_000,
        ignores_malformed: true,
        coerces_nothing: true,
    };

    pub(super) fn bounded(self) -> MappingLimits {
        let bounds = MappingLimits::BOUNDS;
        MappingLimits {
            fields_max: self.fields_max.min(bounds.fields_max),
            depth_max: self.depth_max.min(bounds.depth_max),
            nested_fields_max: self.nested_fields_max.min(bounds.nested_fields_max),
            nested_objects_max: self.nested_objects_max.min(bounds.nested_objects_max),
            name_chars_max: self.name_chars_max.min(bounds.name_chars_max),
            ignores_malformed: self.ignores_malformed,
            coerces_nothing: self.coerces_nothing,
        }
    }
}

impl Default for MappingLimits {
    fn default() -> Self {
        MappingLimits {
            fields_max: 1000,
            depth_max: 20,
            nested_fields_max: 50,
            nested_objects_max: 10_000,
            name_chars_max: 50_000,
            ignores_malformed: false,
            coerces_nothing: false,
        }
    }
}

/// What limits of a mapping count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    all: usize,
    nested: usize,
}

impl Mapping {
    /// Refuses objects inside too many others, before anything walks down to them; `extra` counts
    /// the document itself.
    pub(super) fn check_depth(&self, object: &str, extra: usize) -> Result<(), MappingError> {
        let names = object.split('.').filter(|name| !name.is_empty()).count();
        if names + extra > self.limits.depth_max {
            return Err(MappingError::TooDeep {
                max: self.limits.depth_max,
                path: object.to_string(),
            });
        }
        Ok(())
    }

    /// Refuses a path that has a name which is too long.
    pub(super) fn check_names(&self, path: &str) -> Result<(), MappingError> {
        let max = self.limits.name_chars_max;
        // As OpenSearch counts them; no text has more of these than bytes.
        let is_long = |name: &&str| name.len() > max && name.encode_utf16().count() > max;
        match path.split('.').find(is_long) {
            None => Ok(()),
            Some(name) => Err(MappingError::NameTooLong {
                name: name
                    .chars()
                    .take(NAME_CHARS_SHOWN)
                    .chain("...".chars())
                    .collect(),
                max,
            }),
        }
    }

    /// Fields, multi-fields and objects together. It only ever grows.
    pub fn size(&self) -> usize {
        let fields = self.fields.iter().filter(|field| !field.settings.hidden);
        fields.count() + self.aliases.len() + self.tree.object_count()
    }

    /// What limits count.
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes {
            all: self.size(),
            nested: self.nested_count(),
        }
    }

    /// Refuses more fields or nested objects than the limits allow, unless there were as many before, which limits
    /// cannot take back.
    pub(super) fn check_sizes(&self, before: Sizes) -> Result<(), MappingError> {
        let size = self.size();
        if size > self.limits.fields_max && size > before.all {
            return Err(MappingError::TooManyFields {
                max: self.limits.fields_max,
            });
        }
        self.check_nested(before.nested)
    }

    /// How many objects are nested.
    fn nested_count(&self) -> usize {
        let settings = self.objects.values();
        settings.filter(|object| object.nested.is_some()).count()
    }

    fn check_nested(&self, before: usize) -> Result<(), MappingError> {
        let (count, max) = (self.nested_count(), self.limits.nested_fields_max);
        if count > max && count > before {
            return Err(MappingError::TooManyNested { max });
        }
        Ok(())
    }
}
