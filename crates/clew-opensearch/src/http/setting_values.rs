//! Values as settings and parameters write them: times and sizes with a unit, names flat and nested.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::http::error::ApiError;

/// Settings as flat names; `None` asks for the default again.
pub type Flat = BTreeMap<String, Option<String>>;

/// Flattens without adding a prefix, as cluster settings need it.
pub(crate) fn flatten_plain(settings: &Map<String, Value>) -> Result<Flat, ApiError> {
    let mut flat = Flat::new();
    for (name, value) in settings {
        flatten_into(&mut flat, name.clone(), value)?;
    }
    Ok(flat)
}

fn flatten_into(flat: &mut Flat, name: String, value: &Value) -> Result<(), ApiError> {
    let text = match value {
        Value::Object(members) => {
            for (member, value) in members {
                flatten_into(flat, format!("{name}.{member}"), value)?;
            }
            return Ok(());
        }
        Value::Null => None,
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        // A list keeps its JSON; `unflatten` shows it as a list again.
        Value::Array(items)
            if items
                .iter()
                .all(|item| !item.is_object() && !item.is_array()) =>
        {
            Some(value.to_string())
        }
        Value::Array(_) => {
            return Err(ApiError::illegal_argument(format!(
                "setting [{name}] holds a list of something else than plain values"
            )));
        }
    };
    flat.insert(name, text);
    Ok(())
}

/// Nests flat names again: `index.a.b` becomes `{"index":{"a":{"b":..}}}`. Where a name is a value
/// and a parent (`knn`, `knn.algo_param.ef_search`), what is below it starts with the dotted name.
/// The names must come in order, so that a value comes before what is below its name.
pub(crate) fn unflatten<'a>(flat: impl Iterator<Item = (&'a str, &'a str)>) -> Map<String, Value> {
    let mut root = Map::new();
    for (name, text) in flat {
        insert_nested(&mut root, String::new(), name, shown(text));
    }
    root
}

fn insert_nested(at: &mut Map<String, Value>, prefix: String, name: &str, value: Value) {
    let Some((head, rest)) = name.split_once('.') else {
        at.insert(prefix + name, value);
        return;
    };
    let key = prefix + head;
    match at
        .entry(key.as_str())
        .or_insert_with(|| Value::Object(Map::new()))
    {
        Value::Object(below) => insert_nested(below, String::new(), rest, value),
        _ => insert_nested(at, key + ".", rest, value),
    }
}

/// Settings by their names, flat or nested.
pub(crate) fn settings_json(settings: &BTreeMap<String, String>, flat: bool) -> Value {
    let pairs = settings
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    Value::Object(match flat {
        true => pairs
            .map(|(name, text)| (name.to_string(), shown(text)))
            .collect(),
        false => unflatten(pairs),
    })
}

/// A setting's value as it is shown: a string, or the list that was given.
pub(crate) fn shown(text: &str) -> Value {
    let list = text
        .starts_with('[')
        .then(|| serde_json::from_str(text).ok())
        .flatten();
    match list {
        Some(list @ Value::Array(_)) => list,
        _ => Value::String(text.to_string()),
    }
}

/// Reads `30s`, `500ms`, `1d`, `0`; -1 is `None`. `name` is for the error.
///
/// # Errors
/// No number, no unit, or too long.
pub fn parse_time(name: &str, text: &str) -> Result<Option<Duration>, ApiError> {
    let trimmed = text.trim();
    match trimmed {
        "-1" => return Ok(None),
        "0" => return Ok(Some(Duration::ZERO)),
        _ => {}
    }
    let is_letter = |letter: char| letter.is_alphabetic();
    let (number, unit) = trimmed.split_at(trimmed.find(is_letter).unwrap_or(trimmed.len()));
    let nanos_per_unit: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "nanos" => 1,
        "micros" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => {
            return Err(ApiError::illegal_argument(format!(
                "failed to parse setting [{name}] with value [{text}] as a time value: \
                 unit is missing or unrecognized"
            )));
        }
    };
    let number = number.trim();
    if number.starts_with('-') {
        return Err(ApiError::illegal_argument(format!(
            "failed to parse setting [{name}] with value [{text}] as a time value: \
             negative durations are not supported"
        )));
    }
    if number.contains('.') && number.parse::<f64>().is_ok() {
        return Err(ApiError::illegal_argument(format!(
            "failed to parse [{text}], fractional time values are not supported"
        )));
    }
    let nanos = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(nanos_per_unit));
    nanos
        .map(|nanos| Some(Duration::from_nanos(nanos)))
        .ok_or_else(|| {
            ApiError::illegal_argument(format!("failed to parse [{text}] for setting [{name}]"))
        })
}

/// Reads `512mb`, `1gb`, `10b`. `name` is for the error.
///
/// # Errors
/// No number, no unit, or too large.
pub fn parse_bytes(name: &str, text: &str) -> Result<u64, ApiError> {
    let trimmed = text.trim().to_ascii_lowercase();
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = trimmed.split_at(digits);
    let shift = match unit.trim() {
        "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        "t" | "tb" => 40,
        _ => {
            return Err(ApiError::bad_request(
                "parse_exception",
                format!(
                    "failed to parse setting [{name}] with value [{text}] as a size in bytes: \
                     unit is missing or unrecognized"
                ),
            ));
        }
    };
    let number = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(1 << shift));
    number.ok_or_else(|| {
        ApiError::illegal_argument(format!("failed to parse [{text}] for setting [{name}]"))
    })
}

/// A size as people read it (`24.7mb`), or as the unit of the `bytes` parameter says.
pub(crate) fn size_in_words(count: u64, unit: Option<&str>) -> String {
    const UNITS: [(&str, u32); 5] = [("b", 0), ("kb", 10), ("mb", 20), ("gb", 30), ("tb", 40)];
    if let Some(unit) = unit {
        let shift = UNITS
            .iter()
            .find(|(name, _)| name.starts_with(unit))
            .map_or(0, |(_, s)| *s);
        return (count >> shift).to_string();
    }
    let (name, shift) = UNITS
        .iter()
        .rev()
        .find(|(_, shift)| count >> shift > 0)
        .copied()
        .unwrap_or(("b", 0));
    let tenths = (u128::from(count) * 10) >> shift;
    match tenths % 10 {
        0 => format!("{}{name}", tenths / 10),
        tenth => format!("{}.{tenth}{name}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let sizes = [
            (0, "0b"),
            (208, "208b"),
            (3942, "3.8kb"),
            (1 << 20, "1mb"),
            (25_900_000, "24.7mb"),
        ];
        for (count, expected) in sizes {
            assert_eq!(size_in_words(count, None), expected);
        }
        assert_eq!(size_in_words(2048, Some("k")), "2");
        assert_eq!(size_in_words(2048, Some("b")), "2048");
    }
}
