//! `dissect` of Beats.

use serde_json::{Value, json};

use super::field;
use super::members::none_there;
use crate::config::import::conditions::only_if;
use crate::config::import::keys::Keys;
use crate::config::import::patterns::{before_appended, first_separator, with_names};
use crate::config::import::{Notes, texts};

pub(super) fn dissect(keys: &mut Keys, out: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let pattern = keys.take_text("tokenizer").unwrap_or_default();
    let prefix = keys
        .take_text("target_prefix")
        .unwrap_or_else(|| "dissect".to_owned());
    let overwrites = keys.take_flag("overwrite_keys") == Some(true);
    if !prefix.is_empty() && pattern.contains("%{&") {
        let path = keys.path_of("tokenizer");
        let reason = format!("fields that values name, [%{{&...}}], are not in [{prefix}]");
        notes.tell(&path, reason);
    }
    if pattern.split("%{").skip(1).any(has_length) {
        let path = keys.path_of("tokenizer");
        notes.tell(&path, "lengths of values, [%{a#3}], have no counterpart");
    }
    let trimmed = trimmed(keys);
    let (with_prefix, kinds) = with_prefix(&pattern, &prefix);
    let from = field(keys);
    let mut parts = json!({"field": from, "pattern": with_names(&with_prefix)});
    if let Some((separator, has_others)) = before_appended(&pattern) {
        parts["append_separator"] = separator.into();
        if has_others {
            notes.tell(&keys.path_of("tokenizer"), first_separator(&pattern));
        }
    }
    let mut step = json!({ "dissect": parts });
    let names = names(&with_prefix);
    if !overwrites && (prefix.is_empty() || out.iter().any(|step| is_cut_before(step, &names))) {
        // It fails as a whole where one of the fields is there.
        let free = none_there(names.iter().map(String::as_str));
        if let Some(free) = free {
            only_if(&mut step, free);
        }
    }
    // Where there is nothing, nothing has failed to be taken apart.
    if from != "message" {
        only_if(&mut step, json!({"has_fields": [from]}));
    }
    out.push(step);
    for field in &names {
        match &trimmed {
            Trimmed::Nothing => {}
            Trimmed::Blanks => {
                out.push(json!({"trim": {"field": field, "ignore_missing": true}}));
            }
            Trimmed::Fitting(pattern) => out.push(json!({"gsub": {
                "field": field, "pattern": pattern, "replacement": "", "ignore_missing": true,
            }})),
        }
    }
    for (field, kind) in kinds {
        let parts = json!({"field": field, "type": kind, "lenient": "go", "ignore_missing": true});
        out.push(json!({"convert": parts}));
    }
}

/// Whether what begins with a key says how long its value is, `a#3}`.
fn has_length(key: &str) -> bool {
    key.split_once('}')
        .is_some_and(|(key, _)| key.contains('#'))
}

/// Whether a step takes a text apart into one of these fields, too.
fn is_cut_before(step: &Value, fields: &[String]) -> bool {
    let pattern = step["dissect"]["pattern"].as_str().unwrap_or_default();
    names(pattern).iter().any(|name| fields.contains(name))
}

/// What values lose.
enum Trimmed {
    Nothing,
    /// Blanks on both sides.
    Blanks,
    /// What fits a pattern.
    Fitting(String),
}

/// What values lose, which are blanks where no letters are named.
fn trimmed(keys: &mut Keys) -> Trimmed {
    let sides = keys.take_text("trim_values");
    let mut letters = texts(keys.take("trim_chars").unwrap_or_default()).concat();
    if letters.is_empty() {
        letters.push(' ');
    }
    let is_blank = letters.chars().all(char::is_whitespace);
    let class: String = letters
        .chars()
        .map(|letter| match letter {
            letter if letter.is_ascii_punctuation() => format!("\\{letter}"),
            letter => letter.to_string(),
        })
        .collect();
    match sides.as_deref() {
        None | Some("none") => Trimmed::Nothing,
        Some("left") => Trimmed::Fitting(format!("^[{class}]+")),
        Some("right") => Trimmed::Fitting(format!("[{class}]+$")),
        Some(_) if is_blank => Trimmed::Blanks,
        Some(_) => Trimmed::Fitting(format!("^[{class}]+|[{class}]+$")),
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
