//! The members of a stored document, none of them looked into.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Calls `visit` with the name and the JSON of each member of a source, in their order. Names and values are borrowed, and
/// what stands in a value is passed over, not parsed.
///
/// # Errors
/// When the source is no JSON object.
pub fn each_member<'s>(
    source: &'s [u8],
    visit: &mut dyn FnMut(&str, &'s RawValue),
) -> serde_json::Result<()> {
    let mut from = serde_json::Deserializer::from_slice(source);
    from.deserialize_map(Members(visit))?;
    from.end()
}

struct Members<'v, 's>(&'v mut dyn FnMut(&str, &'s RawValue));

impl<'s> Visitor<'s> for Members<'_, 's> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'s>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((name, value)) = map.next_entry::<Name<'s>, &'s RawValue>()? {
            (self.0)(&name.0, value);
        }
        Ok(())
    }
}

/// A name, borrowed where nothing in it is escaped.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Name<'s>(#[serde(borrow)] Cow<'s, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn members(source: &str) -> serde_json::Result<Vec<(String, String)>> {
        let mut found = Vec::new();
        each_member(source.as_bytes(), &mut |name, json| {
            found.push((name.to_string(), json.get().to_string()));
        })?;
        Ok(found)
    }

    #[test]
    fn members_come_as_they_stand() {
        let found = members(r#" {"a": [1, {"b": 2}], "\u0062": "x\"", "a":null} "#).unwrap();
        let expected = [("a", r#"[1, {"b": 2}]"#), ("b", r#""x\"""#), ("a", "null")];
        let expected = expected.map(|(name, json)| (name.to_string(), json.to_string()));
        assert_eq!(found, expected);
        assert_eq!(members("{}").unwrap(), []);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for source in [
            "",
            "[1]",
            "1",
            "{",
            r#"{"a"}"#,
            r#"{"a": 1} x"#,
            r#"{"a": [}"#,
        ] {
            assert!(members(source).is_err(), "{source}");
        }
    }
}
