//! The parameters of a part of an analyzer, as settings write them: numbers and switches may be text.

use serde_json::{Map, Value};

use crate::java_pattern::{JavaPattern, Replacement};

/// One part with its parameters.
pub(super) struct Part<'v>(&'v Value);

impl<'v> Part<'v> {
    pub(super) fn new(value: &'v Value) -> Self {
        Part(value)
    }

    pub(super) fn type_name(&self) -> &'v str {
        self.0.get("type").and_then(Value::as_str).unwrap_or("")
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        match self.0.get(key)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// Whether a parameter is there.
    pub(super) fn is_given(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|value| !value.is_null())
    }

    /// A number within bounds.
    pub(super) fn number(
        &self,
        key: &str,
        usual: usize,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<usize, String> {
        let Some(text) = self.text(key) else {
            return Ok(usual);
        };
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            format!(
                "[{key}] of [{}] must be from {} to {}, got [{text}]",
                self.type_name(),
                range.start(),
                range.end()
            )
        })
    }

    pub(super) fn flag(&self, key: &str, usual: bool) -> Result<bool, String> {
        match self.text(key).as_deref() {
            None => Ok(usual),
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(other) => Err(format!(
                "Failed to parse value [{other}] of [{key}] as only [true] or [false] are allowed."
            )),
        }
    }

    /// A list, or one text with commas.
    pub(super) fn list(&self, key: &str) -> Option<Vec<String>> {
        match self.0.get(key)? {
            Value::Array(items) => Some(
                items
                    .iter()
                    .map(|item| item.as_str().map_or_else(|| item.to_string(), String::from))
                    .collect(),
            ),
            Value::String(text) => Some(text.split(',').map(|item| item.trim().into()).collect()),
            _ => None,
        }
    }

    /// A list whose items may hold commas.
    pub(super) fn lines(&self, key: &str) -> Option<Vec<String>> {
        match self.0.get(key)? {
            Value::String(text) => Some(vec![text.clone()]),
            _ => self.list(key),
        }
    }

    /// The members of an object.
    pub(super) fn members(&self, key: &str) -> Option<&'v Map<String, Value>> {
        self.0.get(key).and_then(Value::as_object)
    }

    /// The parts that this one holds under a name.
    pub(super) fn inner(&self, key: &str) -> &'v [Value] {
        let held = self.0.get(key).and_then(Value::as_array);
        held.map(Vec::as_slice).unwrap_or_default()
    }

    /// The source of a script, which is written by itself or with its language.
    pub(super) fn source(&self, key: &str) -> Option<String> {
        let written = self.0.get(key)?;
        let source = written.as_str();
        let source = source.or_else(|| written.get("source").and_then(Value::as_str));
        source.map(String::from)
    }

    /// A regular expression that must be there, and what is to stand for its matches. `what` is the kind of part.
    pub(super) fn replacement(&self, what: &str) -> Result<(JavaPattern, Replacement), String> {
        if self
            .text("pattern")
            .is_none_or(|pattern| pattern.is_empty())
        {
            return Err(format!(
                "pattern is missing for [{0}] {what} of type '{0}'",
                self.type_name()
            ));
        }
        let pattern = self.pattern("pattern", "")?;
        let written = self.text("replacement").unwrap_or_default();
        let replacement = Replacement::read(&written, &pattern)?;
        Ok((pattern, replacement))
    }

    /// A regular expression under the flags beside it.
    pub(super) fn pattern(&self, key: &str, usual: &str) -> Result<JavaPattern, String> {
        let pattern = self.text(key).unwrap_or_else(|| usual.to_string());
        let flags = self.text("flags").unwrap_or_default();
        JavaPattern::with_flags(&pattern, &flags).map_err(|error| error.to_string())
    }
}
