//! Steps that take a text apart into fields: `kv`, `csv`.

use std::collections::HashSet;

use clew_analysis::JavaPattern;
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::{DefinitionError, Failure, FailureKind, wrong_type};
use crate::java;
use crate::members::{flag, names, optional, pattern, text};
use crate::text::{self, Cell, PairValue, pairs};

/// `a=1 b=2`.
#[derive(Debug)]
pub(crate) struct KeyValues {
    pub(crate) field: String,
    pub(crate) target: Option<String>,
    pub(crate) between_pairs: JavaPattern,
    pub(crate) within_pair: JavaPattern,
    include: Option<HashSet<String>>,
    exclude: HashSet<String>,
    pub(crate) prefix: String,
    trim_key: Vec<char>,
    trim_value: Vec<char>,
    strip_brackets: bool,
    pub(crate) ignore_missing: bool,
}

impl KeyValues {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let letters = |text: Option<String>| text.unwrap_or_default().chars().collect();
        Ok(KeyValues {
            field: text(config, "field")?,
            target: optional(config, "target_field")?,
            between_pairs: pattern(config, "field_split")?,
            within_pair: pattern(config, "value_split")?,
            include: names(config, "include_keys")?.map(HashSet::from_iter),
            exclude: HashSet::from_iter(names(config, "exclude_keys")?.unwrap_or_default()),
            prefix: optional(config, "prefix")?.unwrap_or_default(),
            trim_key: letters(optional(config, "trim_key")?),
            trim_value: letters(optional(config, "trim_value")?),
            strip_brackets: flag(config, "strip_brackets", false)?,
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let Some(line) = self.line(document)? else {
            return Ok(());
        };
        let mut found = Vec::new();
        let is_whole = pairs(&line, &self.between_pairs, &self.within_pair, &mut found);
        let is_whole = is_whole.map_err(|error| Failure::unfit(error.to_string()))?;
        for pair in found {
            let PairValue::Text(value) = pair.value else {
                continue;
            };
            let Some((key, value)) = self.cleaned(pair.key.of(&line), value.of(&line)) else {
                continue;
            };
            let path = match &self.target {
                Some(target) => format!("{target}.{}{key}", self.prefix),
                None => format!("{}{key}", self.prefix),
            };
            if path.is_empty() {
                return Err(Failure::unfit("path cannot be null nor empty"));
            }
            // The same key twice makes a list.
            match document.has(&path) {
                false => document.set(&path, value.into())?,
                true => document.push(&path, vec![value.into()])?,
            }
        }
        // What stands before a part that is no pair is set all the same.
        if !is_whole {
            return Err(Failure::unfit(format!(
                "field [{}] does not contain value_split [{}]",
                self.field,
                self.within_pair.as_str()
            )));
        }
        Ok(())
    }

    /// The text that has the pairs; nothing where it may be missing and is.
    fn line(&self, document: &Document) -> Result<Option<String>, Failure> {
        let field = &self.field;
        match document.get(field) {
            Some(Value::Null) if !self.ignore_missing => Err(Failure::unfit(format!(
                "field [{field}] is null, cannot extract key-value pairs. "
            ))),
            None if !self.ignore_missing => {
                // Where it would stand in a list, the list is too short.
                let absent = document.absent(field);
                Err(match absent.kind {
                    FailureKind::OutOfBounds => absent,
                    _ => Failure::unfit(format!("field [{field}] doesn't exist")),
                })
            }
            _ => text_of(document, field, self.ignore_missing),
        }
    }

    /// A key and its value without what is around them, if the key is wanted.
    pub(crate) fn cleaned<'a>(&self, key: &'a str, value: &'a str) -> Option<(&'a str, &'a str)> {
        let (key, value) = self.trimmed(key, value);
        self.wants(key).then_some((key, value))
    }

    /// A key and its value without what is around them.
    pub(crate) fn trimmed<'a>(&self, key: &'a str, value: &'a str) -> (&'a str, &'a str) {
        let key = key.trim_matches(self.trim_key.as_slice());
        let value = match self.strip_brackets {
            true => within_brackets(value),
            false => value,
        };
        (key, value.trim_matches(self.trim_value.as_slice()))
    }

    /// Whether a key is among those that become fields.
    pub(crate) fn wants(&self, key: &str) -> bool {
        let included = (self.include.as_ref()).is_none_or(|names| names.contains(key));
        included && !self.exclude.contains(key)
    }
}

/// A value without the bracket or quote in front of it, and that behind it, which may be of another kind.
fn within_brackets(value: &str) -> &str {
    let value = value
        .strip_prefix(['(', '<', '[', '"', '\''])
        .unwrap_or(value);
    value
        .strip_suffix([')', '>', ']', '"', '\''])
        .unwrap_or(value)
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
    pub(crate) field: String,
    pub(crate) targets: Vec<String>,
    pub(crate) cells: text::Csv,
    pub(crate) empty: Option<Value>,
    pub(crate) ignore_missing: bool,
}

impl Csv {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let one = |text: Option<String>, default: char, key: &str, like: &str| {
            let Some(text) = text else {
                return Ok(default);
            };
            let mut letters = text.chars();
            match (letters.next(), letters.next()) {
                (Some(letter), None) => Ok(letter),
                _ => Err(DefinitionError::refused(
                    key,
                    format!("{key} has to be single character like {like}"),
                )),
            }
        };
        let targets = names(config, "target_fields")?
            .ok_or_else(|| DefinitionError::missing("target_fields"))?;
        if targets.is_empty() {
            return Err(DefinitionError::refused(
                "target_fields",
                "target fields list can't be empty",
            ));
        }
        Ok(Csv {
            field: text(config, "field")?,
            targets,
            cells: text::Csv {
                separator: one(optional(config, "separator")?, ',', "separator", ", or ;")?,
                quote: one(optional(config, "quote")?, '"', "quote", "\" or '")?,
                trim: flag(config, "trim", false)?,
            },
            empty: config.remove("empty_value"),
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let Some(line) = text_of(document, &self.field, self.ignore_missing)? else {
            return Ok(());
        };
        let (mut cells, mut made) = (Vec::new(), String::new());
        let cells_max = self.targets.len();
        if !self.cells.cut(&line, cells_max, &mut cells, &mut made) {
            return Err(Failure::unfit(self.cells.fault(&line)));
        }
        for (target, cell) in self.targets.iter().zip(cells) {
            // Behind the last separator is no cell unless something is.
            if matches!(cell, Cell::Line(span) if span.start() == line.len()) {
                continue;
            }
            let value = match cell {
                Cell::Line(span) => span.of(&line),
                Cell::Made(span) => span.of(&made),
            };
            match (value.is_empty(), &self.empty) {
                (false, _) => document.set(target, value.into())?,
                (true, Some(empty)) => document.set(target, empty.clone())?,
                (true, None) => {}
            }
        }
        Ok(())
    }
}
