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

/// Digits of any script as those of ASCII.
pub(super) fn ascii_digit(character: char) -> char {
    if !character.is_numeric() || character.is_ascii() {
        return character;
    }
    // Digits of a script follow each other, and zero has a code that ends in 0 or 6.
    let code = u32::from(character);
    let zeros = [
        0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50,
        0xED0, 0xF20, 0x1040, 0x17E0, 0x1810, 0xFF10,
    ];
    zeros
        .iter()
        .find_map(|zero| char::from_digit(code.checked_sub(*zero).filter(|d| *d < 10)?, 10))
        .unwrap_or(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_the_same_becomes_the_same() {
        assert_eq!(Form::NfkcFolded.of("Ｓtraße ﬁ"), "strasse fi");
        assert_eq!(Form::Nfkc.of("Å"), "Å");
        assert_eq!(Form::Nfc.of("e\u{301}"), "é");
        assert_eq!(folded("Ångström Łódź Ελλάδα"), "angstrom lodz ελλαδα");
    }
}
