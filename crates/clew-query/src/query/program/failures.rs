//! Failures that a script makes itself, and those that it goes on after.

use super::held::Kind;
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
            "ArithmeticException" => Thrown::Arithmetic,
            "ClassCastException" => Thrown::Cast,
            "NullPointerException" => Thrown::Null,
            "IndexOutOfBoundsException" => Thrown::Bounds,
            _ => return None,
        })
    }

    /// The kind of error that it is.
    pub(super) fn kind(self) -> ScriptErrorKind {
        match self {
            Thrown::Argument => ScriptErrorKind::Argument,
            Thrown::State => ScriptErrorKind::State,
            Thrown::Runtime => ScriptErrorKind::Runtime,
            Thrown::Other | Thrown::Again => ScriptErrorKind::Thrown,
            Thrown::Arithmetic => ScriptErrorKind::Arithmetic,
            Thrown::Cast => ScriptErrorKind::Cast,
            Thrown::Null => ScriptErrorKind::Null,
            Thrown::Bounds => ScriptErrorKind::Bounds,
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
    "ArrayIndexOutOfBoundsException",
    "StringIndexOutOfBoundsException",
    "NoSuchElementException",
    "UnsupportedOperationException",
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
            ScriptErrorKind::Bounds => matches!(
                self.class.as_str(),
                "Exception"
                    | "RuntimeException"
                    | "IndexOutOfBoundsException"
                    | "ArrayIndexOutOfBoundsException"
                    | "StringIndexOutOfBoundsException"
                    | "NoSuchElementException"
            ),
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
        let shown = failure(error.kind, ScriptValue::made(error.reason)?)?;
        self.set(caught.place, shown);
        self.block(&caught.body)
    }
}

/// A failure as a value: what is wrong, and its kind.
pub(super) fn failure<'a>(
    kind: ScriptErrorKind,
    reason: ScriptValue<'a>,
) -> Result<ScriptValue<'a>, ScriptError> {
    let known = KINDS.iter().find(|(_, one)| *one == kind);
    let class = known.map_or("Exception", |(class, _)| *class);
    let class = ScriptValue::Text(class.into());
    let parts = vec![("message".into(), reason), (CLASS.into(), class)];
    ScriptValue::map_of(Kind::Failure, parts)
}

/// The error of a failure that was made, or caught, before.
pub(super) fn again(failure: &ScriptValue<'_>) -> ScriptError {
    let class = failure.get(CLASS).unwrap_or(ScriptValue::Null);
    let known = KINDS.iter().find(|(one, _)| *one == &*class.shown());
    let kind = known.map_or(ScriptErrorKind::Thrown, |(_, kind)| *kind);
    let reason = failure.get("message").unwrap_or(ScriptValue::Null);
    ScriptError::new(kind, reason.shown().into_owned())
}

/// Where a failure that is a value has the name of its kind.
pub(super) const CLASS: &str = "class";

/// The names of kinds.
const KINDS: &[(&str, ScriptErrorKind)] = &[
    ("IllegalArgumentException", ScriptErrorKind::Argument),
    ("IllegalStateException", ScriptErrorKind::State),
    ("RuntimeException", ScriptErrorKind::Runtime),
    ("ArithmeticException", ScriptErrorKind::Arithmetic),
    ("ClassCastException", ScriptErrorKind::Cast),
    ("NullPointerException", ScriptErrorKind::Null),
    ("IndexOutOfBoundsException", ScriptErrorKind::Bounds),
];
