//! Branches of others, which are decided once, where they begin. Here each step has its condition, which is asked when the step's
//! turn comes: where a step may change what a condition looks at, a mark keeps what was decided.

use std::ops::Range;

use serde_json::{Value, json};

use super::texts;

/// Steps that read a field and put what they find into others.
const READING: [&str; 13] = [
    "grok",
    "dissect",
    "regex",
    "json",
    "xml",
    "kv",
    "csv",
    "logfmt",
    "date",
    "copy",
    "lookup",
    "user_agent",
    "fingerprint",
];

/// Has the steps of branches, each of which asks for the condition of its own branch, ask for a mark instead, if one of them may
/// change what decides and others come behind it. `arms` are the branches in their order, each with the steps that are in it.
pub(super) fn decide_once(out: &mut Vec<Value>, arms: &[(Value, Range<usize>)]) {
    let Some(first) = arms.first().map(|(_, steps)| steps.start) else {
        return;
    };
    let mut fields = Vec::new();
    for (condition, _) in arms {
        named(condition, &mut fields);
    }
    // Behind the last step nothing is asked any more.
    let changing = &out[first..out.len().saturating_sub(1).max(first)];
    let is_changed = |field: &String| changing.iter().any(|step| may_change(step, field));
    let asked: String = arms.iter().map(|(asked, _)| asked.to_string()).collect();
    if !fields.iter().any(is_changed) && !changing.iter().any(|step| may_tag(step, &asked)) {
        return;
    }
    // Steps of one list only become more: no other branches in it have this name. Those of another list, which an event has been
    // through before, may.
    let mark = format!("@metadata.branch{}", out.len());
    let mut marks = vec![json!({"remove": {"field": mark, "ignore_missing": true}})];
    for (number, (condition, steps)) in arms.iter().enumerate() {
        marks.push(json!({"add": {"field": mark, "value": number, "if": condition}}));
        let is_marked = json!({"equals": {(mark.as_str()): number}});
        for step in &mut out[steps.clone()] {
            let parameters = step
                .as_object_mut()
                .and_then(|step| step.values_mut().next());
            if let Some(asked) = parameters.and_then(|parameters| parameters.get_mut("if")) {
                put_in_place(asked, condition, &is_marked);
            }
        }
    }
    out.splice(first..first, marks);
}

/// Puts a condition in the place of another one, wherever that is inside.
fn put_in_place(asked: &mut Value, of: &Value, condition: &Value) {
    if asked == of {
        *asked = condition.clone();
        return;
    }
    match asked {
        Value::Array(parts) => parts
            .iter_mut()
            .for_each(|part| put_in_place(part, of, condition)),
        Value::Object(parts) => parts
            .values_mut()
            .for_each(|part| put_in_place(part, of, condition)),
        _ => {}
    }
}

/// The fields that a condition looks at.
fn named(condition: &Value, fields: &mut Vec<String>) {
    let Value::Object(members) = condition else {
        return;
    };
    for (word, inner) in members {
        match (word.as_str(), inner) {
            ("and" | "or", Value::Array(parts)) => {
                parts.iter().for_each(|part| named(part, fields));
            }
            ("not", inner) => named(inner, fields),
            ("has_fields", names) => fields.extend(texts(names.clone())),
            (word, Value::Object(compared)) => {
                fields.extend(compared.keys().cloned());
                if word == "compare" {
                    let others = compared.values().filter_map(Value::as_object);
                    let others = others.flat_map(|other| other.values());
                    fields.extend(others.filter_map(Value::as_str).map(str::to_owned));
                }
            }
            _ => {}
        }
    }
}

