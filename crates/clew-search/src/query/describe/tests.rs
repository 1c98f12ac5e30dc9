use super::*;

#[test]
fn queries_are_described_as_lucene_would_write_them() {
    let query = Query::Bool(Bool {
        must: vec![Query::term("a", "x")],
        should: vec![Query::matches("b", "y z")],
        must_not: vec![Query::Range(Range {
            gt: Some(1.into()),
            ..Range::new("n")
        })],
        ..Bool::default()
    });
    assert_eq!(describe(&query), "+a:x -n:{1 TO *] b:y z");
    assert_eq!(describe(&Query::term("on", true)), "on:T");
    assert_eq!(describe_up_to(&query, 6), "+a:x -");
    let terms = Query::Terms {
        field: "k".to_string(),
        values: vec!["é".into(); 100_000],
        boost: 1.0,
    };
    assert_eq!(describe_up_to(&terms, 8), "k:(é é");
}

#[test]
fn queries_that_hold_others_tell_what_they_hold() {
    let boosting = Query::Boosting(clew_query::Boosting {
        positive: Box::new(Query::matches("t", "hello")),
        negative: Box::new(Query::term("k", "k1")),
        negative_boost: 0.5,
        boost: 1.0,
    });
    let wanted = "FunctionScoreQuery(t:hello, scored by boost(queryboost(score(k:k1))^0.5))";
    assert_eq!(describe(&boosting), wanted);
}

#[test]
fn factors_and_minima_stand_behind_what_they_are_about() {
    let boosted = |boost: f32| {
        Query::Bool(Bool {
            should: vec![Query::term("k", "a"), Query::term("k", "b")],
            boost,
            ..Bool::default()
        })
    };
    let Query::Term(mut term) = Query::term("k", "c") else {
        unreachable!("it was made as one");
    };
    term.boost = 3.0;
    for (query, want) in [
        (boosted(1.0), "k:a k:b"),
        (boosted(2.0), "(k:a k:b)^2.0"),
        (
            Query::DisMax {
                queries: vec![boosted(1.0), boosted(2.0), Query::Term(term)],
                tie_breaker: 0.3,
                boost: 1.0,
            },
            "((k:a k:b) | (k:a k:b)^2.0 | (k:c)^3.0)~0.3",
        ),
        (
            Query::ConstantScore {
                filter: Box::new(boosted(1.0)),
                boost: 2.0,
            },
            "(ConstantScore(k:a k:b))^2.0",
        ),
    ] {
        assert_eq!(describe(&query), want);
    }
    assert_eq!(describe_unboosted(&boosted(2.0)), "k:a k:b");
}
