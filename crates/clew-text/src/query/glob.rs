//! Patterns over names: `*` for any characters, or a regular expression.

use std::fmt;

use regex::Regex;

/// A pattern that names are held against as a whole.
#[derive(Clone)]
pub(crate) struct Glob {
    source: String,
    expression: Regex,
}

impl Glob {
    /// `*` stands for any characters.
    pub(crate) fn simple(pattern: &str) -> Result<Self, String> {
        let parts: Vec<String> = pattern.split('*').map(regex::escape).collect();
        Self::of(pattern, &parts.join(".*"))
    }

    /// A regular expression.
    pub(crate) fn regex(pattern: &str) -> Result<Self, String> {
        Self::of(pattern, pattern)
    }

    fn of(source: &str, expression: &str) -> Result<Self, String> {
        Ok(Glob {
            source: source.to_string(),
            expression: Regex::new(&format!("(?s)^(?:{expression})$"))
                .map_err(|_| format!("Pattern [{source}] is not a regular expression"))?,
        })
    }

    /// Whether the whole text matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.expression.is_match(text)
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Glob").field(&self.source).finish()
    }
}

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.expression.as_str() == other.expression.as_str()
    }
}
