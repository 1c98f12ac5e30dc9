//! Queries that are understood.

use super::*;

fn check(cases: Vec<(Value, Query)>) {
    for (json, want) in cases {
        assert_eq!(parse_query(&json).as_ref(), Ok(&want), "{json}");
    }
}

#[test]
fn short_and_long_forms_mean_the_same() {
    let a = || term("a", json!("x"));
    check(vec![
        (json!({"match_all": {}}), Query::match_all()),
        (
            json!({"match_all": {"boost": 2}}),
            Query::MatchAll { boost: 2.0 },
        ),
        (json!({"match_none": {}}), Query::MatchNone),
        (json!({"match": {"f": "x y"}}), Query::matches("f", "x y")),
        (
            json!({"match": {"f": {"query": "x y"}}}),
            Query::matches("f", "x y"),
        ),
        (
            json!({"match": {"f": {"query": 5, "operator": "AND", "minimum_should_match": "75%",
                "fuzziness": "AUTO", "boost": 1.5, "lenient": true}}}),
            Query::Match(Match {
                text: json!(5),
                operator: Operator::And,
                minimum_should_match: Some(MinimumShouldMatch::Percent(75)),
                fuzziness: Some(Fuzziness::auto()),
                lenient: true,
                boost: 1.5,
                ..Match::new("f", "")
            }),
        ),
        (
            json!({"match_phrase": {"f": {"query": "x y", "slop": 2}}}),
            Query::MatchPhrase(MatchPhrase {
                slop: 2,
                ..MatchPhrase::new("f", "x y")
            }),
        ),
        (
            json!({"match_phrase_prefix": {"f": "x y"}}),
            Query::MatchPhrasePrefix(MatchPhrase::new("f", "x y")),
        ),
        (
            json!({"match_bool_prefix": {"f": "x y"}}),
            Query::MatchBoolPrefix(Match::new("f", "x y")),
        ),
        (json!({"term": {"a": "x"}}), a()),
        (json!({"term": {"a": {"value": "x"}}}), a()),
        (
            json!({"term": {"a": {"value": 5, "case_insensitive": true, "boost": 3.0}}}),
            Query::Term(Term {
                field: "a".into(),
                value: json!(5),
                case_insensitive: true,
                boost: 3.0,
            }),
        ),
        (
            json!({"terms": {"a": [1, "b"], "boost": 2}}),
            Query::Terms {
                field: "a".into(),
                values: vec![json!(1), json!("b")],
                boost: 2.0,
            },
        ),
        (
            json!({"range": {"a": {"gte": 1, "lt": "5", "format": "yyyy", "time_zone": "+01:00"}}}),
            Query::Range(Range {
                gte: Some(json!(1)),
                lt: Some(json!("5")),
                format: Some("yyyy".into()),
                time_zone: Some("+01:00".into()),
                ..Range::new("a")
            }),
        ),
        (
            json!({"range": {"a": {"from": 1, "to": 2, "include_lower": false}}}),
            Query::Range(Range {
                gt: Some(json!(1)),
                lte: Some(json!(2)),
                ..Range::new("a")
            }),
        ),
        (
            json!({"exists": {"field": "a"}}),
            Query::Exists {
                field: "a".into(),
                boost: 1.0,
            },
        ),
        (
            json!({"ids": {"values": ["1", 2]}}),
            Query::Ids {
                values: vec!["1".into(), "2".into()],
                boost: 1.0,
            },
        ),
        (
            json!({"prefix": {"a": "x"}}),
            Query::Prefix(Pattern::new("a", "x")),
        ),
        (
            json!({"wildcard": {"a": {"wildcard": "x*"}}}),
            Query::Wildcard(Pattern::new("a", "x*")),
        ),
        (
            json!({"regexp": {"a": {"value": "x.*", "case_insensitive": true}}}),
            Query::Regexp(Pattern {
                case_insensitive: true,
                ..Pattern::new("a", "x.*")
            }),
        ),
        (
            json!({"fuzzy": {"a": {"value": "x", "fuzziness": 1, "prefix_length": 2}}}),
            Query::Fuzzy {
                field: "a".into(),
                value: "x".into(),
                fuzziness: Fuzziness {
                    prefix_length: 2,
                    ..Fuzziness::parse("1").unwrap()
                },
                boost: 1.0,
            },
        ),
    ]);
}

