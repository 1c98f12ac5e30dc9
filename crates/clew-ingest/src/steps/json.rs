//! `json`: reads JSON that a field has as text.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::{Because, DefinitionError, Failure};
use crate::java::java_text;
use crate::members::{flag, optional, text};

/// The step.
#[derive(Debug)]
pub(crate) struct Json {
    pub(crate) field: String,
    /// Where the value goes; none means that its members go to the document itself.
    pub(crate) target: Option<String>,
}

impl Json {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let field = text(config, "field")?;
        let target = optional(config, "target_field")?;
        let to_root = flag(config, "add_to_root", false)?;
        if to_root && target.is_some() {
            return Err(DefinitionError::refused(
                "target_field",
                "Cannot set a target field while also setting `add_to_root` to true",
            ));
        }
        let target = (!to_root).then(|| target.unwrap_or_else(|| field.clone()));
        Ok(Json { field, target })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let value = first_value(&java_text(&document.require(&self.field)?))?;
        let Some(target) = &self.target else {
            return match (value, &mut document.source) {
                (Value::Object(more), Value::Object(members)) => {
                    members.extend(more);
                    Ok(())
                }
                _ => Err(Failure::unfit(
                    "cannot add non-map fields to root of document",
                )),
            };
        };
        document.set(target, value)
    }
}

/// The first value of a text: nothing at all is `null`, and what comes behind it is not looked at. Whole numbers beyond 64
/// bits are texts, since a number would lose digits.
fn first_value(text: &str) -> Result<Value, Failure> {
    let text = with_long_numbers_quoted(text);
    let first = serde_json::Deserializer::from_str(&text)
        .into_iter::<Value>()
        .next();
    first.unwrap_or(Ok(Value::Null)).map_err(|error| Failure {
        because: Some(Because::NotJson(error.to_string())),
        ..Failure::unfit(error.to_string())
    })
}

/// The same JSON with its whole numbers beyond 64 bits as texts. What is no JSON stays none.
fn with_long_numbers_quoted(text: &str) -> Cow<'_, str> {
    /// No number with fewer letters is beyond 64 bits.
    const DIGITS: usize = 19;
    let mut quoted = String::new();
    let (mut rest, mut is_text) = (text, false);
    let mut kept = text;
    while let Some(at) =
        rest.find(|letter: char| matches!(letter, '"' | '\\' | '-') || letter.is_ascii_digit())
    {
        let found = &rest[at..];
        let length = match found.as_bytes() {
            [b'"', ..] => {
                is_text = !is_text;
                1
            }
            // What is behind a backslash ends no text.
            [b'\\', ..] if is_text => 1 + found[1..].chars().next().map_or(0, char::len_utf8),
            _ if is_text => 1,
            _ => {
                let number = number_at(found);
                if number.len() >= DIGITS && is_beyond(number) {
                    quoted.push_str(&kept[..kept.len() - found.len()]);
                    quoted.push('"');
                    quoted.push_str(number);
                    quoted.push('"');
                    kept = &found[number.len()..];
                }
                number.len().max(1)
            }
        };
        rest = &found[length..];
    }
    match quoted.is_empty() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(quoted + kept),
    }
}

/// The letters of a number that a text begins with.
fn number_at(text: &str) -> &str {
    let end = text.find(|letter: char| {
        !matches!(letter, '-' | '+' | '.' | 'e' | 'E') && !letter.is_ascii_digit()
    });
    &text[..end.unwrap_or(text.len())]
}

/// Whether it is a whole number that neither type of 64 bits has.
fn is_beyond(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_whole
        && !digits.starts_with('0')
        && number.parse::<i64>().is_err()
        && number.parse::<u64>().is_err()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_numbers_beyond_64_bits_keep_their_digits() {
        let long = "123456789012345678901234567890";
        for (text, value) in [
            (
                format!(r#"{{"a": {long}, "b": [-{long}]}}"#),
                json!({"a": long, "b": [format!("-{long}")]}),
            ),
            (
                r#"{"a":18446744073709551615}"#.to_string(),
                json!({"a": u64::MAX}),
            ),
            (
                r#"{"a":18446744073709551616}"#.to_string(),
                json!({"a": "18446744073709551616"}),
            ),
            (
                r#"{"a":-9223372036854775808}"#.to_string(),
                json!({"a": i64::MIN}),
            ),
            (
                r#"{"a":-9223372036854775809}"#.to_string(),
                json!({"a": "-9223372036854775809"}),
            ),
            (
                r#"{"a":1234567890123456789012.5}"#.to_string(),
                json!({"a": "1234567890123456789012.5".parse::<f64>().unwrap()}),
            ),
            (
                format!(r#"{{"a\"{long}": "\\", "é": "{long}"}}"#),
                json!({format!("a\"{long}"): "\\", "é": long}),
            ),
            (long.to_string(), json!(long)),
            ("  ".to_string(), Value::Null),
        ] {
            assert_eq!(first_value(&text).unwrap(), value, "{text}");
        }
        assert!(first_value("{\"a\": -").is_err());
    }
}
