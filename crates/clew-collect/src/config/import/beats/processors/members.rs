//! Filebeat's processors that add fields, move them, or name them by patterns.

use serde_json::{Value, json};

use super::failures::{complaint, error_message};
use super::fields;
use crate::config::import::branches::decide_once;
use crate::config::import::conditions::{none_of, only_if, together};
use crate::config::import::keys::Keys;
use crate::config::import::patterns::expression;
use crate::config::import::programs::Names;
use crate::config::import::{Notes, processor, programs};

/// The fields of a list, and the patterns of names that stand between slashes there.
fn named_fields(keys: &mut Keys, notes: &mut Notes<'_>) -> (Vec<String>, Vec<String>) {
    let path = keys.path_of("fields");
    let (mut plain, mut patterns) = (Vec::new(), Vec::new());
    for field in fields(keys) {
        let pattern = field
            .strip_prefix('/')
            .and_then(|rest| rest.strip_suffix('/'));
        match pattern {
            None => plain.push(field),
            Some(pattern) if !pattern.contains('\'') => patterns.push(expression(pattern)),
            Some(_) => notes.tell(
                &path,
                format!("[{field}] has a quote, which no pattern of names here can have"),
            ),
        }
    }
    (plain, patterns)
}

/// `drop_fields`.
pub(super) fn dropped(keys: &mut Keys, out: &mut Vec<Value>, notes: &mut Notes<'_>) {
    keys.take("ignore_missing");
    let (removed, patterns) = named_fields(keys, notes);
    if !removed.is_empty() {
        let missing = ("ignore_missing", true.into());
        out.push(processor("remove", [("field", removed.into()), missing]));
    }
    if !patterns.is_empty() {
        out.push(programs::of_names(&[], &patterns, Names::Others));
    }
}

/// `include_fields`.
pub(super) fn included(keys: &mut Keys, out: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let (mut kept, patterns) = named_fields(keys, notes);
    if patterns.is_empty() {
        kept.push("@timestamp".to_owned());
        out.push(processor("keep", [("field", kept.into())]));
    } else {
        out.push(programs::of_names(&kept, &patterns, Names::Fitting));
    }
}

/// `add_fields` and `add_labels`: what is under a key, in an object of the same name or of another one.
pub(super) fn added(keys: &mut Keys, key: &str, out: &mut Vec<Value>) {
    let target = keys.take_text("target").unwrap_or_else(|| key.to_owned());
    let Some(Value::Object(fields)) = keys.take(key) else {
        return;
    };
    for (name, value) in fields {
        let name = if target.is_empty() {
            name
        } else {
            format!("{target}.{name}")
        };
        match key {
            "labels" => labels(&name, value, out),
            _ => members(&name, value, out),
        }
    }
}

/// A field, or the members of an object, which are put beside those that it has.
fn members(name: &str, value: Value, out: &mut Vec<Value>) {
    match value {
        Value::Object(inner) if !inner.is_empty() => {
            for (key, value) in inner {
                members(&format!("{name}.{key}"), value, out);
            }
        }
        value => out.push(put(name, value)),
    }
}

/// The step that gives a field a value. Where a text stands in the way of an object, what comes next is done all the same.
fn put(name: &str, value: Value) -> Value {
    let mut step = processor("add", [("field", name.into()), ("value", value)]);
    if name.contains('.') {
        step["add"]["ignore_failure"] = true.into();
    }
    step
}

/// Labels, which are texts, those inside of others by their whole names.
fn labels(name: &str, value: Value, out: &mut Vec<Value>) {
    let text = match value {
        Value::Object(inner) => {
            for (key, value) in inner {
                labels(&format!("{name}.{key}"), value, out);
            }
            return;
        }
        Value::Array(items) => {
            for (number, value) in items.into_iter().enumerate() {
                labels(&format!("{name}.{number}"), value, out);
            }
            return;
        }
        Value::String(text) => text,
        Value::Null => return,
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    };
    out.push(put(name, text.into()));
}

/// Fields that events have here by their parser, and not in Filebeat: what is moved to them takes their place.
const FOUND_HERE: [&str; 2] = ["log.level", "event.dataset"];

/// The field that could not be converted, in no document.
const UNCONVERTED: &str = "@metadata.unconverted";

