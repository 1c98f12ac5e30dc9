//! What a script asks of its document, and the functions that it calls.

use std::borrow::Cow;
use std::sync::Arc;

use super::emitted::EMIT;
use super::run::Machine;
use super::term_counts;
use super::tree::Node;
use super::value::ScriptValue;
use super::{ScriptLanguage, ScriptPurpose};
use crate::error::{ScriptError, ScriptErrorKind};

impl ScriptPurpose {
    /// Whether the document's source and its fields stand among the parameters, too.
    pub(super) fn sees_source(self) -> bool {
        self.sees_fields() && !matches!(self, ScriptPurpose::Bucket | ScriptPurpose::Filter)
    }
}

impl<'a> Machine<'a, '_> {
    /// The parameters, those that the document has among them.
    pub(super) fn parameters(&self) -> Result<ScriptValue<'a>, ScriptError> {
        let more = self.document.parameters();
        if more.is_empty() {
            return Ok(self.params.clone());
        }
        let script = self.script;
        let own = script.params.as_object().into_iter().flatten();
        let own = own.map(|(name, value)| (Cow::from(name), ScriptValue::of_json(value)));
        let more = more
            .into_iter()
            .map(|(name, value)| (Cow::from(name), value));
        ScriptValue::mapped(own.chain(more).collect())
    }

    /// What the document has.
    pub(super) fn of_document(&mut self, node: &Node) -> Result<ScriptValue<'a>, ScriptError> {
        Ok(match node {
            Node::Source => self.document.source().unwrap_or(ScriptValue::Null),
            Node::Score => ScriptValue::Float(self.document.score()),
            Node::Now => ScriptValue::Date(self.document.now_ms()),
            Node::Values(field) => {
                let values: Arc<[ScriptValue<'a>]> = self.document.values(*field)?.into();
                ScriptValue::List(values)
            }
            Node::Value(field) => match self.document.first(*field)? {
                Some(value) => value,
                None if self.script.language == ScriptLanguage::Expression => {
                    ScriptValue::Float(0.0)
                }
                None => {
                    let error = ScriptError::new(
                        ScriptErrorKind::State,
                        "A document doesn't have a value for a field! Use \
                         doc[<field>].size()==0 to check if a document is missing a field!",
                    );
                    return Err(error.placed(self.wanted_at(*field)));
                }
            },
            Node::IsMapped(field) => ScriptValue::Bool(self.document.is_mapped(*field)),
            Node::Measure(measure) => match self.document.measure(*measure) {
                Some(near) => ScriptValue::Float(near),
                None => {
                    return Err(ScriptError::new(
                        ScriptErrorKind::State,
                        "A document doesn't have a value for a vector field! Use \
                         doc[<field>].size()==0 to check if a document is missing a field!",
                    ));
                }
            },
            _ => ScriptValue::Null,
        })
    }

    /// Where the statement at work wants one value of a field.
    fn wanted_at(&self, field: usize) -> usize {
        let mut places = self.script.wanted_at.iter();
        let place = places.find(|(of, at)| *of == field && *at >= self.at);
        place.map_or(self.at, |(_, at)| *at)
    }

    pub(super) fn function(
        &mut self,
        name: &str,
        arguments: &'a [Node],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let values = self.all(arguments)?;
        if name == EMIT {
            self.emit(&values)?;
            return Ok(ScriptValue::Null);
        }
        if let ("randomScore", [seed, decides @ ..]) = (name, &values[..]) {
            let decides = decides.first().map(ScriptValue::shown);
            let drawn = self.document.chance(seed.want_whole()?, decides.as_deref());
            return Ok(ScriptValue::Float(drawn));
        }
        if let Some(count) = term_counts::of_call(name, &values)? {
            return self.document.term_count(count).map(ScriptValue::Whole);
        }
        self.function_of(name, &values)
    }
}
