//! Queries in the syntax of `query_string` and `simple_query_string`.

use super::*;

#[test]
fn query_strings_match_like_a_loop() {
    let w = |d: &Doc, word: &str| has(&d.body, word);
    let and = |text: &str| {
        Query::QueryString(QueryString {
            default_operator: Operator::And,
            fields: vec![FieldBoost::parse("body")],
            ..QueryString::new(text)
        })
    };
    check(vec![
        (string("w1 w2"), is(move |d| w(d, "w1") || w(d, "w2"))),
        (and("w1 w2"), is(move |d| w(d, "w1") && w(d, "w2"))),
        (string("w1 AND w2"), is(move |d| w(d, "w1") && w(d, "w2"))),
        (string("w1 && w2 w9"), is(move |d| w(d, "w1") && w(d, "w2"))),
        (string("+w1 -w2 w9"), is(move |d| w(d, "w1") && !w(d, "w2"))),
        (
            string("w1 AND NOT w2"),
            is(move |d| w(d, "w1") && !w(d, "w2")),
        ),
        (string("w1 !w2"), is(move |d| w(d, "w1") && !w(d, "w2"))),
        (string("w1!w2"), is(move |d| w(d, "w1") && !w(d, "w2"))),
        (string("NOT w2"), is(move |d| !w(d, "w2"))),
        (
            string("(w1 OR w9) AND w2"),
            is(move |d| (w(d, "w1") || w(d, "w9")) && w(d, "w2")),
        ),
        (and("w1 OR w9"), is(move |d| w(d, "w1") || w(d, "w9"))),
        (
            string("\"w1 w0\""),
            is(|d| phrase_at(&d.body, &["w1", "w0"])),
        ),
        (
            string("title:w1"),
            is(|d| d.title.as_ref().is_some_and(|t| has(t, "w1"))),
        ),
        (
            string("title:(w1 w2) AND w0"),
            is(move |d| {
                w(d, "w0")
                    && d.title
                        .as_ref()
                        .is_some_and(|t| has(t, "w1") || has(t, "w2"))
            }),
        ),
        (string("tags:Tag3"), is(|d| has(&d.tags, "Tag3"))),
        (
            string("tags:Tag1*"),
            is(|d| d.tags.iter().any(|t| t.starts_with("Tag1"))),
        ),
        (
            // A name that is no field has no part in what says nothing.
            Query::QueryString(QueryString {
                default_operator: Operator::And,
                fields: vec![FieldBoost::parse("nonsense"), FieldBoost::parse("body")],
                ..QueryString::new("w1 ,,,")
            }),
            is(move |d| w(d, "w1")),
        ),
        (
            string("W1?"),
            is(|d| d.body.iter().any(|t| t.len() == 3 && t.starts_with("w1"))),
        ),
        (
            string("count:[-2 TO 5}"),
            is(|d| d.count.is_some_and(|c| (-2..5).contains(&c))),
        ),
        (
            string("count:{* TO 0]"),
            is(|d| d.count.is_some_and(|c| c <= 0)),
        ),
        (
            string("count:>=18"),
            is(|d| d.count.is_some_and(|c| c >= 18)),
        ),
        (
            string("count:(>3 AND <=6)"),
            is(|d| d.count.is_some_and(|c| c > 3 && c <= 6)),
        ),
        (
            string("at:[2020-09-14 TO 2020-09-15]"),
            is(|d| {
                d.at.is_some_and(|t| (1_600_041_600_000..1_600_214_400_000).contains(&t))
            }),
        ),
        (string("_exists_:title"), is(|d| d.title.is_some())),
        (string("title:*"), is(|d| d.title.is_some())),
        (string("*:*"), is(|_| true)),
        (
            string("w12~1"),
            is(|d| d.body.iter().any(|t| distance(t, "w12") <= 1 || t == "w21")),
        ),
        (string("w1^3 w2"), is(move |d| w(d, "w1") || w(d, "w2"))),
        (
            string("body:/w[12]/"),
            is(move |d| w(d, "w1") || w(d, "w2")),
        ),
        (string("_id:0\\-3"), is(|d| d.id == "0-3")),
        (string(""), is(|_| false)),
        (
            Query::QueryString(QueryString::new("17")),
            is(|d| d.count == Some(17) || d.price == Some(17.0)),
        ),
        (Query::QueryString(QueryString::new("*")), is(|_| true)),
        (
            Query::QueryString(QueryString {
                simple: true,
                fields: vec![FieldBoost::parse("body")],
                ..QueryString::new("w1 + w2 | (w3 + -w4) \"")
            }),
            is(move |d| (w(d, "w1") && w(d, "w2")) || (w(d, "w3") && !w(d, "w4"))),
        ),
        (
            // Words in a row are one text to each of several fields.
            Query::QueryString(QueryString {
                fields: vec![FieldBoost::parse("body"), FieldBoost::parse("title")],
                default_operator: Operator::And,
                ..QueryString::new("w1 w2")
            }),
            is(move |d| {
                let title = |word| d.title.as_ref().is_some_and(|title| has(title, word));
                (w(d, "w1") && w(d, "w2")) || (title("w1") && title("w2"))
            }),
        ),
        (
            Query::Bool(Bool {
                must_not: vec![Query::MatchPhrase(MatchPhrase::new("body", "w1 w2"))],
                must: vec![Query::matches("body", "w1")],
                ..Bool::default()
            }),
            is(move |d| w(d, "w1") && !phrase_at(&d.body, &["w1", "w2"])),
        ),
        (
            // A phrase that no document has, and whose words all have.
            Query::Bool(Bool {
                must_not: vec![Query::ConstantScore {
                    filter: Box::new(Query::MatchPhrase(MatchPhrase::new("body", "w1 w1 w1 w1"))),
                    boost: 1.0,
                }],
                ..Bool::default()
            }),
            is(move |d| !phrase_at(&d.body, &["w1", "w1", "w1", "w1"])),
        ),
    ]);
}

#[test]
fn malformed_query_strings_are_refused() {
    let (snapshot, _) = shard(7);
    for text in [
        "(w1",
        "w1)",
        "w1 AND",
        "OR w1",
        "\"w1",
        "title:",
        "count:[1 TO",
        "count:[1 2]",
        "w1^x",
        "a:b:c",
    ] {
        match found(&snapshot, &string(text)) {
            Err(error @ QueryError::Syntax { .. }) => {
                assert_eq!(error.to_string(), format!("Failed to parse query [{text}]"));
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}
