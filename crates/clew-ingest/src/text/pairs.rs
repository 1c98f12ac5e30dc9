//! Keys and values: `a=1;b=2` with separators as regular expressions, and logfmt, `a=1 b="two words" c`.

use std::ops::Range;

use clew_analysis::{JavaPattern, TooManySteps};

use super::span::{Span, TEXT_BYTES_MAX};

/// A key and its value, as parts of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) key: Span,
    pub(crate) value: PairValue,
}

/// What a key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairValue {
    /// A part of the text as it is.
    Text(Span),
    /// A string of JSON, quotes included.
    Json(Span),
    /// Nothing but its name.
    Nothing,
}

/// The pairs of a text; false, with those before it, if a part of it is no pair.
///
/// # Errors
/// When looking for separators takes too many steps.
pub(crate) fn pairs(
    text: &str,
    between_pairs: &JavaPattern,
    within_pair: &JavaPattern,
    found: &mut Vec<Pair>,
) -> Result<bool, TooManySteps> {
    found.clear();
    if text.len() > TEXT_BYTES_MAX {
        return Ok(false);
    }
    let mut start = 0;
    let separators = between_pairs.find_all(text);
    // One of no length at the start parts nothing off.
    let mut separators = separators.filter(|each| !matches!(each, Ok(range) if range.end == 0));
    loop {
        let separator = separators.next().transpose()?;
        let end = separator.as_ref().map_or(text.len(), |range| range.start);
        let Some(within) = within_pair.find_at(&text[start..end], 0)? else {
            if start != end || text.is_empty() {
                return Ok(false);
            }
            let rest = separator.into_iter().map(Ok).chain(separators);
            return is_nothing_but(rest, text, end);
        };
        found.push(Pair {
            key: Span::new(start, start + within.start),
            value: PairValue::Text(Span::new(start + within.end, end)),
        });
        match separator {
            None => return Ok(true),
            Some(separator) => start = separator.end,
        }
    }
}

/// Whether from a place on there are separators alone: as in Java, empty parts at the end are none.
fn is_nothing_but(
    separators: impl Iterator<Item = Result<Range<usize>, TooManySteps>>,
    text: &str,
    mut at: usize,
) -> Result<bool, TooManySteps> {
    for separator in separators {
        let separator = separator?;
        if separator.start != at {
            return Ok(false);
        }
        at = separator.end;
    }
    Ok(at == text.len())
}

/// What values may be where they may stand in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Values {
    /// Whether brackets are around a value as quotes are, or a part of it.
    pub(crate) in_brackets: bool,
    /// Whether a key may have an empty one; else it is passed over.
    pub(crate) empty: bool,
}

impl Default for Values {
    fn default() -> Self {
        Values {
            in_brackets: true,
            empty: false,
        }
    }
}

/// The pairs of a text whose values may stand in quotes or in brackets; what is no pair is passed over. Blanks around separators
/// belong to nobody, and a separator behind a backslash is none.
///
/// # Errors
/// When looking for separators takes too many steps.
pub(crate) fn quoted_pairs(
    text: &str,
    (between_pairs, within_pair): (&JavaPattern, &JavaPattern),
    values: Values,
    found: &mut Vec<Pair>,
) -> Result<(), TooManySteps> {
    found.clear();
    if text.len() > TEXT_BYTES_MAX {
        return Ok(());
    }
    let mut start = 0;
    while let Some(within) = within_pair.find_at(text, start)? {
        // The key is what stands behind the last separator before it.
        let before = text[start..within.start].trim_end();
        let mut key_start = start;
        for separator in between_pairs.find_all(before) {
            let separator = separator?;
            if !is_escaped(before, separator.start) {
                key_start = start + separator.end;
            }
        }
        let key = trimmed(text, key_start, within.start);
        let rest = text[within.end..].trim_start();
        let open = text.len() - rest.len();
        // Behind the blanks may be the next key, and no value of this one.
        if open > within.end && !within.is_empty() && begins_with_key(rest, within_pair)? {
            if values.empty && !key.is_empty() {
                let value = PairValue::Text(Span::new(within.end, within.end));
                found.push(Pair { key, value });
            }
            start = within.end;
            continue;
        }
        let around = enclosed(rest).filter(|_| values.in_brackets || rest.starts_with(['"', '\'']));
        let (value, end) = match around {
            Some((inside, length)) => (Span::new(open + 1, open + 1 + inside), open + length),
            None => {
                let end = value_end(text, open, between_pairs)?;
                (trimmed(text, open, end), end)
            }
        };
        if !key.is_empty() && (values.empty || !value.is_empty()) {
            found.push(Pair {
                key,
                value: PairValue::Text(value),
            });
        }
        // Separators that match nothing at all must not hold it up.
        start = end.max(within.end);
        if start == text.len() || within.is_empty() {
            return Ok(());
        }
    }
    Ok(())
}