/// Whether a step may change a field, as far as its parameters tell.
fn may_change(step: &Value, field: &str) -> bool {
    let Some((name, Value::Object(parameters))) =
        step.as_object().and_then(|one| one.iter().next())
    else {
        return false;
    };
    // What comes out of these is told by no parameter.
    let is_unknown = match name.as_str() {
        "json" | "xml" => parameters.contains_key("add_to_root"),
        "kv" | "logfmt" => !parameters.contains_key("target_field"),
        // And what goes with one.
        "parse" | "keep" => true,
        "vrl" => parameters
            .get("source")
            .and_then(Value::as_str)
            .is_none_or(|source| source.contains(". = ")),
        _ => false,
    };
    let is_in_place = ["json", "xml"].contains(&name.as_str())
        && !["target_field", "paths"]
            .iter()
            .any(|key| parameters.contains_key(*key));
    let is_read = READING.contains(&name.as_str()) && !is_in_place;
    let writes = parameters.iter().filter(|(key, _)| match key.as_str() {
        "if" | "on_failure" => false,
        "field" | "fields" | "source_field" => !is_read,
        _ => true,
    });
    // A program names what is inside of another field behind a point and in quotes.
    let written: Vec<String> = writes
        .map(|(_, value)| match value {
            Value::String(text) => text.replace("\".\"", "."),
            other => other.to_string(),
        })
        .collect();
    let mut names = std::iter::successors(Some(field), |name| Some(name.rsplit_once('.')?.0));
    let handlers = parameters.get("on_failure").and_then(Value::as_array);
    // Those that are tried where it fails, and not those that only tell of it.
    let mut tried = handlers.into_iter().flatten();
    is_unknown
        || names.any(|name| written.iter().any(|text| has_name(text, name)))
        || tried.any(|step| step.get("grok").is_some() && may_change(step, field))
}

/// Whether a step that fails gives an event a tag that conditions ask for.
fn may_tag(step: &Value, conditions: &str) -> bool {
    let parameters = step.as_object().and_then(|one| one.values().next());
    let handlers = parameters.and_then(|parameters| parameters["on_failure"].as_array());
    let given = handlers.into_iter().flatten();
    let tags = given.filter_map(|handler| handler["append"]["value"].as_array());
    let mut tags = tags.flatten().filter_map(Value::as_str);
    tags.any(|tag| has_name(conditions, tag))
}

/// Whether a name stands in a text, and not as a part of another one.
fn has_name(text: &str, name: &str) -> bool {
    let is_of_name = |letter: char| letter.is_alphanumeric() || "_.@".contains(letter);
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let behind = text[at + name.len()..].chars().next();
            !before.is_some_and(is_of_name) && !behind.is_some_and(is_of_name)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_changes_what_it_writes_and_what_it_takes_away() {
        for (step, field, changes) in [
            (json!({"json": {"field": "a"}}), "a", true),
            (
                json!({"json": {"field": "a", "target_field": "b"}}),
                "a",
                false,
            ),
            (
                json!({"json": {"field": "a", "target_field": "b"}}),
                "b",
                true,
            ),
            (json!({"xml": {"field": "a"}}), "a", true),
            (
                json!({"xml": {"field": "a", "paths": {"/b": "c.d"}}}),
                "a",
                false,
            ),
            (
                json!({"xml": {"field": "a", "paths": {"/b": "c.d"}}}),
                "c.d",
                true,
            ),
            (json!({"keep": {"field": ["b"]}}), "a", true),
            (
                json!({"rename": {"field": "a.b", "target_field": "c"}}),
                "a.b",
                true,
            ),
            (json!({"lowercase": {"field": "ab"}}), "a", false),
        ] {
            assert_eq!(may_change(&step, field), changes, "{step} {field}");
        }
    }

    #[test]
    fn a_branch_that_asks_for_a_tag_goes_on_behind_a_step_that_fails_with_it() {
        let asked = json!({"not": {"includes": {"tags": "_failed"}}});
        let fails = |tag: &str| json!([{"append": {"field": "tags", "value": [tag]}}]);
        for (tag, is_marked) in [("_failed", true), ("_failed_otherwise", false)] {
            let mut steps = vec![
                json!({"grok": {"field": "a", "on_failure": fails(tag), "if": asked}}),
                json!({"drop": {"if": asked}}),
            ];
            decide_once(&mut steps, &[(asked.clone(), 0..2)]);
            let mark = json!({"equals": {"@metadata.branch2": 0}});
            let last = steps.last().map(|step| &step["drop"]["if"]);
            assert_eq!(last, Some(if is_marked { &mark } else { &asked }), "{tag}");
        }
    }
}
