//! JSON whose objects have each name once: a second value of a name would silently stand in the place of the first.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

/// Reads a body.
///
/// # Errors
/// What is no JSON, or names a member of an object twice; with line and column.
pub(crate) fn from_slice(text: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(text).map(|Unique(value)| value)
}

/// A value in which no object has a name twice.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Unique)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("any valid JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Unique(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            match members.entry(name) {
                Entry::Occupied(taken) => {
                    let told = format!("Duplicate field '{}'", taken.key());
                    return Err(A::Error::custom(told));
                }
                Entry::Vacant(place) => {
                    let Unique(value) = map.next_value()?;
                    place.insert(value);
                }
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_that_are_read_otherwise() {
        for text in [
            r#"{"a": [1, -2, 2.5, 1e300, 18446744073709551615, true, null, "x\"é"], "b": {"a": {}}}"#,
            "[]",
            "3",
        ] {
            let read: Value = serde_json::from_str(text).unwrap();
            assert_eq!(from_slice(text.as_bytes()).unwrap(), read, "{text}");
        }
        for text in ["{", "[1,]", "", "{\"a\":}", &"[".repeat(1000)] {
            assert!(from_slice(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn names_that_stand_twice_are_refused() {
        for (text, name) in [
            (r#"{"a":1,"a":1}"#, "a"),
            (r#"{"a":[{"b":1,"\u0062":2}]}"#, "b"),
        ] {
            let error = from_slice(text.as_bytes()).unwrap_err().to_string();
            let told = format!("Duplicate field '{name}' at line 1");
            assert!(error.starts_with(&told), "{error}");
        }
        assert!(from_slice(br#"{"a":{"b":1},"c":{"b":1}}"#).is_ok());
    }
}
