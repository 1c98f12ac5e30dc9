//! The text of a configuration: its tree with the variables put in, and the line of every place in it.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::ConfigError;

/// A configuration's text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    name: &'a str,
    text: &'a str,
}

/// One step from a place in the tree to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Key(String),
    Item(usize),
}

impl<'a> Source<'a> {
    pub(super) fn new(name: &'a str, text: &'a str) -> Self {
        Source { name, text }
    }

    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    /// The tree of the text as it is written.
    pub(super) fn raw_tree(&self) -> Result<Value, ConfigError> {
        let read: Result<Option<Value>, _> = serde_yaml_ng::from_str(self.text);
        match read {
            Ok(read) => Ok(read.unwrap_or_else(|| Value::Object(Map::new()))),
            Err(error) => {
                let line = error.location().map(|location| location.line());
                Err(self.error("", line, format!("is not valid YAML: {error}")))
            }
        }
    }

    /// The tree of the text, with variables put in.
    pub(super) fn tree(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Value, ConfigError> {
        let mut tree = self.raw_tree()?;
        self.refuse_doubles()?;
        self.substitute(&mut tree, &mut Vec::new(), variable)?;
        Ok(tree)
    }

    /// Refuses a key that a mapping has twice: of its values all but the last would be lost without a word.
    fn refuse_doubles(&self) -> Result<(), ConfigError> {
        let read: Result<Option<serde_yaml_ng::Value>, _> = serde_yaml_ng::from_str(self.text);
        let Err(error) = read else {
            return Ok(());
        };
        let line = error.location().map(|location| location.line());
        Err(self.error("", line, format!("is not valid: {error}")))
    }

    fn substitute(
        &self,
        value: &mut Value,
        path: &mut Vec<Part>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), ConfigError> {
        match value {
            Value::Object(members) => {
                for (key, inner) in members {
                    path.push(Part::Key(key.clone()));
                    self.substitute(inner, path, variable)?;
                    path.pop();
                }
            }
            Value::Array(items) => {
                for (number, inner) in items.iter_mut().enumerate() {
                    path.push(Part::Item(number));
                    self.substitute(inner, path, variable)?;
                    path.pop();
                }
            }
            Value::String(text) if text.contains("${") => {
                *value = filled(text, variable)
                    .map_err(|reason| self.error(&written(path), self.line_of(path), reason))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The line of a place, counted from 1. The text is read again up to there, so this is for errors.
    pub(super) fn line_of(&self, path: &[Part]) -> Option<usize> {
        let deserializer = serde_yaml_ng::Deserializer::from_str(self.text);
        let error = Walk(path).deserialize(deserializer).err()?;
        error.location().map(|location| location.line())
    }

    /// The same for keys that may be written with dots or inside each other, whichever of both the path and the text do.
    pub(super) fn line_of_dotted(&self, path: &[Part]) -> Option<usize> {
        let mut parts = Vec::new();
        for part in path {
            match part {
                Part::Key(key) => parts.extend(key.split('.').map(|key| Part::Key(key.to_owned()))),
                Part::Item(number) => parts.push(Part::Item(*number)),
            }
        }
        let deserializer = serde_yaml_ng::Deserializer::from_str(self.text);
        let error = Dotted(&parts).deserialize(deserializer).err()?;
        error.location().map(|location| location.line())
    }

    pub(super) fn error(&self, place: &str, line: Option<usize>, reason: String) -> ConfigError {
        ConfigError {
            file: self.name.to_owned(),
            line,
            place: place.to_owned(),
            reason,
        }
    }
}

/// A path as people write it: `inputs[0].paths`.
pub(super) fn written(path: &[Part]) -> String {
    let mut text = String::new();
    for part in path {
        match part {
            Part::Key(key) if text.is_empty() => text.push_str(key),
            Part::Key(key) => text.push_str(&format!(".{key}")),
            Part::Item(number) => text.push_str(&format!("[{number}]")),
        }
    }
    text
}

/// A text with its variables put in: `${NAME}`, `${NAME:default}`, `${NAME:?what is missing}`; `$${` stands for `${`. A text that is one variable and
/// nothing else becomes the number or the flag that it spells.
fn filled(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Value, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if let Some(before) = rest[..at].strip_suffix('$') {
            out.push_str(before);
            out.push_str("${");
            rest = &rest[at + 2..];
            continue;
        }
        out.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let end = inside
            .find('}')
            .ok_or_else(|| "has `${` without its `}`".to_owned())?;
        let (name, default) = match inside[..end].split_once(':') {
            Some((name, default)) => (name, Some(default)),
            None => (&inside[..end], None),
        };
        let value = match (variable(name), default) {
            (Some(value), _) => value,
            // As Beats and shells have it: what is said where one has to be set.
            (None, Some(default)) => match default.strip_prefix('?') {
                Some(message) => return Err(format!("the variable {name} is not set: {message}")),
                None => default.to_owned(),
            },
            (None, None) => {
                return Err(format!(
                    "the variable {name} is not set, and has no default (${{{name}:default}})"
                ));
            }
        };
        rest = &inside[end + 1..];
        if at == 0 && out.is_empty() && rest.is_empty() {
            return Ok(scalar(&value));
        }
        out.push_str(&value);
    }
    out.push_str(rest);
    Ok(Value::String(out))
}

fn scalar(text: &str) -> Value {
    match serde_yaml_ng::from_str(text) {
        Ok(read @ Value::Bool(_)) => read,
        // Numbers in another spelling are more likely secrets or names: `007`, `12e456`.
        Ok(Value::Number(read)) if read.to_string() == text => Value::Number(read),
        _ => Value::String(text.to_owned()),
    }
}

/// Walks to a place and stops there with an error, which has the place's line.
struct Walk<'p>(&'p [Part]);

const HERE: &str = "here";

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0.first() {
            Some(Part::Key(_)) => deserializer.deserialize_map(self),
            Some(Part::Item(_)) => deserializer.deserialize_seq(self),
            None => deserializer.deserialize_any(Stop),
        }
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what the path leads to")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some(Part::Key(wanted)) = self.0.first() else {
            return Ok(());
        };
        let rest = &self.0[1..];
        // The last key is stopped at itself: its value may begin some lines further down.
        let stop_at = rest.is_empty().then_some(wanted.as_str());
        while let Some(key) = map.next_key_seed(Key { stop_at })? {
            if key == *wanted {
                return map.next_value_seed(Walk(rest));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Some(Part::Item(wanted)) = self.0.first() else {
            return Ok(());
        };
        for _ in 0..*wanted {
            items.next_element::<IgnoredAny>()?;
        }
        items.next_element_seed(Walk(&self.0[1..])).map(drop)
    }
}

struct Key<'p> {
    stop_at: Option<&'p str>,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<String, E> {
        match self.stop_at == Some(key) {
            true => Err(E::custom(HERE)),
            false => Ok(key.to_owned()),
        }
    }
}

