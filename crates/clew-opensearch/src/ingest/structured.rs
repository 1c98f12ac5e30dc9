//! Steps that take a text apart into fields: `kv`, `csv`, `dissect`.

use regex::Regex;
use serde_json::{Map, Value};

use super::Failure;
use super::document::Document;
use super::pipeline::{flag, malformed, missing, optional, text};
use super::processor::pattern;
use crate::error::ApiError;

/// `a=1 b=2`.
#[derive(Debug)]
pub(super) struct KeyValues {
    field: String,
    target: Option<String>,
    between_pairs: Regex,
    within_pair: Regex,
    include: Option<Vec<String>>,
    exclude: Vec<String>,
    prefix: String,
    trim_key: Vec<char>,
    trim_value: Vec<char>,
    strip_brackets: bool,
    ignore_missing: bool,
}

impl KeyValues {
    pub(super) fn parse(config: &mut Map<String, Value>) -> Result<Self, ApiError> {
        let letters = |text: Option<String>| text.unwrap_or_default().chars().collect();
        Ok(KeyValues {
            field: text(config, "field")?,
            target: optional(config, "target_field"),
            between_pairs: pattern(config, "field_split")?,
            within_pair: pattern(config, "value_split")?,
            include: names(config, "include_keys")?,
            exclude: names(config, "exclude_keys")?.unwrap_or_default(),
            prefix: optional(config, "prefix").unwrap_or_default(),
            trim_key: letters(optional(config, "trim_key")),
            trim_value: letters(optional(config, "trim_value")),
            strip_brackets: flag(config, "strip_brackets", false)?,
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    pub(super) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let Some(line) = text_of(document, &self.field, self.ignore_missing)? else {
            return Ok(());
        };
        for pair in self.between_pairs.split(&line) {
            let mut parts = self.within_pair.splitn(pair, 2);
            let (Some(key), Some(value)) = (parts.next(), parts.next()) else {
                return Err(Failure::illegal(format!(
                    "field [{}] does not contain value_split [{}]",
                    self.field, self.within_pair
                )));
            };
            let key = key.trim_matches(self.trim_key.as_slice());
            let included = self
                .include
                .as_ref()
                .is_none_or(|names| names.iter().any(|name| name == key));
            if !included || self.exclude.iter().any(|name| name == key) {
                continue;
            }
            let mut value = value.trim_matches(self.trim_value.as_slice());
            if self.strip_brackets {
                value = value.trim_matches(['(', ')', '<', '>', '[', ']', '"', '\'']);
            }
            let path = match &self.target {
                Some(target) => format!("{target}.{}{key}", self.prefix),
                None => format!("{}{key}", self.prefix),
            };
            // The same key twice makes a list.
            let value = match document.get(&path) {
                None => Value::from(value),
                Some(Value::Array(mut items)) => {
                    items.push(value.into());
                    Value::Array(items)
                }
                Some(before) => Value::Array(vec![before, value.into()]),
            };
            document.set(&path, value)?;
        }
        Ok(())
    }
}

pub(super) fn names(
    config: &mut Map<String, Value>,
    key: &str,
) -> Result<Option<Vec<String>>, ApiError> {
    match config.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) => Ok(Some(
            items
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_string)
                .collect(),
        )),
        Some(_) => Err(malformed(format!("[{key}] property isn't a list"))),
    }
}

pub(super) fn text_of(
    document: &Document,
    field: &str,
    ignore_missing: bool,
) -> Result<Option<String>, Failure> {
    match document.get(field) {
        Some(Value::String(text)) => Ok(Some(text)),
        None | Some(Value::Null) if ignore_missing => Ok(None),
        None => Err(super::document::missing(field)),
        Some(Value::Null) => Err(Failure::illegal(format!(
            "field [{field}] is null, cannot process it."
        ))),
        Some(other) => Err(Failure::illegal(format!(
            "field [{field}] of type [{}] cannot be cast to [java.lang.String]",
            super::values::class(&other)
        ))),
    }
}

/// A line of values.
#[derive(Debug)]
pub(super) struct Csv {
    field: String,
    targets: Vec<String>,
    separator: char,
    quote: char,
    trim: bool,
    empty: Option<Value>,
    ignore_missing: bool,
}