/// `rename`, `copy_fields` and `convert`, which say whether the event goes on where they fail.
pub(super) fn moves(
    name: &str,
    (keys, goes_on): (&mut Keys, bool),
    out: &mut Vec<Value>,
    notes: &mut Notes<'_>,
) {
    let quiet = keys.take_flag("ignore_missing").unwrap_or(false);
    let path = keys.path_of("fields");
    let Some(Value::Array(items)) = keys.take("fields") else {
        notes.tell(&path, "names no fields");
        return;
    };
    // A conversion leaves what it has read, unless it is told to rename it.
    let renames = keys
        .take_text("mode")
        .is_some_and(|mode| name == "convert" && mode == "rename");
    let is_whole = name != "convert" && !goes_on;
    let possible = is_whole
        .then(|| all_possible(name, quiet, &items))
        .flatten();
    let first = out.len();
    for item in items {
        let text = |key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
        let Some(from) = text("from") else {
            continue;
        };
        let to = text("to").unwrap_or_else(|| from.clone());
        let mut parts = json!({"field": from, "target_field": to});
        if quiet {
            parts["ignore_missing"] = true.into();
        }
        let kind = text("type");
        // A Filebeat that finds none by itself has no use for what was found here.
        if FOUND_HERE.contains(&to.as_str()) && from != to && (name != "convert" || kind.is_none())
        {
            out.push(json!({"remove": {
                "field": to, "ignore_missing": true, "if": {"has_fields": [from]},
            }}));
        }
        match (name, kind) {
            ("rename", _) => out.push(json!({"rename": parts})),
            ("convert", None) if renames => out.push(json!({"rename": parts})),
            ("copy_fields", _) | ("convert", None) => out.push(json!({"copy": {
                "source_field": from, "target_field": to, "ignore_missing": quiet,
            }})),
            (_, kind) => {
                parts["lenient"] = "go".into();
                parts["type"] = kind.into();
                if renames && from != to {
                    // What cannot be converted stays where it is.
                    let mark = json!({"add": {"field": UNCONVERTED, "value": from}});
                    parts["on_failure"] = json!([mark]);
                    let is_done = json!({"not": {"equals": {UNCONVERTED: from}}});
                    out.push(json!({"convert": parts}));
                    out.push(json!({"remove": {
                        "field": from, "ignore_missing": true, "if": is_done,
                    }}));
                    // The next conversion of the same field is decided by itself.
                    out.push(json!({"remove": {
                        "field": UNCONVERTED, "ignore_missing": true,
                    }}));
                } else {
                    out.push(json!({"convert": parts}));
                }
            }
        }
    }
    if let Some(possible) = possible {
        all_or_none(name, possible, first, out);
    }
}

/// Has several steps be done together where a condition holds, and where it does not, none, which the event says then.
pub(super) fn all_or_none(name: &str, possible: Value, first: usize, out: &mut Vec<Value>) {
    for step in &mut out[first..] {
        only_if(step, possible.clone());
    }
    let mut begin = first;
    if let Some((_, told)) = complaint(name) {
        let mut told = error_message(told);
        only_if(&mut told, json!({"not": possible}));
        out.insert(first, told);
        begin += 1;
    }
    let steps = begin..out.len();
    decide_once(out, &[(possible, steps)]);
}

/// A condition that holds where several moves can all be done: what they begin with is there, if it has to be, and what they make
/// is not. Where one cannot, Beats takes the others back. One by itself needs none.
fn all_possible(name: &str, quiet: bool, items: &[Value]) -> Option<Value> {
    let (mut needed, mut begun, mut made) = (Vec::new(), Vec::new(), Vec::new());
    let mut new = Vec::new();
    for item in items {
        let from = item["from"].as_str()?;
        let to = item["to"].as_str().unwrap_or(from);
        if !quiet && !made.contains(&from) {
            needed.push(from);
        }
        let was_moved = name == "rename" && begun.contains(&to);
        if to != from && !was_moved {
            new.push(to);
        }
        begun.push(from);
        made.push(to);
    }
    let there = (!needed.is_empty()).then(|| json!({"has_fields": needed}));
    let both = there.into_iter().chain(none_there(new));
    let all = together(both.collect());
    all.filter(|_| items.len() > 1)
}

/// A condition that holds where none of some fields is there, but for those that only events here have.
pub(super) fn none_there<'f>(fields: impl IntoIterator<Item = &'f str>) -> Option<Value> {
    let fields = fields.into_iter();
    let mut theirs = fields
        .filter(|field| !FOUND_HERE.contains(field))
        .peekable();
    theirs.peek().is_some().then(|| none_of(theirs))
}
