//! Changes of single values.

use regex::Regex;
use serde_json::{Number, Value};

use super::Failure;
use crate::error::ApiError;
use crate::params::{Plus, decode};

/// A change of a text, or of each text of a list.
#[derive(Debug)]
pub(super) enum Change {
    Lower,
    Upper,
    Trim,
    StripHtml,
    UrlDecode,
    Bytes,
    Replace {
        pattern: Regex,
        with: String,
    },
    Split {
        separator: Regex,
        keep_trailing: bool,
    },
    Join(String),
}

impl Change {
    /// Changes a value.
    pub(super) fn apply(&self, path: &str, value: Value) -> Result<Value, Failure> {
        match (self, value) {
            (Change::Join(separator), Value::Array(items)) => {
                let texts: Vec<String> = items.iter().map(crate::mustache::plain).collect();
                Ok(texts.join(separator).into())
            }
            (Change::Join(_), other) => Err(wrong_type(path, &other, "java.util.List")),
            (Change::Split { .. }, Value::String(text)) => self.text(path, &text),
            (Change::Split { .. }, other) => Err(wrong_type(path, &other, "java.lang.String")),
            (_, Value::Array(items)) => {
                let changed = items.into_iter().map(|item| self.apply(path, item));
                Ok(Value::Array(changed.collect::<Result<_, _>>()?))
            }
            (_, Value::String(text)) => self.text(path, &text),
            (_, other) => Err(wrong_type(path, &other, "java.lang.String")),
        }
    }

    fn text(&self, path: &str, text: &str) -> Result<Value, Failure> {
        Ok(match self {
            Change::Lower => text.to_lowercase().into(),
            Change::Upper => text.to_uppercase().into(),
            Change::Trim => text.trim().into(),
            Change::StripHtml => strip_html(text).into(),
            Change::UrlDecode => decode(text, Plus::IsSpace)
                .map_err(|_| Failure::illegal(format!("could not URL-decode value [{text}]")))?
                .into(),
            Change::Bytes => bytes(path, text)?.into(),
            Change::Replace { pattern, with } => {
                // References are written with a dollar in both; a name must end where it ends.
                pattern.replace_all(text, with.as_str()).into_owned().into()
            }
            Change::Split {
                separator,
                keep_trailing,
            } => {
                let mut parts: Vec<&str> = separator.split(text).collect();
                while !keep_trailing && parts.last().is_some_and(|last| last.is_empty()) {
                    parts.pop();
                }
                Value::from(parts)
            }
            Change::Join(_) => text.into(),
        })
    }
}

fn wrong_type(path: &str, value: &Value, wanted: &str) -> Failure {
    if value.is_null() {
        return Failure::illegal(format!("field [{path}] is null, cannot process it."));
    }
    Failure::illegal(format!(
        "field [{path}] of type [{}] cannot be cast to [{wanted}]",
        class(value)
    ))
}

fn strip_html(text: &str) -> String {
    let mut stripped = String::new();
    let mut inside = false;
    for character in text.chars() {
        match character {
            '<' => inside = true,
            '>' if inside => inside = false,
            other if !inside => stripped.push(other),
            _ => {}
        }
    }
    stripped
}

fn bytes(path: &str, text: &str) -> Result<u64, Failure> {
    let lower = text.trim().to_ascii_lowercase();
    let units = [
        ("pb", 50),
        ("tb", 40),
        ("gb", 30),
        ("mb", 20),
        ("kb", 10),
        ("b", 0),
    ];
    let found = units
        .iter()
        .find_map(|(unit, power)| Some((lower.strip_suffix(unit)?, *power)));
    let refused = || {
        Failure::illegal(format!(
            "failed to parse setting [{path}] with value [{text}] as a size in bytes"
        ))
    };
    let (digits, power) = found.ok_or_else(refused)?;
    let number: u64 = digits.trim().parse().map_err(|_| refused())?;
    number.checked_mul(1 << power).ok_or_else(refused)
}

/// What a value is turned into.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Integer,
    Long,
    Float,
    Double,
    Text,
    Boolean,
    Ip,
    Auto,
}

impl Kind {
    pub(super) fn parse(name: &str) -> Result<Self, ApiError> {
        Ok(match name {
            "integer" => Kind::Integer,
            "long" => Kind::Long,
            "float" => Kind::Float,
            "double" => Kind::Double,
            "string" => Kind::Text,
            "boolean" => Kind::Boolean,
            "ip" => Kind::Ip,
            "auto" => Kind::Auto,
            other => {
                return Err(super::pipeline::malformed(format!(
                    "[type] type [{other}] not supported, cannot convert field."
                )));
            }
        })
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Integer => "integer",
            Kind::Long => "long",
            Kind::Float => "float",
            Kind::Double => "double",
            Kind::Text => "string",
            Kind::Boolean => "boolean",
            Kind::Ip => "ip",
            Kind::Auto => "auto",
        }
    }

    /// Converts a value, or each of a list.
    pub(super) fn convert(self, path: &str, value: Value) -> Result<Value, Failure> {
        if let Value::Array(items) = value {
            let items = items.into_iter().map(|item| self.convert(path, item));
            return Ok(Value::Array(items.collect::<Result<_, _>>()?));
        }
        if value.is_null() {
            return Err(Failure::illegal(format!(
                "Field [{path}] is null, cannot be converted to type [{}]",
                self.name()
            )));
        }
        let text = crate::mustache::plain(&value);
        let refused = || {
            let name = self.name();
            Failure::illegal(format!("unable to convert [{text}] to {name}"))
        };
        let whole = || parse_whole(text.trim());
        Ok(match self {
            Kind::Text => text.into(),
            Kind::Integer => {
                let number = whole().and_then(|number| i32::try_from(number).ok());
                number.ok_or_else(refused)?.into()
            }
            Kind::Long => whole().ok_or_else(refused)?.into(),
            Kind::Float | Kind::Double => {
                let number = text.trim().parse::<f64>().ok().and_then(Number::from_f64);
                Value::Number(number.ok_or_else(refused)?)
            }
            Kind::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" => true.into(),
                "false" => false.into(),
                _ => {
                    return Err(Failure::illegal(format!(
                        "[{text}] is not a boolean value, cannot convert to boolean"
                    )));
                }
            },
            Kind::Ip => match text.parse::<std::net::IpAddr>() {
                Ok(_) => text.into(),
                Err(_) => {
                    return Err(Failure::illegal(format!(
                        "'{text}' is not an IP string literal."
                    )));
                }
            },
            Kind::Auto => auto(value, &text),
        })
    }
}

fn parse_whole(text: &str) -> Option<i64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn auto(value: Value, text: &str) -> Value {
    if !value.is_string() {
        return value;
    }
    match text {
        "true" => return true.into(),
        "false" => return false.into(),
        _ => {}
    }
    if let Ok(number) = text.parse::<i64>() {
        return number.into();
    }
    match text.parse::<f64>().ok().and_then(Number::from_f64) {
        Some(number) => Value::Number(number),
        None => value,
    }
}

/// What Java calls a value's type, as reasons name it.
pub(super) fn class(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "java.lang.Boolean",
        Value::Number(number) if number.is_f64() => "java.lang.Double",
        Value::Number(_) => "java.lang.Integer",
        Value::String(_) => "java.lang.String",
        Value::Array(_) => "java.util.ArrayList",
        Value::Object(_) => "java.util.HashMap",
    }
}