/// Walks to a place whose path has a part for each word between dots. Several keys may begin as the path does: those behind a
/// wrong way are tried, too.
struct Dotted<'p>(&'p [Part]);

impl<'de> DeserializeSeed<'de> for Dotted<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0.is_empty() {
            true => deserializer.deserialize_any(Stop),
            false => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Dotted<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what the path leads to")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        // One mapping may stand where a list of them may.
        let parts = match self.0 {
            [Part::Item(0), rest @ ..] => rest,
            parts => parts,
        };
        while let Some(rest) = map.next_key_seed(DottedKey(parts))? {
            match rest {
                Some(rest) => map.next_value_seed(Dotted(rest))?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if let Some(Part::Item(wanted)) = self.0.first() {
            for _ in 0..*wanted {
                items.next_element::<IgnoredAny>()?;
            }
            items.next_element_seed(Dotted(&self.0[1..]))?;
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// What is left of the path behind a key, if the key is on it; the last key is stopped at.
struct DottedKey<'p>(&'p [Part]);

impl<'de, 'p> DeserializeSeed<'de> for DottedKey<'p> {
    type Value = Option<&'p [Part]>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'p> Visitor<'_> for DottedKey<'p> {
    type Value = Option<&'p [Part]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Self::Value, E> {
        let mut left = self.0;
        for name in key.split('.') {
            match left.split_first() {
                Some((Part::Key(wanted), rest)) if wanted == name => left = rest,
                // The key goes on where the path ends.
                None => break,
                _ => return Ok(None),
            }
        }
        match left.is_empty() {
            true => Err(E::custom(HERE)),
            false => Ok(Some(left)),
        }
    }
}

/// Stops at any value.
struct Stop;

impl<'de> Visitor<'de> for Stop {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HERE)
    }
}
