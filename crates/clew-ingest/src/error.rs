//! What is wrong with a definition of a pipeline, and why a step could not change a document. Neither knows a protocol:
//! the table of a protocol says what its clients are told.

use clew_query::ScriptError;
use serde_json::Value;

use crate::java::class;

/// How a definition is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionErrorKind {
    /// It is not built as definitions are.
    Malformed,
    /// It is understood, and asks for what cannot be had.
    Unsupported,
}

/// What is wrong with a definition, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct DefinitionError {
    /// How it is wrong.
    pub kind: DefinitionErrorKind,
    /// The same in words.
    pub reason: String,
    /// The outermost step that it is in.
    pub step: Option<String>,
    /// The tag of the outermost step around it that has one.
    pub tag: Option<String>,
    /// The member that is wrong.
    pub property: Option<String>,
    /// What is wrong with a script that it has.
    pub script: Option<Box<ScriptError>>,
}

impl DefinitionError {
    /// A definition that is not built as definitions are.
    pub fn malformed(reason: impl Into<String>) -> Self {
        DefinitionError {
            kind: DefinitionErrorKind::Malformed,
            reason: reason.into(),
            step: None,
            tag: None,
            property: None,
            script: None,
        }
    }

    pub(crate) fn unsupported(reason: impl Into<String>) -> Self {
        DefinitionError {
            kind: DefinitionErrorKind::Unsupported,
            ..Self::malformed(reason)
        }
    }

    /// A member that must be there is not.
    pub fn missing(key: &str) -> Self {
        Self::refused(key, "required property is missing")
    }

    /// A member is wrong.
    pub fn refused(key: &str, reason: impl std::fmt::Display) -> Self {
        DefinitionError {
            property: Some(key.to_string()),
            ..Self::malformed(format!("[{key}] {reason}"))
        }
    }

    /// Says which step it is in; one around it says so again.
    #[must_use]
    pub fn in_step(mut self, name: &str) -> Self {
        self.step = Some(name.to_string());
        self
    }
}

/// How a step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The document is not as the step needs it.
    Unfit,
    /// A path names an item that its list does not have.
    OutOfBounds,
    /// A text is not written as the step reads it.
    Unreadable,
    /// A text is no number.
    NotANumber,
    /// Values of several types, which have no order.
    MixedTypes,
    /// A text is not as the pattern of a `dissect`.
    NoMatch,
    /// A pipeline that is called is not there, or is under way already.
    NoPipeline,
    /// A step `fail`, which is meant to.
    Meant,
    /// A script failed.
    Script,
}

/// What made a step fail.
#[derive(Clone, Debug, PartialEq)]
pub enum Because {
    /// This text is no number.
    NotANumber(String),
    /// A text is not JSON, with what is wrong.
    NotJson(String),
    /// A script failed.
    Script(Box<ScriptError>),
}

/// Why a step failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    /// How the step failed.
    pub kind: FailureKind,
    /// The same in words, which steps that handle failures can read.
    pub reason: String,
    /// What made it fail.
    pub because: Option<Because>,
    /// The step that failed, for the steps that handle failures.
    pub step: &'static str,
    /// Its tag.
    pub tag: Option<String>,
}

impl Failure {
    /// A text that is no number, with the reason that is told of it.
    pub(crate) fn no_number(reason: String, text: &str) -> Self {
        Failure {
            because: Some(Because::NotANumber(text.to_string())),
            ..Failure::unfit(reason)
        }
    }

    /// A document that is not as a step needs it.
    pub fn unfit(reason: impl Into<String>) -> Self {
        Failure {
            kind: FailureKind::Unfit,
            reason: reason.into(),
            because: None,
            step: "",
            tag: None,
        }
    }
}

/// What a step says of a value that is not of the type it asks for.
pub(crate) fn wrong_type(path: &str, value: &Value, wanted: &str) -> Failure {
    Failure::unfit(format!(
        "field [{path}] of type [{}] cannot be cast to [{wanted}]",
        class(value)
    ))
}
