//! Regular expressions as they stand in scripts. They are built once, with the script.

use clew_analysis::{JavaPattern, TooManySteps};
use serde::{Deserialize, Serialize};

use super::parser::Parser;
use super::tree::Node;
use crate::error::{ScriptError, ScriptErrorKind};

/// Regular expressions of a script: each takes a while to be built.
const PATTERNS_MAX: usize = 32;

/// A regular expression as it is written in a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct WrittenPattern {
    text: String,
    flags: String,
}

/// A regular expression of a script, ready to be looked for. Two are equal that are written alike.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "WrittenPattern", into = "WrittenPattern")]
pub struct Pattern {
    written: WrittenPattern,
    pub(super) anywhere: JavaPattern,
    /// The same, of which a text is all.
    pub(super) whole: JavaPattern,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl TryFrom<WrittenPattern> for Pattern {
    type Error = String;

    fn try_from(written: WrittenPattern) -> Result<Self, String> {
        let mut names = Vec::new();
        let (mut is_literal, mut has_comments) = (false, false);
        for letter in written.flags.chars() {
            match letter {
                'l' => is_literal = true,
                'x' => has_comments = true,
                _ => {}
            }
            names.push(match letter {
                'c' => "CANON_EQ",
                'i' => "CASE_INSENSITIVE",
                'l' => "LITERAL",
                'm' => "MULTILINE",
                's' => "DOTALL",
                'U' => "UNICODE_CHARACTER_CLASS",
                'u' => "UNICODE_CASE",
                'x' => "COMMENTS",
                other => return Err(format!("Unknown flag [{other}]")),
            });
        }
        if is_literal {
            names.retain(|name| !matches!(*name, "LITERAL" | "COMMENTS"));
        }
        let inside = match (is_literal, has_comments) {
            (true, _) => format!(r"\Q{}\E", written.text),
            // What is said of a line ends with it.
            (false, true) => format!("{}\n", written.text),
            (false, false) => written.text.clone(),
        };
        let names = names.join("|");
        let read =
            |text: &str| JavaPattern::with_flags(text, &names).map_err(|error| error.to_string());
        Ok(Pattern {
            anywhere: read(&inside)?,
            whole: read(&format!(r"\A(?:{inside})\z"))?,
            written,
        })
    }
}

impl From<Pattern> for WrittenPattern {
    fn from(pattern: Pattern) -> Self {
        pattern.written
    }
}

impl Pattern {
    /// Its text, without its flags.
    pub(super) fn text(&self) -> &str {
        &self.written.text
    }

    /// The error of one that goes back too often.
    pub(super) fn too_hard(&self) -> impl Fn(TooManySteps) -> ScriptError {
        move |_| {
            ScriptError::new(
                ScriptErrorKind::Limit,
                format!(
                    "[scripting] Regular expression considered too many characters, pattern: [{}]",
                    self.text()
                ),
            )
        }
    }
}

impl Parser<'_> {
    /// A regular expression.
    pub(super) fn pattern(&mut self, text: String, flags: String) -> Result<Node, String> {
        self.patterns += 1;
        if self.patterns > PATTERNS_MAX {
            return Err(self.wrong(format_args!(
                "more than [{PATTERNS_MAX}] regular expressions"
            )));
        }
        let written = WrittenPattern { text, flags };
        let pattern = Pattern::try_from(written);
        let pattern = pattern
            .map_err(|reason| self.wrong(format_args!("Error compiling regex: {reason}")))?;
        Ok(Node::Pattern(Box::new(pattern)))
    }
}
