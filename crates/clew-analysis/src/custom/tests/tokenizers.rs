//! Where tokenizers cut.

use super::*;

#[test]
fn tokenizers_cut_where_their_names_say() {
    for (tokenizer, text, expected) in [
        (json!({"type": "letter"}), "it's 2 B", vec!["it", "s", "B"]),
        (json!({"type": "lowercase"}), "It's", vec!["it", "s"]),
        (
            json!({"type": "alphanumeric"}),
            "It's 3.5 v2_x 中文",
            vec!["It", "s", "3", "5", "v2", "x", "中文"],
        ),
        (
            json!({"type": "pattern", "pattern": ","}),
            "a b,c",
            vec!["a b", "c"],
        ),
        (
            json!({"type": "pattern", "pattern": "x(.)", "group": "1"}),
            "xaxb",
            vec!["a", "b"],
        ),
        (
            json!({"type": "ngram"}),
            "abc",
            vec!["a", "ab", "b", "bc", "c"],
        ),
        (
            json!({"type": "edge_ngram", "max_gram": "3"}),
            "abcd",
            vec!["a", "ab", "abc"],
        ),
        (
            json!({"type": "ngram", "min_gram": 2, "token_chars": ["letter"]}),
            "ab1cd",
            vec!["ab", "cd"],
        ),
        (
            json!({"type": "path_hierarchy"}),
            "/a/b",
            vec!["/a", "/a/b"],
        ),
        (
            json!({"type": "path_hierarchy", "skip": 1}),
            "/a/b/c",
            vec!["/b", "/b/c"],
        ),
        (
            json!({"type": "path_hierarchy", "skip": 2, "reverse": true}),
            "/one/two/three",
            vec!["/one/", "one/"],
        ),
        (
            json!({"type": "path_hierarchy", "reverse": true, "delimiter": "."}),
            "a.b.c",
            vec!["a.b.c", "b.c", "c"],
        ),
        (
            json!({"type": "char_group", "tokenize_on_chars": ["whitespace", "-"]}),
            "a-b c",
            vec!["a", "b", "c"],
        ),
        (
            json!({"type": "uax_url_email"}),
            "mail me@x.org or http://x.org/a?b now",
            vec!["mail", "me@x.org", "or", "http://x.org/a?b", "now"],
        ),
    ] {
        let found = words(json!({"tokenizer": tokenizer}), text);
        let found: Vec<&str> = found.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn classic_words_lose_their_owners_and_points() {
    let parts = json!({"tokenizer": {"type": "classic"}, "filter": [{"type": "classic"}]});
    check(
        parts,
        "Meier's P.S. x@y.org",
        &[("Meier", 0), ("PS", 1), ("x@y.org", 2)],
    );
}

#[test]
fn classic_leaves_out_what_is_too_long_and_keeps_its_place() {
    let classic = json!({"tokenizer": {"type": "classic", "max_token_length": 5}});
    check(classic, "abcdefgh ij I.B.M. x", &[("ij", 1), ("x", 3)]);
    let chain = Chain::compile(&json!({"tokenizer": {"type": "classic"}})).unwrap();
    let host = chain.run("example.com.").pop().unwrap();
    assert_eq!(
        (host.token.text.as_str(), host.token.offset_to),
        ("example.com", 12)
    );
}

#[test]
fn tokens_are_as_long_as_settings_say() {
    let short = |kind: &str| json!({"tokenizer": {"type": kind, "max_token_length": 4}});
    check(
        short("standard"),
        "jumped_over a",
        &[("jump", 0), ("ed_o", 1), ("ver", 2), ("a", 3)],
    );
    // Each piece is a word by itself.
    check(
        short("standard"),
        "Rob's 1,00.5 ____ x",
        &[("Rob", 0), ("s", 1), ("1,00", 2), ("5", 3), ("x", 4)],
    );
    check(
        short("whitespace"),
        "k-Brown é😀😀",
        &[("k-Br", 0), ("own", 1), ("é😀", 2), ("😀", 3)],
    );
    let source = json!({"analyzer": {"five": {"type": "standard", "max_token_length": 5}}});
    let five = Analysis::read(&source).unwrap().analyzer("five").unwrap();
    let found: Vec<String> = crate::tokens(&five, "Jumped")
        .into_iter()
        .map(|t| t.text)
        .collect();
    assert_eq!(found, ["jumpe", "d"]);
}
