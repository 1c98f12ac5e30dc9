//! The selectors of Loki's language that name streams and lines, as conditions: `{app="shop",env!~"dev|test"} |= "error"`.

use serde_json::{Value, json};

use super::label;
use crate::config::import::patterns::expression;

/// The condition of a selector; nothing where it takes all events.
///
/// # Errors
/// What is not understood, in words.
pub(super) fn selected(written: &str) -> Result<Option<Value>, String> {
    let written = written.trim();
    let inside = written.strip_prefix('{').ok_or("does not begin with a {")?;
    let mut rest = inside.trim_start();
    let mut all = Vec::new();
    while !rest.starts_with('}') {
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
        if name.is_empty() {
            return Err(format!("is not understood from [{rest}] on"));
        }
        let (sign, behind) = sign(behind, &["=~", "!~", "!=", "="])?;
        let (value, behind) = quoted(behind)?;
        let field = label(name);
        all.push(match sign {
            // Expressions of labels are of the whole value.
            "=~" => json!({"regexp": {field: whole(&value)}}),
            "!~" => json!({"not": {"regexp": {field: whole(&value)}}}),
            "!=" => json!({"not": {"equals": {field: value}}}),
            _ => json!({"equals": {field: value}}),
        });
        let behind = behind.trim_start();
        rest = behind.strip_prefix(',').unwrap_or(behind).trim_start();
        if rest.is_empty() {
            return Err("has a { without its }".to_owned());
        }
    }
    rest = rest[1..].trim_start();
    while !rest.is_empty() {
        let (sign, behind) = sign(rest, &["|=", "|~", "!=", "!~"])?;
        let (value, behind) = quoted(behind)?;
        all.push(match sign {
            "|=" => json!({"contains": {"message": value}}),
            "|~" => json!({"regexp": {"message": expression(&value)}}),
            "!=" => json!({"not": {"contains": {"message": value}}}),
            _ => json!({"not": {"regexp": {"message": expression(&value)}}}),
        });
        rest = behind.trim_start();
    }
    Ok(match all.len() {
        0 => None,
        1 => all.pop(),
        _ => Some(json!({ "and": all })),
    })
}

fn whole(written: &str) -> String {
    format!("^(?:{})$", expression(written))
}

/// The sign that a text begins with, of some, and what stands behind it.
fn sign<'t>(text: &'t str, signs: &[&'static str]) -> Result<(&'static str, &'t str), String> {
    let text = text.trim_start();
    let found = signs
        .iter()
        .find_map(|sign| Some((*sign, text.strip_prefix(*sign)?)));
    found.ok_or_else(|| format!("is not understood from [{text}] on"))
}

/// The text in quotes that a text begins with, and what stands behind it.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let text = text.trim_start();
    if let Some(raw) = text.strip_prefix('`') {
        let (value, behind) = raw.split_once('`').ok_or("has a ` without an end")?;
        return Ok((value.to_owned(), behind));
    }
    let inside = text
        .strip_prefix('"')
        .ok_or_else(|| format!("wants a text at [{text}]"))?;
    let mut value = String::new();
    let mut letters = inside.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Ok((value, &inside[at + 1..])),
            '\\' => match letters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, escaped)) => value.push(escaped),
                None => break,
            },
            letter => value.push(letter),
        }
    }
    Err("has a text without an end".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_conditions() {
        for (written, expected) in [
            ("{}", Ok(None)),
            (
                r#"{app="shop"}"#,
                Ok(Some(json!({"equals": {"labels.app": "shop"}}))),
            ),
            (
                r#"{app!="a\"b", env=~"x|y",} |= "error" !~ `\d+`"#,
                Ok(Some(json!({"and": [
                    {"not": {"equals": {"labels.app": "a\"b"}}},
                    {"regexp": {"labels.env": "^(?:x|y)$"}},
                    {"contains": {"message": "error"}},
                    {"not": {"regexp": {"message": "\\d+"}}},
                ]}))),
            ),
            ("app", Err("does not begin with a {".to_owned())),
            (r#"{app="x""#, Err("has a { without its }".to_owned())),
            (
                r#"{app~"x"}"#,
                Err(r#"is not understood from [~"x"}] on"#.to_owned()),
            ),
            (
                r#"{} | json"#,
                Err("is not understood from [| json] on".to_owned()),
            ),
        ] {
            assert_eq!(selected(written), expected, "{written}");
        }
    }
}
