//! Regular expressions over texts of rows, of the commands `parse` and `patterns` and of `REGEXP`: compiled once for a
//! statement.

use clew_opensearch::wing::Regex;
use serde_json::Value;

use crate::error::SqlError;
use crate::functions::grok::{GROK, GrokPattern};

/// A pattern may be as long as this.
const PATTERN_BYTES_MAX: usize = 4096;

/// The function that takes a named group out of a text.
pub(crate) const GROUP: &str = "parse_group";
/// The function that removes what a pattern fits.
pub(crate) const REMOVED: &str = "patterns_of";
/// The function behind `REGEXP`.
pub(crate) const FITS: &str = "regexp";

/// What is done with a text.
#[derive(Debug)]
pub(crate) enum Matcher {
    /// The text of a named group, where the whole text fits; else an empty one.
    Group { pattern: Regex, group: String },
    /// What is left when everything that fits is gone.
    Removed(Regex),
    /// Whether the whole text fits.
    Fits(Regex),
    /// An object with what the text has of a pattern with names.
    Grok(GrokPattern),
}

impl Matcher {
    /// The matcher of a function, by the constants behind its first argument; none where it is no such function.
    pub(crate) fn of(name: &str, constants: &[Value]) -> Result<Option<Self>, SqlError> {
        Ok(match (name, constants) {
            (GROUP, [Value::String(pattern), Value::String(group)]) => Some(Matcher::Group {
                pattern: whole(pattern)?,
                group: group.clone(),
            }),
            (REMOVED, [Value::String(pattern)]) => Some(Matcher::Removed(compiled(pattern)?)),
            (GROK, [Value::String(pattern)]) => Some(Matcher::Grok(GrokPattern::new(pattern)?)),
            (FITS, [Value::String(pattern)]) => Some(Matcher::Fits(whole(pattern)?)),
            (FITS, _) => return Err(SqlError::semantic("REGEXP needs a pattern in quotes")),
            _ => None,
        })
    }

    /// What becomes of a text.
    pub(crate) fn value(&self, of: &Value) -> Value {
        let Value::String(text) = of else {
            return Value::Null;
        };
        match self {
            Matcher::Group { pattern, group } => {
                let captures = pattern.captures(text);
                let found = captures
                    .as_ref()
                    .and_then(|captures| captures.name(group))
                    .map_or("", |found| found.as_str());
                found.into()
            }
            Matcher::Removed(pattern) => pattern.replace_all(text, "").into_owned().into(),
            Matcher::Fits(pattern) => pattern.is_match(text).into(),
            Matcher::Grok(pattern) => pattern.found(text),
        }
    }
}

/// The names of a pattern's groups, in their order.
///
/// # Errors
/// A pattern that cannot be read, or without such groups.
pub(crate) fn groups(pattern: &str) -> Result<Vec<String>, SqlError> {
    let compiled = compiled(pattern)?;
    let names = compiled.capture_names().flatten();
    let names: Vec<String> = names.map(String::from).collect();
    if names.is_empty() {
        return Err(SqlError::semantic(format!(
            "the pattern [{pattern}] has no named group, as in (?<name>.+)"
        )));
    }
    Ok(names)
}

/// A pattern that fits whole texts only.
fn whole(pattern: &str) -> Result<Regex, SqlError> {
    compiled(pattern)?;
    compiled(&format!("^(?:{pattern})$"))
}

fn compiled(pattern: &str) -> Result<Regex, SqlError> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(SqlError::too_large(format!(
            "the pattern has {} bytes, more than {PATTERN_BYTES_MAX}",
            pattern.len()
        )));
    }
    Regex::new(pattern).map_err(|error| {
        SqlError::semantic(format!("the pattern [{pattern}] cannot be read: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_taken_apart() {
        let pattern = r"(?<first>\w+)@(?<host>.+)";
        assert_eq!(groups(pattern), Ok(vec!["first".into(), "host".into()]));
        let constants = [Value::from(pattern), Value::from("host")];
        let matcher = Matcher::of(GROUP, &constants).unwrap().unwrap();
        assert_eq!(matcher.value(&"ann@a.org".into()), "a.org");
        assert_eq!(matcher.value(&" ann@a.org".into()), "");
        assert_eq!(matcher.value(&Value::Null), Value::Null);
        let letters = Matcher::of(REMOVED, &["[a-z]".into()]).unwrap().unwrap();
        assert_eq!(letters.value(&"a-1".into()), "-1");
        let fits = Matcher::of(FITS, &["a.*".into()]).unwrap().unwrap();
        assert_eq!(fits.value(&"ba".into()), false);
        for wrong in ["(", "a+", "a".repeat(5000).as_str()] {
            assert!(groups(wrong).is_err(), "{wrong}");
        }
    }
}
