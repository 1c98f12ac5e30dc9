//! Lower case where a language has rules of its own, as Lucene's filters for Greek, Irish and Turkish have them.

/// A language whose lower case is another than that of single letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LowerCase {
    /// Letters lose their accents, and sigma is always as inside of words.
    Greek,
    /// What is set before a capital vowel gets a hyphen: `nAthair` is `n-athair`.
    Irish,
    /// `I` and `ı` are two letters.
    Turkish,
}

impl LowerCase {
    /// That of a language; `None` where the letters alone say it.
    pub(super) fn named(language: &str) -> Option<Self> {
        Some(match language {
            "greek" => LowerCase::Greek,
            "irish" => LowerCase::Irish,
            "turkish" => LowerCase::Turkish,
            _ => return None,
        })
    }

    /// A text in lower case.
    pub(super) fn of(self, text: &str) -> String {
        match self {
            LowerCase::Greek => text.chars().map(greek).collect(),
            LowerCase::Irish => irish(text),
            LowerCase::Turkish => turkish(text),
        }
    }
}

fn greek(letter: char) -> char {
    match letter {
        'Ά' | 'ά' => 'α',
        'Έ' | 'έ' => 'ε',
        'Ή' | 'ή' => 'η',
        'Ί' | 'Ϊ' | 'ί' | 'ϊ' | 'ΐ' => 'ι',
        'Ό' | 'ό' => 'ο',
        'Ύ' | 'Ϋ' | 'ύ' | 'ϋ' | 'ΰ' => 'υ',
        'Ώ' | 'ώ' => 'ω',
        'ς' => 'σ',
        other => lower(other),
    }
}

fn irish(text: &str) -> String {
    let mut letters = text.chars();
    let is_set_before = matches!(letters.next(), Some('n' | 't'));
    let is_capital = |letter: char| "AEIOUÁÉÍÓÚ".contains(letter);
    if is_set_before && letters.next().is_some_and(is_capital) {
        let (first, rest) = text.split_at(1);
        return format!("{first}-{}", crate::stream::lower(rest));
    }
    crate::stream::lower(text)
}

fn turkish(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut drops_dot = false;
    for (at, letter) in text.char_indices() {
        match letter {
            'I' => {
                drops_dot = has_dot(&text[at + 1..]);
                out.push(if drops_dot { 'i' } else { 'ı' });
            }
            DOT if drops_dot => drops_dot = false,
            other => out.push(lower(other)),
        }
    }
    out
}

/// The dot of a letter, when it is a character by itself.
const DOT: char = '\u{307}';

/// Whether the marks at the beginning of a text, which belong to the letter before it, have a dot among them.
fn has_dot(rest: &str) -> bool {
    let is_mark = |letter: &char| ('\u{300}'..='\u{36f}').contains(letter);
    rest.chars().take_while(is_mark).any(|mark| mark == DOT)
}

/// One letter for one, as Lucene does it.
fn lower(letter: char) -> char {
    letter.to_lowercase().next().unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_have_rules_of_their_own() {
        for (language, text, expected) in [
            ("greek", "ΆΝΘΡΩΠΟΣ τός İ", "ανθρωποσ τοσ i"),
            ("irish", "nAthair", "n-athair"),
            ("irish", "tÉan", "t-éan"),
            ("irish", "NÁISIÚN", "náisiún"),
            ("irish", "tB", "tb"),
            ("irish", "n", "n"),
            ("turkish", "IİI\u{307}x", "ıiix"),
            ("turkish", "I\u{323}\u{307}", "i\u{323}"),
            ("turkish", "KIZ a\u{307}", "kız a\u{307}"),
        ] {
            let found = LowerCase::named(language).unwrap().of(text);
            assert_eq!(found, expected, "{language}");
        }
        assert_eq!(LowerCase::named("english"), None);
    }
}
