//! What scripts that choose terms may ask of one letter, as Java's `Character` tells it.

use super::filter::is_java_space;
use super::unicode::ascii_digit;
use crate::scripts::is_mark;

/// A question about one letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LetterTest {
    Digit,
    Letter,
    LetterOrDigit,
    Lower,
    Upper,
    Space,
}

impl LetterTest {
    /// The question that a function of Java asks.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "isDigit" => LetterTest::Digit,
            "isLetter" => LetterTest::Letter,
            "isLetterOrDigit" => LetterTest::LetterOrDigit,
            "isLowerCase" => LetterTest::Lower,
            "isUpperCase" => LetterTest::Upper,
            "isWhitespace" => LetterTest::Space,
            _ => return None,
        })
    }

    /// The answer for a text's unit of UTF-16; none where the text does not have as many.
    pub(super) fn fits(self, text: &str, at: i64) -> Option<bool> {
        let unit = text.encode_utf16().nth(usize::try_from(at).ok()?)?;
        // Half of a character is none of all this.
        let letter = char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER);
        let is_digit = letter.is_ascii_digit() || ascii_digit(letter) != letter;
        let is_letter = letter.is_alphabetic() && !letter.is_numeric() && !is_mark(letter);
        Some(match self {
            LetterTest::Digit => is_digit,
            LetterTest::Letter => is_letter,
            LetterTest::LetterOrDigit => is_letter || is_digit,
            LetterTest::Lower => letter.is_lowercase(),
            LetterTest::Upper => letter.is_uppercase(),
            LetterTest::Space => is_java_space(letter),
        })
    }
}
