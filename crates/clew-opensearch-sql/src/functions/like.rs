//! Patterns of `LIKE`.

/// Whether a text is like a pattern, in which `%` is any text and `_` any character; case does not matter.
pub(crate) fn like(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    let pattern = wildcards(pattern);
    let (mut at, mut wanted) = (0, 0);
    // The last `%`, and how much of the text it stands for so far.
    let mut any: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(wanted) {
            Some(Wildcard::Any) => {
                any = Some((wanted, at));
                wanted += 1;
            }
            Some(Wildcard::One) => (at, wanted) = (at + 1, wanted + 1),
            Some(Wildcard::Is(character)) if *character == text[at] => {
                (at, wanted) = (at + 1, wanted + 1)
            }
            _ => match any {
                Some((place, taken)) => {
                    any = Some((place, taken + 1));
                    (at, wanted) = (taken + 1, place + 1);
                }
                None => return false,
            },
        }
    }
    pattern[wanted..].iter().all(|left| *left == Wildcard::Any)
}

#[derive(PartialEq)]
enum Wildcard {
    Any,
    One,
    Is(char),
}

fn wildcards(pattern: &str) -> Vec<Wildcard> {
    let mut wildcards = Vec::with_capacity(pattern.len());
    let mut characters = pattern.chars().flat_map(char::to_lowercase);
    while let Some(character) = characters.next() {
        wildcards.push(match character {
            '%' => Wildcard::Any,
            '_' => Wildcard::One,
            '\\' => Wildcard::Is(characters.next().unwrap_or('\\')),
            other => Wildcard::Is(other),
        });
    }
    wildcards
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_texts() {
        for (text, pattern, expected) in [
            ("abc", "abc", true),
            ("ABC", "aBc", true),
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "a_c", true),
            ("abc", "a_", false),
            ("aXbXc", "%x%x%", true),
            ("aab", "%ab", true),
            ("a%", r"a\%", true),
            ("ab", r"a\%", false),
            ("", "%", true),
            ("", "_", false),
        ] {
            assert_eq!(like(text, pattern), expected, "{text} {pattern}");
        }
    }
}
