use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

fn check(analyzer: &str, text: &str, expected: &[&str]) {
    let found: Vec<String> = tokens(analyzer, text).into_iter().map(|t| t.text).collect();
    assert_eq!(found, expected, "{analyzer}: {text:?}");
}

#[test]
fn alphanumeric_words_are_runs_of_letters_and_digits() {
    let rows: &[(&str, &[&str])] = &[
        ("", &[]),
        (
            "O'Neil's 1.5 foo_bar",
            &["o", "neil", "s", "1", "5", "foo", "bar"],
        ),
        ("john@example.com C++", &["john", "example", "com", "c"]),
        ("日本語 カタカナ。Ⅷ½", &["日本語", "カタカナ", "ⅷ½"]),
    ];
    for (text, words) in rows {
        check("alphanumeric", text, words);
    }
}

#[test]
fn standard_cuts_words_as_lucene_does() {
    let rows: &[(&str, &[&str])] = &[
        ("", &[]),
        ("The QUICK brown-fox", &["the", "quick", "brown", "fox"]),
        ("don't", &["don't"]),
        ("O'Neil's", &["o'neil's"]),
        ("'quoted'", &["quoted"]),
        ("foo_bar", &["foo_bar"]),
        ("_ ___", &[]),
        ("_a a_", &["_a", "a_"]),
        ("1.5", &["1.5"]),
        ("1,000,000.00", &["1,000,000.00"]),
        ("a.b", &["a.b"]),
        ("a.1", &["a", "1"]),
        ("a1.b2", &["a1", "b2"]),
        ("a1.2", &["a1.2"]),
        ("a,b", &["a", "b"]),
        ("a:b 1:2", &["a:b", "1", "2"]),
        ("a..b", &["a", "b"]),
        ("end.", &["end"]),
        ("example.com", &["example.com"]),
        ("192.168.0.1", &["192.168.0.1"]),
        ("john@example.com", &["john", "example.com"]),
        ("wi-fi", &["wi", "fi"]),
        ("C++ c#", &["c", "c"]),
        ("日本語", &["日", "本", "語"]),
        ("ひらがな", &["ひ", "ら", "が", "な"]),
        ("カタカナ", &["カタカナ"]),
        ("안녕하세요 한글", &["안녕하세요", "한글"]),
        ("สวัสดี ไทย", &["สวัสดี", "ไทย"]),
        ("Über Straße ΣΊΣΥΦΟΣ", &["über", "straße", "σίσυφοσ"]),
        ("İstanbul", &["istanbul"]),
        ("café.com a.é é.a", &["café.com", "a.é", "é.a"]),
        ("e\u{301}te\u{301}", &["e\u{301}te\u{301}"]),
        ("I ❤️ it 😀😀", &["i", "❤️", "it", "😀", "😀"]),
        ("👩‍👩‍👧‍👦 👍🏽 🇩🇪 #️⃣ 1️⃣", &["👩‍👩‍👧‍👦", "👍🏽", "🇩🇪", "#️⃣", "1️⃣"]),
        ("½ ² © ™ — …", &[]),
        // Marks without a letter before them.
        ("\u{651}ظبي x \u{651} y", &["ظبي", "x", "y"]),
        ("ौप़ढु a\u{651}", &["प़ढु", "a\u{651}"]),
        ("x² 2024年3月", &["x", "2024", "年", "3", "月"]),
    ];
    for (text, expected) in rows {
        check("standard", text, expected);
    }
}

#[test]
fn the_other_analyzers_cut_as_lucene_does() {
    check("simple", "Don't 2x It", &["don", "t", "x", "it"]);
    check("whitespace", "Don't  2x\tIt\n", &["Don't", "2x", "It"]);
    check("whitespace", "a\u{a0}b c\u{3000}d", &["a\u{a0}b", "c", "d"]);
    check("keyword", "As It Is", &["As It Is"]);
    check(
        "snowball",
        "The runner's Running Dogs",
        &["runner", "run", "dog"],
    );
}

#[test]
fn pictures_are_of_a_kind_of_their_own() {
    let found = tokens("standard", "x 😀 1️⃣ 👍🏽 ℹ ⓂⒶ 12");
    let kinds: Vec<_> = found.iter().map(|token| token.kind).collect();
    let (word, picture) = ("<ALPHANUM>", "<EMOJI>");
    assert_eq!(
        kinds,
        [word, picture, picture, picture, picture, word, "<NUM>"]
    );
}

#[test]
fn positions_and_offsets_name_the_word() {
    let found = tokens("standard", "Über, b-C");
    let rows: Vec<_> = found
        .iter()
        .map(|t| (t.text.as_str(), t.position, t.start, t.end))
        .collect();
    assert_eq!(rows, [("über", 0, 0, 5), ("b", 1, 7, 8), ("c", 2, 9, 10)]);
}

#[test]
fn words_longer_than_a_token_are_cut() {
    let found = tokens("standard", &"x".repeat(600));
    let lengths: Vec<_> = found.iter().map(|t| (t.text.len(), t.position)).collect();
    assert_eq!(lengths, [(255, 0), (255, 1), (90, 2)]);
    let found = tokens("whitespace", &"\u{1d400}".repeat(200));
    assert_eq!(found[0].text.chars().count(), 127);
}

#[test]
fn every_name_of_a_mapping_is_registered() {
    let manager = analyzers();
    for name in NAMES.iter().chain(&["raw"]) {
        assert!(manager.get(name).is_some(), "{name}");
    }
    assert!(!is_analyzer("klingon"));
}

proptest! {
    /// The ASCII rules and the cutting into stretches must not differ from the full rules.
    #[test]
    fn fast_rules_agree_with_the_full_rules(
        text in prop_oneof![
            "[a-c1-2_.,:;'\"# \né\u{301}日カ-]{0,24}",
            "[a-c1-2_.,:;' ]{50,200}",
            "[a-c1-2_.,:;' é]{50,200}",
        ]
    ) {
        let found: Vec<(usize, usize)> =
            tokens("standard", &text).into_iter().map(|t| (t.start, t.end)).collect();
        let expected: Vec<(usize, usize)> = text
            .split_word_bound_indices()
            .filter(|(_, s)| s.chars().any(char::is_alphanumeric))
            .map(|(at, s)| (at, at + s.len()))
            .collect();
        prop_assert_eq!(found, expected);
    }

    /// What is indexed is what is searched.
    #[test]
    fn terms_alone_are_those_of_the_tokens(
        texts in proptest::collection::vec(prop_oneof![any::<String>(), "[A-Da-d1-2_.,:;'#É日 ]{0,600}"], 1..4),
    ) {
        let mut terms = StandardTerms::default();
        for text in texts {
            let mut found = Vec::new();
            let each = |bytes: &[u8], length: usize| {
                assert!(bytes.len() >= length + 16);
                found.push(String::from_utf8(bytes[..length].to_vec()).unwrap());
                Ok::<(), ()>(())
            };
            terms.each(&text, each).unwrap();
            let expected: Vec<String> = tokens("standard", &text).into_iter().map(|t| t.text).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn any_text_gives_ordered_ranges(text in any::<String>()) {
        for analyzer in NAMES {
            let mut end = 0;
            for token in tokens(analyzer, &text) {
                prop_assert!(token.start >= end && token.end >= token.start);
                prop_assert!(text.get(token.start..token.end).is_some());
                end = token.end;
            }
        }
    }
}
