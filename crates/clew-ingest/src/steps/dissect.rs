//! `dissect`: keys between texts that must stand there.

use serde_json::{Map, Value};

use super::structured::text_of;
use crate::document::Document;
use crate::error::{DefinitionError, Failure, FailureKind};
use crate::members::{flag, optional, text};

/// The step: `%{a} - %{b}`.
#[derive(Debug)]
pub(crate) struct Dissect {
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
    kind: Kind,
    /// Repetitions of the text behind it are passed over.
    padded: bool,
}

/// What becomes of what a key finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Value,
    Skipped,
    /// It is put behind other values of the name, by this order.
    Appended(u32),
    /// It is the name of the value that the reference of the same name finds.
    Name,
    Reference,
}

impl Dissect {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let written = text(config, "pattern")?;
        let mut pieces = written.split("%{");
        let start = pieces.next().unwrap_or_default().to_string();
        let keys: Option<Vec<Key>> = pieces.map(key).collect();
        let keys = keys.filter(|keys| !keys.is_empty() && paired(keys));
        let keys = keys.ok_or_else(|| {
            DefinitionError::refused("pattern", format!("Unable to parse pattern: {written}"))
        })?;
        Ok(Dissect {
            field: text(config, "field")?,
            pattern: written,
            start,
            keys,
            appended_with: optional(config, "append_separator")?.unwrap_or_default(),
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let Some(line) = text_of(document, &self.field, self.ignore_missing)? else {
            return Ok(());
        };
        let found = self.found(&line).ok_or_else(|| Failure {
            kind: FailureKind::NoMatch,
            ..Failure::unfit(format!(
                "Unable to find match for dissect pattern: {} against source: {line}",
                self.pattern
            ))
        })?;
        for (name, value) in self.named(&found) {
            document.set(&name, value.into())?;
        }
        Ok(())
    }

    /// What each key finds.
    fn found<'a>(&'a self, line: &'a str) -> Option<Vec<(&'a Key, &'a str)>> {
        let mut rest = line.strip_prefix(self.start.as_str())?;
        let mut found = Vec::new();
        for (number, key) in (1..).zip(&self.keys) {
            if key.until.is_empty() {
                if number < self.keys.len() {
                    return None;
                }
                found.push((key, rest));
                break;
            }
            let (value, behind) = rest.split_once(key.until.as_str())?;
            rest = behind;
            while key.padded
                && let Some(behind) = rest.strip_prefix(key.until.as_str())
            {
                rest = behind;
            }
            found.push((key, value));
        }
        Some(found)
    }

    /// The names that are given, and their values.
    fn named(&self, found: &[(&Key, &str)]) -> Vec<(String, String)> {
        let mut named: Vec<(String, String)> = Vec::new();
        let mut appended: Vec<(&str, u32, &str)> = Vec::new();
        for (key, value) in found {
            let known = self.appends(&key.name);
            match key.kind {
                Kind::Skipped | Kind::Reference => {}
                Kind::Value if !known => named.push((key.name.clone(), (*value).to_string())),
                Kind::Value => appended.push((&key.name, 0, value)),
                Kind::Appended(order) => appended.push((&key.name, order, value)),
                Kind::Name => {
                    let reference = found
                        .iter()
                        .find(|(other, _)| other.kind == Kind::Reference && other.name == key.name);
                    if let Some((_, of_it)) = reference {
                        named.push(((*value).to_string(), (*of_it).to_string()));
                    }
                }
            }
        }
        appended.sort_by_key(|(_, order, _)| *order);
        for (name, _, value) in appended {
            match named.iter_mut().find(|(known, _)| known == name) {
                Some((_, before)) => {
                    before.push_str(&self.appended_with);
                    before.push_str(value);
                }
                None => named.push((name.to_string(), value.to_string())),
            }
        }
        named
    }

    /// Whether values of a name are put behind each other.
    fn appends(&self, name: &str) -> bool {
        let appends = |key: &Key| matches!(key.kind, Kind::Appended(_)) && key.name == name;
        self.keys.iter().any(appends)
    }
}

/// Reads `name}until`, where signs around the name say what becomes of the value.
fn key(piece: &str) -> Option<Key> {
    let (name, until) = piece.split_once('}')?;
    let (name, padded) = match name.strip_suffix("->") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let (kind, name) = match name.split_at_checked(1) {
        None => (Kind::Skipped, name),
        Some(("?", name)) => (Kind::Skipped, name),
        Some(("*", name)) => (Kind::Name, name),
        Some(("&", name)) => (Kind::Reference, name),
        Some(("+", name)) => match name.split_once('/') {
            Some((name, order)) => (Kind::Appended(order.parse().ok()?), name),
            None => (Kind::Appended(0), name),
        },
        Some(_) => (Kind::Value, name),
    };
    Some(Key {
        name: name.to_string(),
        until: until.to_string(),
        kind,
        padded,
    })
}

/// Whether each name has its reference, and each reference its name.
fn paired(keys: &[Key]) -> bool {
    let of_kind = |kind: Kind| {
        let of_kind = keys.iter().filter(move |key| key.kind == kind);
        let mut names: Vec<&str> = of_kind.map(|key| key.name.as_str()).collect();
        names.sort_unstable();
        names
    };
    of_kind(Kind::Name) == of_kind(Kind::Reference)
}
