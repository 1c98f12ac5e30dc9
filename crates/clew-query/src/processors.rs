//! What processors of pipelines read of texts, which scripts do, too: JSON, escapes of URLs, and sizes.

use std::borrow::Cow;

use clew_schema::percent::{self, Plus};
use serde_json::Value;

/// Why a text is no size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSize {
    /// It is not written as one.
    Unreadable(String),
    /// What stands before its unit is no number.
    NotANumber(String),
}

/// The first value of a text: nothing at all is `null`, and what comes behind it is not looked at. Whole numbers beyond 64
/// bits are texts, since a number would lose digits.
///
/// # Errors
/// Why it is no JSON.
pub fn json_value(text: &str) -> Result<Value, serde_json::Error> {
    let text = with_long_numbers_quoted(text);
    let first = serde_json::Deserializer::from_str(&text)
        .into_iter::<Value>()
        .next();
    first.unwrap_or(Ok(Value::Null))
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

/// Undoes percent encoding; a plus sign is a space, and what is not UTF-8 then becomes U+FFFD, as Java does it.
///
/// # Errors
/// What is wrong with it, in words.
pub fn url_decoded(text: &str) -> Result<String, String> {
    let decoded = percent::decoded(text, Plus::IsSpace).ok_or_else(|| wrong_escape(text))?;
    Ok(String::from_utf8_lossy(&decoded).into_owned())
}

/// What is wrong with the first escape that is not one.
fn wrong_escape(text: &str) -> String {
    for piece in text.split('%').skip(1) {
        let digits: Vec<char> = piece.chars().take(2).collect();
        if let Some(wrong) = digits.iter().find(|digit| !digit.is_ascii_hexdigit()) {
            return format!(
                "URLDecoder: Illegal hex characters in escape (%) pattern - not a hexadecimal \
                 digit: \"{wrong}\" = {}",
                u32::from(*wrong)
            );
        }
        if digits.len() < 2 {
            break;
        }
    }
    "URLDecoder: Incomplete trailing escape (%) pattern".to_string()
}

/// A size in bytes as settings write it: `1kb`, `20m`, `7b`.
///
/// # Errors
/// Why it is none, in OpenSearch's words.
pub fn byte_size(text: &str) -> Result<i64, NoSize> {
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
    let refused = NoSize::Unreadable;
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
        (_, Some(digits)) => digits
            .parse()
            .map_err(|_| NoSize::NotANumber(format!("For input string: \"{digits}\""))),
        (_, None) => Err(refused(format!(
            "{setting} as a size in bytes: unit is missing or unrecognized"
        ))),
    }
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
            assert_eq!(json_value(&text).unwrap(), value, "{text}");
        }
        assert!(json_value("{\"a\": -").is_err());
    }

    #[test]
    fn escapes_are_undone_or_named() {
        assert_eq!(url_decoded("a+b%3A%22c%22").unwrap(), "a b:\"c\"");
        assert_eq!(url_decoded("%C3%A9").unwrap(), "\u{e9}");
        assert_eq!(url_decoded("/caf%E9?a").unwrap(), "/caf\u{fffd}?a");
        for (text, reason) in [
            ("%zz", "Illegal hex characters"),
            ("%4", "Incomplete trailing escape"),
        ] {
            let told = url_decoded(text).unwrap_err();
            assert!(told.contains(reason), "{told}");
        }
    }
}
