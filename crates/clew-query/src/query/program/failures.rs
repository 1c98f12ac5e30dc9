//! Failures that a script makes itself, and those that it goes on after.

use super::containers::Kind;
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
            "ArrayIndexOutOfBoundsException" => Thrown::ArrayBounds,
            "StringIndexOutOfBoundsException" => Thrown::TextBounds,
            "NumberFormatException" => Thrown::NumberFormat,
            "DateTimeParseException" => Thrown::DateFormat,
            "NoSuchElementException" => Thrown::NoElement,
            "UnsupportedOperationException" => Thrown::Unsupported,
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
            Thrown::ArrayBounds => ScriptErrorKind::ArrayBounds,
            Thrown::TextBounds => ScriptErrorKind::TextBounds,
            Thrown::NumberFormat => ScriptErrorKind::NumberFormat,
            Thrown::DateFormat => ScriptErrorKind::DateFormat,
            Thrown::NoElement => ScriptErrorKind::NoElement,
            Thrown::Unsupported => ScriptErrorKind::Unsupported,
        }
    }
}

/// Whether failures of a class can be caught.
pub(super) fn is_caught(class: &str) -> bool {
    class == "Exception" || KINDS.iter().any(|(known, ..)| *known == class)
}

impl Catch {
    /// Whether it is there for a kind of failure: none is there for a script that takes too much.
    pub(super) fn is_for(&self, kind: ScriptErrorKind) -> bool {
        if kind == ScriptErrorKind::Thrown {
            return self.class == "Exception";
        }
        let known = KINDS.iter().find(|(_, one, _)| *one == kind);
        known.is_some_and(|(class, _, above)| {
            let class_of = [*class, *above, "RuntimeException", "Exception"];
            class_of.contains(&self.class.as_str())
        })
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
    let known = KINDS.iter().find(|(_, one, _)| *one == kind);
    let class = known.map_or("Exception", |(class, ..)| *class);
    let class = ScriptValue::Text(class.into());
    let parts = vec![("message".into(), reason), (CLASS.into(), class)];
    ScriptValue::map_of(Kind::Failure, parts)
}

/// The error of a failure that was made, or caught, before.
pub(super) fn again(failure: &ScriptValue<'_>) -> ScriptError {
    let class = failure.get(CLASS).unwrap_or(ScriptValue::Null);
    let known = KINDS.iter().find(|(one, ..)| *one == &*class.shown());
    let kind = known.map_or(ScriptErrorKind::Thrown, |(_, kind, _)| *kind);
    let reason = failure.get("message").unwrap_or(ScriptValue::Null);
    ScriptError::new(kind, reason.shown().into_owned())
}

/// Where a failure that is a value has the name of its kind.
pub(super) const CLASS: &str = "class";

/// The classes of kinds, each with the one above it; above all of these is `RuntimeException`.
const KINDS: &[(&str, ScriptErrorKind, &str)] = &[
    (
        "IllegalArgumentException",
        ScriptErrorKind::Argument,
        "RuntimeException",
    ),
    (
        "IllegalStateException",
        ScriptErrorKind::State,
        "RuntimeException",
    ),
    (
        "RuntimeException",
        ScriptErrorKind::Runtime,
        "RuntimeException",
    ),
    (
        "ArithmeticException",
        ScriptErrorKind::Arithmetic,
        "RuntimeException",
    ),
    (
        "ClassCastException",
        ScriptErrorKind::Cast,
        "RuntimeException",
    ),
    (
        "NullPointerException",
        ScriptErrorKind::Null,
        "RuntimeException",
    ),
    (
        "IndexOutOfBoundsException",
        ScriptErrorKind::Bounds,
        "RuntimeException",
    ),
    (
        "ArrayIndexOutOfBoundsException",
        ScriptErrorKind::ArrayBounds,
        "IndexOutOfBoundsException",
    ),
    (
        "StringIndexOutOfBoundsException",
        ScriptErrorKind::TextBounds,
        "IndexOutOfBoundsException",
    ),
    (
        "NumberFormatException",
        ScriptErrorKind::NumberFormat,
        "IllegalArgumentException",
    ),
    (
        "DateTimeParseException",
        ScriptErrorKind::DateFormat,
        "DateTimeException",
    ),
    (
        "NoSuchElementException",
        ScriptErrorKind::NoElement,
        "RuntimeException",
    ),
    (
        "UnsupportedOperationException",
        ScriptErrorKind::Unsupported,
        "RuntimeException",
    ),
];
