//! What is read. A kind of input is a struct with its keys, a variant of [`InputKind`] and a line in `read`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::section::Section;
use super::{ConfigError, ProcessorConfig, processors};
use crate::options::ParserChoice;

/// One input: where events come from, and what is made of them.
#[derive(Clone, Debug)]
pub struct InputConfig {
    /// What is made of the lines first.
    pub parse: ParserChoice,
    /// What is made of the events of this input, before the processors of all.
    pub processors: Vec<ProcessorConfig>,
    /// Where they come from.
    pub kind: InputKind,
}

/// The kinds of inputs.
#[derive(Clone, Debug, PartialEq)]
pub enum InputKind {
    /// Files that grow and are rotated.
    File(FileInput),
}

/// `type: file`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileInput {
    /// Files, folders or patterns.
    pub paths: Vec<PathBuf>,
    /// Bytes of one line at most; what is longer is cut and marked.
    pub line_bytes_max: usize,
}

impl Default for FileInput {
    fn default() -> Self {
        FileInput {
            paths: Vec::new(),
            line_bytes_max: 1 << 20,
        }
    }
}

/// The names of the kinds.
const KINDS: [&str; 1] = ["file"];
/// The keys of every kind.
const COMMON: [&str; 3] = ["type", "parse", "processors"];

impl InputConfig {
    pub(super) fn read(mut section: Section<'_>) -> Result<Self, ConfigError> {
        let kind = section.take_text("type")?.unwrap_or_else(|| "file".into());
        let parse = match section.take_text("parse")? {
            None => ParserChoice::Auto,
            Some(name) => name.parse().map_err(|error: crate::UnknownParser| {
                section.wrong(Some("parse"), error.to_string())
            })?,
        };
        let processors = processors(&mut section)?;
        let kind = match &kind[..] {
            "file" => InputKind::File(section.read(&COMMON, &["paths"])?),
            other => {
                let nearest = Section::nearest(&KINDS, other);
                let reason = format!("no input is called [{other}], did you mean [{nearest}]?");
                return Err(section.wrong(Some("type"), reason));
            }
        };
        Ok(InputConfig {
            parse,
            processors,
            kind,
        })
    }
}