/// Whether a backslash takes a place of a text for a part of what it stands in.
fn is_escaped(text: &str, at: usize) -> bool {
    text.as_bytes()[..at].last() == Some(&b'\\')
}

/// Whether a text begins with a word and with what parts it from its value.
fn begins_with_key(text: &str, within_pair: &JavaPattern) -> Result<bool, TooManySteps> {
    let Some(within) = within_pair.find_at(text, 0)? else {
        return Ok(false);
    };
    let word = text[..within.start].trim_end();
    Ok(!word.is_empty() && !word.contains(char::is_whitespace) && enclosed(text).is_none())
}

/// Where a value ends that begins at a place.
fn value_end(text: &str, start: usize, between_pairs: &JavaPattern) -> Result<usize, TooManySteps> {
    let mut from = start;
    while let Some(separator) = between_pairs.find_at(text, from)? {
        if separator.is_empty() || !is_escaped(text, separator.start) {
            return Ok(separator.start);
        }
        from = separator.end;
    }
    Ok(text.len())
}

/// A part of a text without the blanks around it.
fn trimmed(text: &str, start: usize, end: usize) -> Span {
    let part = &text[start..end];
    let start = start + (part.len() - part.trim_start().len());
    Span::new(start, start + part.trim().len())
}

/// How many bytes stand between the quotes or brackets that a text begins with, and how long it is with them.
fn enclosed(text: &str) -> Option<(usize, usize)> {
    let close = match text.as_bytes().first()? {
        b'"' => b'"',
        b'\'' => b'\'',
        b'(' => b')',
        b'[' => b']',
        b'<' => b'>',
        _ => return None,
    };
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        at += memchr::memchr2(close, b'\\', bytes.get(at..)?)?;
        if bytes[at] == close {
            return Some((at - 1, at + 1));
        }
        at += 2;
    }
}

/// The pairs of a line of logfmt; false if it has none, or a quote is not closed.
pub(crate) fn logfmt(text: &str, found: &mut Vec<Pair>) -> bool {
    found.clear();
    let bytes = text.as_bytes();
    if bytes.len() > TEXT_BYTES_MAX {
        return false;
    }
    let mut at = 0;
    loop {
        at += bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        if at == bytes.len() {
            return !found.is_empty();
        }
        let key_end = at + word(&bytes[at..], true);
        let key = Span::new(at, key_end);
        if key.is_empty() {
            return false;
        }
        if bytes.get(key_end) != Some(&b'=') {
            found.push(Pair {
                key,
                value: PairValue::Nothing,
            });
            at = key_end;
            continue;
        }
        let start = key_end + 1;
        let value = match bytes.get(start) {
            Some(b'"') => {
                let Some(end) = quoted(&bytes[start..]).map(|length| start + length) else {
                    return false;
                };
                at = end;
                let has_escapes = memchr::memchr(b'\\', &bytes[start..end]).is_some();
                match has_escapes {
                    true => PairValue::Json(Span::new(start, end)),
                    false => PairValue::Text(Span::new(start + 1, end - 1)),
                }
            }
            _ => {
                at = start + word(&bytes[start..], false);
                PairValue::Text(Span::new(start, at))
            }
        };
        found.push(Pair { key, value });
    }
}

