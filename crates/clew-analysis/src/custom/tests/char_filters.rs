//! Characters that are changed before words are cut, and places in the text before.

use super::*;

#[test]
fn mappings_say_with_a_backslash_what_cannot_be_written() {
    let mapping = |rule: &str| {
        let filter = json!({"type": "mapping", "mappings": [rule]});
        json!({"tokenizer": {"type": "whitespace"}, "char_filter": [filter]})
    };
    check(
        mapping(r"\u200C=>\u0020"),
        "a\u{200c}b",
        &[("a", 0), ("b", 1)],
    );
    check(mapping(r"\\=>x"), r"a\b", &[("axb", 0)]);
    // The last arrow parts the two.
    check(mapping("a=>b=>c"), "a=>b", &[("c", 0)]);
    assert!(Chain::compile(&mapping(r"\u00=>x")).is_err());
}

#[test]
fn tags_may_be_kept() {
    let strip = json!({"type": "html_strip", "escaped_tags": ["b"]});
    let chain = json!({"tokenizer": {"type": "keyword"}, "char_filter": [strip]});
    check(
        chain,
        "a <b>bold</B> <i>x</i> <br> &amp; &eacute;&copy;&foo;",
        &[("a <b>bold</B> x \n & é©&foo;", 0)],
    );
}

#[test]
fn tags_end_a_line_unless_they_stand_within_one() {
    for (text, expected) in [
        (
            "<dl><dt>salt</dt><dd>white</dd></dl>",
            "\n\nsalt\n\nwhite\n\n",
        ),
        ("<title>a</title><x-tile>b</x-tile>", "\na\n\nb\n"),
        ("<em>a</em><SPAN class=x>b</SPAN><code>c</code>", "abc"),
        ("<!DOCTYPE html><?xml version='1.0'?>a", "a"),
        ("a<p title=\"b>c\">d<p title='e>'>f", "a\nd\nf"),
        ("it<b it's>a</b> isn't > b", "ita isn't > b"),
        ("<a href=\"open>rest", "rest"),
    ] {
        assert_eq!(strip_html(text), expected, "{text}");
    }
}

#[test]
fn entities_have_names() {
    for (text, expected) in [
        ("caf&eacute; &Eacute;T&Eacute;", "café ÉTÉ"),
        ("&euro;5 &ndash; &laquo;x&raquo;", "€5 – «x»"),
        ("&thetasym;&AMP;&#233;&#xe9;&nbsp;x", "\u{3d1}&éé x"),
        ("&nosuch; &eacute &;", "&nosuch; &eacute &;"),
    ] {
        assert_eq!(strip_html(text), expected, "{text}");
    }
}

#[test]
fn places_are_those_of_the_text_before_its_characters_were_filtered() {
    let chain = Chain::compile(&json!({
        "char_filter": [{"type": "html_strip"}, {"type": "mapping", "mappings": ["& => and"]}],
        "tokenizer": {"type": "whitespace"},
    }))
    .unwrap();
    let text = "<b>one</b> &amp; two";
    let terms = chain.run(text);
    let found: Vec<(&str, &str)> = terms
        .iter()
        .map(|term| {
            let range = term.token.offset_from..term.token.offset_to;
            (term.token.text.as_str(), &text[range])
        })
        .collect();
    assert_eq!(found[0], ("one", "one</b>"));
    assert_eq!(found[2], ("two", "two"));
    assert_eq!(found[1].0, "and");
}

#[test]
fn places_are_never_inside_of_letters() {
    let places = |parts: Value, text: &str| -> Vec<(String, usize, usize)> {
        let terms = Chain::compile(&parts).unwrap().run(text).into_iter();
        terms
            .map(|term| {
                (
                    term.token.text,
                    term.token.offset_from,
                    term.token.offset_to,
                )
            })
            .collect()
    };
    let mapping = |rule: &str, tokenizer: Value| json!({"char_filter": [{"type": "mapping", "mappings": [rule]}], "tokenizer": tokenizer});
    let begun = mapping("ü => ue", json!({"type": "edge_ngram", "max_gram": 4}));
    let expected = [("f", 0, 1), ("fu", 0, 1), ("fue", 0, 3), ("fuer", 0, 4)];
    let expected = expected.map(|(text, from, to)| (text.to_string(), from, to));
    assert_eq!(places(begun, "für"), expected);
    let longer = mapping("é => abc def", json!({"type": "whitespace"}));
    let expected =
        [("abc", 0, 0), ("def日", 0, 5)].map(|(text, from, to)| (text.to_string(), from, to));
    assert_eq!(places(longer, "é日"), expected);
    let cut = json!({"tokenizer": {"type": "whitespace"}, "filter": [{"type": "asciifolding"}, {"type": "word_delimiter_graph"}]});
    for (_, from, to) in places(cut, "⑽² x") {
        assert!("⑽² x".get(from..to).is_some(), "{from} {to}");
    }
}
