//! Characters that mean the same: folding and normal forms as ICU's filters have them.

use std::sync::LazyLock;

use icu_casemap::CaseMapper;
use icu_normalizer::{ComposingNormalizer, DecomposingNormalizer};
use regex::Regex;
use tantivy::tokenizer::{AsciiFoldingFilter, RawTokenizer, TextAnalyzer, TokenStream};

use super::part::Part;

/// A normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Composed.
    Nfc,
    /// Composed, after compatible characters became one.
    Nfkc,
    /// The same of text whose case is folded.
    NfkcFolded,
}

impl Form {
    pub(super) fn compile(part: &Part<'_>) -> Result<Form, String> {
        Ok(match part.text("name").as_deref() {
            None | Some("nfkc_cf") => Form::NfkcFolded,
            Some("nfkc") => Form::Nfkc,
            Some("nfc") => Form::Nfc,
            Some(other) => return Err(format!("Unknown normal form [{other}]")),
        })
    }

    pub(super) fn of(self, text: &str) -> String {
        match self {
            Form::Nfc => ComposingNormalizer::new_nfc().normalize(text).into_owned(),
            Form::Nfkc => ComposingNormalizer::new_nfkc().normalize(text).into_owned(),
            Form::NfkcFolded => {
                let folded = CaseMapper::new().fold_string(text);
                ComposingNormalizer::new_nfkc()
                    .normalize(&folded)
                    .into_owned()
            }
        }
    }
}

/// A text without accents, case and the difference between compatible characters.
pub(super) fn folded(text: &str) -> String {
    static MARKS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\p{Mn}+").ok());
    let apart = DecomposingNormalizer::new_nfkd().normalize(text);
    let bare = match &*MARKS {
        Some(marks) => marks.replace_all(&apart, ""),
        None => apart,
    };
    ascii_folded(&Form::NfkcFolded.of(&bare))
}

/// A text whose Latin letters and signs are those of ASCII.
pub(super) fn ascii_folded(text: &str) -> String {
    let mut folding = TextAnalyzer::builder(RawTokenizer::default())
        .filter(AsciiFoldingFilter)
        .build();
    let mut stream = folding.token_stream(text);
    if stream.advance() {
        stream.token().text.clone()
    } else {
        String::new()
    }
}

/// The zeros of all scripts, as of Unicode 14.
const ZEROS: [u32; 65] = [
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6,
    0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50,
    0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
    0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650,
    0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x16A60, 0x16AC0, 0x16B50,
    0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E950, 0x1FBF0,
];

/// Digits of any script as those of ASCII.
pub(super) fn ascii_digit(character: char) -> char {
    if !character.is_numeric() || character.is_ascii() {
        return character;
    }
    // The digits of a script follow each other.
    let code = u32::from(character);
    let after = ZEROS.partition_point(|zero| *zero <= code);
    let digit = after.checked_sub(1).map(|at| code - ZEROS[at]);
    digit
        .filter(|digit| *digit < 10)
        .and_then(|digit| char::from_digit(digit, 10))
        .unwrap_or(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_all_scripts_are_read() {
        for (written, digit) in [
            ('٣', '3'),
            ('\u{de9}', '3'),
            ('\u{a8d7}', '7'),
            ('\u{1d7ff}', '9'),
            ('½', '½'),
            ('x', 'x'),
        ] {
            assert_eq!(ascii_digit(written), digit);
        }
        assert!(ZEROS.is_sorted());
    }

    #[test]
    fn what_means_the_same_becomes_the_same() {
        assert_eq!(Form::NfkcFolded.of("Ｓtraße ﬁ"), "strasse fi");
        assert_eq!(Form::Nfkc.of("Å"), "Å");
        assert_eq!(Form::Nfc.of("e\u{301}"), "é");
        assert_eq!(folded("Ångström Łódź Ελλάδα"), "angstrom lodz ελλαδα");
    }
}
