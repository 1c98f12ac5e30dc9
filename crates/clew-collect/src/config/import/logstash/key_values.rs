//! Logstash's `kv`, whose letters are written as the inside of a class of a regular expression.

use serde_json::{Value, json};

use super::filters::pairs;
use super::named_fields::set;
use super::path;
use crate::config::import::conditions::only_if;
use crate::config::import::keys::Keys;
use crate::config::import::patterns::expression;
use crate::config::import::told::Told;

/// `kv`; keys that a text has not get what is said for them once it is taken apart.
pub(super) fn key_values(
    source: String,
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) {
    // Either is one of the letters that are given, as in a class of a regular expression, or a pattern.
    let mut split = |key: &str, default: &str| {
        let pattern = keys.take_text(&format!("{key}_pattern"));
        let letters = keys.take_text(key).unwrap_or_else(|| default.to_owned());
        pattern.unwrap_or_else(|| match regex::escape(&letters) == letters {
            true if letters.chars().count() == 1 => letters,
            _ => format!("[{letters}]"),
        })
    };
    let (field_split, value_split) = (split("field_split", " "), split("value_split", "="));
    let (field_split, value_split) = (expression(&field_split), expression(&value_split));
    let mut parts = json!({"field": source, "field_split": field_split, "value_split": value_split, "quotes": true, "ignore_missing": true});
    for key in [
        "trim_key",
        "trim_value",
        "remove_char_key",
        "remove_char_value",
    ] {
        let Some(class) = keys.take_text(key) else {
            continue;
        };
        match letters_of(&class) {
            Some(letters) => parts[key] = letters.into(),
            None => {
                let reason = format!("[{key} => {class}] is no list of letters");
                told.tell(line, place, reason);
            }
        }
    }
    for (key, usual) in [
        ("recursive", false),
        ("include_brackets", true),
        ("allow_duplicate_values", true),
        ("allow_empty_values", false),
    ] {
        if let Some(flag) = keys.take_flag(key).filter(|flag| *flag != usual) {
            parts[key] = flag.into();
        }
    }
    let target = keys.take_text("target").map(|target| path(&target));
    if let Some(target) = &target {
        parts["target_field"] = target.as_str().into();
    }
    for key in [
        "prefix",
        "include_keys",
        "exclude_keys",
        "transform_key",
        "transform_value",
    ] {
        if let Some(value) = keys.take(key) {
            parts[key] = value;
        }
    }
    if keys.take_text("whitespace").as_deref() == Some("strict") {
        let reason = "[whitespace => strict]: blanks around separators belong to nobody";
        told.tell(line, place, reason);
    }
    steps.push(json!({"kv": parts}));
    given(target.as_deref(), keys, steps, (line, place, told));
}

/// `default_keys`: the values of keys that a text has not.
fn given(
    target: Option<&str>,
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) {
    for (key, value) in pairs(keys.take("default_keys")) {
        let field = match target {
            Some(target) => format!("{target}.{}", path(&key)),
            None => path(&key),
        };
        let first = steps.len();
        set(&field, value, steps, (line, place, told));
        for step in steps.iter_mut().skip(first) {
            only_if(step, json!({"not": {"has_fields": [field]}}));
        }
    }
}

/// The letters of the inside of a class, `<>\[\]a-c`; nothing of what excludes some, or has more of them than anybody lists.
fn letters_of(class: &str) -> Option<String> {
    if class.starts_with('^') {
        return None;
    }
    let mut out = String::new();
    let mut letters = class.chars();
    while let Some(letter) = letters.next() {
        let first = match letter {
            '\\' => match letters.next()? {
                's' => {
                    out.push_str(" \t\r\n\u{b}\u{c}");
                    continue;
                }
                'd' => {
                    out.extend('0'..='9');
                    continue;
                }
                't' => '\t',
                'r' => '\r',
                'n' => '\n',
                escaped if escaped.is_ascii_alphanumeric() => return None,
                escaped => escaped,
            },
            letter => letter,
        };
        let mut ahead = letters.clone();
        let last = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(last)) if last.is_ascii() && last != '\\' => Some(last),
            _ => None,
        };
        match last {
            Some(last) if first.is_ascii() && first <= last => {
                out.extend(first..=last);
                letters = ahead;
            }
            _ => out.push(first),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_a_class() {
        for (class, expected) in [
            (r"<>\[\],", Some("<>[],")),
            (r#"\"a-d-"#, Some("\"abcd-")),
            (r"\t\-x", Some("\t-x")),
            (r"\d", Some("0123456789")),
            ("^a", None),
            (r"\w", None),
            ("é-", Some("é-")),
        ] {
            assert_eq!(letters_of(class).as_deref(), expected, "{class}");
        }
    }
}
