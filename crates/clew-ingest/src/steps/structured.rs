//! Steps that take a text apart into fields: `kv`, `csv`.

use regex::Regex;
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::{DefinitionError, Failure, wrong_type};
use crate::java;
use crate::members::{flag, names, optional, pattern, text};

/// `a=1 b=2`.
#[derive(Debug)]
pub(crate) struct KeyValues {
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
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let letters = |text: Option<String>| text.unwrap_or_default().chars().collect();
        Ok(KeyValues {
            field: text(config, "field")?,
            target: optional(config, "target_field")?,
            between_pairs: pattern(config, "field_split")?,
            within_pair: pattern(config, "value_split")?,
            include: names(config, "include_keys")?,
            exclude: names(config, "exclude_keys")?.unwrap_or_default(),
            prefix: optional(config, "prefix")?.unwrap_or_default(),
            trim_key: letters(optional(config, "trim_key")?),
            trim_value: letters(optional(config, "trim_value")?),
            strip_brackets: flag(config, "strip_brackets", false)?,
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let is_null = document.get(&self.field) == Some(Value::Null);
        if is_null && !self.ignore_missing {
            return Err(Failure::unfit(format!(
                "field [{}] is null, cannot extract key-value pairs. ",
                self.field
            )));
        }
        let Some(line) = text_of(document, &self.field, self.ignore_missing)? else {
            return Ok(());
        };
        for pair in self.between_pairs.split(&line) {
            let mut parts = self.within_pair.splitn(pair, 2);
            let (Some(key), Some(value)) = (parts.next(), parts.next()) else {
                return Err(Failure::unfit(format!(
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

pub(crate) fn text_of(
    document: &Document,
    field: &str,
    ignore_missing: bool,
) -> Result<Option<String>, Failure> {
    match document.get(field) {
        Some(Value::String(text)) => Ok(Some(text)),
        None | Some(Value::Null) if ignore_missing => Ok(None),
        None => Err(document.absent(field)),
        Some(Value::Null) => Err(Failure::unfit(format!(
            "field [{field}] is null, cannot process it."
        ))),
        Some(other) => Err(wrong_type(field, &other, java::TEXT)),
    }
}

/// A line of values.
#[derive(Debug)]
pub(crate) struct Csv {
    field: String,
    targets: Vec<String>,
    separator: char,
    quote: char,
    trim: bool,
    empty: Option<Value>,
    ignore_missing: bool,
}

impl Csv {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let one = |text: Option<String>, default: char, key: &str| {
            let mut letters = text.as_deref().unwrap_or_default().chars();
            match (letters.next(), letters.next()) {
                (None, _) => Ok(default),
                (Some(letter), None) => Ok(letter),
                _ => Err(DefinitionError::refused(
                    key,
                    format!("{key} has to be single character like , or ;"),
                )),
            }
        };
        let targets = names(config, "target_fields")?
            .ok_or_else(|| DefinitionError::missing("target_fields"))?;
        Ok(Csv {
            field: text(config, "field")?,
            targets,
            separator: one(optional(config, "separator")?, ',', "separator")?,
            quote: one(optional(config, "quote")?, '"', "quote")?,
            trim: flag(config, "trim", false)?,
            empty: config.remove("empty_value"),
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
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
            return Err(Failure::unfit("Unmatched quote"));
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
