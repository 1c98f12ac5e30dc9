//! What only Fluent Bit's processors have beside filters: `content_modifier`, and conditions made of rules.

use serde_json::{Value, json};

use super::parsers::{path, ruby};
use super::syntax::Section;
use crate::config::import::programs;
use crate::config::import::told::Told;

/// `content_modifier`: one thing done to one key.
pub(super) fn content_modifier(
    section: &mut Section,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) {
    let context = section.take("context");
    if let Some(context) = context.filter(|context| context != "body") {
        // What has no counterpart is told once, and not by its parts.
        section.take_rest();
        let reason = format!("[context {context}] has no counterpart: an event has its body alone");
        told.tell(line, place, reason);
        return;
    }
    let action = section.take("action").unwrap_or_default();
    let key = path(&section.take("key").unwrap_or_default());
    let value = section.take("value").unwrap_or_default();
    if key.is_empty() {
        told.tell(line, place, "has no [key]");
        return;
    }
    let is_there = json!({"has_fields": [key]});
    steps.push(match action.as_str() {
        "insert" => json!({"add": {"field": key, "value": value, "override": false}}),
        "upsert" => json!({"add": {"field": key, "value": value}}),
        "delete" => json!({"remove": {"field": key, "ignore_missing": true}}),
        "rename" => json!({"rename": {
            "field": key, "target_field": path(&value), "override_target": true, "ignore_missing": true,
        }}),
        "hash" => programs::hashed(&key),
        "extract" => {
            let pattern = section.take("pattern").unwrap_or_default();
            json!({"regex": {
                "field": key, "pattern": ruby(&pattern), "if": is_there, "ignore_failure": true,
            }})
        }
        "convert" => {
            let kind = match section.take("converted_type").as_deref() {
                Some("int") => "long",
                Some("double") => "double",
                Some("boolean") => "boolean",
                _ => "string",
            };
            json!({"convert": {
                "field": key, "type": kind, "ignore_missing": true, "ignore_failure": true,
            }})
        }
        other => {
            told.tell(line, place, format!("[action {other}] has no counterpart"));
            return;
        }
    });
}

/// A condition of rules, of which all or one have to hold; what has no counterpart is told, and holds for no event.
pub(super) fn holds_by_rules(
    written: &Value,
    (line, place, told): (usize, &str, &mut Told),
) -> Value {
    let rules = written["rules"].as_array().into_iter().flatten();
    let mut all = Vec::new();
    for rule in rules {
        all.push(rule_of(rule).unwrap_or_else(|| {
            let reason = format!("the rule [{rule}] of its [condition] never holds here");
            told.tell(line, place, reason);
            json!({"not": {"has_fields": []}})
        }));
    }
    match written["op"].as_str() {
        _ if all.is_empty() => {
            told.tell(line, place, "its [condition] has no rules, and never holds");
            json!({"not": {"has_fields": []}})
        }
        Some("or") => json!({"or": all}),
        _ => json!({"and": all}),
    }
}

/// A rule: a field, and what it is compared with.
fn rule_of(rule: &Value) -> Option<Value> {
    let field = path(rule["field"].as_str()?);
    let (op, value) = (rule["op"].as_str()?, &rule["value"]);
    // What another context has is no field of an event.
    if rule["context"]
        .as_str()
        .is_some_and(|context| context != "body")
    {
        return None;
    }
    let not = |condition: Value| json!({ "not": condition });
    let equals = |value: &Value| json!({"equals": {&field: value}});
    let matches = || {
        let pattern = ruby(value.as_str()?);
        Some(json!({"regexp": {&field: pattern}}))
    };
    let any = || {
        let items: Vec<Value> = value.as_array()?.iter().map(equals).collect();
        Some(json!({"or": items}))
    };
    Some(match op {
        "eq" => equals(value),
        "neq" => not(equals(value)),
        "gt" | "gte" | "lt" | "lte" => json!({"range": {&field: {op: value.as_f64()?}}}),
        "regex" => matches()?,
        "not_regex" => not(matches()?),
        "in" => any()?,
        "not_in" => not(any()?),
        _ => return None,
    })
}
