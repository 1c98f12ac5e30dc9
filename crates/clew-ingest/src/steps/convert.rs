//! `convert`: a value as another kind of value.

use serde_json::{Number, Value};

use crate::error::{DefinitionError, Failure};
use crate::java::java_text;

/// What a value is turned into.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
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
    pub(crate) fn parse(name: &str) -> Result<Self, DefinitionError> {
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
                return Err(DefinitionError::refused(
                    "type",
                    format!("type [{other}] not supported, cannot convert field."),
                ));
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
            Kind::Text => text.into(),
            Kind::Integer => {
                let number = whole().and_then(|number| i32::try_from(number).ok());
                number.ok_or_else(wrong)?.into()
            }
            Kind::Long => whole().ok_or_else(wrong)?.into(),
            Kind::Float | Kind::Double => {
                let number = text.trim().parse::<f64>().ok().and_then(Number::from_f64);
                Value::Number(number.ok_or_else(wrong)?)
            }
            Kind::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" => true.into(),
                "false" => false.into(),
                _ => {
                    return Err(Failure::unfit(format!(
                        "[{text}] is not a boolean value, cannot convert to boolean"
                    )));
                }
            },
            Kind::Ip => match text.parse::<std::net::IpAddr>() {
                Ok(_) => text.into(),
                Err(_) => {
                    return Err(Failure::unfit(format!(
                        "[{text}] is not a valid ipv4/ipv6 address"
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
