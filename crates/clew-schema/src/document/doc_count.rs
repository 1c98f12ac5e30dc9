//! `_doc_count`: a document that stands for several, as one that was summed up from others does.

use tantivy::schema::OwnedValue;

use super::error::{DocumentError, ValueProblem};
use super::failure::Result;
use super::json::JsonKind;
use super::walk::Walk;
use crate::mapping::DOC_COUNT;

impl Walk<'_, '_> {
    /// How many documents this one stands for.
    pub(super) fn doc_count(&mut self) -> Result<()> {
        let kind = self.reader.kind()?;
        let start = self.reader.at;
        if kind == JsonKind::Array {
            return self.elements(Self::doc_count);
        }
        self.reader.skip_value()?;
        let written = self.reader.text(start, self.reader.at).trim();
        let count = count(kind, written);
        let misfit = |cause| DocumentError::Field {
            field: DOC_COUNT.to_string(),
            type_name: DOC_COUNT,
            preview: written.trim_matches('"').to_string(),
            cause: Box::new(cause),
        };
        let count = count.map_err(misfit)?;
        let Some(field) = self.mapping.doc_count() else {
            self.new_fields.make_doc_count();
            return Ok(());
        };
        if std::mem::replace(&mut self.has_doc_count, true) {
            let reason = format!(
                "DocValuesField \"{DOC_COUNT}\" appears more than once in this document (only one value is allowed per field)"
            );
            return Err(DocumentError::Refused { reason }.into());
        }
        self.values_for(DOC_COUNT)
            .push(field, OwnedValue::I64(count));
        Ok(())
    }
}

/// The number, or why the value is none.
fn count(kind: JsonKind, written: &str) -> std::result::Result<i64, ValueProblem> {
    match kind {
        JsonKind::Number => {
            let whole = written.strip_suffix(".0").unwrap_or(written);
            match whole.parse::<i64>() {
                Ok(count @ 1..) => Ok(count),
                Ok(_) => Err(format!("Field [{DOC_COUNT}] must be a positive integer.").into()),
                Err(_) => {
                    let reason = format!("{written} cannot be converted to Long without data loss");
                    Err(reason.into())
                }
            }
        }
        other => Err(ValueProblem::NoNumber {
            token: other.token(),
        }),
    }
}
