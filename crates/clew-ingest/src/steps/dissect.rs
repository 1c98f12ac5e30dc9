//! `dissect`: keys between texts that must stand there.

use serde_json::{Map, Value};

use super::structured::text_of;
use crate::document::Document;
use crate::error::{DefinitionError, Failure, FailureKind};
use crate::members::{flag, optional, text};
use crate::text::{self, KeyKind, KeySpans};

/// The step: `%{a} - %{b}`.
#[derive(Debug)]
pub(crate) struct Dissect {
    pub(crate) field: String,
    written: String,
    pub(crate) pattern: text::Dissect,
    pub(crate) appended_with: String,
    pub(crate) ignore_missing: bool,
}

impl Dissect {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let written = text(config, "pattern")?;
        let pattern = text::Dissect::parse(&written).ok_or_else(|| {
            DefinitionError::refused("pattern", format!("Unable to parse pattern: {written}"))
        })?;
        Ok(Dissect {
            field: text(config, "field")?,
            written,
            pattern,
            appended_with: optional(config, "append_separator")?.unwrap_or_default(),
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let Some(line) = text_of(document, &self.field, self.ignore_missing)? else {
            return Ok(());
        };
        let mut found = KeySpans::new();
        if !self.pattern.cut_at_each(&line, &mut found) {
            return Err(Failure {
                kind: FailureKind::NoMatch,
                ..Failure::unfit(format!(
                    "Unable to find match for dissect pattern: {} against source: {line}",
                    self.written
                ))
            });
        }
        let found: Vec<&str> = found.iter().map(|span| span.of(&line)).collect();
        for (name, value) in self.named(&found) {
            document.set(&name, value.into())?;
        }
        Ok(())
    }

    /// The names that are given, and their values.
    fn named(&self, found: &[&str]) -> Vec<(String, String)> {
        let mut named: Vec<(String, String)> = Vec::new();
        let keys = self.pattern.keys();
        for (key, value) in keys.iter().zip(found) {
            match key.kind {
                KeyKind::Value if !self.pattern.appends(&key.name) => {
                    named.push((key.name.clone(), (*value).to_string()));
                }
                KeyKind::Name => {
                    let reference = keys.iter().zip(found).find(|(other, _)| {
                        other.kind == KeyKind::Reference && other.name == key.name
                    });
                    if let Some((_, of_it)) = reference {
                        named.push(((*value).to_string(), (*of_it).to_string()));
                    }
                }
                _ => {}
            }
        }
        for at in self.pattern.appended() {
            let (name, value) = (&keys[at].name, found[at]);
            match named.iter_mut().find(|(known, _)| known == name) {
                Some((_, before)) => {
                    before.push_str(&self.appended_with);
                    before.push_str(value);
                }
                None => named.push((name.clone(), value.to_string())),
            }
        }
        named
    }
}
