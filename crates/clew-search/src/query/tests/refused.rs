//! Queries that are refused: values that do not fit, sizes and depths.

use super::*;

#[test]
fn values_that_do_not_fit_are_refused_unless_lenient() {
    let (snapshot, _) = shard(7);
    for (query, reason) in [
        (
            Query::term("count", "x"),
            "failed to create query: For input string: \"x\"",
        ),
        (
            Query::term("count", 3_000_000_000_i64),
            "failed to create query: Value [3000000000] is out of range for an integer",
        ),
        (
            Query::term("flag", "maybe"),
            "failed to create query: Can't parse boolean value [maybe], expected [true] or [false]",
        ),
        (
            Query::term("ip", "localhost"),
            "failed to create query: 'localhost' is not an IP string literal.",
        ),
        (
            range("price", &[("gt", json!("cheap"))]),
            "failed to create query: For input string: \"cheap\"",
        ),
    ] {
        let error = found(&snapshot, &query).unwrap_err().to_string();
        assert_eq!(error, reason);
        let lenient = Query::Lenient(Box::new(query));
        assert_eq!(found(&snapshot, &lenient).unwrap(), []);
    }
}

#[test]
fn size_and_depth_are_limited() {
    let (snapshot, _) = shard(7);
    let wide = Query::Bool(Bool {
        should: vec![Query::term("body", "w1"); 1025],
        ..Bool::default()
    });
    let error = found(&snapshot, &wide).unwrap_err();
    assert_eq!(error.to_string(), "maxClauseCount is set to 1024");
    // Before a tree of all of them is made.
    let long = QueryString::new("w1~ ".repeat(200_000));
    assert!(matches!(
        found(&snapshot, &Query::QueryString(long)),
        Err(QueryError::TooManyClauses { max: 1024 })
    ));
    let words = vec!["w1"; 1025].join(" ");
    assert!(matches!(
        found(&snapshot, &Query::matches("body", words)),
        Err(QueryError::TooManyClauses { max: 1024 })
    ));
    // Texts of which no words are counted any more.
    for (spaces, is_read) in [(1 << 20, true), ((1 << 20) + 1, false)] {
        let text = " ".repeat(spaces);
        for query in [
            Query::matches("body", text.as_str()),
            Query::MatchPhrase(MatchPhrase::new("body", text.as_str())),
            Query::QueryString(QueryString::new(text.as_str())),
            Query::QueryString(QueryString {
                simple: true,
                ..QueryString::new(text.as_str())
            }),
        ] {
            let found = found(&snapshot, &query);
            assert_eq!(found.is_ok(), is_read, "{found:?}");
        }
    }
    let fuzzy = Query::Fuzzy {
        field: "body".into(),
        value: "w1".into(),
        fuzziness: Fuzziness::parse("2").unwrap(),
        boost: 1.0,
    };
    let many = |count: usize| {
        Query::Bool(Bool {
            should: vec![fuzzy.clone(); count],
            ..Bool::default()
        })
    };
    assert!(found(&snapshot, &many(10)).is_ok());
    // No more clauses than there may be, which stand for too many words.
    assert!(matches!(
        found(&snapshot, &many(1_024)),
        Err(QueryError::TooManyClauses { max: 16_384 })
    ));
    let phrase = MatchPhrase::new("body", "w1 ".repeat(8193));
    let error = found(&snapshot, &Query::MatchPhrase(phrase)).unwrap_err();
    let told = "a phrase may have [8192] words, this one has [8193]";
    assert!(error.to_string().contains(told), "{error}");
    let mut deep = Query::match_all();
    for _ in 0..40 {
        deep = Query::Bool(Bool {
            must: vec![deep],
            ..Bool::default()
        });
    }
    assert!(matches!(
        found(&snapshot, &deep),
        Err(QueryError::TooDeep { .. })
    ));
    let nested = format!("{}w1{}", "(".repeat(100), ")".repeat(100));
    assert!(found(&snapshot, &string(&nested)).is_err());
}
