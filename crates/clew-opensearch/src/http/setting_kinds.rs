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
    /// How many copies there are, as `0-1`, `0-all` or `false`.
    Copies,
}

use SettingKind::{Any, Bool, Bytes, Choice, Copies, Time, Whole, Word};

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
        Copies if text != "false" => check_copies(name, text),
        Any | Bool | Bytes | Word(..) | Choice(_) | Copies => Ok(()),
    }
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
