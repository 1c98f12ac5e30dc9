//! Changes of single values.

use clew_analysis::{JavaPattern, NotReplaced, Replacement, TooManySteps};
use clew_query::processors::{NoSize, byte_size, url_decoded};
use serde_json::Value;

use crate::error::{Failure, FailureKind, wrong_type};
use crate::java::{self, class, java_text};

/// Bytes that a text may become, unless it has about as many already.
const TEXT_BYTES_MAX: usize = 16 << 20;

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
                let own: usize = texts.iter().map(String::len).sum();
                let between = separator.len().saturating_mul(texts.len());
                if between > most(own) {
                    return Err(too_long(own.saturating_add(between), most(own)));
                }
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
            // Without a sign of each kind there is no element, and references stay.
            Change::StripHtml if !text.contains('<') || !text.contains('>') => text.into(),
            Change::StripHtml => clew_analysis::strip_html(text).into(),
            Change::UrlDecode => url_decoded(text).map_err(Failure::unfit)?.into(),
            Change::Bytes => byte_size(text).map_err(no_size)?.into(),
            Change::Replace { pattern, with } => match with {
                Ok(with) => replaced(pattern, text, with)?.into(),
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

/// What a text of so many bytes may become: one that doubles with each step ends soon.
fn most(bytes: usize) -> usize {
    bytes.saturating_add(bytes / 8).max(TEXT_BYTES_MAX)
}

fn too_long(bytes: usize, most: usize) -> Failure {
    Failure::unfit(format!(
        "the text would have at least [{bytes}] bytes, [{most}] are allowed"
    ))
}

/// A text in which all that matches is replaced, unless it becomes too long: what replaces a letter may be as long as a text.
fn replaced(pattern: &JavaPattern, text: &str, with: &Replacement) -> Result<String, Failure> {
    let most = most(text.len());
    match with.replaced_within(text, pattern, most) {
        Ok(replaced) => Ok(replaced.unwrap_or_else(|| text.to_string())),
        Err(NotReplaced::TooHard(error)) => Err(too_hard(error)),
        Err(NotReplaced::TooLong { bytes }) => Err(too_long(bytes, most)),
    }
}

/// What a document is told whose text an expression takes too many steps on.
fn too_hard(error: TooManySteps) -> Failure {
    Failure::unfit(error.to_string())
}

/// The parts of a text between separators, as Java splits.
///
/// # Errors
/// When looking for a separator takes too many steps.
pub fn split<'t>(
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

fn no_size(refused: NoSize) -> Failure {
    let (kind, reason) = match refused {
        NoSize::Unreadable(reason) => (FailureKind::Unreadable, reason),
        NoSize::NotANumber(reason) => (FailureKind::NotANumber, reason),
    };
    Failure {
        kind,
        ..Failure::unfit(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replace(pattern: &str, text: &str, with: &str) -> Result<String, Failure> {
        let pattern = clew_analysis::java_pattern(pattern).unwrap();
        let with = Replacement::read(with, &pattern).unwrap();
        replaced(&pattern, text, &with)
    }

    #[test]
    fn a_text_that_would_become_too_long_is_not_made() {
        assert_eq!(replace("a", "banana", "oo").unwrap(), "boonoonoo");
        assert_eq!(replace("x", "banana", "oo").unwrap(), "banana");
        let long = "x".repeat(1 << 20);
        let some = replace("a", &format!("{}a", "b".repeat(100)), &long).unwrap();
        assert_eq!(some.len(), 100 + (1 << 20));
        let refused = replace("a", &"a".repeat(1000), &long)
            .unwrap_err()
            .to_string();
        assert!(refused.ends_with("[16777216] are allowed"), "{refused}");
        let twice = "$0".repeat(1000);
        let refused = replace("a+", &"a".repeat(100_000), &twice).unwrap_err();
        assert!(refused.to_string().contains("100000000"), "{refused}");
        let list = Value::from(vec!["a"; 1000]);
        assert!(Change::Join(long).apply("field", list).is_err());
    }
}
