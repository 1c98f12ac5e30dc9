//! Answers as YAML, for who asks for it (`format=yaml`): values that were read from JSON, in blocks.

use serde_json::Value;

/// Words that YAML takes for something else than text.
const SPECIAL: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// Longer names have a line of their own: readers look no further than that for the colon behind one (libyaml for 1024
/// characters).
const SIMPLE_KEY_BYTES_MAX: usize = 128;

/// A value as a document.
pub(super) fn document(value: &Value) -> String {
    let mut text = "---\n".to_string();
    block(&mut text, value, 0);
    text
}

/// Writes a value on lines of its own.
fn block(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                indent(text, depth);
                let key = key(name);
                if key.len() > SIMPLE_KEY_BYTES_MAX {
                    text.push_str("? ");
                    text.push_str(&key);
                    text.push('\n');
                    indent(text, depth);
                } else {
                    text.push_str(&key);
                }
                text.push(':');
                match member {
                    Value::Object(members) if !members.is_empty() => {
                        text.push('\n');
                        block(text, member, depth + 1);
                    }
                    Value::Array(items) if !items.is_empty() => {
                        text.push('\n');
                        block(text, member, depth);
                    }
                    _ => {
                        text.push(' ');
                        block(text, member, 0);
                    }
                }
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                indent(text, depth);
                text.push_str("- ");
                // The first line stands behind the dash, the others below it.
                let mut lines = String::new();
                block(&mut lines, item, depth + 1);
                text.push_str(lines.trim_start());
            }
        }
        // JSON's texts, numbers and empty lists are YAML's, too.
        plain => {
            indent(text, depth);
            text.push_str(&plain.to_string());
            text.push('\n');
        }
    }
}

fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n("  ", depth));
}

/// A name, in quotes where it could be something else.
fn key(name: &str) -> String {
    let is_begin = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_word = SPECIAL.iter().any(|word| name.eq_ignore_ascii_case(word));
    if is_begin && name.chars().all(is_plain) && !is_word {
        return name.to_string();
    }
    Value::from(name).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_stand_in_blocks() {
        let value = json!({
            "a": 1, "b c": "x: y", "no": null, "empty": {}, "none": [],
            "list": [1, {"k": true, "l": [2, 3]}, [4, [5]]],
            "in": {"deep": {"er": "\n"}},
        });
        let lines = [
            "---",
            "a: 1",
            "\"b c\": \"x: y\"",
            "\"no\": null",
            "empty: {}",
            "none: []",
            "list:",
            "- 1",
            "- k: true",
            "  l:",
            "  - 2",
            "  - 3",
            "- - 4",
            "  - - 5",
            "in:",
            "  deep:",
            "    er: \"\\n\"",
            "",
        ];
        assert_eq!(document(&value), lines.join("\n"));
        assert_eq!(document(&json!([])), "---\n[]\n");
        let long = "a".repeat(200);
        assert_eq!(
            document(&json!({"in": {&long: [1], "b": 2}})),
            format!("---\nin:\n  ? {long}\n  :\n  - 1\n  b: 2\n")
        );
    }
}
