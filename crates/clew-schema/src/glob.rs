//! Patterns over names of fields, indexes and whatever else is chosen by name: `*` stands for any
//! characters, also for none, and everything else for itself. Patterns over terms, which have more
//! signs, are a query's.

/// Whether the whole of a text matches a pattern, in time by the length of both.
///
/// Between two stars the first place that fits is as good as any later one, since what comes
/// before it can stand for more.
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let text = text.strip_prefix(first);
    let Some(mut text) = text.and_then(|text| text.strip_suffix(last)) else {
        return false;
    };
    for part in middle.split('*') {
        let Some(at) = text.find(part) else {
            return false;
        };
        text = &text[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By trying everything.
    fn naive(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, _) => text.is_empty(),
            (Some((b'*', rest)), None) => naive(rest, text),
            (Some((b'*', rest)), Some((_, behind))) => naive(rest, text) || naive(pattern, behind),
            (Some((byte, rest)), Some((first, behind))) => byte == first && naive(rest, behind),
            (Some(_), None) => false,
        }
    }

    #[test]
    fn stars_stand_for_anything() {
        let check = |pattern: &str, text: &str, expected| {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        };
        check("*", "", true);
        check("*", "anything", true);
        check("logs-*", "logs-1", true);
        check("logs-*", "log", false);
        check("*-1", "logs-1", true);
        check("l*-*1", "logs-2-1", true);
        check("a", "a", true);
        check("a", "ab", false);
        check("", "", true);
        check("", "a", false);
        check("a*a", "a", false);
        check("a**a", "aa", true);
        check("*ä*", "xäy", true);
        check("a*b", "a*bc", false);
    }

    #[test]
    fn many_stars_over_a_long_text_take_no_time() {
        let (text, pattern) = ("a".repeat(1 << 20), "*aaaaaaab".repeat(64));
        assert!(!matches(&pattern, &text));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn it_finds_what_trying_everything_finds(
            pattern in "[abä*]{0,8}",
            text in "[abä*]{0,10}",
        ) {
            prop_assert_eq!(matches(&pattern, &text), naive(pattern.as_bytes(), text.as_bytes()));
        }
    }
}
