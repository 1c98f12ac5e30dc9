//! `convert`: a value as another kind of value.

use serde_json::{Number, Value};

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
        Ok(match name {
            "integer" => ConvertType::Integer,
            "long" => ConvertType::Long,
            "float" => ConvertType::Float,
            "double" => ConvertType::Double,
            "string" => ConvertType::Text,
            "boolean" => ConvertType::Boolean,
            "ip" => ConvertType::Ip,
            "auto" => ConvertType::Auto,
            other => {
                return Err(DefinitionError::refused(
                    "type",
                    format!("type [{other}] not supported, cannot convert field."),
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
        let text = java_text(&value);
        let wrong = || {
            let name = self.name();
            Failure::no_number(format!("unable to convert [{text}] to {name}"), &text)
        };
        let whole = || parse_whole(text.trim());
        Ok(match self {
            ConvertType::Text => text.into(),
            ConvertType::Integer => {
                let number = whole().and_then(|number| i32::try_from(number).ok());
                number.ok_or_else(wrong)?.into()
            }
            ConvertType::Long => whole().ok_or_else(wrong)?.into(),
            ConvertType::Float | ConvertType::Double => {
                let number = text.trim().parse::<f64>().ok().and_then(Number::from_f64);
                Value::Number(number.ok_or_else(wrong)?)
            }
            ConvertType::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" => true.into(),
                "false" => false.into(),
                _ => {
                    return Err(Failure::unfit(format!(
                        "[{text}] is not a boolean value, cannot convert to boolean"
                    )));
                }
            },
            ConvertType::Ip => match text.parse::<std::net::IpAddr>() {
                Ok(_) => text.into(),
                Err(_) => {
                    return Err(Failure::unfit(format!(
                        "[{text}] is not a valid ipv4/ipv6 address"
                    )));
                }
            },
            ConvertType::Auto => auto(value, &text),
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
