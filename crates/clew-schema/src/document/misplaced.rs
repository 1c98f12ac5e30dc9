//! Objects where a field wants a value.

use super::error::ValueProblem;
use super::failure::{Result, misfit};
use super::json::JsonKind;
use super::walk::Walk;
use crate::json_fault::TextPlace;
use crate::mapping::{FieldKind, IntegerKind, MappedField};

impl<'m> Walk<'m, '_> {
    /// An object where a field wants a value.
    pub(super) fn object_at_leaf(&mut self, field: &'m MappedField) -> Result<()> {
        let start = self.reader.at;
        self.reader.skip_value()?;
        if self.leaves_out_objects(field) {
            self.ignore(field);
            return Ok(());
        }
        let cause: ValueProblem = match field.kind {
            // What becomes a number may be a text.
            FieldKind::Integer(IntegerKind::TokenCount | IntegerKind::Murmur3) => {
                self.no_text(start)
            }
            FieldKind::Integer(_) | FieldKind::Float(_) | FieldKind::Unsigned => {
                let behind = self.reader.place(start + 1);
                ValueProblem::not_numeric(JsonKind::Object.token(), Some(behind))
            }
            FieldKind::Boolean => {
                let behind = self.reader.place(start + 1);
                ValueProblem::no_flag(JsonKind::Object.token(), Some(behind))
            }
            _ => self.no_text(start),
        };
        Err(misfit(
            field,
            self.reader.text(start, self.reader.at),
            cause,
        ))
    }

    /// That an object has no text.
    fn no_text(&self, start: usize) -> ValueProblem {
        let TextPlace { line, column } = self.reader.place(start);
        format!("Can't get text on a START_OBJECT at {line}:{column}").into()
    }
}
