//! Values at names that a mapping has no field for: those that make fields, and those that no document may have.

use super::dynamic::Maker;
use super::error::DocumentError;
use super::failure::{Result, preview};
use super::json::JsonKind;
use super::walk::Walk;

impl Walk<'_, '_> {
    /// A value that makes a new field.
    pub(super) fn new_value(&mut self) -> Result<()> {
        let kind = self.reader.kind()?;
        match kind {
            JsonKind::Object if self.new_fields.infer_object(self.mapping, &self.path) => {
                // It is walked again when the mapping has what the template makes of it.
                Ok(self.reader.skip_value()?)
            }
            JsonKind::Object => {
                self.new_fields.make_object(&self.path);
                self.object(None)
            }
            JsonKind::Array => self.elements(Self::new_value),
            JsonKind::Null => Ok(self.reader.null()?),
            _ => {
                let scalar = self.scalar(kind)?;
                let (mapping, path) = (self.mapping, &self.path);
                self.new_fields.infer(mapping, path, &scalar, Maker::Values);
                Ok(())
            }
        }
    }

    /// A value at a name that only a template can make a field of.
    pub(super) fn templated_value(&mut self, is_strict: bool) -> Result<()> {
        let kind = self.reader.kind()?;
        let is_made = match kind {
            JsonKind::Array => return self.elements(|walk| walk.templated_value(is_strict)),
            JsonKind::Null => return Ok(self.reader.null()?),
            JsonKind::Object => {
                self.reader.skip_value()?;
                self.new_fields.infer_object(self.mapping, &self.path)
            }
            _ => {
                let scalar = self.scalar(kind)?;
                let (mapping, path) = (self.mapping, &self.path);
                self.new_fields
                    .infer(mapping, path, &scalar, Maker::Templates)
            }
        };
        if is_made || !is_strict {
            return Ok(());
        }
        let (within, field) = self.path.rsplit_once('.').unwrap_or(("_doc", &self.path));
        Err(DocumentError::Strict {
            dynamic: "strict_allow_templates",
            field: field.to_string(),
            within: within.to_string(),
        }
        .into())
    }

    /// A value of a field that only the server may set.
    pub(super) fn metadata(&mut self) -> Result<()> {
        let start = self.reader.at;
        self.reader.skip_value()?;
        let written = self.reader.text(start, self.reader.at).trim();
        Err(DocumentError::Metadata {
            field: self.path.clone(),
            value: preview(written),
        }
        .into())
    }
}

/// The error of a name whose dots lead through a field that is no object.
pub(super) fn not_an_object(name: &str, path: &str, type_name: &str) -> DocumentError {
    let reason = format!(
        "Could not dynamically add mapping for field [{name}]. Existing mapping for [{path}] must be of type object but found [{type_name}]."
    );
    DocumentError::Refused { reason }
}
