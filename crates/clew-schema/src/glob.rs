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

/// Whether some text matches both patterns, in time by the length of both: where their ends go together, the stars of each
/// have room for all that the other says between them.
pub fn overlap(left: &str, right: &str) -> bool {
    match (ends(left), ends(right)) {
        (Some((left_first, left_last)), Some((right_first, right_last))) => {
            (left_first.starts_with(right_first) || right_first.starts_with(left_first))
                && (left_last.ends_with(right_last) || right_last.ends_with(left_last))
        }
        (Some(_), None) => matches(left, right),
        (None, _) => matches(right, left),
    }
}

/// What a pattern says before its first star and behind its last; `None` of a text.
fn ends(pattern: &str) -> Option<(&str, &str)> {
    let (first, rest) = pattern.split_once('*')?;
    let last = rest.rsplit_once('*').map_or(rest, |(_, last)| last);
    Some((first, last))
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

    /// All texts of two letters that are no longer.
    fn texts_up_to(length_max: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut from = 0;
        for _ in 0..length_max {
            let shorter = from..all.len();
            from = all.len();
            for at in shorter {
                let longer = ['a', 'ä'].map(|letter| format!("{}{letter}", all[at]));
                all.extend(longer);
            }
        }
        all
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
    fn patterns_overlap_when_a_text_matches_both() {
        for (left, right, want) in [
            ("a*", "ab*", true),
            ("a*", "b*", false),
            ("*", "x", true),
            ("a*b", "ac*", true),
            ("a*b", "*c", false),
            ("a", "a", true),
            ("a", "ab", false),
            ("", "*", true),
            ("*-1", "logs-*", true),
            ("foo*bar", "foo", false),
            ("a**b", "ab", true),
            ("kube.*", "kube.var.*.log", true),
            ("kube.var.nginx*", "kube.var.*.log", true),
            ("é*", "*ê", true),
        ] {
            assert_eq!(overlap(left, right), want, "{left} {right}");
            assert_eq!(overlap(right, left), want, "{right} {left}");
        }
    }

    #[test]
    fn many_stars_over_a_long_text_take_no_time() {
        let (text, pattern) = ("a".repeat(1 << 20), "*aaaaaaab".repeat(64));
        assert!(!matches(&pattern, &text));
        let long = "*aaaaaaab".repeat(1 << 17);
        assert!(overlap(&long, &format!("{long}*")));
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

        #[test]
        fn patterns_overlap_where_there_is_a_text_of_both(
            left in "[aä*]{0,3}",
            right in "[aä*]{0,3}",
        ) {
            // The shortest text of both has no letter that neither says.
            let both = |text: &String| matches(&left, text) && matches(&right, text);
            prop_assert_eq!(overlap(&left, &right), texts_up_to(6).iter().any(both));
        }
    }
}
