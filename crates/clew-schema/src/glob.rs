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

/// Whether some text matches both patterns, in time by the product of their lengths: which ends of
/// the left pattern are reachable is followed along the right one.
pub fn overlap(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    // `reachable[j]`: what was read of the left pattern and the first `j` bytes of the right one
    // can match the same text.
    let mut reachable = vec![false; right.len() + 1];
    reachable[0] = true;
    spread_stars(&mut reachable, right);
    for byte in left {
        let mut next = vec![false; right.len() + 1];
        for at in 0..=right.len() {
            let star = right.get(at) == Some(&b'*');
            if *byte == b'*' {
                // The left star stands for nothing, or for anything the right pattern says.
                next[at] |= reachable[at] || (at > 0 && next[at - 1]);
            } else if reachable[at] {
                // The right star takes the left byte, or the two bytes are the same.
                next[at] |= star;
                if right.get(at) == Some(byte) {
                    next[at + 1] = true;
                }
            }
        }
        spread_stars(&mut next, right);
        reachable = next;
    }
    reachable[right.len()]
}

/// A star of the right pattern may stand for nothing.
fn spread_stars(reachable: &mut [bool], right: &[u8]) {
    for at in 0..right.len() {
        if reachable[at] && right[at] == b'*' {
            reachable[at + 1] = true;
        }
    }
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
