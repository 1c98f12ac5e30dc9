//! How scripts that were refused, or that failed, are told: with their text, and the place in it.

use axum::http::StatusCode;
use clew_query::{ScriptError, ScriptErrorKind};
use serde_json::Value;

use crate::http::error::{ApiError, Cause};

/// Why a script is refused that ends too early.
const SCRIPT_ENDS: &str = "unexpected end of script.";

/// A script that was refused, or that failed.
pub(crate) fn script_cause(error: &ScriptError) -> Cause {
    let kind = match error.kind {
        // What a script made is no score: the script itself is right.
        ScriptErrorKind::Score | ScriptErrorKind::Language => {
            return Cause::new("illegal_argument_exception", error.reason.clone());
        }
        ScriptErrorKind::Absent => {
            return Cause::new("resource_not_found_exception", error.reason.clone());
        }
        ScriptErrorKind::Unreadable | ScriptErrorKind::Argument => "illegal_argument_exception",
        ScriptErrorKind::State => "illegal_state_exception",
        ScriptErrorKind::Cast => "class_cast_exception",
        ScriptErrorKind::Arithmetic => "arithmetic_exception",
        ScriptErrorKind::Null => "null_pointer_exception",
        ScriptErrorKind::Bounds => "index_out_of_bounds_exception",
        ScriptErrorKind::ArrayBounds => "array_index_out_of_bounds_exception",
        ScriptErrorKind::TextBounds => "string_index_out_of_bounds_exception",
        ScriptErrorKind::NumberFormat => "number_format_exception",
        ScriptErrorKind::DateFormat => "date_time_parse_exception",
        ScriptErrorKind::NoElement => "no_such_element_exception",
        ScriptErrorKind::Unsupported => "unsupported_operation_exception",
        ScriptErrorKind::Limit => "painless_error",
        ScriptErrorKind::Runtime => "runtime_exception",
        ScriptErrorKind::Thrown => "exception",
    };
    let when = match error.kind {
        ScriptErrorKind::Unreadable => "compile error",
        _ => "runtime error",
    };
    let cause = Cause::new("script_exception", when);
    let cause = match place_of(error) {
        None => cause.with("script_stack", Vec::<Value>::new()),
        Some(place) => place.told(cause, &error.script),
    };
    let cause = cause
        .with("script", error.script.clone())
        .with("lang", "painless");
    let cause = match place_of(error) {
        None => cause,
        Some(Place { offset, start, end }) => {
            let position = serde_json::json!({"offset": offset, "start": start, "end": end});
            cause.with("position", position)
        }
    };
    let reason = reason_of(error);
    let within = Cause::new(kind, reason);
    cause.caused_by(match reason {
        // The reader of Painless has no way on, and has no words for that.
        SCRIPT_ENDS => within.caused_by(Cause::new("no_viable_alt_exception", "")),
        _ => within,
    })
}

/// What is wrong with a script, without the place, which is told beside it.
fn reason_of(error: &ScriptError) -> &str {
    let parts = error.reason.rsplit_once(" at [");
    match parts.filter(|_| error.kind == ScriptErrorKind::Unreadable && place_of(error).is_some()) {
        Some((reason, _)) => reason,
        None => &error.reason,
    }
}

/// A script that a write was to be made by, and that was refused, or failed.
pub(crate) fn failed_to_execute(error: &ScriptError) -> ApiError {
    let cause = Cause::new("illegal_argument_exception", "failed to execute script");
    ApiError::new(
        StatusCode::BAD_REQUEST,
        cause.caused_by(script_cause(error)),
    )
}

/// Where in a script it is that was not understood, and what around it is shown.
#[derive(Clone, Copy)]
struct Place {
    offset: usize,
    start: usize,
    end: usize,
}

/// Letters that are shown before and behind a place.
const SHOWN_AROUND: usize = 25;

/// The place that an error of a script tells: at the end of its reason where that was not understood.
fn place_of(error: &ScriptError) -> Option<Place> {
    let offset = match error.kind {
        ScriptErrorKind::Unreadable => {
            let (_, place) = error.reason.rsplit_once(" at [")?;
            place.strip_suffix(']')?.parse().ok()?
        }
        _ => error.at?,
    };
    let script = &error.script;
    if offset > script.len() {
        return None;
    }
    let letter = |from: usize| (0..=from).rev().find(|at| script.is_char_boundary(*at));
    Some(Place {
        offset,
        start: letter(offset.saturating_sub(SHOWN_AROUND))?,
        end: letter(script.len().min(offset + SHOWN_AROUND))?,
    })
}

impl Place {
    /// Shows what is around the place, and points there.
    fn told(self, cause: Cause, script: &str) -> Cause {
        let Place { offset, start, end } = self;
        let before = if start > 0 { "... " } else { "" };
        let after = if end < script.len() { " ..." } else { "" };
        let around = script.get(start..end).unwrap_or_default();
        let pointer = " ".repeat(before.len() + (offset - start)) + "^---- HERE";
        cause.with(
            "script_stack",
            vec![format!("{before}{around}{after}"), pointer],
        )
    }
}
