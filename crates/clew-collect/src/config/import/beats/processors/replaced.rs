//! `replace` of Beats, whose expressions and what takes the place of matches are Go's.

use serde_json::{Value, json};

use super::members::all_or_none;
use crate::config::import::keys::Keys;
use crate::config::import::patterns::expression;

/// `replace`: what fits a pattern becomes something else, in all fields or in none.
pub(super) fn replace((keys, goes_on): (&mut Keys, bool), out: &mut Vec<Value>) {
    let is_quiet = keys.take_flag("ignore_missing").unwrap_or(false);
    let Some(Value::Array(items)) = keys.take("fields") else {
        return;
    };
    let (first, mut needed) = (out.len(), Vec::new());
    for item in items {
        let replacement = item["replacement"].as_str().map(replacement);
        out.push(json!({"gsub": {
            "field": item["field"], "pattern": item["pattern"].as_str().map(expression),
            "replacement": replacement, "ignore_missing": is_quiet,
        }}));
        needed.push(item["field"].clone());
    }
    if needed.len() > 1 && !is_quiet && !goes_on {
        all_or_none("replace", json!({"has_fields": needed}), first, out);
    }
}

/// What takes the place of a match in Go's words, `$1`, `$name`, `$$`, as Java writes it; what stands in braces is a variable of the
/// environment, there as here.
fn replacement(go: &str) -> String {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let literal = |text: &str| text.replace('\\', r"\\");
    let mut out = String::new();
    let mut rest = go;
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(&literal(before));
        if behind.starts_with('{') {
            out.push('$');
            rest = behind;
            continue;
        }
        let end = behind.find(|letter: char| !is_of_name(letter));
        let (name, after) = behind.split_at(end.unwrap_or(behind.len()));
        rest = after;
        match name.parse::<u32>() {
            Ok(_) => out.push_str(&format!("${name}")),
            Err(_) if name.is_empty() => {
                out.push_str(r"\$");
                rest = after.strip_prefix('$').unwrap_or(after);
            }
            // Go knows no such group, and puts nothing there.
            Err(_) if name.starts_with(|first: char| first.is_ascii_digit()) => {}
            Err(_) => out.push_str(&format!("$${{{name}}}")),
        }
    }
    out + &literal(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_of_go_are_written_as_java_reads_them() {
        for (go, java) in [
            ("$2:$1", "$2:$1"),
            ("<$user>${ID}", "<$${user}>${ID}"),
            ("$$5 \\", r"\$5 \\"),
            ("a$", r"a\$"),
            ("$1x", ""),
        ] {
            assert_eq!(replacement(go), java, "{go}");
        }
    }
}
