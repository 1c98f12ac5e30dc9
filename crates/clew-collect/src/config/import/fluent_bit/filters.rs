//! Fluent Bit's filters as processors.

use serde_json::{Value, json};

use super::parsers::{Parsers, Raw, path, ruby};
use super::processors::{content_modifier, holds_by_rules};
use super::syntax::Section;
use super::tell_rest;
use crate::config::import::branches::decide_once;
use crate::config::import::conditions::{only_if, together};
use crate::config::import::programs::Names;
use crate::config::import::told::Told;
use crate::config::import::{ONLY_NAMES, duration_ms, names_of_container, programs};

/// Where a line waits while it is taken apart.
const RAW: &str = "@metadata.raw";

/// Adds what a filter becomes, or a processor.
pub(super) fn filter(
    mut section: Section,
    parsers: &Parsers,
    steps: &mut Vec<Value>,
    told: &mut Told,
) {
    let (line, place) = (section.line, section.place());
    let condition = section.condition.take();
    let condition = condition.map(|written| holds_by_rules(&written, (line, &place, told)));
    let first = steps.len();
    one(section, parsers, steps, told);
    if let Some(condition) = condition {
        for step in steps.iter_mut().skip(first) {
            only_if(step, condition.clone());
        }
        let own = first..steps.len();
        decide_once(steps, &[(condition, own)]);
    }
}

fn one(mut section: Section, parsers: &Parsers, steps: &mut Vec<Value>, told: &mut Told) {
    let (line, place) = (section.line, section.place());
    match section.name.to_ascii_lowercase().as_str() {
        "grep" => grep(&mut section, steps),
        "modify" => modify(&mut section, steps, told),
        "record_modifier" => record(&mut section, steps),
        "parser" => {
            let field = path(&section.take("key_name").unwrap_or_default());
            let raw = match section.take_flag("preserve_key") {
                Some(true) => Raw::Kept,
                _ => Raw::Gone,
            };
            // Other fields stay: what is read beside a line belongs to it.
            section.take("reserve_data");
            let names = section.take_all("parser");
            parsers.parse(&field, (&names, raw), steps, (line, &place, told));
        }
        "nest" => nest(&mut section, steps, told),
        "throttle" => {
            let limit = limit(&mut section, (line, &place, told));
            section.take("window");
            section.take("print_status");
            steps.push(json!({"rate_limit": {"limit": limit}}));
        }
        "type_converter" => converted(&mut section, steps),
        "kubernetes" => {
            kubernetes(&mut section, steps);
            told.tell(line, &place, ONLY_NAMES);
            return;
        }
        "content_modifier" => content_modifier(&mut section, steps, (line, &place, told)),
        "stdout" | "expect" => {}
        _ => {
            told.tell(line, &place, "has no counterpart");
            return;
        }
    }
    tell_rest(section, told);
}

/// The `Rate` of a `throttle` for each of its intervals, as so many in a second, a minute or an hour.
fn limit(section: &mut Section, (line, place, told): (usize, &str, &mut Told)) -> String {
    let rate = section.take("rate").unwrap_or_default();
    let Some(interval) = section.take("interval") else {
        return format!("{rate}/s");
    };
    let seconds = duration_ms(&interval.as_str().into()).map_or(0, |ms| ms / 1_000);
    for (unit, length) in [("s", 1), ("m", 60), ("h", 3_600)] {
        if let (Ok(rate), true) = (rate.parse::<u64>(), seconds > 0 && length % seconds == 0) {
            return format!("{}/{unit}", rate.saturating_mul(length / seconds));
        }
    }
    told.tell(
        line,
        place,
        format!("[interval {interval}] is read as a second"),
    );
    format!("{rate}/s")
}

/// `kubernetes`: what the name of the file says, and with `Merge_Log` what a line of JSON does.
fn kubernetes(section: &mut Section, steps: &mut Vec<Value>) {
    steps.push(names_of_container([
        "kubernetes.pod_name",
        "kubernetes.namespace_name",
        "kubernetes.container_name",
        "kubernetes.docker_id",
    ]));
    if section.take_flag("merge_log") != Some(true) {
        return;
    }
    let is_object = json!({"regexp": {"message": r"^\s*\{"}});
    let is_kept = section.take_flag("keep_log") != Some(false);
    let (field, is_there) = match is_kept {
        true => ("message", is_object),
        false => {
            // What the object says in its place is the message then.
            let aside = json!({"field": "message", "target_field": RAW, "if": is_object});
            steps.push(json!({"rename": aside}));
            (RAW, json!({"has_fields": [RAW]}))
        }
    };
    let mut read = json!({"field": field, "if": is_there});
    match section.take("merge_log_key") {
        Some(key) => read["target_field"] = path(&key).into(),
        None => read["add_to_root"] = true.into(),
    }
    match is_kept {
        true => read["ignore_failure"] = true.into(),
        false => {
            let back = json!({"rename": {"field": RAW, "target_field": "message"}});
            read["on_failure"] = json!([back]);
        }
    }
    steps.push(json!({"json": read}));
    if !is_kept {
        steps.push(json!({"remove": {"field": RAW, "ignore_missing": true}}));
    }
}

