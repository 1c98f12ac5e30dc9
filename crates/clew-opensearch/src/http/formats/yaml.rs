//! YAML on its way to JSON: the one document of a body, with the types of YAML 1.2. Tags of one's own say nothing.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::json_text::JsonText;
use super::{malformed, yaml_bounds};
use crate::http::error::ApiError;

/// What a byte becomes at most while a document is read: its marks are all there before the first of them is used, some hundred
/// bytes each, in a list that doubles.
const MARKS_FACTOR: usize = 192;

/// Reads the one document of a body.
pub(super) fn read(body: &[u8], json: &mut JsonText) -> Result<(), ApiError> {
    yaml_bounds::check(body).map_err(|much| malformed("json_parse_exception", much.reason()))?;
    let _marks = json.hold(body.len().saturating_mul(MARKS_FACTOR))?;
    let mut refused = None;
    let node = Node {
        json,
        refused: &mut refused,
    };
    let read = node.deserialize(serde_yaml_ng::Deserializer::from_slice(body));
    match (refused, read) {
        (Some(refused), _) => Err(refused),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) => Err(malformed("json_parse_exception", error.to_string())),
    }
}

/// The place of a value in the JSON.
struct Node<'a> {
    json: &'a mut JsonText,
    /// Why it takes no more, which errors of YAML cannot hold.
    refused: &'a mut Option<ApiError>,
}

impl Node<'_> {
    fn told<E: Error>(
        self,
        taken: impl FnOnce(&mut JsonText) -> Result<(), ApiError>,
    ) -> Result<(), E> {
        taken(self.json).map_err(|error| {
            *self.refused = Some(error);
            E::custom("refused")
        })
    }

    fn again(&mut self) -> Node<'_> {
        Node {
            json: &mut *self.json,
            refused: &mut *self.refused,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.told(|json| json.boolean(value))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.told(|json| json.number(number))
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<(), E> {
        self.told(|json| json.number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.told(|json| json.number(number))
    }

    fn visit_u128<E: Error>(self, number: u128) -> Result<(), E> {
        self.told(|json| json.number(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.told(|json| json.double(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.told(|json| json.text(text))
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.told(JsonText::null)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        self.again().told::<A::Error>(|json| json.open(b'['))?;
        while items.next_element_seed(self.again())?.is_some() {}
        self.told(|json| json.close(b']'))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        self.again().told::<A::Error>(|json| json.open(b'{'))?;
        while members.next_key_seed(Name(self.again()))?.is_some() {
            members.next_value_seed(self.again())?;
        }
        self.told(|json| json.close(b'}'))
    }

    /// A value with a tag.
    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<(), A::Error> {
        let (IgnoredAny, value) = tagged.variant()?;
        value.newtype_variant_seed(self)
    }
}

/// The name of a member: the text of any plain value.
struct Name<'a>(Node<'a>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        self.0.told(|json| json.key(name))
    }
}
