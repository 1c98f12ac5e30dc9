//! JSON whose objects have each name once: a second value of a name would silently stand in the place of the first.

use std::cell::RefCell;
use std::fmt;

use clew_platform::Pace;
use clew_query::unless_stopped;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

use crate::http::error::ApiError;

/// Reads a body, or a line of one.
///
/// # Errors
/// What is no JSON, or names a member of an object twice, in OpenSearch's words; once the request is over.
pub(crate) fn read(text: &[u8]) -> Result<Value, ApiError> {
    let read = from_slice(text);
    // What was left off half-way is no error of the text.
    unless_stopped()?;
    read.map_err(|error| ApiError::malformed_text(text, &error))
}

fn from_slice(text: &[u8]) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let pace = RefCell::default();
    let value = Unique(&pace).deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Reads a value in which no object has a name twice, as long as somebody waits for it.
#[derive(Clone, Copy)]
struct Unique<'p>(&'p RefCell<Pace>);

impl<'de> DeserializeSeed<'de> for Unique<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.0.borrow_mut().is_over() {
            return Err(D::Error::custom("nobody waits for it"));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique<'_> {
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
        while let Some(item) = seq.next_element_seed(self)? {
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
                    place.insert(map.next_value_seed(self)?);
                }
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use clew_platform::CancellationToken;

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

    #[test]
    fn a_body_is_read_for_somebody_alone() {
        let text = format!("[{}1]", "1,".repeat(3_000));
        assert!(read(text.as_bytes()).is_ok());
        let token = CancellationToken::new();
        token.cancel("by user request");
        let _entered = token.enter();
        assert!(from_slice(text.as_bytes()).is_err());
        let error = read(b"[").unwrap_err();
        assert!(error.reason().contains("stopped"), "{}", error.reason());
    }
}
