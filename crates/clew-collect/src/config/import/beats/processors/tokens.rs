//! `dissect` of Beats.

use serde_json::{Value, json};

use super::field;
use crate::config::import::keys::Keys;
use crate::config::import::patterns::{before_appended, with_names};
use crate::config::import::{Notes, texts};

pub(super) fn dissect(keys: &mut Keys, out: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let pattern = keys.take_text("tokenizer").unwrap_or_default();
    let prefix = keys
        .take_text("target_prefix")
        .unwrap_or_else(|| "dissect".to_owned());
    keys.take("overwrite_keys");
    if !prefix.is_empty() && pattern.contains("%{&") {
        let path = keys.path_of("tokenizer");
        let reason = format!("fields that values name, [%{{&...}}], are not in [{prefix}]");
        notes.tell(&path, reason);
    }
    let trimmed = trimmed_sides(keys, notes);
    let (with_prefix, kinds) = with_prefix(&pattern, &prefix);
    let mut parts = json!({"field": field(keys), "pattern": with_names(&with_prefix)});
    if !before_appended(&pattern).is_empty() {
        parts["append_separator"] = " ".into();
    }
    out.push(json!({ "dissect": parts }));
    if trimmed {
        for field in names(&with_prefix) {
            out.push(json!({"trim": {"field": field, "ignore_missing": true}}));
        }
    }
    for (field, kind) in kinds {
        out.push(json!({"convert": {"field": field, "type": kind, "ignore_missing": true}}));
    }
}

/// Whether values lose what is around them; what is not taken from both of their sides is told.
fn trimmed_sides(keys: &mut Keys, notes: &mut Notes<'_>) -> bool {
    let path = keys.path_of("trim_values");
    let sides = keys.take_text("trim_values");
    let letters = texts(keys.take("trim_chars").unwrap_or_default()).concat();
    match sides.as_deref() {
        None | Some("none") => false,
        Some(sides) => {
            if sides != "all" || letters.chars().any(|letter| !letter.is_whitespace()) {
                notes.tell(&path, "blanks are taken from both sides of values");
            }
            true
        }
    }
}

/// The fields of a pattern, without those that are passed over or named by values.
fn names(pattern: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in pattern.split("%{").skip(1) {
        let key = part.split('}').next().unwrap_or_default();
        let name = key.trim_start_matches('+').trim_end_matches("->");
        let name = name.split('/').next().unwrap_or_default();
        let is_field = !name.is_empty() && !name.starts_with(['?', '&', '*']);
        if is_field && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// A tokenizer whose fields are inside of another one, and the fields that have a type there (`%{took|integer}`) with it.
fn with_prefix(tokenizer: &str, prefix: &str) -> (String, Vec<(String, String)>) {
    let prefix = if prefix.is_empty() {
        String::new()
    } else {
        format!("{prefix}.")
    };
    let mut kinds = Vec::new();
    let mut out = String::new();
    let mut rest = tokenizer;
    while let Some(at) = rest.find("%{") {
        let name = at + 2;
        out.push_str(&rest[..name]);
        rest = &rest[name..];
        let modifiers = rest
            .find(|letter: char| !"+?*&".contains(letter))
            .unwrap_or(0);
        out.push_str(&rest[..modifiers]);
        let is_named = !rest[modifiers..].starts_with(['}', '-']);
        if is_named && !rest.starts_with(['?', '&']) {
            out.push_str(&prefix);
        }
        rest = &rest[modifiers..];
        if let Some(end) = rest.find('}')
            && let Some((name, kind)) = rest[..end].split_once('|')
        {
            out.push_str(name);
            kinds.push((format!("{prefix}{name}"), kind.to_owned()));
            rest = &rest[end..];
        }
    }
    (out + rest, kinds)
}
