//! Words by Unicode's rules where these need a dictionary or a model: Chinese and Japanese, and the scripts of South-East Asia,
//! whose words no space parts. It is ICU's segmenter with its data. Or by the rules alone.

use std::ops::Range;
use std::sync::LazyLock;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};
use unicode_segmentation::UnicodeSegmentation;

use crate::scripts::is_emoji;

/// All that a text consists of, what lies between words too: a blank, a comma.
pub(super) fn segments(text: &str) -> Vec<Range<usize>> {
    static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
        LazyLock::new(|| WordSegmenter::new_auto(WordBreakInvariantOptions::default()));
    between(SEGMENTER.segment_str(text))
}

/// The words alone, what has a letter or a digit in it. Chinese and Japanese come apart in characters, by no dictionary.
pub(super) fn words(text: &str) -> Vec<Range<usize>> {
    static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
        LazyLock::new(|| WordSegmenter::new_lstm(WordBreakInvariantOptions::default()));
    let mut found = between(SEGMENTER.segment_str(text));
    found.retain(|segment| text[segment.clone()].chars().any(char::is_alphanumeric));
    found
}

/// What has a letter, a digit or a picture in it by the rules alone, longer words in pieces of `most` characters, one at least.
pub(super) fn words_by_rules(text: &str, most: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (start, word) in text.split_word_bound_indices() {
        if !word.contains(|c: char| c.is_alphanumeric() || is_emoji(c)) {
            continue;
        }
        let starts = word.char_indices().step_by(most.max(1));
        let places = starts.map(|(at, _)| start + at);
        found.extend(between(places.chain([start + word.len()])));
    }
    found
}

/// What lies between places, of which the first is the text's beginning and the last its end.
fn between(places: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let places: Vec<usize> = places.collect();
    places.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(cut: fn(&str) -> Vec<Range<usize>>, text: &str, want: &[&str]) {
        let found: Vec<&str> = cut(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, want, "{text}");
    }

    #[test]
    fn texts_come_apart_at_words_and_between_them() {
        check(segments, "Hi, you.", &["Hi", ",", " ", "you", "."]);
        check(segments, "こんにちは世界", &["こんにちは", "世界"]);
        check(segments, "ทุกสองสัปดาห์", &["ทุก", "สอง", "สัปดาห์"]);
        check(segments, "", &[]);
        check(
            words,
            "Hi, you: ทุกสองสัปดาห์!",
            &["Hi", "you", "ทุก", "สอง", "สัปดาห์"],
        );
    }

    #[test]
    fn by_rules_alone_words_are_cut_at_so_many_characters() {
        let in_pieces = |text: &str| words_by_rules(text, 4);
        check(
            in_pieces,
            "Rob's jumped_over 3.14159, ... 𝄞 中文 カタカナス 🇨🇳",
            &[
                "Rob'",
                "s",
                "jump",
                "ed_o",
                "ver",
                "3.14",
                "159",
                "中",
                "文",
                "カタカナ",
                "ス",
                "🇨🇳",
            ],
        );
    }

    proptest! {
        #[test]
        fn segments_are_the_whole_text(text in any::<String>()) {
            let mut end = 0;
            for segment in segments(&text) {
                prop_assert!(segment.start == end && segment.end > segment.start);
                end = segment.end;
            }
            prop_assert_eq!(end, text.len());
        }
    }
}