/// `type_converter`: a field as another one, of another type.
fn converted(section: &mut Section, steps: &mut Vec<Value>) {
    for key in ["int_key", "uint_key", "float_key", "str_key"] {
        for entry in section.take_all(key) {
            let words: Vec<&str> = entry.split_whitespace().collect();
            let [from, to, kind] = words[..] else {
                continue;
            };
            let kind = match kind {
                "int" | "uint" | "integer" => "long",
                "float" | "double" => "double",
                "bool" | "boolean" => "boolean",
                _ => "string",
            };
            steps.push(json!({"convert": {
                "field": path(from), "target_field": path(to), "type": kind,
                "ignore_missing": true, "ignore_failure": true,
            }}));
        }
    }
}

/// A key and what stands behind it.
fn pair(entry: &str) -> (&str, &str) {
    let (key, value) = entry
        .trim()
        .split_once(char::is_whitespace)
        .unwrap_or((entry, ""));
    (key, value.trim())
}

/// `grep`: what matches no `Regex`, or an `Exclude`, is dropped.
fn grep(section: &mut Section, steps: &mut Vec<Value>) {
    let condition = |entry: &String| {
        let (key, pattern) = pair(entry);
        let field = path(key);
        json!({"regexp": {field: ruby(pattern)}})
    };
    let wanted: Vec<Value> = section.take_all("regex").iter().map(condition).collect();
    let excluded: Vec<Value> = section.take_all("exclude").iter().map(condition).collect();
    // Without an operator each of them decides alone.
    let operator = section.take("logical_op");
    let operator = operator.filter(|word| !word.eq_ignore_ascii_case("legacy"));
    let is_all = operator.map(|word| word.eq_ignore_ascii_case("and"));
    let any = |conditions: Vec<Value>| json!({"or": conditions});
    if !wanted.is_empty() {
        let wanted = match is_all {
            Some(false) => any(wanted),
            _ => json!({"and": wanted}),
        };
        steps.push(json!({"drop": {"if": {"not": wanted}}}));
    }
    if !excluded.is_empty() {
        let excluded = match is_all {
            Some(true) => json!({"and": excluded}),
            _ => any(excluded),
        };
        steps.push(json!({"drop": {"if": excluded}}));
    }
}

/// `modify`: rules in their order, if all conditions hold.
fn modify(section: &mut Section, steps: &mut Vec<Value>, told: &mut Told) {
    let (line, place) = (section.line, section.place());
    let mut conditions = Vec::new();
    for written in section.take_all("condition") {
        match holds(&written) {
            Some(condition) => conditions.push(condition),
            None => told.tell(
                line,
                &place,
                format!("[condition {written}] has no counterpart"),
            ),
        }
    }
    let condition = together(conditions);
    let before = steps.len();
    for (key, value) in section.take_rest() {
        let (first, second) = pair(&value);
        let (from, to) = (path(first), path(second));
        let mut own = match key.as_str() {
            "set" => vec![json!({"add": {"field": from, "value": second}})],
            "add" => vec![json!({"add": {"field": from, "value": second, "override": false}})],
            "remove" => vec![json!({"remove": {"field": from, "ignore_missing": true}})],
            "remove_wildcard" => {
                let pattern = format!("{}*", first.trim_end_matches('*'));
                vec![json!({"remove_by_pattern": {"field_pattern": [pattern]}})]
            }
            // A quote would end the expression.
            "remove_regex" if !first.contains('\'') => {
                vec![programs::of_names(&[], &[ruby(first)], Names::Others)]
            }
            // Documents have no order.
            "move_to_start" | "move_to_end" => Vec::new(),
            "rename" => vec![moved("rename", &from, &to)],
            "copy" => vec![moved("copy", &from, &to)],
            "hard_rename" => vec![given_way(&from, &to), moved("rename", &from, &to)],
            "hard_copy" => vec![given_way(&from, &to), moved("copy", &from, &to)],
            _ => {
                told.tell(line, &place, format!("[{key}] has no counterpart"));
                continue;
            }
        };
        for step in &mut own {
            if let Some(condition) = &condition {
                only_if(step, condition.clone());
            }
        }
        steps.append(&mut own);
    }
    if let Some(condition) = condition {
        let own = before..steps.len();
        decide_once(steps, &[(condition, own)]);
    }
}

