//! Changes of single values.

use clew_analysis::{JavaPattern, Replacement, TooManySteps};
use serde_json::Value;

use super::url::decoded;
use crate::error::{Failure, FailureKind, wrong_type};
use crate::java::{self, class, java_text};

/// A change of a text, or of each text of a list.
#[derive(Debug)]
pub(crate) enum Change {
    Lower,
    Upper,
    Trim,
    StripHtml,
    UrlDecode,
    Bytes,
    Replace {
        pattern: JavaPattern,
        with: Result<Replacement, String>,
    },
    Split {
        separator: JavaPattern,
        keep_trailing: bool,
    },
    Join(String),
}

impl Change {
    /// Whether it changes letters or takes some away, and nothing else.
    pub(crate) fn is_of_letters(&self) -> bool {
        matches!(self, Change::Lower | Change::Upper | Change::Trim)
    }

    /// Changes a value.
    pub(crate) fn apply(&self, path: &str, value: Value) -> Result<Value, Failure> {
        match (self, value) {
            (_, Value::Null) => Err(Failure::unfit(format!(
                "field [{path}] is null, cannot {}.",
                match self {
                    Change::Join(_) => "join",
                    Change::Split { .. } => "split",
                    _ => "process it",
                }
            ))),
            (Change::Join(separator), Value::Array(items)) => {
                let texts: Vec<String> = items.iter().map(java_text).collect();
                Ok(texts.join(separator).into())
            }
            (Change::Join(_), other) => Err(wrong_type(path, &other, java::LIST)),
            (_, Value::String(text)) => self.text(&text),
            (Change::Split { .. }, other) => Err(wrong_type(path, &other, java::TEXT)),
            (_, Value::Array(items)) => {
                let changed = items.iter().map(|item| match item {
                    Value::String(text) => self.text(text),
                    other => Err(Failure::unfit(format!(
                        "value [{}] of type [{}] in list field [{path}] cannot be cast to \
                         [java.lang.String]",
                        java_text(other),
                        class(other)
                    ))),
                });
                Ok(Value::Array(changed.collect::<Result<_, _>>()?))
            }
            (_, other) => Err(wrong_type(path, &other, java::TEXT)),
        }
    }

    fn text(&self, text: &str) -> Result<Value, Failure> {
        Ok(match self {
            Change::Lower => text.to_lowercase().into(),
            Change::Upper => text.to_uppercase().into(),
            Change::Trim => text.trim().into(),
            Change::StripHtml => clew_analysis::strip_html(text).into(),
            Change::UrlDecode => decoded(text).map_err(Failure::unfit)?.into(),
            Change::Bytes => bytes(text)?.into(),
            Change::Replace { pattern, with } => match with {
                Ok(with) => {
                    let (replaced, ended) = with.replaced(text, pattern, usize::MAX);
                    ended.map_err(too_hard)?;
                    replaced.map_or_else(|| text.into(), Value::from)
                }
                // What is wrong with it matters only where there is something to replace.
                Err(reason) => {
                    if pattern.is_match(text).map_err(too_hard)? {
                        return Err(Failure::unfit(reason.as_str()));
                    }
                    text.into()
                }
            },
            Change::Split {
                separator,
                keep_trailing,
            } => {
                let parts = split(text, separator, *keep_trailing).map_err(too_hard)?;
                Value::from(parts)
            }
            Change::Join(_) => text.into(),
        })
    }
}

/// What a document is told whose text an expression takes too many steps on.
fn too_hard(error: TooManySteps) -> Failure {
    Failure::unfit(error.to_string())
}

/// The parts of a text between separators, as Java splits.
fn split<'t>(
    text: &'t str,
    separator: &JavaPattern,
    keep_trailing: bool,
) -> Result<Vec<&'t str>, TooManySteps> {
    let mut parts = Vec::new();
    let mut at = 0;
    for found in separator.find_all(text) {
        let found = found?;
        // One of no length at the start parts nothing off.
        if found.end > 0 {
            parts.push(&text[at..found.start]);
            at = found.end;
        }
    }
    let has_separator = !parts.is_empty();
    parts.push(&text[at..]);
    while has_separator && !keep_trailing && parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    Ok(parts)
}

fn bytes(text: &str) -> Result<i64, Failure> {
    let lower = text.trim().to_lowercase();
    let units = [
        ("k", 10),
        ("kb", 10),
        ("m", 20),
        ("mb", 20),
        ("g", 30),
        ("gb", 30),
        ("t", 40),
        ("tb", 40),
        ("p", 50),
        ("pb", 50),
    ];
    let refused = |reason: String| Failure {
        kind: FailureKind::Unreadable,
        ..Failure::unfit(reason)
    };
    let setting = format!("failed to parse setting [Ingest Field] with value [{text}]");
    for (unit, power) in units {
        let Some(digits) = lower.strip_suffix(unit).map(str::trim) else {
            continue;
        };
        return match digits.parse::<i64>() {
            Ok(number) => number
                .checked_mul(1 << power)
                .ok_or_else(|| refused(format!("{setting}: too large"))),
            Err(_) if digits.parse::<f64>().is_ok() => Err(refused(format!(
                "Failed to parse bytes value [{text}]. Fractional bytes values have been deprecated \
                 since Legacy 6.2. Use non-fractional bytes values instead: found for setting \
                 [Ingest Field]"
            ))),
            Err(_) => Err(refused(setting)),
        };
    }
    match (lower.as_str(), lower.strip_suffix('b').map(str::trim)) {
        ("-1" | "0", _) => Ok(if lower == "0" { 0 } else { -1 }),
        (_, Some(digits)) => digits.parse().map_err(|_| Failure {
            kind: FailureKind::NotANumber,
            ..Failure::unfit(format!("For input string: \"{digits}\""))
        }),
        (_, None) => Err(refused(format!(
            "{setting} as a size in bytes: unit is missing or unrecognized"
        ))),
    }
}
