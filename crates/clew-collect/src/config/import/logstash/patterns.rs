//! The patterns that a Logstash has in folders, `patterns_dir`: those that a plugin names become definitions of its own.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::filters::{dotted, pairs};
use super::schema::references;
use crate::config::import::keys::Keys;
use crate::config::import::texts;
use crate::config::import::told::Told;

/// Patterns by their names.
pub(super) type Patterns = BTreeMap<String, String>;

/// The patterns of the folders that a plugin names.
pub(super) fn of_folders(
    keys: &mut Keys,
    (line, place, told): (usize, &str, &mut Told),
) -> Patterns {
    let mut found = Patterns::new();
    for folder in texts(keys.take("patterns_dir").unwrap_or_default()) {
        match told.folders.and_then(|read| read(&folder)) {
            Some(text) => found.extend(text.lines().filter_map(definition)),
            None => {
                let reason = format!(
                    "[patterns_dir => {folder}] cannot be read: its patterns belong into [pattern_definitions]"
                );
                told.tell(line, place, reason);
            }
        }
    }
    found
}

/// `NAME pattern`; nothing of a comment.
fn definition(line: &str) -> Option<(String, String)> {
    let (name, pattern) = line.trim().split_once(char::is_whitespace)?;
    let is_one = !name.starts_with('#');
    is_one.then(|| (name.to_owned(), dotted(pattern.trim_start())))
}

/// Definitions with those of folders that patterns refer to, themselves or by what they refer to; those that are there come
/// first.
pub(super) fn with_used(
    definitions: Option<Value>,
    patterns: &[String],
    found: &Patterns,
) -> Option<Value> {
    let mut definitions: Map<String, Value> = pairs(definitions);
    let own = definitions.values().filter_map(Value::as_str);
    let mut open: Vec<String> = own.map(str::to_owned).collect();
    open.extend(patterns.iter().cloned());
    while let Some(pattern) = open.pop() {
        for name in references(&pattern) {
            if let Some(pattern) = found.get(name)
                && !definitions.contains_key(name)
            {
                definitions.insert(name.to_owned(), pattern.as_str().into());
                open.push(pattern.clone());
            }
        }
    }
    (!definitions.is_empty()).then(|| definitions.into())
}