impl Csv {
    pub(super) fn parse(config: &mut Map<String, Value>) -> Result<Self, ApiError> {
        let one = |text: Option<String>, default: char, key: &str| {
            let mut letters = text.as_deref().unwrap_or_default().chars();
            match (letters.next(), letters.next()) {
                (None, _) => Ok(default),
                (Some(letter), None) => Ok(letter),
                _ => Err(malformed(format!(
                    "[{key}] {key} has to be single character"
                ))),
            }
        };
        let targets = names(config, "target_fields")?.ok_or_else(|| missing("target_fields"))?;
        Ok(Csv {
            field: text(config, "field")?,
            targets,
            separator: one(optional(config, "separator"), ',', "separator")?,
            quote: one(optional(config, "quote"), '"', "quote")?,
            trim: flag(config, "trim", false)?,
            empty: config.remove("empty_value"),
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    pub(super) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let Some(line) = text_of(document, &self.field, self.ignore_missing)? else {
            return Ok(());
        };
        for (target, value) in self.targets.iter().zip(self.cells(&line)?) {
            match (value.is_empty(), &self.empty) {
                (false, _) => document.set(target, value.into())?,
                (true, Some(empty)) => document.set(target, empty.clone())?,
                (true, None) => {}
            }
        }
        Ok(())
    }

    fn cells(&self, line: &str) -> Result<Vec<String>, Failure> {
        let mut cells = Vec::new();
        let mut cell = String::new();
        let (mut quoted, mut was_quoted) = (false, false);
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter == self.quote {
                if quoted && letters.peek() == Some(&self.quote) {
                    cell.push(letter);
                    letters.next();
                } else {
                    quoted = !quoted;
                    was_quoted = true;
                }
            } else if letter == self.separator && !quoted {
                cells.push(self.finished(&cell, was_quoted));
                cell.clear();
                was_quoted = false;
            } else {
                cell.push(letter);
            }
        }
        if quoted {
            return Err(Failure::illegal("Unmatched quote"));
        }
        cells.push(self.finished(&cell, was_quoted));
        Ok(cells)
    }

    fn finished(&self, cell: &str, was_quoted: bool) -> String {
        if self.trim && !was_quoted {
            cell.trim().to_string()
        } else {
            cell.to_string()
        }
    }
}

/// `%{a} - %{b}`: keys between texts that must stand there.
#[derive(Debug)]
pub(super) struct Dissect {
    field: String,
    pattern: String,
    /// What stands before the first key.
    start: String,
    keys: Vec<Key>,
    appended_with: String,
    ignore_missing: bool,
}

#[derive(Debug)]
struct Key {
    name: String,
    /// The text behind it; the last key goes to the end.
    until: String,
    append: bool,
    skip: bool,
    /// Repetitions of the text behind it are passed over.
    padded: bool,
}

impl Dissect {
    pub(super) fn parse(config: &mut Map<String, Value>) -> Result<Self, ApiError> {
        let written = text(config, "pattern")?;
        let mut pieces = written.split("%{");
        let start = pieces.next().unwrap_or_default().to_string();
        let mut keys = Vec::new();
        for piece in pieces {
            let Some((name, until)) = piece.split_once('}') else {
                return Err(broken(&written));
            };
            let (name, padded) = match name.strip_suffix("->") {
                Some(name) => (name, true),
                None => (name, false),
            };
            if name.starts_with(['*', '&']) || name.contains('/') {
                return Err(ApiError::illegal_argument(format!(
                    "key [{name}] of processor [dissect] is not supported"
                )));
            }
            keys.push(Key {
                skip: name.is_empty() || name.starts_with('?'),
                append: name.starts_with('+'),
                name: name.trim_start_matches(['+', '?']).to_string(),
                until: until.to_string(),
                padded,
            });
        }
        if keys.is_empty() {
            return Err(broken(&written));
        }
        Ok(Dissect {
            field: text(config, "field")?,
            pattern: written,
            start,
            keys,
            appended_with: optional(config, "append_separator").unwrap_or_default(),
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    pub(super) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let Some(line) = text_of(document, &self.field, self.ignore_missing)? else {
            return Ok(());
        };
        let found = self.found(&line).ok_or_else(|| Failure {
            kind: "find_match",
            ..Failure::illegal(format!(
                "Unable to find match for dissect pattern: {} against source: {line}",
                self.pattern
            ))
        })?;
        for (name, value) in found {
            document.set(&name, value.into())?;
        }
        Ok(())
    }

    fn found(&self, line: &str) -> Option<Vec<(String, String)>> {
        let mut rest = line.strip_prefix(self.start.as_str())?;
        let mut found: Vec<(String, String)> = Vec::new();
        let last = self.keys.len() - 1;
        for (number, key) in self.keys.iter().enumerate() {
            let value = if key.until.is_empty() {
                if number != last {
                    return None;
                }
                std::mem::take(&mut rest)
            } else {
                let (value, behind) = rest.split_once(key.until.as_str())?;
                rest = behind;
                while key.padded
                    && let Some(behind) = rest.strip_prefix(key.until.as_str())
                {
                    rest = behind;
                }
                value
            };
            if key.skip {
                continue;
            }
            match found.iter_mut().find(|(name, _)| *name == key.name) {
                Some((_, before)) if key.append => {
                    before.push_str(&self.appended_with);
                    before.push_str(value);
                }
                _ => found.push((key.name.clone(), value.to_string())),
            }
        }
        Some(found)
    }
}

fn broken(written: &str) -> ApiError {
    malformed(format!("[pattern] Unable to parse pattern: {written}"))
}
