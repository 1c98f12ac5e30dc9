//! Why a script was refused, or failed.

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptErrorKind {
    /// The text is not understood.
    Unreadable,
    /// An argument makes no sense: an unknown field, a malformed date.
    Argument,
    /// The document lacks what the script needs.
    State,
    /// A value is of another type than was needed.
    Cast,
    /// A whole number was divided by zero.
    Arithmetic,
    /// Something was asked of what is not there.
    Null,
    /// A place in a list that has none such.
    Bounds,
    /// A place in an array that has none such.
    ArrayBounds,
    /// A place in a text that has none such.
    TextBounds,
    /// A text is no number.
    NumberFormat,
    /// A text is no moment.
    DateFormat,
    /// Something was asked of what has nothing in it.
    NoElement,
    /// What cannot be changed was to be.
    Unsupported,
    /// More steps than a run may take, or a longer text.
    Limit,
    /// What came out is no score.
    Score,
    /// The script says itself that it failed while it ran.
    Runtime,
    /// The script says itself that it failed.
    Thrown,
    /// It is written in a language that is not there.
    Language,
    /// It was asked for by a name that no script has.
    Absent,
}

/// Why a script was refused, or failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct ScriptError {
    /// What kind of failure it is.
    pub kind: ScriptErrorKind,
    /// What is wrong.
    pub reason: String,
    /// The script's text.
    pub script: String,
    /// At which byte of the text it was when it failed, if it had begun.
    pub at: Option<usize>,
}

impl ScriptError {
    /// A failure of a script whose text is said later.
    pub fn new(kind: ScriptErrorKind, reason: impl Into<String>) -> Self {
        ScriptError {
            kind,
            reason: reason.into(),
            script: String::new(),
            at: None,
        }
    }

    /// The same, of a script that was at this byte of its text.
    #[must_use]
    pub(crate) fn placed(self, at: usize) -> Self {
        ScriptError {
            at: self.at.or(Some(at)),
            ..self
        }
    }

    /// The same, of a script with this text.
    #[must_use]
    pub fn of(self, script: &str) -> Self {
        ScriptError {
            script: script.to_string(),
            ..self
        }
    }

    pub(crate) fn argument(reason: impl Into<String>) -> Self {
        Self::new(ScriptErrorKind::Argument, reason)
    }

    pub(crate) fn cast(reason: impl Into<String>) -> Self {
        Self::new(ScriptErrorKind::Cast, reason)
    }

    pub(crate) fn null(what: &str) -> Self {
        let reason = format!("Cannot invoke \"{what}\" because value is null");
        Self::new(ScriptErrorKind::Null, reason)
    }

    /// The error of a text that is no number.
    pub(crate) fn not_a_number(text: &str) -> Self {
        let reason = format!("For input string: \"{text}\"");
        Self::new(ScriptErrorKind::NumberFormat, reason)
    }
}
