//! Values as a definition gives them: their texts are templates, at any depth.

use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::{DefinitionError, Failure};
use crate::members::template;
use crate::template::Template;

/// A value to put somewhere.
#[derive(Debug)]
pub(crate) enum ValueSource {
    Value(Value),
    Text(Template),
    Items(Vec<ValueSource>),
    Members(Vec<(Template, ValueSource)>),
    CopyOf(String),
}

impl ValueSource {
    pub(crate) fn parse(value: Value) -> Result<Self, DefinitionError> {
        Ok(match value {
            Value::String(text) => ValueSource::Text(template(&text)?),
            Value::Array(items) => {
                let items = items.into_iter().map(ValueSource::parse);
                ValueSource::Items(items.collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let member = |(name, value): (String, Value)| {
                    Ok((template(&name)?, ValueSource::parse(value)?))
                };
                let members = members.into_iter().map(member);
                ValueSource::Members(members.collect::<Result<_, DefinitionError>>()?)
            }
            other => ValueSource::Value(other),
        })
    }

    /// Has its texts write values as [`Template::keep_references`] does; objects stay as they are.
    pub(crate) fn keep_references(&mut self) {
        match self {
            ValueSource::Text(template) => template.keep_references(),
            ValueSource::Items(items) => {
                items.iter_mut().for_each(ValueSource::keep_references);
            }
            ValueSource::Value(_) | ValueSource::Members(_) | ValueSource::CopyOf(_) => {}
        }
    }

    /// Whether it is a text that depends on the document.
    pub(crate) fn is_template(&self) -> bool {
        matches!(self, ValueSource::Text(template) if !template.is_text())
    }

    pub(crate) fn fill(&self, document: &Document) -> Result<Value, Failure> {
        Ok(match self {
            ValueSource::Value(value) => value.clone(),
            ValueSource::Text(template) => document.fill(template)?.into(),
            ValueSource::Items(items) => {
                let items = items.iter().map(|item| item.fill(document));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            ValueSource::Members(members) => {
                let mut filled = Map::new();
                for (name, value) in members {
                    filled.insert(document.fill(name)?, value.fill(document)?);
                }
                Value::Object(filled)
            }
            ValueSource::CopyOf(path) => document.require(path)?,
        })
    }
}
