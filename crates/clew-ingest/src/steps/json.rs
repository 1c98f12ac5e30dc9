//! `json`: reads JSON that a field has as text.

use clew_query::processors::json_value;
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::{Because, DefinitionError, Failure};
use crate::java::java_text;
use crate::members::{flag, optional, text};

/// The step.
#[derive(Debug)]
pub(crate) struct Json {
    pub(crate) field: String,
    /// Where the value goes; none means that its members go to the document itself.
    pub(crate) target: Option<String>,
}

impl Json {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let field = text(config, "field")?;
        let target = optional(config, "target_field")?;
        let to_root = flag(config, "add_to_root", false)?;
        if to_root && target.is_some() {
            return Err(DefinitionError::refused(
                "target_field",
                "Cannot set a target field while also setting `add_to_root` to true",
            ));
        }
        let target = (!to_root).then(|| target.unwrap_or_else(|| field.clone()));
        Ok(Json { field, target })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let value = first_value(&java_text(&document.require(&self.field)?))?;
        let Some(target) = &self.target else {
            return match (value, &mut document.source) {
                (Value::Object(more), Value::Object(members)) => {
                    members.extend(more);
                    Ok(())
                }
                _ => Err(Failure::unfit(
                    "cannot add non-map fields to root of document",
                )),
            };
        };
        document.set(target, value)
    }
}

/// The first value of a text.
fn first_value(text: &str) -> Result<Value, Failure> {
    json_value(text).map_err(|error| Failure {
        because: Some(Because::NotJson(error.to_string())),
        ..Failure::unfit(error.to_string())
    })
}
