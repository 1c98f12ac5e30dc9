//! `convert`: a value as another kind of value.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::error::{DefinitionError, Failure};
use crate::java::java_text;

/// What a value is turned into.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ConvertType {
    Integer,
    Long,
    Float,
    Double,
    Text,
    Boolean,
    Ip,
    Auto,
}

impl ConvertType {
    pub(crate) fn parse(name: &str) -> Result<Self, DefinitionError> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "integer" => ConvertType::Integer,
            "long" => ConvertType::Long,
            "float" => ConvertType::Float,
            "double" => ConvertType::Double,
            "string" => ConvertType::Text,
            "boolean" => ConvertType::Boolean,
            "ip" => ConvertType::Ip,
            "auto" => ConvertType::Auto,
            _ => {
                return Err(DefinitionError::refused(
                    "type",
                    format!("type [{name}] not supported, cannot convert field."),
                ));
            }
        })
    }

    fn name(self) -> &'static str {
        match self {
            ConvertType::Integer => "integer",
            ConvertType::Long => "long",
            ConvertType::Float => "float",
            ConvertType::Double => "double",
            ConvertType::Text => "string",
            ConvertType::Boolean => "boolean",
            ConvertType::Ip => "ip",
            ConvertType::Auto => "auto",
        }
    }

    /// Converts a value, or each of a list.
    pub(crate) fn convert(self, path: &str, value: Value) -> Result<Value, Failure> {
        if let Value::Array(items) = value {
            let items = items.into_iter().map(|item| self.convert(path, item));
            return Ok(Value::Array(items.collect::<Result<_, _>>()?));
        }
        if value.is_null() {
            return Err(Failure::unfit(format!(
                "Field [{path}] is null, cannot be converted to type [{}]",
                self.name()
            )));
        }
        if !value.is_string() && matches!(self, ConvertType::Auto) {
            return Ok(value);
        }
        let text = java_text(&value);
        match self.read(&text) {
            Some(Typed::Text) => Ok(text.into()),
            Some(Typed::Whole(number)) => Ok(number.into()),
            Some(Typed::Float(number)) => Ok(json!(number)),
            Some(Typed::Bool(truth)) => Ok(truth.into()),
            None => Err(match self {
                ConvertType::Boolean => Failure::unfit(format!(
                    "[{text}] is not a boolean value, cannot convert to boolean"
                )),
                ConvertType::Ip => {
                    Failure::unfit(format!("[{text}] is not a valid ipv4/ipv6 address"))
                }
                _ => {
                    let name = self.name();
                    Failure::no_number(format!("unable to convert [{text}] to {name}"), &text)
                }
            }),
        }
    }

    /// What a text spells, if it is of this type.
    pub(crate) fn read(self, text: &str) -> Option<Typed> {
        match self {
            ConvertType::Text => Some(Typed::Text),
            ConvertType::Integer => {
                let number = parse_whole(text)?;
                i32::try_from(number).ok().map(|_| Typed::Whole(number))
            }
            ConvertType::Long => parse_whole(text).map(Typed::Whole),
            ConvertType::Float => single(text.trim()).map(Typed::Float),
            ConvertType::Double => finite(text.trim()).map(Typed::Float),
            ConvertType::Boolean if text.eq_ignore_ascii_case("true") => Some(Typed::Bool(true)),
            ConvertType::Boolean if text.eq_ignore_ascii_case("false") => Some(Typed::Bool(false)),
            ConvertType::Boolean => None,
            ConvertType::Ip => text.parse::<IpAddr>().ok().map(|_| Typed::Text),
            ConvertType::Auto => Some(match text {
                _ if text.eq_ignore_ascii_case("true") => Typed::Bool(true),
                _ if text.eq_ignore_ascii_case("false") => Typed::Bool(false),
                // A number with a fraction has 32 bits unless it needs more.
                _ => match parse_whole(text) {
                    Some(number) => Typed::Whole(number),
                    None => single(text.trim())
                        .or_else(|| finite(text.trim()))
                        .map_or(Typed::Text, Typed::Float),
                },
            }),
        }
    }
}

/// What a text is found to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Typed {
    /// Text, as it is.
    Text,
    Whole(i64),
    /// A number that JSON can say.
    Float(f64),
    Bool(bool),
}

fn finite(text: &str) -> Option<f64> {
    let number = without_width(text).parse::<f64>().ok();
    number.filter(|number| number.is_finite())
}

/// A number without the letter behind it that says in Java how wide it is: `1.5f`, `2d`.
fn without_width(text: &str) -> &str {
    match text.strip_suffix(['f', 'F', 'd', 'D']) {
        Some(number) if number.ends_with(|last: char| last.is_ascii_digit() || last == '.') => {
            number
        }
        _ => text,
    }
}

/// The number of 32 bits that is next, as it is written: `0.1` stays `0.1`.
fn single(text: &str) -> Option<f64> {
    let number: f32 = without_width(text).parse().ok()?;
    finite(&number.to_string())
}

/// A whole number, also to the base 16: `0x1f`, `-0x1f`.
fn parse_whole(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let digits = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    match digits {
        // A second sign is none.
        Some(digits) if digits.starts_with(['+', '-']) => None,
        Some(digits) => i64::from_str_radix(&format!("{sign}{digits}"), 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_has_32_bits_and_a_double_64() {
        for (text, float, double) in [
            ("0.1", Some(0.1), Some(0.1)),
            (
                "2.34567890123457",
                Some(2.345_678_8),
                Some(2.345_678_901_234_57),
            ),
            ("16777217", Some(16_777_216.0), Some(16_777_217.0)),
            ("-1e10", Some(-1e10), Some(-1e10)),
            ("1e39", None, Some(1e39)),
            ("x", None, None),
            ("1f", Some(1.0), Some(1.0)),
            ("-2.5D", Some(-2.5), Some(-2.5)),
            ("inf", None, None),
            ("0xd", None, None),
            ("ff", None, None),
        ] {
            assert_eq!(
                ConvertType::Float.read(text),
                float.map(Typed::Float),
                "{text}"
            );
            assert_eq!(
                ConvertType::Double.read(text),
                double.map(Typed::Float),
                "{text}"
            );
        }
    }

    #[test]
    fn what_a_text_is_by_itself_is_told_by_how_it_is_written() {
        for (text, typed) in [
            ("42", Typed::Whole(42)),
            (" 42 ", Typed::Float(42.0)),
            ("1f", Typed::Float(1.0)),
            ("9223372036854775808", Typed::Float(9.223_372e18)),
            ("1e39", Typed::Float(1e39)),
            ("True", Typed::Bool(true)),
            ("NaN", Typed::Text),
            ("f", Typed::Text),
        ] {
            assert_eq!(ConvertType::Auto.read(text), Some(typed), "{text}");
        }
    }
}
