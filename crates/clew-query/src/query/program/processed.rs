//! `Processors` of scripts: what steps of pipelines do to one value, done by a script.

use std::borrow::Cow;

use serde_json::Value;

use super::run::Machine;
use super::statics;
use super::value::{STEP_BYTES, ScriptValue};
use crate::error::{ScriptError, ScriptErrorKind};
use crate::processors::{NoSize, byte_size, json_value, url_decoded};

/// Functions by class and name, with how many arguments they take; letters are changed as methods of texts do it.
const FUNCTIONS: &[(&str, usize)] = &[
    ("Processors.bytes", 1),
    ("Processors.json", 1),
    ("Processors.json", 2),
    ("Processors.urlDecode", 1),
];

/// The function that a class has under a name.
pub(super) fn known(class: &str, name: &str, arguments: usize) -> Option<&'static str> {
    statics::in_table(FUNCTIONS, (class, name), arguments)
}

fn refused(reason: impl Into<String>) -> ScriptError {
    ScriptError::new(ScriptErrorKind::Argument, reason)
}

impl<'a> Machine<'a, '_> {
    /// What such a function makes of its arguments; `None` where it is another one.
    pub(super) fn of_processors(
        &mut self,
        name: &str,
        values: &[ScriptValue<'a>],
    ) -> Result<Option<ScriptValue<'a>>, ScriptError> {
        Ok(Some(match (name, values) {
            ("Processors.bytes", [text]) => {
                let size = byte_size(text.want_text()?).map_err(|no_size| match no_size {
                    NoSize::Unreadable(reason) => refused(reason),
                    NoSize::NotANumber(reason) => {
                        ScriptError::new(ScriptErrorKind::NumberFormat, reason)
                    }
                });
                ScriptValue::Whole(size?)
            }
            ("Processors.urlDecode", [text]) => {
                let text = text.want_text()?;
                self.steps(text.len() / STEP_BYTES)?;
                ScriptValue::made(url_decoded(text).map_err(refused)?)?
            }
            ("Processors.json", [text]) => self.read_json(text)?,
            ("Processors.json", [map, field]) => {
                let text = map.get(field.want_text()?).unwrap_or(ScriptValue::Null);
                match (self.read_json(&text)?, map) {
                    (ScriptValue::Members(read), ScriptValue::Members(members)) => {
                        for (name, value) in read.all() {
                            members.put(name, value)?;
                        }
                        ScriptValue::Null
                    }
                    _ => return Err(refused("cannot add non-map fields to root of document")),
                }
            }
            _ => return Ok(None),
        }))
    }

    /// What a text is as JSON; the script can change it.
    fn read_json(&mut self, text: &ScriptValue<'a>) -> Result<ScriptValue<'a>, ScriptError> {
        let text = text.shown();
        self.steps(text.len() / STEP_BYTES)?;
        let read = json_value(&text).map_err(|error| refused(error.to_string()))?;
        self.made_of(read)
    }

    /// A value of JSON as one of the script, which holds it. As deep as JSON that was read, 128 at most.
    fn made_of(&mut self, read: Value) -> Result<ScriptValue<'a>, ScriptError> {
        let made = match read {
            Value::Null => ScriptValue::Null,
            Value::Bool(truth) => ScriptValue::Bool(truth),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => ScriptValue::Whole(whole),
                None => ScriptValue::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => ScriptValue::Text(Cow::Owned(text)),
            Value::Array(items) => {
                let items = items.into_iter().map(|item| self.made_of(item));
                ScriptValue::listed(items.collect::<Result<_, _>>()?)?
            }
            Value::Object(members) => {
                let mut made = Vec::with_capacity(members.len());
                for (name, value) in members {
                    made.push((Cow::Owned(name), self.made_of(value)?));
                }
                ScriptValue::mapped(made)?
            }
        };
        self.hold(&made)?;
        Ok(made)
    }
}