#[test]
fn compounds_take_objects_and_arrays() {
    let a = || term("a", json!("x"));
    check(vec![
        (json!({"bool": {}}), Query::Bool(Bool::default())),
        (
            json!({"bool": {"must": {"term": {"a": "x"}}, "should": [{"term": {"a": "x"}}],
                "must_not": [], "filter": {"match_all": {}}, "minimum_should_match": -1}}),
            Query::Bool(Bool {
                must: vec![a()],
                should: vec![a()],
                filter: vec![Query::match_all()],
                minimum_should_match: Some(MinimumShouldMatch::Count(-1)),
                ..Bool::default()
            }),
        ),
        (
            json!({"constant_score": {"filter": {"term": {"a": "x"}}, "boost": 2}}),
            Query::ConstantScore {
                filter: Box::new(a()),
                boost: 2.0,
            },
        ),
        (
            json!({"dis_max": {"queries": [{"term": {"a": "x"}}], "tie_breaker": 0.5}}),
            Query::DisMax {
                queries: vec![a()],
                tie_breaker: 0.5,
                boost: 1.0,
            },
        ),
        (
            json!({"boosting": {"positive": {"term": {"a": "x"}}, "negative": {"match_all": {}},
                "negative_boost": 0.5}}),
            Query::Boosting(Boosting {
                positive: Box::new(a()),
                negative: Box::new(Query::match_all()),
                negative_boost: 0.5,
                boost: 1.0,
            }),
        ),
        (
            json!({"multi_match": {"query": "x", "fields": ["a^3", "b"], "type": "most_fields",
                "tie_breaker": 0.3}}),
            Query::MultiMatch(MultiMatch {
                fields: vec![FieldBoost::parse("a^3"), FieldBoost::parse("b")],
                clause: Match::new("", "x"),
                kind: MultiMatchKind::MostFields,
                slop: 0,
                tie_breaker: Some(0.3),
            }),
        ),
        (
            json!({"query_string": {"query": "a AND b", "default_field": "f",
                "default_operator": "and"}}),
            Query::QueryString(QueryString {
                fields: vec![FieldBoost::parse("f")],
                default_operator: Operator::And,
                ..QueryString::new("a AND b")
            }),
        ),
        (
            json!({"simple_query_string": {"query": "a + b", "fields": ["f"]}}),
            Query::QueryString(QueryString {
                fields: vec![FieldBoost::parse("f")],
                simple: true,
                ..QueryString::new("a + b")
            }),
        ),
        (
            json!({"knn": {"v": {"vector": [1, 2.5], "k": 3, "filter": {"term": {"a": "x"}},
                "method_parameters": {"ef_search": 50, "nprobes": 4}}}}),
            Query::Knn(KnnQuery {
                field: "v".into(),
                vector: vec![1.0, 2.5],
                k: Some(3),
                ef_search: Some(50),
                probes: Some(4),
                target_recall: None,
                oversample: None,
                expand_nested: false,
                ignore_unmapped: false,
                filter: Some(Box::new(a())),
                min_score: None,
                max_distance: None,
                boost: 1.0,
            }),
        ),
        (
            json!({"knn": {"v": {"vector": [1], "k": 3, "target_recall": 0.75}}}),
            Query::Knn(KnnQuery {
                field: "v".into(),
                vector: vec![1.0],
                k: Some(3),
                ef_search: None,
                probes: None,
                target_recall: Some(0.75),
                oversample: None,
                expand_nested: false,
                ignore_unmapped: false,
                filter: None,
                min_score: None,
                max_distance: None,
                boost: 1.0,
            }),
        ),
    ]);
}

#[test]
fn vectors_and_bounds_of_a_knn_clause_are_read_as_there() {
    for (vector, wanted) in [(json!(["1", 2.5]), vec![1.0, 2.5]), (json!(3), vec![3.0])] {
        let clause = json!({"vector": vector, "k": "3", "ignore_unmapped": true});
        let Ok(Query::Knn(knn)) = parse_query(&json!({"knn": {"v": clause}})) else {
            panic!("{vector} is a vector");
        };
        assert_eq!((knn.vector, knn.k), (wanted, Some(3)));
        assert!(knn.ignore_unmapped);
    }
    let k = "[knn] requires k to be in the range (0, 10000]";
    let factor = |shown: &str, bound: &str| {
        format!(
            "[knn] errors in rescore parameter [Validation Failed: 1: Oversample factor [{shown}] cannot be {bound};]"
        )
    };
    for (members, expected) in [
        (json!({"k": -1}), k.to_string()),
        (json!({"k": 10_001}), k.to_string()),
        (
            json!({"k": 2.5}),
            "[knn] failed to parse value [2.5]".into(),
        ),
        (
            json!({"min_score": 0}),
            "[knn] requires minScore to be greater than 0".into(),
        ),
        (
            json!({"k": 1, "method_parameters": {}}),
            "method_parameters cannot be empty".into(),
        ),
        (
            json!({"k": 1, "method_parameters": {"ef": 1}}),
            "[knn] unknown method parameter found [ef]".into(),
        ),
        (
            json!({"k": 1, "rescore": {"oversample_factor": 0.5}}),
            factor("0.500000", "less than [1.000000]"),
        ),
        (
            json!({"k": 1, "rescore": {"oversample_factor": 101}}),
            factor("101.000000", "more than [100.000000]"),
        ),
        (
            json!({"k": 1, "vector": ["x"]}),
            "[knn] query vector holds [\"x\"], not a number".into(),
        ),
    ] {
        let mut clause = json!({"vector": [1]});
        let all = clause.as_object_mut().unwrap();
        all.extend(members.as_object().unwrap().clone());
        let error = parse_query(&json!({"knn": {"v": clause}})).unwrap_err();
        assert_eq!(error.reason, expected, "{members}");
    }
    let error = parse_query(&json!({"neural": {"v": {"query_text": "x"}}})).unwrap_err();
    assert!(error.reason.starts_with("[neural] needs a model"));
}

#[test]
fn a_template_is_the_query_that_stands_in_it() {
    let inner = json!({"term": {"t": "fox"}});
    let within = parse_query(&json!({"bool": {"must": [{"template": inner}]}})).unwrap();
    assert_eq!(
        within,
        parse_query(&json!({"bool": {"must": [inner]}})).unwrap()
    );
    let named = json!({"match_all": {"_name": "all"}});
    let in_template = parse_query(&json!({"template": named})).unwrap();
    assert_eq!(in_template, parse_query(&named).unwrap());
    for (body, reason, within) in [
        (
            json!({}),
            "Template string cannot be empty. A valid template must be provided.",
            None,
        ),
        (
            json!({"nope": {"t": "x"}}),
            "Failed to rewrite template query: {\"nope\":{\"t\":\"x\"}}",
            Some("unknown query [nope]"),
        ),
    ] {
        let error = parse_query(&json!({"template": body})).unwrap_err();
        assert_eq!(error.kind, DslErrorKind::IllegalArgument);
        assert_eq!(error.reason, reason);
        assert_eq!(error.within.map(|within| within.reason).as_deref(), within);
    }
}
