//! Reading a part of the tree into a struct whose `Default` says which keys there are, so that a new key is a new field.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::source::{Part, Source, written};
use super::{ConfigError, Definition};
use crate::spelling::instead;

/// What others call keys of ours.
const ELSEWHERE: [(&str, &str); 10] = [
    ("hosts", "url"),
    ("host", "url"),
    ("endpoint", "url"),
    ("endpoints", "url"),
    ("uri", "url"),
    ("username", "authentication"),
    ("user", "authentication"),
    ("ssl", "tls"),
    ("include", "paths"),
    ("condition", "when"),
];

/// A mapping of the configuration that is being read.
#[derive(Debug)]
pub(super) struct Section<'a> {
    source: &'a Source<'a>,
    path: Vec<Part>,
    members: Map<String, Value>,
}

impl<'a> Section<'a> {
    pub(super) fn root(source: &'a Source<'a>, tree: Value) -> Result<Self, ConfigError> {
        Section::at(source, Vec::new(), tree)
    }

    fn at(source: &'a Source<'a>, path: Vec<Part>, value: Value) -> Result<Self, ConfigError> {
        match value {
            Value::Object(members) => Ok(Section {
                source,
                path,
                members,
            }),
            _ => {
                let line = source.line_of(&path);
                let reason = "must be a mapping of keys to values".to_owned();
                Err(source.error(&written(&path), line, reason))
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Takes a key that several kinds of sections have.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.members.shift_remove(key)
    }

    /// Takes a key whose value is a text.
    pub(super) fn take_text(&mut self, key: &str) -> Result<Option<String>, ConfigError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(Some(key), "must be a text")),
        }
    }

    /// Takes a key whose value somebody else reads.
    pub(super) fn take_definition(&mut self, key: &str) -> Option<Definition> {
        let written = self.take(key)?;
        let mut path = self.path.clone();
        path.push(Part::Key(key.to_owned()));
        Some(self.definition(&path, written))
    }

    /// Takes a key whose value is a mapping.
    pub(super) fn take_section(&mut self, key: &str) -> Result<Option<Section<'a>>, ConfigError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let mut path = self.path.clone();
        path.push(Part::Key(key.to_owned()));
        Section::at(self.source, path, value).map(Some)
    }

    /// Takes a key by the name that others have for it.
    pub(super) fn rename(&mut self, other: &str, own: &str) -> Result<(), ConfigError> {
        if !self.members.contains_key(other) {
            return Ok(());
        }
        if self.members.contains_key(own) {
            return Err(self.wrong(
                Some(other),
                format!("is the same as [{own}], which is there, too"),
            ));
        }
        let value = self.take(other);
        self.members
            .extend(value.map(|value| (own.to_owned(), value)));
        Ok(())
    }

    /// Where it stands, for what is wrong with it later.
    pub(super) fn place(&self) -> Definition {
        self.definition(&self.path, Value::Null)
    }

    /// All of it, for somebody else to read.
    pub(super) fn into_definition(mut self) -> Definition {
        let written = Value::Object(std::mem::take(&mut self.members));
        self.definition(&self.path, written)
    }

    fn definition(&self, path: &[Part], value: Value) -> Definition {
        Definition {
            written: value,
            file: self.source.name().to_owned(),
            place: written(path),
            line: self.source.line_of(path),
        }
    }

    /// What is wrong with the section, or with one of its keys.
    pub(super) fn wrong(&self, key: Option<&str>, reason: impl Into<String>) -> ConfigError {
        let mut path = self.path.clone();
        path.extend(key.map(|key| Part::Key(key.to_owned())));
        let line = self.source.line_of(&path);
        self.source.error(&written(&path), line, reason.into())
    }

    /// Reads what is left into a struct; `taken` are keys that were known before, for the nearest one, and `required`
    /// those that have no default. Where a text belongs, a number is one: secrets and names may spell one, of which
    /// nobody thinks where a variable stands. Where a list belongs, one text is a list of it.
    pub(super) fn read<T: Default + Serialize + DeserializeOwned>(
        mut self,
        taken: &[&str],
        required: &[&str],
    ) -> Result<T, ConfigError> {
        let defaults = serde_json::to_value(T::default()).expect("plain fields");
        let known = defaults.as_object().expect("a struct is an object");
        let mut names: Vec<&str> = known.keys().map(String::as_str).collect();
        names.extend(taken);
        let mut texts = Vec::new();
        for (key, value) in &self.members {
            if !known.contains_key(key) {
                let named = ELSEWHERE.iter().find(|(theirs, _)| theirs == key);
                let ours = named
                    .map(|(_, ours)| *ours)
                    .filter(|ours| names.contains(ours));
                let meant = match ours {
                    Some(ours) => format!(", did you mean [{ours}]?"),
                    None => instead(&names, key),
                };
                return Err(self.wrong(Some(key), format!("is no known key{meant}")));
            }
            // Alone, so that what is wrong with a value is told of its own key.
            let alone = |value: &Value| {
                let alone = Map::from_iter([(key.clone(), value.clone())]);
                serde_json::from_value::<T>(Value::Object(alone))
            };
            if let Err(error) = alone(value) {
                let is_list = known.get(key).is_some_and(Value::is_array);
                let otherwise = spelled(value).or_else(|| listed(value).filter(|_| is_list));
                match otherwise.filter(|other| alone(other).is_ok()) {
                    Some(other) => texts.push((key.clone(), other)),
                    None => return Err(self.wrong(Some(key), plainly(&error))),
                }
            }
        }
        self.members.extend(texts);
        if let Some(missing) = required
            .iter()
            .find(|key| !self.members.contains_key(**key))
        {
            return Err(self.wrong(None, format!("lacks [{missing}]")));
        }
        let whole = Value::Object(self.members.clone());
        serde_json::from_value(whole).map_err(|error| self.wrong(None, plainly(&error)))
    }
}

