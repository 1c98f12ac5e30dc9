//! Words of Thai, which no space parts: those of ICU's dictionary. What is not Thai is cut as Java's rules for words
//! have it, which OpenSearch's tokenizer of this name follows: hyphens, dots and quotes inside of words stay.
//!
//! Java has a dictionary of its own, so a few rarer compounds come apart elsewhere.

use std::ops::Range;
use std::sync::LazyLock;

use icu_provider::prelude::{DataError, DataErrorKind, DataProvider, DataRequest, DataResponse};
use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::provider::{Baked, SegmenterDictionaryAutoV2, SegmenterDictionaryExtendedV2};
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

/// The dictionaries of South-East Asia without the one of Chinese and Japanese, which is twice as large.
struct SouthEastAsia;

impl DataProvider<SegmenterDictionaryExtendedV2> for SouthEastAsia {
    fn load(
        &self,
        request: DataRequest<'_>,
    ) -> Result<DataResponse<SegmenterDictionaryExtendedV2>, DataError> {
        Baked.load(request)
    }
}

impl DataProvider<SegmenterDictionaryAutoV2> for SouthEastAsia {
    fn load(
        &self,
        _: DataRequest<'_>,
    ) -> Result<DataResponse<SegmenterDictionaryAutoV2>, DataError> {
        Err(DataErrorKind::IdentifierNotFound.into_error())
    }
}

/// What a character is to the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Thai,
    Letter,
    Digit,
    Ideograph,
    Hiragana,
    Katakana,
    Other,
}

/// The words of a text.
pub(super) fn words(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let class = class_of(first);
        let length = match class {
            Class::Thai => run(text, at, class),
            Class::Ideograph | Class::Hiragana | Class::Katakana => run(text, at, class),
            Class::Letter | Class::Digit => chain(text, at, class),
            // A sign before a number is its first character, and nothing that starts with a sign is a word.
            Class::Other if is_before_number(first) && next_is_digit(text, at, first) => {
                let sign = first.len_utf8();
                at += sign + chain(text, at + sign, Class::Digit);
                continue;
            }
            Class::Other => {
                at += first.len_utf8();
                continue;
            }
        };
        let word = at..at + length;
        at = word.end;
        match class {
            Class::Thai => found.extend(of_dictionary(text, word)),
            _ if starts_word(first) => found.push(word),
            _ => {}
        }
    }
    found
}

fn of_dictionary(text: &str, run: Range<usize>) -> Vec<Range<usize>> {
    static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> = LazyLock::new(|| {
        let options = WordBreakInvariantOptions::default();
        let mut segmenter = WordSegmenter::new_for_non_complex_scripts(options).static_to_owned();
        // The dictionaries are compiled in; without them runs would stay whole.
        let _ = segmenter.load_dictionary_unstable(&SouthEastAsia);
        // Only what is borrowed for good may be shared by threads; it is made once.
        Box::leak(Box::new(segmenter)).as_borrowed()
    });
    let Some(letters) = text.get(run.clone()) else {
        return Vec::new();
    };
    let ends: Vec<usize> = SEGMENTER.segment_str(letters).collect();
    let pairs = ends.iter().zip(ends.iter().skip(1));
    pairs
        .map(|(start, end)| run.start + start..run.start + end)
        .filter(|word| {
            text.get(word.clone())
                .and_then(|word| word.chars().next())
                .is_some_and(starts_word)
        })
        .collect()
}

/// Words and numbers without anything between them, and a sign that a number ends with. Its bytes.
fn chain(text: &str, start: usize, first: Class) -> usize {
    let mut class = first;
    let mut at = start;
    loop {
        at += run(text, at, class);
        let mut rest = text.get(at..).unwrap_or_default().chars();
        let (next, behind) = (rest.next(), rest.next());
        let Some(next) = next else {
            break;
        };
        match class_of(next) {
            other @ (Class::Letter | Class::Digit) => class = other,
            Class::Other
                if joins(class, next) && behind.is_some_and(|behind| class_of(behind) == class) =>
            {
                at += next.len_utf8();
            }
            Class::Other if class == Class::Digit && is_behind_number(next) => {
                at += next.len_utf8();
                break;
            }
            _ => break,
        }
    }
    at - start
}

