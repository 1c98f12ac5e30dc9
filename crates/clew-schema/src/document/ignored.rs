//! `_ignored`: the names of the fields that left a value out because it did not fit; and which fields make values fit.

use tantivy::schema::OwnedValue;

use super::Parsed;
use super::walk::Walk;
use crate::mapping::{FieldKind, FloatKind, IntegerKind, KeywordStyle, MappedField, Mapping};

impl Mapping {
    /// The names of the fields that left a value of a document out. Costs taking the document apart once more, where the
    /// index has ever left something out.
    pub fn ignored_of(&self, source: &[u8]) -> Vec<String> {
        let Some(field) = self.ignored().and_then(|ignored| ignored.field) else {
            return Vec::new();
        };
        let Ok(Parsed::Document(document)) = self.parse_accepted(source, Vec::new(), &mut |_| true)
        else {
            return Vec::new();
        };
        let names = document.fields.into_iter();
        let names = names.filter_map(|(own, value)| match value {
            OwnedValue::Str(name) if own == field => Some(name),
            _ => None,
        });
        names.collect()
    }
}

impl<'m> Walk<'m, '_> {
    /// Whether a field leaves out what does not fit, by its own word or by that of the index.
    pub(super) fn leaves_out(&self, field: &MappedField) -> bool {
        field.settings.ignore_malformed || self.leaves_out_by_index(field)
    }

    /// Whether a field leaves out an object where it wants a value: that, only the index can say. What was accepted once
    /// stays so.
    pub(super) fn leaves_out_objects(&self, field: &MappedField) -> bool {
        match self.mapping.is_frozen() {
            true => self.leaves_out(field),
            false => self.leaves_out_by_index(field),
        }
    }

    pub(super) fn leaves_out_by_index(&self, field: &MappedField) -> bool {
        self.mapping.limits.ignores_malformed && can_be_left_out(&field.kind)
    }

    /// Whether a field's numbers are read from text and cut off, by its own word or else by that of the index.
    pub(super) fn coerces(&self, field: &MappedField) -> bool {
        let said = || field.settings.shown.contains_key("coerce");
        field.settings.coerce && (!self.mapping.limits.coerces_nothing || said())
    }

    /// Notes that a field left a value out, if that is told of its kind.
    pub(super) fn ignore(&mut self, field: &'m MappedField) {
        if is_told(&field.kind) {
            self.ignored.insert(&field.path);
        }
    }

    /// Gives the document the names of the fields that left a value out.
    pub(super) fn keep_ignored(&mut self) {
        if self.ignored.is_empty() {
            return;
        }
        let mapping = self.mapping;
        if mapping.lacks_ignored() {
            self.new_fields.make_ignored();
        }
        let Some(field) = mapping.ignored() else {
            return;
        };
        for path in std::mem::take(&mut self.ignored) {
            self.values.push(field, OwnedValue::Str(path.to_string()));
        }
    }
}

/// Whether an index can say of all fields of a kind that they leave out what does not fit: not of what has no value of its
/// own beside the document.
fn can_be_left_out(kind: &FieldKind) -> bool {
    !matches!(
        kind,
        FieldKind::Vector(_)
            | FieldKind::SparseVector
            | FieldKind::Completion(_)
            | FieldKind::Percolator
            | FieldKind::RankFeatures
            | FieldKind::Integer(IntegerKind::DocumentCount)
            | FieldKind::Keyword {
                style: KeywordStyle::Join,
                ..
            }
    )
}

/// Whether documents name fields of a kind that left something out.
fn is_told(kind: &FieldKind) -> bool {
    match kind {
        FieldKind::Integer(kind) => !matches!(
            kind,
            IntegerKind::TokenCount | IntegerKind::DocumentCount | IntegerKind::Murmur3
        ),
        FieldKind::Float(kind) => *kind != FloatKind::RankFeature,
        FieldKind::Unsigned
        | FieldKind::Date { .. }
        | FieldKind::DateNanos { .. }
        | FieldKind::Ip
        | FieldKind::Range { .. }
        | FieldKind::GeoPoint
        | FieldKind::GeoShape => true,
        _ => false,
    }
}
