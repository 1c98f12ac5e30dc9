//! Logstash's `grok`, and what its named patterns are with `ecs_compatibility`.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::filters::{dotted, pairs};
use super::path;
use super::patterns::{of_folders, with_used};
use super::schema::{Names, add_definitions, is_known, is_of_schema_only, references};
use crate::config::import::keys::Keys;
use crate::config::import::texts;
use crate::config::import::told::Told;

/// How the names of others begin whose names the schema changes.
const OTHERS: [&str; 8] = [
    "BACULA",
    "CISCO",
    "CLOUDFRONT",
    "MONGO_SLOWQUERY",
    "NETSCREEN",
    "RAILS",
    "S3_",
    "SYSLOGPAM",
];

/// The first named pattern that is such a one.
fn named(patterns: &[String], is_one: fn(&str) -> bool) -> Option<&str> {
    let mut names = patterns.iter().flat_map(|pattern| references(pattern));
    names.find(|name| is_one(name))
}

/// Whether a pattern has other names in the schema, which nothing here knows.
fn is_other(name: &str) -> bool {
    OTHERS.iter().any(|begin| name.starts_with(begin)) && !is_known(name)
}

/// Definitions with those of the named patterns that the usual ones are not; a step's own come first.
fn with_names(patterns: &[String], names: Names, definitions: Option<Value>) -> Option<Value> {
    let mut all = pairs(definitions);
    add_definitions(patterns, names, &mut all);
    (!all.is_empty()).then(|| all.into())
}

/// Which names the captures of named patterns have, by `ecs_compatibility`; tells where they may not be those that the Logstash gives.
fn names_of(
    mode: Option<&str>,
    patterns: &[String],
    (line, place, told): (usize, &str, &mut Told),
) -> Names {
    match mode {
        Some("disabled") => Names::Before,
        Some(mode) => {
            if let Some(name) = named(patterns, is_other) {
                let reason = format!(
                    "[ecs_compatibility => {mode}]: [{name}] gives the names that it had before"
                );
                told.tell(line, place, reason);
            }
            Names::OfSchema
        }
        // Where there is no such pattern without the schema, it is on.
        None if named(patterns, is_of_schema_only).is_some() => Names::OfSchema,
        None => {
            let renamed = named(patterns, is_known).or_else(|| named(patterns, is_other));
            if let Some(name) = renamed {
                let reason = format!(
                    "[{name}] gives the names that it has without [ecs_compatibility], which is [v8] for a Logstash of the eighth generation"
                );
                told.tell(line, place, reason);
            }
            Names::Before
        }
    }
}

/// Lets what is anything in patterns be several lines, as it is in Logstash: where no event has several, that is the same, and
/// slower.
pub(super) fn over_lines(steps: &mut [Value]) {
    for step in steps {
        if let Some(Value::Array(tried)) = step.pointer_mut("/grok/on_failure") {
            over_lines(tried);
        }
        let Some(patterns) = step.pointer_mut("/grok/patterns") else {
            continue;
        };
        for pattern in patterns.as_array_mut().into_iter().flatten() {
            if let Value::String(pattern) = pattern
                && !pattern.starts_with("(?m)")
                && has_anything(pattern)
            {
                pattern.insert_str(0, "(?m)");
            }
        }
    }
}

/// Whether there is a point in a pattern, or a named one that may have some.
fn has_anything(pattern: &str) -> bool {
    let mut pieces = pattern.split("%{");
    let has_point = |text: &str| text.contains('.');
    pieces.next().is_some_and(has_point)
        || pieces.any(|piece| {
            let (reference, behind) = piece.split_once('}').unwrap_or((piece, ""));
            let name = reference.split([':', '=']).next().unwrap_or_default();
            let may_have = ["DATA", "MESSAGE", "LINE", "LOG"];
            has_point(behind) || may_have.iter().any(|part| name.contains(part))
        })
}

/// Whether a capture of a pattern may be empty: one of `DATA`, a group of its own, or one inside a named pattern.
fn may_capture_nothing(pattern: &str) -> bool {
    pattern.contains("(?<")
        || pattern.split("%{").skip(1).any(|behind| {
            let reference = behind
                .split_once('}')
                .map_or(behind, |(reference, _)| reference);
            !reference.contains(':') || reference.contains("DATA")
        })
}

/// Whether a pattern names a field more than once, whose values are a list in Logstash.
fn names_twice(pattern: &str) -> bool {
    let references = pattern.split("%{").skip(1);
    let references = references.filter_map(|behind| behind.split_once('}')?.0.split(':').nth(1));
    let groups = pattern.split("(?<").skip(1);
    let groups = groups.filter_map(|behind| Some(behind.split_once('>')?.0));
    let groups = groups.filter(|name| !name.starts_with(['=', '!']));
    let mut seen = HashSet::new();
    references.chain(groups).any(|name| !seen.insert(name))
}

/// Takes what makes no difference here, and tells what would.
fn passed_over(keys: &mut Keys, (line, place, told): (usize, &str, &mut Told)) {
    for key in ["overwrite", "timeout_millis", "timeout_scope"] {
        keys.take(key);
    }
    if keys.take_flag("named_captures_only") == Some(false) {
        let reason = "[named_captures_only => false]: what has no name becomes no field";
        told.tell(line, place, reason);
    }
}

/// Adds the steps of a filter: one for each field, where all are looked at, or one that tries them in turn.
pub(super) fn grok(
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) {
    let mut definitions = keys.take("pattern_definitions");
    let takes_all = keys.take_flag("break_on_match") == Some(false);
    passed_over(keys, (line, place, told));
    let keeps_empty = keys.take_flag("keep_empty_captures") == Some(true);
    let given = pairs(keys.take("match"));
    let all: Vec<String> = given.values().cloned().flat_map(texts).collect();
    let folders = of_folders(keys, (line, place, told));
    definitions = with_used(definitions, &all, &folders);
    let mode = keys.take_text("ecs_compatibility");
    let names = names_of(mode.as_deref(), &all, (line, place, told));
    definitions = with_names(&all, names, definitions);
    if takes_all {
        let reason =
            "[break_on_match => false]: an event that no pattern fits has no tag that says so";
        told.tell(line, place, reason);
    }
    let mut made = Vec::new();
    for (field, patterns) in given {
        let patterns: Vec<String> = texts(patterns)
            .iter()
            .map(|pattern| dotted(pattern))
            .collect();
        // Patterns of which each is to be tried are steps of their own.
        let lists = match takes_all {
            true => patterns.chunks(1),
            false => patterns.chunks(patterns.len().max(1)),
        };
        for patterns in lists {
            let mut parts = json!({"field": path(&field), "patterns": patterns});
            if let Some(definitions) = &definitions {
                parts["pattern_definitions"] = definitions.clone();
            }
            if !keeps_empty && patterns.iter().any(|pattern| may_capture_nothing(pattern)) {
                parts["keep_empty_captures"] = false.into();
            }
            if patterns.iter().any(|pattern| names_twice(pattern)) {
                parts["capture_all_matches"] = true.into();
            }
            if takes_all {
                parts["ignore_failure"] = true.into();
            }
            made.push(json!({ "grok": parts }));
        }
    }
    if takes_all {
        return steps.append(&mut made);
    }
    // A field is looked at where those before it did not fit.
    let tried = made.into_iter().rev().reduce(|next, mut step| {
        step["grok"]["on_failure"] = json!([next]);
        step
    });
    steps.extend(tried);
}
