//! What the values of settings are, of an index and of the whole cluster, and how those are refused that are none.

use crate::http::error::{ApiError, Cause};
use crate::http::setting_values::{parse_bytes, parse_time};

/// What a value has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingKind {
    /// Whatever it is, or whoever acts on the setting checks it.
    Any,
    Bool,
    /// A whole number that is not below this one.
    Whole(i64),
    /// A time; -1 is one.
    Time,
    /// A size; -1 and 0 are some.
    Bytes,
    /// One of these words, in any case; what the refusal calls it stands before.
    Word(&'static str, &'static [&'static str]),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// The same, with what the refusal says before the value and behind it.
    Named(&'static [&'static str], (&'static str, &'static str)),
    /// A number, also with a fraction, within these bounds.
    Within(&'static str, &'static str),
    /// A size of so many bytes or more.
    AtLeast(u64),
    /// So many in a time, as `10/1m`, or by whom that is said.
    Rate,
    /// How many copies of a shard are waited for.
    Active,
    /// How many copies there are, as `0-1`, `0-all` or `false`.
    Copies,
}

use SettingKind::{
    Active, Any, AtLeast, Bool, Bytes, Choice, Copies, Named, Rate, Time, Whole, Within, Word,
};

/// Refuses a value that a setting cannot have.
///
/// # Errors
/// In the words of OpenSearch.
pub(crate) fn check_value(name: &str, text: &str, kind: SettingKind) -> Result<(), ApiError> {
    let refuse = |reason: String| Err(ApiError::illegal_argument(reason));
    match kind {
        Bool if text != "true" && text != "false" => refuse(format!(
            "Failed to parse value [{text}] as only [true] or [false] are allowed."
        )),
        Whole(least) => {
            let told = format!("Failed to parse value [{text}] for setting [{name}]");
            match text.parse::<i64>() {
                Ok(number) if number >= least => Ok(()),
                Ok(_) => refuse(format!("{told} must be >= {least}")),
                Err(_) => Err(ApiError::no_number(told, text)),
            }
        }
        Time => parse_time(name, text).map(drop),
        Bytes if text != "-1" && text != "0" => check_size(name, text),
        Word(what, words) if !words.contains(&text.to_ascii_lowercase().as_str()) => refuse(
            format!("Illegal {what} value [{}]", text.to_ascii_uppercase()),
        ),
        Choice(words) if !words.contains(&text) => refuse(format!(
            "unknown value for [{name}] must be one of [{}] but was: {text}",
            words.join(", ")
        )),
        Named(words, (before, behind)) if !words.contains(&text) => {
            refuse(format!("{before}{text}{behind}"))
        }
        Within(least, most) => check_within(name, text, (least, most)),
        AtLeast(bytes) if parse_bytes(name, text).is_ok_and(|size| size < bytes) => refuse(
            format!("failed to parse value [{text}] for setting [{name}], must be >= [{bytes}b]"),
        ),
        Rate if !is_rate(text) => refuse(format!(
            "parameter must contain a positive integer and a timevalue, i.e. 10/1m, but was [{text}]"
        )),
        Active if text != "all" && text.parse::<i32>().is_err() => Err(ApiError::no_copies(text)),
        Copies if text != "false" => check_copies(name, text),
        Any | Bool | Bytes | Word(..) | Choice(_) | Named(..) | AtLeast(_) | Rate | Active
        | Copies => Ok(()),
    }
}

fn is_rate(text: &str) -> bool {
    let parts = text.split_once('/');
    let is_number = |text: &str| text.parse::<u32>().is_ok();
    matches!(text, "use-context" | "unlimited")
        || parts.is_some_and(|(many, time)| is_number(many) && parse_time("", time).is_ok())
}

fn check_size(name: &str, text: &str) -> Result<(), ApiError> {
    // Parts of a unit are understood, too.
    let whole = match text.split_once('.') {
        Some((whole, rest)) => {
            let unit = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
            format!("{whole}{unit}")
        }
        None => text.to_string(),
    };
    parse_bytes(name, &whole).map(drop).map_err(|_| {
        let reason = format!(
            "failed to parse setting [{name}] with value [{text}] as a size in bytes: \
             unit is missing or unrecognized"
        );
        let within = Cause::new("parse_exception", reason.as_str());
        ApiError::illegal_argument(reason).map_cause(|cause| cause.caused_by(within))
    })
}

/// Bounds are texts, as they are told.
fn check_within(name: &str, text: &str, (least, most): (&str, &str)) -> Result<(), ApiError> {
    let told = format!("Failed to parse value [{text}] for setting [{name}]");
    let Ok(number) = text.trim().parse::<f64>() else {
        return Err(ApiError::no_number(told, text));
    };
    let bound_of = |bound: &str| bound.parse::<f64>().unwrap_or(number);
    let beyond = if number < bound_of(least) {
        format!("{told} must be >= {least}")
    } else if number > bound_of(most) {
        format!("{told} must be <= {most}")
    } else {
        return Ok(());
    };
    Err(ApiError::illegal_argument(beyond))
}

fn check_copies(name: &str, text: &str) -> Result<(), ApiError> {
    let fails = |at: &str| format!("failed to parse [{name}] from value: [{text}] at index {at}");
    let Some((least, most)) = text.split_once('-') else {
        return Err(ApiError::illegal_argument(fails("-1")));
    };
    let dash = least.len().to_string();
    let number = |part: &str| {
        let number = part.parse::<i32>();
        number.map_err(|_| ApiError::no_number(fails(&dash), part))
    };
    let least = number(least)?;
    let most = match most {
        "all" => i32::MAX,
        most => number(most)?,
    };
    if least <= most {
        return Ok(());
    }
    Err(ApiError::illegal_argument(format!(
        "[{name}] minReplicas must be =< maxReplicas but wasn't {least} > {most}"
    )))
}
