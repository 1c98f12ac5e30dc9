//! How the values of parameters are written: switches, numbers, objects. And the words for those that are not, and for
//! parameters that nobody knows.

use clew_analysis::Analysis;
pub(crate) use clew_schema::text_of as show;
use clew_schema::{MappingError, UnreadableKind, java_text};
use serde_json::{Map, Value};

use crate::words::neither_true_nor_false;

/// A number that is none of things less than nothing, as JSON has it or as text.
pub(crate) fn whole_number(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => text.parse().ok(),
        value => usize::try_from(value.as_u64()?).ok(),
    }
}

/// A whole number within bounds, which the error names.
pub(crate) fn number(
    name: &str,
    key: &str,
    value: &Value,
    range: std::ops::RangeInclusive<usize>,
) -> Result<usize, MappingError> {
    whole_number(value)
        .filter(|number| range.contains(number))
        .ok_or_else(|| match show(value) {
            text if text.parse::<f64>().is_err() => no_number(value),
            text => MappingError::unreadable(format!(
                "[{key}] of field [{name}] must be from {} to {}, got [{text}]",
                range.start(),
                range.end(),
            )),
        })
}

/// A switch, as JSON has them or as text.
pub(crate) fn boolean(value: &Value) -> Result<bool, MappingError> {
    let text = show(value);
    let unfit = || MappingError::unfit(UnreadableKind::Value, neither_true_nor_false(&text));
    switch(&text).ok_or_else(unfit)
}

/// The same of a switch whose name is told, as OpenSearch does for those that it reads by hand.
pub(crate) fn named_boolean(name: &str, value: &Value) -> Result<bool, MappingError> {
    let text = show(value);
    switch(&text).ok_or_else(|| {
        let reason = format!("Could not convert [{name}] to boolean");
        MappingError::unfit(UnreadableKind::Flag { text }, reason)
    })
}

fn switch(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// A value that should be a number.
pub(crate) fn no_number(value: &Value) -> MappingError {
    let reason = match java_text(value) {
        text if text.is_empty() => "empty String".to_string(),
        text => format!("For input string: \"{text}\""),
    };
    MappingError::unfit(UnreadableKind::Number, reason)
}

/// The members of what has to be an object.
pub(crate) fn as_object<'v>(
    value: &'v Value,
    name: &str,
) -> Result<&'v Map<String, Value>, MappingError> {
    value.as_object().ok_or_else(|| {
        MappingError::unreadable(format!(
            "Expected map for property [{name}] but got [{}]",
            show(value)
        ))
    })
}

/// The error of a parameter that a type does not know.
pub(crate) fn unknown(name: &str, key: &str, type_name: &str) -> MappingError {
    MappingError::unreadable(format!(
        "unknown parameter [{key}] on mapper [{name}] of type [{type_name}]"
    ))
}

/// The error of a parameter that types which know few parameters do not know.
pub(crate) fn unsupported(name: &str, key: &str, value: &Value) -> MappingError {
    unsupported_by(&format!("Mapping definition for [{name}]"), key, value)
}

/// The same of whatever has that parameter.
pub(crate) fn unsupported_by(whose: &str, key: &str, value: &Value) -> MappingError {
    MappingError::unreadable(format!(
        "{whose} has unsupported parameters:  [{key} : {}]",
        java_text(value)
    ))
}

/// The analyzer of that name.
///
/// # Errors
/// There is none.
pub(crate) fn known_analyzer(value: &Value, analysis: &Analysis) -> Result<String, MappingError> {
    let name = show(value);
    match analysis.analyzer(&name) {
        Some(_) => Ok(name),
        None => Err(MappingError::UnknownAnalyzer { name }),
    }
}

/// Refuses a word that is none of those that a parameter has.
pub(crate) fn check_word(key: &str, value: &Value, known: &[&str]) -> Result<(), MappingError> {
    let text = show(value);
    if known.contains(&text.as_str()) {
        return Ok(());
    }
    Err(MappingError::unreadable(format!(
        "Unknown value [{text}] for field [{key}] - accepted values are [{}]",
        known.join(", ")
    )))
}
