//! `_ignored`: the names of the fields that left a value out because it did not fit.

use tantivy::schema::OwnedValue;

use super::walk::Walk;
use crate::mapping::MappedField;

impl<'m> Walk<'m, '_> {
    /// Notes that a field left a value out.
    pub(super) fn ignore(&mut self, field: &'m MappedField) {
        self.ignored.insert(&field.path);
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