/// How long the word is that a text begins with; keys end at `=` too.
fn word(bytes: &[u8], is_key: bool) -> usize {
    let is_end = |byte: &u8| *byte == b' ' || *byte == b'\t' || (is_key && *byte == b'=');
    bytes.iter().position(is_end).unwrap_or(bytes.len())
}

/// How long the text in quotes is that a text begins with, quotes included.
fn quoted(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_may_have_quotes_and_what_is_none_is_passed_over() {
        let check = |between: &str, within: &str, line: &str, expected: &str| {
            let pattern = |written| clew_analysis::java_pattern(written).unwrap();
            let mut found = Vec::new();
            let separators = (&pattern(between), &pattern(within));
            quoted_pairs(line, separators, Values::default(), &mut found).unwrap();
            let pairs = found.iter().map(|pair| match pair.value {
                PairValue::Text(span) => format!("{}:{}", pair.key.of(line), span.of(line)),
                _ => String::new(),
            });
            assert_eq!(pairs.collect::<Vec<_>>().join("|"), expected, "{line:?}");
        };
        check(
            " ",
            "=",
            "a=1 b=\"two words\" junk c='x y' d= e=(f g) h=[i] j=<k>",
            "a:1|b:two words|c:x y|e:f g|h:i|j:k",
        );
        check("[&?]", "=", "?a=1&b=é&c", "a:1|b:é");
        check(r"\|", "=", "a = 1 | b = \"2 3\" | c", "a:1|b:2 3");
        check(" ", "=", r#"a="x \" y" b="open"#, r#"a:x \" y|b:"open"#);
        check(", ", ": ", "a: 1, b: x y", "a:1|b:x y");
        check(" ", "=", "a=b=c", "a:b=c");
        check(
            " ",
            "=",
            "a = 1 b =2 c= 3 d = \"x y\" e= (f=g) h= i=4 j =\n k=5",
            "a:1|b:2|c:3|d:x y|e:f=g|i:4|k:5",
        );
        check(" ", ":", r"a:b\ c d\ e:f", r"a:b\ c|d\ e:f");
        for line in ["", "=", "a", "a=", "= =", "é=", "=é"] {
            check(" ", "=", line, "");
        }
        check("", "", "a=1", "");
    }

    #[test]
    fn values_may_be_empty_and_have_brackets() {
        let pattern = |written| clew_analysis::java_pattern(written).unwrap();
        let check = |in_brackets: bool, empty: bool, expected: &str| {
            let line = "a= b=(x y) c=\"\" d='(z)' e=";
            let separators = (&pattern(" "), &pattern("="));
            let mut found = Vec::new();
            quoted_pairs(line, separators, Values { in_brackets, empty }, &mut found).unwrap();
            let pairs = found.iter().map(|pair| match pair.value {
                PairValue::Text(span) => format!("{}:{}", pair.key.of(line), span.of(line)),
                _ => String::new(),
            });
            assert_eq!(pairs.collect::<Vec<_>>().join("|"), expected);
        };
        check(true, true, "a:|b:x y|c:|d:(z)|e:");
        check(false, false, "b:(x|d:(z)");
    }

    #[test]
    fn logfmt_has_words_quotes_and_bare_keys() {
        let check = |line: &str, expected: Option<&str>| {
            let mut found = Vec::new();
            let shown = logfmt(line, &mut found).then(|| {
                let pairs = found.iter().map(|pair| {
                    let value = match pair.value {
                        PairValue::Text(span) => span.of(line).to_owned(),
                        PairValue::Json(span) => format!("json {}", span.of(line)),
                        PairValue::Nothing => "-".to_owned(),
                    };
                    format!("{}:{value}", pair.key.of(line))
                });
                pairs.collect::<Vec<_>>().join("|")
            });
            assert_eq!(shown.as_deref(), expected, "{line:?}");
        };
        check(
            "a=1 b=\"two words\"  c d=é",
            Some("a:1|b:two words|c:-|d:é"),
        );
        check(r#"a="x\"y" b= c=d=e"#, Some(r#"a:json "x\"y"|b:|c:d=e"#));
        check("a=\"open", None);
        check("a=\"open\\", None);
        check("=1", None);
        check("", None);
        check("  ", None);
    }
}
