//! Expressions as OpenSearch and Logstash take them, in words that the engines here take: these know neither all of Ruby's
//! regular expressions nor everything that is a reference there.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::AT;
use super::groups::{is_escaped, with_flags};
use crate::text;

/// The patterns that are there for all and that the crate has in other words, as the engines take them.
pub(super) static IN_OTHER_WORDS: LazyLock<Vec<(&'static str, String)>> =
    LazyLock::new(|| differing(plain));

/// The same for machines, which are asked of texts that are not ASCII: see [`with_classes`].
pub(super) static FOR_MACHINES: LazyLock<Vec<(&'static str, String)>> =
    LazyLock::new(|| differing(|definition| with_classes(&plain(definition))));

/// The patterns that are there for all and that the crate has otherwise than as they are written here.
fn differing(written: impl Fn(&str) -> String) -> Vec<(&'static str, String)> {
    let theirs: BTreeMap<&str, &str> = grok::patterns().iter().copied().collect();
    let usual = text::usual_patterns().iter();
    let ours = usual.map(|(name, definition)| (*name, written(definition)));
    let differs = |one: &(&'static str, String)| theirs.get(one.0) != Some(&one.1.as_str());
    ours.filter(differs).collect()
}

/// A pattern that is there for all, in the words of the engines.
fn plain(definition: &str) -> String {
    with_flags(&without_doubles(&with_references(definition)))
}

/// An expression with references that the crate takes: `%%{A}` is a sign and a reference, the `@` of fields is [`AT`], what
/// stands behind a type is left out, and what is no reference stands for itself.
pub(super) fn with_references(written: &str) -> String {
    let mut out = String::new();
    let mut rest = written;
    while let Some((before, behind)) = rest.split_once("%{") {
        match before.strip_suffix('%') {
            Some(head) => {
                let bare = head.strip_suffix('\\').filter(|_| is_escaped(head));
                out.push_str(bare.unwrap_or(head));
                out.push_str("[%]");
            }
            None => out.push_str(before),
        }
        match reference(behind) {
            Some((reference, behind)) => {
                out.push_str(&format!("%{{{reference}}}"));
                rest = behind;
            }
            None => {
                out.push_str("%\\{");
                rest = behind;
            }
        }
    }
    out + rest
}

/// What stands between the braces of a reference that a text begins with, and what is behind it.
fn reference(text: &str) -> Option<(String, &str)> {
    let is_inside = |letter: char| letter.is_alphanumeric() || "@[]_:.-".contains(letter);
    let end = text.find(|letter: char| !is_inside(letter))?;
    let (inside, behind) = text.split_at(end);
    let mut parts = inside.split(':');
    let name = parts.next().unwrap_or_default();
    let (field, kind) = (parts.next(), parts.next().unwrap_or_default());
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.is_empty() || !name.bytes().all(is_name) || (field == Some("") && kind.is_empty()) {
        return None;
    }
    let mut reference = name.to_owned();
    for part in [field.unwrap_or_default(), kind] {
        if !part.is_empty() || (field == Some("") && reference == name) {
            reference.push(':');
            reference.push_str(&part.replace('@', AT));
        }
    }
    if let Some(behind) = behind.strip_prefix('}') {
        return Some((reference, behind));
    }
    let (definition, behind) = behind.strip_prefix('=')?.split_once('}')?;
    let is_one = !definition.is_empty() && !definition.contains('{');
    is_one.then(|| (format!("{reference}={definition}"), behind))
}

/// A regular expression of Ruby without what no other engine takes: what may be missing again and again (`.?*`) is what comes
/// again and again, and `\Z` is the end of the text or of its last line.
pub(super) fn without_doubles(expression: &str) -> String {
    let mut out = String::new();
    let (mut is_escaped, mut classes) = (false, 0_usize);
    let mut letters = expression.chars().peekable();
    while let Some(letter) = letters.next() {
        if is_escaped {
            is_escaped = false;
            if letter == 'Z' && classes == 0 {
                out.pop();
                out.push_str("(?=\\n?\\z)");
                continue;
            }
        } else {
            match letter {
                '\\' => is_escaped = true,
                '[' => classes += 1,
                ']' => classes = classes.saturating_sub(1),
                '?' if classes == 0 && letters.peek() == Some(&'*') && !out.ends_with('(') => {
                    continue;
                }
                _ => {}
            }
        }
        out.push(letter);
    }
    out
}

/// A regular expression of Ruby whose classes have in the engine the letters that they have there: those of escapes are ASCII,
/// and those in brackets (`[[:alpha:]]`) are of any script.
pub(super) fn with_classes(expression: &str) -> String {
    let mut out = String::new();
    let mut classes = 0_usize;
    let mut letters = expression.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                let escaped = letters.next();
                match escaped.and_then(ascii_class) {
                    Some((class, true)) => out.push_str(&format!("[^{class}]")),
                    Some((class, false)) if classes > 0 => out.push_str(class),
                    Some((class, false)) => out.push_str(&format!("[{class}]")),
                    None => {
                        out.push('\\');
                        out.extend(escaped);
                    }
                }
                continue;
            }
            '[' if classes > 0 => {
                let rest = letters.as_str();
                let named = rest
                    .strip_prefix(':')
                    .and_then(|rest| rest.split_once(":]"));
                let class = named.and_then(|(name, behind)| Some((class_of_name(name)?, behind)));
                if let Some((class, behind)) = class {
                    out.push_str(class);
                    letters = behind.chars();
                    continue;
                }
                classes += 1;
            }
            '[' => classes += 1,
            ']' => classes = classes.saturating_sub(1),
            _ => {}
        }
        out.push(letter);
    }
    out
}

