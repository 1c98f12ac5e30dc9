//! Failures that a script makes itself, and those that it goes on after.

use super::run::{Flow, Machine};
use super::tree::{Catch, Statement, Thrown};
use super::value::ScriptValue;
use crate::error::{ScriptError, ScriptErrorKind};

impl Thrown {
    /// The failure that a class stands for.
    pub(super) fn named(class: &str) -> Option<Self> {
        Some(match class {
            "IllegalArgumentException" => Thrown::Argument,
            "IllegalStateException" => Thrown::State,
            "RuntimeException" => Thrown::Runtime,
            "Exception" => Thrown::Other,
            _ => return None,
        })
    }

    /// The kind of error that it is.
    pub(super) fn kind(self) -> ScriptErrorKind {
        match self {
            Thrown::Argument => ScriptErrorKind::Argument,
            Thrown::State => ScriptErrorKind::State,
            Thrown::Runtime => ScriptErrorKind::Runtime,
            Thrown::Other => ScriptErrorKind::Thrown,
        }
    }
}

/// Classes of failures that can be caught.
pub(super) const CAUGHT: &[&str] = &[
    "Exception",
    "RuntimeException",
    "IllegalArgumentException",
    "NumberFormatException",
    "DateTimeParseException",
    "IllegalStateException",
    "ClassCastException",
    "ArithmeticException",
    "NullPointerException",
    "IndexOutOfBoundsException",
];

impl Catch {
    /// Whether it is there for a kind of failure: none is there for a script that takes too much.
    pub(super) fn is_for(&self, kind: ScriptErrorKind) -> bool {
        match kind {
            ScriptErrorKind::Argument => matches!(
                self.class.as_str(),
                "Exception"
                    | "RuntimeException"
                    | "IllegalArgumentException"
                    | "NumberFormatException"
                    | "DateTimeParseException"
            ),
            ScriptErrorKind::State => self.is_one("IllegalStateException"),
            ScriptErrorKind::Cast => self.is_one("ClassCastException"),
            ScriptErrorKind::Arithmetic => self.is_one("ArithmeticException"),
            ScriptErrorKind::Null => self.is_one("NullPointerException"),
            ScriptErrorKind::Bounds => self.is_one("IndexOutOfBoundsException"),
            ScriptErrorKind::Runtime => self.is_one("RuntimeException"),
            ScriptErrorKind::Thrown => self.class == "Exception",
            ScriptErrorKind::Unreadable
            | ScriptErrorKind::Limit
            | ScriptErrorKind::Score
            | ScriptErrorKind::Language
            | ScriptErrorKind::Absent => false,
        }
    }

    fn is_one(&self, class: &str) -> bool {
        self.class == class || matches!(self.class.as_str(), "Exception" | "RuntimeException")
    }
}

impl<'a> Machine<'a, '_> {
    /// Runs a block, and where that fails the first of others that is there for it.
    pub(super) fn attempt(
        &mut self,
        body: &'a [Statement],
        catches: &'a [Catch],
    ) -> Result<Flow<'a>, ScriptError> {
        let error = match self.block(body) {
            Ok(flow) => return Ok(flow),
            Err(error) => error,
        };
        let Some(caught) = catches.iter().find(|one| one.is_for(error.kind)) else {
            return Err(error);
        };
        let reason = ScriptValue::made(error.reason)?;
        let shown = ScriptValue::mapped(vec![("message".into(), reason)])?;
        self.set(caught.place, shown);
        self.block(&caught.body)
    }
}