/// Moves or copies a field to a name that none has.
fn moved(step: &str, from: &str, to: &str) -> Value {
    let source = if step == "copy" {
        "source_field"
    } else {
        "field"
    };
    let is_free = json!({"and": [{"has_fields": [from]}, {"not": {"has_fields": [to]}}]});
    json!({step: {source: from, "target_field": to, "if": is_free}})
}

/// Removes what has the name that another field gets.
fn given_way(from: &str, to: &str) -> Value {
    json!({"remove": {"field": to, "ignore_missing": true, "if": {"has_fields": [from]}}})
}

/// A condition of `modify`.
fn holds(written: &str) -> Option<Value> {
    let (word, rest) = pair(written);
    let (key, value) = pair(rest);
    let field = path(key);
    let not = |condition: Value| json!({ "not": condition });
    let equals = json!({"equals": {&field: value}});
    let matches = json!({"regexp": {&field: ruby(value)}});
    let exists = json!({"has_fields": [field]});
    Some(match word.to_ascii_lowercase().as_str() {
        "key_exists" => exists,
        "key_does_not_exist" => not(exists),
        "key_value_equals" => equals,
        "key_value_does_not_equal" => json!({"and": [exists, not(equals)]}),
        "key_value_matches" => matches,
        "key_value_does_not_match" => json!({"and": [exists, not(matches)]}),
        _ => return None,
    })
}

/// `record_modifier`: fields that are added and removed.
fn record(section: &mut Section, steps: &mut Vec<Value>) {
    for entry in section.take_all("record") {
        let (key, value) = pair(&entry);
        steps.push(json!({"add": {"field": path(key), "value": value}}));
    }
    if let Some(key) = section.take("uuid_key") {
        steps.push(programs::uuid(&path(&key), true));
    }
    let paths = |keys: Vec<String>| keys.iter().map(|key| path(key)).collect::<Vec<_>>();
    let removed = paths(section.take_all("remove_key"));
    if !removed.is_empty() {
        steps.push(json!({"remove": {"field": removed, "ignore_missing": true}}));
    }
    let mut kept = paths(section.take_all("allowlist_key"));
    kept.append(&mut paths(section.take_all("whitelist_key")));
    if !kept.is_empty() {
        kept.push("@timestamp".to_owned());
        steps.push(json!({"keep": {"field": kept}}));
    }
}

/// `nest`: fields put into another one, or taken out of it, as programs.
fn nest(section: &mut Section, steps: &mut Vec<Value>, told: &mut Told) {
    let (line, place) = (section.line, section.place());
    // Texts of programs, in which quotes and backslashes are escaped.
    let quoted = |text: &str| Value::from(text).to_string();
    let lifted = section.take("nested_under");
    let source = match section
        .take("operation")
        .unwrap_or_default()
        .to_ascii_lowercase()
        .as_str()
    {
        "nest" => {
            let wildcards = section.take_all("wildcard");
            let target = section.take("nest_under").unwrap_or_default();
            let begins: Vec<String> = wildcards
                .iter()
                .map(|one| format!("starts_with(key, {})", quoted(one.trim_end_matches('*'))))
                .collect();
            if begins.is_empty() {
                told.tell(line, &place, "nests nothing: it has no [wildcard]");
                return;
            }
            // An event keeps its time.
            let begins = format!("key != \"@timestamp\" && ({})", begins.join(" || "));
            let mut source = format!(
                "inner = filter(.) -> |key, _value| {{ {begins} }}\n\
                 . = filter(.) -> |key, _value| {{ !({begins}) }}\n"
            );
            if let Some(prefix) = section.take("remove_prefix") {
                let prefix = quoted(&prefix);
                source.push_str(&format!(
                    "inner = map_keys(inner) -> |key| {{ replace(key, {prefix}, \"\", count: 1) }}\n"
                ));
            }
            format!("{source}.{} = inner", quoted(&target))
        }
        "lift" => {
            let from = quoted(&lifted.unwrap_or_default());
            let prefix = quoted(&section.take("add_prefix").unwrap_or_default());
            format!(
                "inner = object(.{from}) ?? {{}}\n\
                 inner = map_keys(inner) -> |key| {{ {prefix} + key }}\n\
                 del(.{from})\n. = merge(., inner)"
            )
        }
        other => {
            told.tell(
                line,
                &place,
                format!("[operation {other}] has no counterpart"),
            );
            return;
        }
    };
    section.take_all("wildcard");
    steps.push(json!({"vrl": {"source": source}}));
}
