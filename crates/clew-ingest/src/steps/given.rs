//! Values as a definition gives them: their texts are templates, at any depth.

use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::{DefinitionError, Failure};
use crate::members::template;
use crate::template::Template;

/// A value to put somewhere.
#[derive(Debug)]
pub(crate) enum Given {
    Value(Value),
    Text(Template),
    Items(Vec<Given>),
    Members(Vec<(Template, Given)>),
    CopyOf(String),
}

impl Given {
    pub(crate) fn parse(value: Value) -> Result<Self, DefinitionError> {
        Ok(match value {
            Value::String(text) => Given::Text(template(&text)?),
            Value::Array(items) => {
                let items = items.into_iter().map(Given::parse);
                Given::Items(items.collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let member =
                    |(name, value): (String, Value)| Ok((template(&name)?, Given::parse(value)?));
                let members = members.into_iter().map(member);
                Given::Members(members.collect::<Result<_, DefinitionError>>()?)
            }
            other => Given::Value(other),
        })
    }

    /// Whether it is a text that depends on the document.
    pub(crate) fn is_template(&self) -> bool {
        matches!(self, Given::Text(template) if !template.is_text())
    }

    pub(crate) fn fill(&self, document: &Document) -> Result<Value, Failure> {
        Ok(match self {
            Given::Value(value) => value.clone(),
            Given::Text(template) => document.fill(template)?.into(),
            Given::Items(items) => {
                let items = items.iter().map(|item| item.fill(document));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Given::Members(members) => {
                let mut filled = Map::new();
                for (name, value) in members {
                    filled.insert(document.fill(name)?, value.fill(document)?);
                }
                Value::Object(filled)
            }
            Given::CopyOf(path) => document.require(path)?,
        })
    }
}
