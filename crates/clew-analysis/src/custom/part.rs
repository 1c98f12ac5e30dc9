//! The parameters of a part of an analyzer, as settings write them: numbers and switches may be text.

use serde_json::Value;

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

    /// The parts that this one holds under a name.
    pub(super) fn inner(&self, key: &str) -> &'v [Value] {
        let held = self.0.get(key).and_then(Value::as_array);
        held.map(Vec::as_slice).unwrap_or_default()
    }

    /// A regular expression.
    pub(super) fn pattern(&self, key: &str, usual: &str) -> Result<regex::Regex, String> {
        let pattern = self.text(key).unwrap_or_else(|| usual.to_string());
        let flags = match self.text("flags") {
            Some(flags) if flags.contains("CASE_INSENSITIVE") => "(?i)",
            _ => "",
        };
        crate::java_pattern::java_pattern(&format!("{flags}{pattern}"))
            .map_err(|_| format!("[{key}] is not a regular expression: [{pattern}]"))
    }
}