/// A text as a list of it.
fn listed(value: &Value) -> Option<Value> {
    value.is_string().then(|| Value::Array(vec![value.clone()]))
}

/// What is wrong with a value, without the names that types have in a program.
fn plainly(error: &serde_json::Error) -> String {
    let said = error.to_string();
    if let Some(told) = unknown(&said) {
        return told;
    }
    let Some((found, expected)) = said.split_once(", expected ") else {
        return said;
    };
    let plain = match expected {
        "usize" | "u64" | "u32" | "u16" | "u8" | "i64" | "i32" => "a whole number",
        "f64" | "f32" => "a number",
        "a boolean" => "true or false",
        "a string" => "a text",
        "a sequence" => "a list",
        "a map" => "a mapping of keys to values",
        other if other.starts_with("struct ") => "a mapping of keys to values",
        other => other,
    };
    format!("{found}, expected {plain}")
}

/// What is said of a name inside of a value that nobody knows: "unknown field `a`, expected one of `b`, `c`".
fn unknown(said: &str) -> Option<String> {
    let is_key = said.starts_with("unknown field `");
    if !is_key && !said.starts_with("unknown variant `") {
        return None;
    }
    // Every second piece is a name.
    let mut names = said.split('`').skip(1).step_by(2);
    let name = names.next()?;
    let known: Vec<&str> = names.collect();
    if known.is_empty() {
        return None;
    }
    Some(match is_key {
        true => format!("has no key [{name}]{}", instead(&known, name)),
        false => format!("is [{name}], and not one of {}", known.join(", ")),
    })
}

/// A whole number or a truth, or a list of some, as texts. Other numbers may have been written otherwise.
fn spelled(value: &Value) -> Option<Value> {
    match value {
        Value::Bool(_) => Some(value.to_string().into()),
        Value::Number(number) if !number.is_f64() => Some(value.to_string().into()),
        Value::Array(items) => {
            let items = items.iter();
            Some(
                items
                    .map(|item| spelled(item).unwrap_or_else(|| item.clone()))
                    .collect(),
            )
        }
        _ => None,
    }
}

/// Takes a list of mappings.
pub(super) fn take_list<'a>(
    section: &mut Section<'a>,
    key: &str,
    items_max: usize,
) -> Result<Vec<Section<'a>>, ConfigError> {
    let items = match section.take(key) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(section.wrong(Some(key), "must be a list")),
    };
    if items.len() > items_max {
        let reason = format!("has {} items, at most {items_max} are taken", items.len());
        return Err(section.wrong(Some(key), reason));
    }
    let one = |(number, item)| {
        let mut path = section.path.clone();
        path.extend([Part::Key(key.to_owned()), Part::Item(number)]);
        Section::at(section.source, path, item)
    };
    items.into_iter().enumerate().map(one).collect()
}
