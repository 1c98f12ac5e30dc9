//! What is wrong with a definition of a pipeline, and why a step could not change a document. Neither knows a protocol:
//! `answers` says what clients are told.

/// How a definition is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefinitionErrorKind {
    /// It is not built as definitions are.
    Malformed,
    /// It is understood, and asks for what cannot be had.
    Unsupported,
}

/// What is wrong with a definition, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct DefinitionError {
    pub(crate) kind: DefinitionErrorKind,
    pub(crate) reason: String,
    /// The outermost step that it is in.
    pub(crate) step: Option<String>,
    /// The tag of the outermost step around it that has one.
    pub(crate) tag: Option<String>,
    /// The member that is wrong.
    pub(crate) property: Option<String>,
}

impl DefinitionError {
    pub(super) fn malformed(reason: impl Into<String>) -> Self {
        DefinitionError {
            kind: DefinitionErrorKind::Malformed,
            reason: reason.into(),
            step: None,
            tag: None,
            property: None,
        }
    }

    pub(super) fn unsupported(reason: impl Into<String>) -> Self {
        DefinitionError {
            kind: DefinitionErrorKind::Unsupported,
            ..Self::malformed(reason)
        }
    }

    /// Says which step it is in; one around it says so again.
    pub(super) fn in_step(mut self, name: &str) -> Self {
        self.step = Some(name.to_string());
        self
    }
}

/// How a step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The document is not as the step needs it.
    Unfit,
    /// A text is not written as the step reads it.
    Unreadable,
    /// A text is no number.
    NotANumber,
    /// Values of several types, which have no order.
    MixedTypes,
    /// A text is not as the pattern of a `dissect`.
    NoMatch,
    /// A pipeline that is called is not there.
    NoPipeline,
    /// A step `fail`, which is meant to.
    Meant,
}

/// What made a step fail.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Because {
    /// This text is no number.
    NotANumber(String),
    /// A text is not JSON, with what is wrong.
    NotJson(String),
}

/// Why a step failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) reason: String,
    /// What made it fail.
    pub(crate) because: Option<Because>,
    /// The step that failed, for the steps that handle failures.
    pub(crate) step: &'static str,
    pub(crate) tag: Option<String>,
}

impl Failure {
    /// A text that is no number, with the reason that is told of it.
    pub(super) fn no_number(reason: String, text: &str) -> Self {
        Failure {
            because: Some(Because::NotANumber(text.to_string())),
            ..Failure::illegal(reason)
        }
    }

    pub(super) fn illegal(reason: impl Into<String>) -> Self {
        Failure {
            kind: FailureKind::Unfit,
            reason: reason.into(),
            because: None,
            step: "",
            tag: None,
        }
    }
}
