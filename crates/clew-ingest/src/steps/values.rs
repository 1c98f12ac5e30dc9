//! Changes of single values.

use regex::Regex;
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
        pattern: Regex,
        with: Result<String, String>,
    },
    Split {
        separator: Regex,
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
                Ok(with) => pattern.replace_all(text, with.as_str()).into_owned().into(),
                // What is wrong with it matters only where there is something to replace.
                Err(reason) if pattern.is_match(text) => {
                    return Err(Failure::unfit(reason.as_str()));
                }
                Err(_) => text.into(),
            },
            Change::Split {
                separator,
                keep_trailing,
            } => {
                let mut parts: Vec<&str> = separator.split(text).collect();
                // A separator of no length at the start parts nothing off.
                if parts.len() > 1 && separator.find(text).is_some_and(|found| found.end() == 0) {
                    parts.remove(0);
                }
                while !keep_trailing && parts.last().is_some_and(|last| last.is_empty()) {
                    parts.pop();
                }
                Value::from(parts)
            }
            Change::Join(_) => text.into(),
        })
    }
}

/// A replacement as Java writes it, with `\` before what means itself, as the one of our expressions.
pub(crate) fn replacement(written: &str, pattern: &Regex) -> Result<String, String> {
    let mut ours = String::new();
    let mut letters = written.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                None => return Err("character to be escaped is missing".to_string()),
                Some('$') => ours.push_str("$$"),
                Some(other) => ours.push(other),
            },
            '$' => {
                let named = letters.next_if_eq(&'{').is_some();
                let mut name = String::new();
                while let Some(letter) = letters.next_if(|letter| match named {
                    true => *letter != '}',
                    // A number goes on while there is such a group.
                    false => name
                        .parse::<usize>()
                        .map_or(letter.is_ascii_digit(), |before| {
                            let digit = letter
                                .to_digit(10)
                                .and_then(|digit| usize::try_from(digit).ok());
                            digit.is_some_and(|digit| {
                                before.saturating_mul(10).saturating_add(digit)
                                    < pattern.captures_len()
                            })
                        }),
                }) {
                    name.push(letter);
                }
                if named {
                    letters.next();
                }
                ours.push_str(&reference(&name, named, letters.peek().is_none(), pattern)?);
            }
            other => ours.push(other),
        }
    }
    Ok(ours)
}

/// A group that a replacement names.
fn reference(name: &str, named: bool, at_end: bool, pattern: &Regex) -> Result<String, String> {
    match name.parse::<usize>() {
        _ if named => {
            if !pattern.capture_names().flatten().any(|known| known == name) {
                return Err(format!("No group with name {{{name}}}"));
            }
        }
        Ok(number) => {
            if number >= pattern.captures_len() {
                return Err(format!("No group {number}"));
            }
        }
        Err(_) if at_end => {
            return Err("Illegal group reference: group index is missing".to_string());
        }
        Err(_) => return Err("Illegal group reference".to_string()),
    }
    Ok(format!("${{{name}}}"))
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
