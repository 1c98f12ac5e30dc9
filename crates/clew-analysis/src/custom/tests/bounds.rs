//! What is made of a text is bounded, and so is the time that it takes.

use super::*;

#[test]
fn a_text_becomes_no_more_than_it_may_and_what_is_left_out_is_told() {
    let shingles = json!({"type": "shingle", "max_shingle_size": 4});
    let longer =
        json!({"type": "pattern_replace", "pattern": "a", "replacement": "a".repeat(2_000)});
    let longer: Vec<Value> = std::iter::repeat_n(longer, 6).collect();
    let filters: Vec<Value> = std::iter::repeat_n(shingles, 4).collect();
    for (parts, text) in [
        (
            json!({"tokenizer": {"type": "path_hierarchy"}}),
            "/a".repeat(20_000),
        ),
        (
            json!({"tokenizer": {"type": "path_hierarchy", "reverse": true}}),
            "/a".repeat(20_000),
        ),
        (
            json!({"tokenizer": {"type": "standard"}, "filter": filters}),
            "a ".repeat(3_000),
        ),
        (
            json!({"tokenizer": {"type": "whitespace"}, "char_filter": longer}),
            "a b c ".repeat(4),
        ),
    ] {
        take_left_out();
        let found = words(parts.clone(), &text);
        let bytes: usize = found.iter().map(|(word, _)| word.len()).sum();
        assert!(bytes < 32 << 20, "{bytes} bytes of {parts}");
        assert!(take_left_out(), "{parts}");
        if parts.get("char_filter").is_none() {
            let short = words(parts.clone(), &text[..20]);
            assert!(!short.is_empty() && !take_left_out(), "{parts}");
        }
    }
}

#[test]
fn what_settings_make_of_a_text_is_bounded() {
    let long = "z".repeat(10_000);
    let bytes = |parts: Value, text: &str| -> usize {
        words(parts, text).iter().map(|(word, _)| word.len()).sum()
    };
    let grow = json!({"type": "pattern_replace", "pattern": "x", "replacement": long});
    let text = "x".repeat(10_000);
    // The rest stays as it is.
    for parts in [
        json!({"char_filter": [grow], "tokenizer": {"type": "keyword"}}),
        json!({"tokenizer": {"type": "keyword"}, "filter": [grow]}),
    ] {
        let made = bytes(parts, &text);
        assert!((15 << 20..=(16 << 20) + 20_000).contains(&made), "{made}");
    }
    let mapping = json!({"type": "mapping", "mappings": [format!("x => {long}")]});
    let parts = json!({"char_filter": [mapping], "tokenizer": {"type": "keyword"}});
    let made = bytes(parts, &text);
    assert!((15 << 20..=(16 << 20) + 20_000).contains(&made), "{made}");
    let grams = json!({"type": "ngram", "min_gram": 1, "max_gram": 255});
    let made = bytes(json!({"tokenizer": grams}), &text);
    assert!(made <= (16 << 20) + 64 * text.len(), "{made}");
    let separated = json!({"type": "shingle", "token_separator": long});
    let made = bytes(filtered(separated), &"a ".repeat(5_000));
    assert!(made <= (16 << 20) + 65 * 5_000, "{made}");
    // What is usual is not.
    check(
        filtered(json!({"type": "pattern_replace", "pattern": "x", "replacement": "yy"})),
        "axb c",
        &[("ayyb", 0), ("c", 1)],
    );
}

#[test]
fn ways_through_empty_words_take_no_longer_than_others() {
    let parts = json!({"tokenizer": {"type": "whitespace"}, "filter": [
        {"type": "synonym_graph", "synonyms": ["x, y z"]},
        {"type": "pattern_replace", "pattern": ".+", "replacement": ""},
        {"type": "concatenate_graph", "token_separator": ""},
    ]});
    take_left_out();
    words(parts.clone(), "x x c");
    assert!(!take_left_out());
    // 65,536 ways of two hundred words, all of which make one text.
    words(parts, &format!("{}{}", "x ".repeat(16), "c ".repeat(200)));
    assert!(take_left_out());
}

#[test]
fn tags_and_entities_without_an_end_are_looked_for_once() {
    // A second for each letter of these if the rest of the text is looked through from each on.
    for part in [
        "<a ",
        "<a b=\"",
        "<!-- ",
        "<![CDATA[",
        "<script>",
        "<STYLE>",
        "&",
        "&amp",
    ] {
        let text = part.repeat(300_000);
        for end in ["", ">", "]]>"] {
            let text = format!("{text}{end}");
            let stripped = strip_html(&text);
            assert!(stripped.len() <= text.len(), "{part}");
        }
    }
    assert_eq!(strip_html("a<script>x</b></ScRiPt >b"), "a\nb");
    assert_eq!(strip_html("<style>x<style>y</STYLE>b"), "\nb");
    assert_eq!(strip_html("a <b>&lt;&#x41; < & <!-- c"), "a <A < & ");
}