/// Bytes of characters of one class, with the marks on them.
fn run(text: &str, start: usize, class: Class) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let end = rest.char_indices().find(|(_, letter)| {
        let is_mark = class != Class::Thai && is_mark(*letter);
        class_of(*letter) != class && !is_mark
    });
    end.map_or(rest.len(), |(at, _)| at)
}

fn class_of(letter: char) -> Class {
    match letter {
        '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' => Class::Thai,
        '\u{3041}'..='\u{309f}' => Class::Hiragana,
        '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' => Class::Katakana,
        '\u{3005}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => Class::Ideograph,
        letter if letter.is_numeric() => Class::Digit,
        letter if letter.is_alphabetic() => Class::Letter,
        _ => Class::Other,
    }
}

/// Marks that belong to the letter before them.
fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20f0}' | '\u{fe00}'..='\u{fe0f}')
}

/// Whether a word may start with it; Thai's vowels and tones above and below letters are marks.
fn starts_word(letter: char) -> bool {
    let is_thai_mark = matches!(
        letter,
        '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}'
    );
    !is_thai_mark && crate::makes_word(letter) || letter == '\u{e2f}'
}

/// Signs between two letters or two digits that part nothing.
fn joins(class: Class, sign: char) -> bool {
    match class {
        Class::Letter => matches!(
            sign,
            '-' | '\u{ad}' | '\u{2010}'..='\u{2015}' | '\u{2027}' | '"' | '\'' | '.'
        ),
        _ => matches!(sign, '"' | '\'' | ',' | '\u{66b}' | '.'),
    }
}

fn is_before_number(sign: char) -> bool {
    matches!(sign, '#' | '.' | '$' | '\u{a3}'..='\u{a5}' | '\u{e3f}' | '\u{20a0}'..='\u{20c0}')
}

fn is_behind_number(sign: char) -> bool {
    matches!(sign, '%' | '&' | '\u{a2}' | '\u{2030}' | '\u{2031}')
}

fn next_is_digit(text: &str, at: usize, sign: char) -> bool {
    let rest = text.get(at + sign.len_utf8()..).unwrap_or_default();
    rest.chars()
        .next()
        .is_some_and(|next| class_of(next) == Class::Digit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::words;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = words(text).into_iter().map(|word| &text[word]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn words_are_those_of_opensearch() {
        check("สวัสดีชาวโลก", &["สวัสดี", "ชาว", "โลก"]);
        check(
            "ราคา 1,500.50 บาท (พันห้าร้อย)",
            &["ราคา", "1,500.50", "บาท", "พัน", "ห้า", "ร้อย"],
        );
        check("ฯลฯ กรุงเทพฯ ็ก", &["ฯลฯ", "กรุงเทพฯ", "ก"]);
        check(
            "ไทยabc ไทย๑๒ 123ไทย",
            &["ไทย", "abc", "ไทย", "๑๒", "123", "ไทย"],
        );
    }

    #[test]
    fn what_is_not_thai_is_cut_as_java_does() {
        check(
            "wi-fi don't foo_bar 1.5 a.b.c john@example.com",
            &[
                "wi-fi",
                "don't",
                "foo",
                "bar",
                "1.5",
                "a.b.c",
                "john",
                "example.com",
            ],
        );
        check(
            "$10.50 10% #5 abc123 3kg a--b 12:30 1-2 a.1 x² ½ 'quoted'",
            &[
                "10%", "abc123", "3kg", "a", "b", "12", "30", "1", "2", "a", "x²", "quoted",
            ],
        );
        check(
            "漢字ひらがなカタカナ e\u{301}a",
            &["漢字", "ひらがな", "カタカナ", "e\u{301}a"],
        );
    }

    proptest! {
        #[test]
        fn words_lie_in_any_text_in_order(text in any::<String>(), thai in "[\\p{Thai}a1.#'\u{301}%]{0,24}") {
            for text in [text, thai] {
                let mut end = 0;
                for word in words(&text) {
                    prop_assert!(word.start >= end && word.end > word.start);
                    prop_assert!(text.get(word.clone()).is_some());
                    end = word.end;
                }
            }
        }
    }
}
