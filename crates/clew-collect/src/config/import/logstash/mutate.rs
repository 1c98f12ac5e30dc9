//! Logstash's `mutate` as processors.

use serde_json::{Value, json};

use super::filters::pairs;
use super::named_fields::set;
use super::path;
use crate::config::import::conditions::only_if;
use crate::config::import::keys::Keys;
use crate::config::import::patterns::expression;
use crate::config::import::told::Told;
use crate::config::import::{programs, texts};

/// `mutate`, in the order in which Logstash does it.
pub(super) fn mutate(
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) {
    for (field, value) in pairs(keys.take("coerce")) {
        if value.as_str().is_some_and(|text| text.contains("%{")) {
            let reason = format!("[coerce] of [{field}] is not told by other fields");
            told.tell(line, place, reason);
        } else {
            steps.push(programs::coerced(&path(&field), &value));
        }
    }
    for (from, to) in pairs(keys.take("rename")) {
        let to = path(to.as_str().unwrap_or_default());
        steps.push(
            json!({"rename": {"field": path(&from), "target_field": to, "override_target": true, "ignore_missing": true}}),
        );
    }
    for key in ["update", "replace"] {
        for (name, value) in pairs(keys.take(key)) {
            set(&name, value, steps, (line, place, told));
            if key == "update"
                && let Some(step) = steps.last_mut()
            {
                only_if(step, json!({"has_fields": [path(&name)]}));
            }
        }
    }
    convert(keys, steps);
    // What is no text, and for `join` no list, is passed over in silence.
    let gsub = texts(keys.take("gsub").unwrap_or_default());
    for three in gsub.chunks_exact(3) {
        steps.push(json!({"gsub": {"field": path(&three[0]), "pattern": expression(&three[1]), "replacement": java_replacement(&three[2]), "ignore_missing": true, "ignore_failure": true}}));
    }
    for (key, name) in [
        ("uppercase", "uppercase"),
        ("capitalize", ""),
        ("lowercase", "lowercase"),
        ("strip", "trim"),
    ] {
        for field in texts(keys.take(key).unwrap_or_default()) {
            steps.push(match name {
                "" => programs::capitalized(&path(&field)),
                name => json!({name: {"field": path(&field), "ignore_missing": true}}),
            });
        }
    }
    for (name, separator) in pairs(keys.take("split")) {
        // A text, and no expression.
        let separator = regex::escape(separator.as_str().unwrap_or_default());
        steps.push(json!({"split": {"field": path(&name), "separator": separator, "ignore_missing": true, "ignore_failure": true}}));
    }
    for (name, separator) in pairs(keys.take("join")) {
        let mut step =
            json!({"join": {"field": path(&name), "separator": separator, "ignore_failure": true}});
        only_if(&mut step, json!({"has_fields": [path(&name)]}));
        steps.push(step);
    }
    for (into, from) in pairs(keys.take("merge")) {
        for from in texts(from) {
            steps.push(programs::merged(&path(&from), &path(&into)));
        }
    }
    for (from, to) in pairs(keys.take("copy")) {
        let to = path(to.as_str().unwrap_or_default());
        steps.push(json!({"copy": {"source_field": path(&from), "target_field": to, "ignore_missing": true}}));
    }
}

/// `convert`, which takes more spellings of numbers and truths than pipelines do.
fn convert(keys: &mut Keys, steps: &mut Vec<Value>) {
    for (name, kind) in pairs(keys.take("convert")) {
        let written = kind.as_str().unwrap_or_default();
        let kind = match written {
            "integer" | "integer_eu" => "long",
            "float" | "float_eu" => "double",
            "boolean" => "boolean",
            _ => "string",
        };
        if written.ends_with("_eu") {
            // Points stand between thousands there, and a comma before a fraction.
            for (pattern, replacement) in [(r"\.", ""), (",", ".")] {
                steps.push(json!({"gsub": {
                    "field": path(&name), "pattern": pattern, "replacement": replacement,
                    "ignore_missing": true, "ignore_failure": true,
                }}));
            }
        }
        let mut parts = json!({"field": path(&name), "type": kind, "ignore_missing": true});
        if kind != "string" {
            parts["lenient"] = "ruby".into();
        }
        steps.push(json!({ "convert": parts }));
    }
}

/// What takes the place of a match in Ruby's words, `\1`, as Java writes it, `$1`.
fn java_replacement(ruby: &str) -> String {
    let mut out = String::new();
    let mut letters = ruby.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(digit)) if digit.is_ascii_digit() => out.push('$'),
            ('$', _) => out.push_str("\\$"),
            _ => out.push(letter),
        }
    }
    out
}
