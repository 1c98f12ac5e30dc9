//! `copy_to`: which fields may hand their values to which.

use super::error::{CopyProblem, MappingError};
use super::field::MappedField;
use super::schema::Mapping;

impl Mapping {
    /// Refuses copies that cannot be made. Where there were such before nothing is refused: what was accepted once stays so.
    ///
    /// # Errors
    /// [`MappingError::Copy`].
    pub(super) fn check_copies(&self, before: &Mapping) -> Result<(), MappingError> {
        match self.wrong_copy() {
            Some(error) if before.wrong_copy().is_none() => Err(error),
            _ => Ok(()),
        }
    }

    fn wrong_copy(&self) -> Option<MappingError> {
        self.fields.iter().find_map(|field| {
            let mut targets = field.settings.copy_to.iter();
            targets.find_map(|to| {
                let problem = self.copy_problem(field, to)?;
                Some(MappingError::Copy {
                    from: field.path.clone(),
                    to: to.clone(),
                    problem,
                })
            })
        })
    }

    /// Why a field's values cannot be copied to a path.
    fn copy_problem(&self, field: &MappedField, to: &str) -> Option<CopyProblem> {
        if field.multi_field {
            return Some(CopyProblem::FromMultiField);
        }
        if self.field(to).is_some_and(|target| target.multi_field) {
            return Some(CopyProblem::ToMultiField);
        }
        if self.has_object(to) {
            return Some(CopyProblem::ToObject);
        }
        let (own, wanted) = (self.nested_scope(&field.path), self.nested_scope(to));
        let mut scope = own;
        while scope != wanted {
            // Outwards, up to the document itself.
            let Some(object) = scope else {
                return Some(CopyProblem::OtherNested {
                    from: own.map(String::from),
                    to: wanted.map(String::from),
                });
            };
            scope = self.nested_parent(object);
        }
        None
    }
}
