//! German.

use super::Word;

const ACCENTS: [(&str, char); 4] = [("äàáâ", 'a'), ("öòóô", 'o'), ("ïìíî", 'i'), ("üùúû", 'u')];

pub(super) fn stem(word: &mut Word) {
    word.plain(&ACCENTS);
    inflection(word);
    comparison(word);
}

/// Letters behind which an `s` or `st` is an ending.
fn takes_st(letter: Option<char>) -> bool {
    matches!(
        letter,
        Some('b' | 'd' | 'f' | 'g' | 'h' | 'k' | 'l' | 'm' | 'n' | 't')
    )
}

fn inflection(word: &mut Word) {
    let found = word.change_first(&[
        (5, "ern", ""),
        (4, "em", ""),
        (4, "en", ""),
        (4, "er", ""),
        (4, "es", ""),
        (3, "e", ""),
    ]);
    if !found && takes_st(word.last(1)) {
        word.change((3, "s", ""));
    }
}

fn comparison(word: &mut Word) {
    let found = word.change_first(&[(5, "est", ""), (4, "er", ""), (4, "en", "")]);
    if !found && takes_st(word.last(2)) {
        word.change((4, "st", ""));
    }
}

/// Writes umlauts and ß as words without them are written: `ae` and `ä` become `a`.
pub(in crate::custom) fn normalized(text: &str) -> String {
    /// What an `e` would be.
    #[derive(Clone, Copy, PartialEq)]
    enum Before {
        /// The second half of an umlaut.
        Umlaut,
        /// A letter of its own, and a `u` before it too.
        Vowel,
        Other,
    }
    let mut before = Before::Other;
    let mut normal = String::with_capacity(text.len());
    for letter in text.chars() {
        before = match letter {
            'e' if before == Before::Umlaut => {
                before = Before::Vowel;
                continue;
            }
            'a' | 'o' => Before::Umlaut,
            'u' if before == Before::Other => Before::Umlaut,
            'u' | 'e' | 'i' | 'q' | 'y' | 'ä' | 'ö' | 'ü' => Before::Vowel,
            _ => Before::Other,
        };
        match letter {
            'ä' => normal.push('a'),
            'ö' => normal.push('o'),
            'ü' => normal.push('u'),
            'ß' => normal.push_str("ss"),
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn umlauts_are_written_in_one_way() {
        for (word, normal) in [
            ("weissbier", "weissbier"),
            ("weißbier", "weissbier"),
            ("schaltflächen", "schaltflachen"),
            ("schaltflaechen", "schaltflachen"),
            ("dauer", "dauer"),
            ("quelle", "quelle"),
            ("muenchen", "munchen"),
        ] {
            assert_eq!(normalized(word), normal);
        }
    }
}
