//! Processors and conditions as they are written.

use serde_json::Value;

use crate::error::ConfigError;

/// A processor or a condition as it is written, to be understood by whoever compiles it.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// `{name: {parameters}}`.
    pub written: Value,
    /// The file that it is from.
    pub file: String,
    /// Where it stands in it, for what is wrong with it.
    pub place: String,
    /// The line of the file, counted from 1.
    pub line: Option<usize>,
}

impl Definition {
    /// A processor that no file has.
    pub fn unnamed(written: Value) -> Self {
        Definition {
            written,
            file: String::new(),
            place: "processors".to_owned(),
            line: None,
        }
    }

    /// What is wrong with it.
    pub(crate) fn wrong(&self, reason: &str) -> ConfigError {
        ConfigError {
            file: self.file.clone(),
            line: self.line,
            place: self.place.clone(),
            reason: reason.to_owned(),
        }
    }
}
