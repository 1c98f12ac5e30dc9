//! Values as other types.

use std::net::IpAddr;

pub(crate) use clew_schema::text_of as shown;
use serde_json::{Number, Value};

use crate::fields::SqlType;
use crate::functions::calendar::{clock, moment, written};

/// A number, unless it is none.
pub(crate) fn float(number: f64) -> Value {
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

/// The type that `CAST` names.
pub(crate) fn cast_type(name: &str) -> Option<SqlType> {
    Some(match name {
        "string" | "varchar" | "char" | "keyword" => SqlType::Keyword,
        "byte" => SqlType::Byte,
        "short" => SqlType::Short,
        "int" | "integer" => SqlType::Integer,
        "long" | "bigint" => SqlType::Long,
        "float" => SqlType::Float,
        "double" => SqlType::Double,
        "boolean" => SqlType::Boolean,
        "timestamp" => SqlType::Timestamp,
        "datetime" => SqlType::Datetime,
        "date" => SqlType::Date,
        "time" => SqlType::Time,
        "ip" => SqlType::Ip,
        _ => return None,
    })
}

/// A value as another type; null where it cannot be one.
pub(crate) fn cast(kind: SqlType, value: &Value) -> Value {
    match (kind, value) {
        (_, Value::Null) => Value::Null,
        (SqlType::Keyword, other) => shown(other).into(),
        (SqlType::Timestamp | SqlType::Datetime, value @ Value::String(_)) => {
            moment(value).map_or(Value::Null, written)
        }
        (SqlType::Date, value) => moment(value).map(|moment| moment.date().to_string()).into(),
        (SqlType::Time, value) => clock(value).map(|time| time.to_string()).into(),
        (SqlType::Ip, Value::String(text)) => {
            let address: Option<IpAddr> = text.trim().parse().ok();
            address.map(|address| address.to_string()).into()
        }
        (SqlType::Boolean, Value::String(text)) => text.eq_ignore_ascii_case("true").into(),
        (SqlType::Boolean, Value::Number(number)) => (number.as_f64() != Some(0.0)).into(),
        (SqlType::Boolean, other) => other.clone(),
        (kind, Value::Bool(truth)) if kind.is_number() => i64::from(*truth).into(),
        (kind, Value::String(text)) if kind.is_number() => text
            .trim()
            .parse()
            .map_or(Value::Null, |number: f64| of_number(kind, number)),
        (kind, Value::Number(number)) if kind.is_number() => match number.as_i64() {
            Some(whole) if kind.is_whole() => whole.into(),
            _ => number
                .as_f64()
                .map_or(Value::Null, |number| of_number(kind, number)),
        },
        _ => Value::Null,
    }
}

/// A number as a type has it: whole ones without a fraction.
pub(crate) fn of_number(kind: SqlType, number: f64) -> Value {
    if !kind.is_whole() {
        return float(number);
    }
    let whole = format!("{:.0}", number.trunc()).parse::<i64>();
    whole.map_or(Value::Null, Value::from)
}
