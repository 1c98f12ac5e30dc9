//! Patterns as other shippers write them, in our words: expressions whose braces count nothing, and tokenizers.

/// A regular expression in which a brace that counts nothing is escaped: other engines take it for itself.
pub(super) fn expression(written: &str) -> String {
    let mut out = String::new();
    let mut letters = written.char_indices();
    let mut in_class = false;
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                out.push(letter);
                out.extend(letters.next().map(|(_, escaped)| escaped));
                continue;
            }
            '[' => in_class = true,
            ']' => in_class = false,
            // Behind these is a name or a number, not a count: `\p{L}`, `\x{2028}`.
            '{' if ["\\p", "\\P", "\\x", "\\u"]
                .iter()
                .any(|before| out.ends_with(before)) => {}
            '{' if !in_class && !counts(&written[at..]) => out.push('\\'),
            _ => {}
        }
        out.push(letter);
    }
    out
}

/// Whether a text begins with a count, `{2}`, `{2,}`, `{2,3}`.
fn counts(text: &str) -> bool {
    let inside = text[1..].split_once('}').map(|(inside, _)| inside);
    inside.is_some_and(|inside| {
        let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        !least.is_empty() && is_number(least) && is_number(most)
    })
}

/// The keys of a tokenizer, each with the text in front of it.
fn keys(tokenizer: &str) -> Vec<(&str, &str)> {
    let mut keys = Vec::new();
    let mut rest = tokenizer;
    while let Some((before, behind)) = rest.split_once("%{") {
        let Some((key, behind)) = behind.split_once('}') else {
            break;
        };
        keys.push((before, key));
        rest = behind;
    }
    keys
}

/// A tokenizer whose values name others, `%{?a}=%{&a}`, in our words: `%{*a}=%{&a}`.
pub(super) fn with_names(tokenizer: &str) -> String {
    let mut out = tokenizer.to_owned();
    for (_, key) in keys(tokenizer) {
        let Some(name) = key.strip_prefix('&') else {
            continue;
        };
        let name = name.trim_end_matches("->");
        for end in ["}", "->}"] {
            out = out.replace(&format!("%{{?{name}{end}"), &format!("%{{*{name}{end}"));
        }
    }
    out
}

/// The text in front of values that are put behind others, `%{a} %{+a}`, and whether others of them have another one.
pub(super) fn before_appended(tokenizer: &str) -> Option<(&str, bool)> {
    let name = |key: &'_ str| {
        let key = key.trim_start_matches('+').trim_end_matches("->");
        key.split('/').next().unwrap_or_default().to_owned()
    };
    let mut known: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for (before, key) in keys(tokenizer) {
        let name = name(key);
        if key.starts_with('+') && known.contains(&name) {
            found.push(before);
        }
        known.push(name);
    }
    let (first, others) = found.split_first()?;
    Some((*first, others.iter().any(|other| other != first)))
}

/// What is told where values that are put together have several texts between them.
pub(super) fn first_separator(tokenizer: &str) -> String {
    format!("[{tokenizer}]: all that is put together has the first separator")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_that_count_nothing_are_escaped() {
        for (written, expected) in [
            (r"^{", r"^\{"),
            (r"^\d{4}-\d{2,}[{x]{2,3}", r"^\d{4}-\d{2,}[{x]{2,3}"),
            (r"\{a\p{L}\x{2028}", r"\{a\p{L}\x{2028}"),
            (r#"{"a":{b}"#, r#"\{"a":\{b}"#),
            ("é{", r"é\{"),
            (r"\", r"\"),
        ] {
            assert_eq!(expression(written), expected);
        }
    }

    #[test]
    fn tokenizers_name_values_and_put_them_together() {
        assert_eq!(
            with_names("%{?a}=%{&a} %{?b} %{?c->} %{&c}"),
            "%{*a}=%{&a} %{?b} %{*c->} %{&c}"
        );
        assert_eq!(
            before_appended("<%{+a} %{+a/1}-%{b},%{+a->}"),
            Some((" ", true))
        );
        assert_eq!(before_appended("%{a}-%{+a}-%{+a}"), Some(("-", false)));
        assert_eq!(before_appended("%{a} %{b"), None);
    }
}