/// The letters of an escape, and whether it stands for all others. Ends with a range, so that no `-` behind it makes one.
fn ascii_class(escape: char) -> Option<(&'static str, bool)> {
    let class = match escape.to_ascii_lowercase() {
        'w' => "_0-9A-Za-z",
        'd' => "0-9",
        's' => "\\x20\\t-\\r",
        'h' => "0-9A-Fa-f",
        _ => return None,
    };
    Some((class, escape.is_ascii_uppercase()))
}

/// What a name in brackets stands for where that is more than ASCII.
fn class_of_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "alpha" => "\\p{Alphabetic}",
        "^alpha" => "\\P{Alphabetic}",
        "digit" => "\\p{Nd}",
        "^digit" => "\\P{Nd}",
        "alnum" => "\\p{Alphabetic}\\p{Nd}",
        "upper" => "\\p{Uppercase}",
        "^upper" => "\\P{Uppercase}",
        "lower" => "\\p{Lowercase}",
        "^lower" => "\\P{Lowercase}",
        "space" => "\\s",
        "^space" => "\\S",
        "word" => "\\w",
        "^word" => "\\W",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_those_that_opensearch_takes() {
        for (written, expected) in [
            ("%{A} %{A:b} %{A:b:int}", "%{A} %{A:b} %{A:b:int}"),
            ("%{A:[@metadata][b]}", "%{A:[-at-metadata][b]}"),
            ("%{A::int} %{A=b+} %{A:c=b+}", "%{A::int} %{A=b+} %{A:c=b+}"),
            // A sign in front of a reference is a sign.
            ("%%{A}: %%%{A}", "[%]%{A}: %[%]%{A}"),
            ("\\%%{A} \\\\%%{A}", "[%]%{A} \\\\[%]%{A}"),
            ("%{A:b:int:c} %{A:b:}", "%{A:b:int} %{A:b}"),
            // What is none is a text.
            ("%{A:b c}", "%\\{A:b c}"),
            ("%{A:b\\]] %{A", "%\\{A:b\\]] %\\{A"),
            (
                "%{} %{A:} %{A=} %{A={x}}",
                "%\\{} %\\{A:} %\\{A=} %\\{A={x}}",
            ),
        ] {
            assert_eq!(with_references(written), expected, "{written}");
            let again = with_references(expected);
            assert_eq!(again, expected, "{written}");
        }
    }

    #[test]
    fn what_ruby_alone_takes_is_written_anew() {
        for (written, expected) in [
            ("a.?*b", "a.*b"),
            ("[x?*]+(?:y)?", "[x?*]+(?:y)?"),
            ("[^\\]?*]x\\?*", "[^\\]?*]x\\?*"),
            ("[[:alpha:]?*]", "[[:alpha:]?*]"),
            ("a\\Z|\\\\Z|[\\Z]", "a(?=\\n?\\z)|\\\\Z|[\\Z]"),
        ] {
            assert_eq!(without_doubles(written), expected, "{written}");
        }
    }

    #[test]
    fn classes_have_the_letters_that_ruby_gives_them() {
        for (written, expected) in [
            ("\\w+ \\D", "[_0-9A-Za-z]+ [^0-9]"),
            ("[\\w-.]\\h", "[_0-9A-Za-z-.][0-9A-Fa-f]"),
            ("[^\\S,]", "[^[^\\x20\\t-\\r],]"),
            ("\\\\w\\[\\w]", "\\\\w\\[[_0-9A-Za-z]]"),
            ("[[:alpha:]_][[:punct:]]", "[\\p{Alphabetic}_][[:punct:]]"),
            ("[:alpha:]", "[:alpha:]"),
            ("\\b%{WORD:a}", "\\b%{WORD:a}"),
        ] {
            assert_eq!(with_classes(written), expected, "{written}");
        }
    }
}
