//! Query and sort JSON, and what comes of it.

#![allow(
    clippy::too_many_lines,
    reason = "the tables are long, the functions do one thing"
)]

use clew_query::{
    Bool, Boosting, FieldBoost, Fuzziness, KnnQuery, Match, MatchPhrase, MinimumShouldMatch,
    Missing, MultiMatch, MultiMatchKind, Operator, Order, Pattern, Query, QueryString, Range,
    SortKey, SortMode, SortValue, Term,
};
use serde_json::{Value, json};

use super::{DslError, DslErrorKind, parse_query, parse_sort};

fn term(field: &str, value: Value) -> Query {
    Query::term(field, value)
}

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
fn a_wrong_effort_of_a_knn_clause_is_refused_by_its_name() {
    let range = "[knn] requires [target_recall] to be above 0 and no more than 1, found";
    let both = "[knn] requires at most one of [target_recall] and [method_parameters.ef_search]";
    let whole = "[knn] requires [ef_search] to be a whole number greater than 0, found";
    for (effort, expected) in [
        (json!({"target_recall": 0}), format!("{range} [0]")),
        (json!({"target_recall": 1.5}), format!("{range} [1.5]")),
        (json!({"target_recall": -2}), format!("{range} [-2]")),
        (
            json!({"target_recall": "a lot"}),
            format!("{range} [a lot]"),
        ),
        (json!({"target_recall": null}), format!("{range} [null]")),
        (
            json!({"target_recall": 0.9, "method_parameters": {"ef_search": 9}}),
            both.to_string(),
        ),
        (
            json!({"method_parameters": {"ef_search": "many"}}),
            format!("{whole} [many]"),
        ),
        (
            json!({"method_parameters": {"nprobes": 0}}),
            "[knn] requires [nprobes] to be a whole number greater than 0, found [0]".to_string(),
        ),
        (
            json!({"method_parameters": {"ef_search": -1}}),
            format!("{whole} [-1]"),
        ),
    ] {
        let mut clause = json!({"vector": [1], "k": 3});
        let members = clause.as_object_mut().unwrap();
        members.extend(effort.as_object().unwrap().clone());
        let error = parse_query(&json!({"knn": {"v": clause}})).unwrap_err();
        let found = (error.kind, error.reason);
        assert_eq!(found, (DslErrorKind::IllegalArgument, expected), "{effort}");
    }
}

#[test]
fn malformed_queries_are_refused_as_opensearch_refuses_them() {
    use DslErrorKind::{IllegalArgument, Parsing, XContentParse};
    let knn = "[knn] requires exactly one of k, distance or score to be set";
    let cases = vec![
        (json!({"foo": {}}), Parsing, "unknown query [foo]"),
        (json!({}), IllegalArgument, "query malformed, empty clause"),
        (
            json!([]),
            Parsing,
            "[_na] query malformed, must start with start_object",
        ),
        (
            json!({"match": "x"}),
            Parsing,
            "[match] query malformed, no start_object after query name",
        ),
        (
            json!({"match": {"a": "x"}, "term": {"a": "x"}}),
            Parsing,
            "[match] malformed query, expected [END_OBJECT] but found [FIELD_NAME]",
        ),
        (
            json!({"match": {"a": "x", "b": "y"}}),
            Parsing,
            "[match] query doesn't support multiple fields, found [a] and [b]",
        ),
        (
            json!({"match": {"a": {}}}),
            Parsing,
            "No text specified for text query",
        ),
        (
            json!({"match": {"a": {"query": "x", "foo": 1}}}),
            Parsing,
            "[match] query does not support [foo]",
        ),
        (
            json!({"match": {"a": ["x"]}}),
            Parsing,
            "[match] unknown token [START_ARRAY] after [a]",
        ),
        (
            json!({"term": {"a": {"value": null}}}),
            IllegalArgument,
            "value cannot be null",
        ),
        (
            json!({"terms": {"a": "x"}}),
            Parsing,
            "[terms] query does not support [a]",
        ),
        (
            json!({"range": {"a": {"foo": 1}}}),
            Parsing,
            "[range] query does not support [foo]",
        ),
        (
            json!({"exists": {}}),
            Parsing,
            "[exists] must be provided with a [field]",
        ),
        (
            json!({"bool": {"foo": []}}),
            XContentParse,
            "[bool] unknown field [foo]",
        ),
        (
            json!({"bool": {"must": [{"foo": {}}]}}),
            XContentParse,
            "[bool] failed to parse field [must]",
        ),
        (
            json!({"constant_score": {}}),
            Parsing,
            "[constant_score] requires a 'filter' element",
        ),
        (
            json!({"query_string": {}}),
            Parsing,
            "[query_string] must be provided with a [query]",
        ),
        (json!({"knn": {"v": {"vector": [1]}}}), IllegalArgument, knn),
        (
            json!({"knn": {"v": {"vector": [1], "k": 1, "min_score": 0.5}}}),
            IllegalArgument,
            knn,
        ),
        (
            json!({"knn": {"v": {"k": 1}}}),
            IllegalArgument,
            "[knn] requires query vector",
        ),
        (
            json!({"knn": {"v": {"vector": [1], "k": 0}}}),
            IllegalArgument,
            "[knn] requires k to be in the range (0, 10000]",
        ),
        (
            json!({"match_all": {"boost": -1}}),
            IllegalArgument,
            "negative [boost] are not allowed in [match_all], use a value between 0 and 1 to deboost",
        ),
        (
            json!({"multi_match": {"query": "x", "fields": ["a", "b^-2"]}}),
            IllegalArgument,
            "negative [boost] are not allowed in [multi_match], use a value between 0 and 1 to deboost",
        ),
        (
            json!({"query_string": {"query": "x", "fields": ["a^NaN"]}}),
            IllegalArgument,
            "negative [boost] are not allowed in [query_string], use a value between 0 and 1 to deboost",
        ),
    ];
    for (json, kind, reason) in cases {
        let error = parse_query(&json).expect_err(&json.to_string());
        assert_eq!(
            (error.kind, error.reason.as_str()),
            (kind, reason),
            "{json}"
        );
    }
}

#[test]
fn queries_nested_too_deeply_are_refused() {
    let mut query = json!({"match_all": {}});
    for _ in 0..60 {
        query = json!({"bool": {"must": [query]}});
    }
    let error = parse_query(&query).unwrap_err();
    let mut error = &error;
    while let Some(within) = &error.within {
        error = within;
    }
    assert_eq!(error.kind, DslErrorKind::IllegalArgument);
    assert!(error.reason.contains("nested depth"), "{error}");
}

#[test]
fn sort_takes_names_objects_and_arrays() {
    let a = |order| SortKey::field("a", order);
    for (json, want) in [
        (json!("a"), vec![a(Order::Asc)]),
        (json!("a:desc"), vec![a(Order::Desc)]),
        (json!({"a": "desc"}), vec![a(Order::Desc)]),
        (
            json!(["_score", {"a": "asc"}]),
            vec![SortKey::Score { order: Order::Desc }, a(Order::Asc)],
        ),
        (
            json!([{"_score": {"order": "asc"}}, "_doc"]),
            vec![
                SortKey::Score { order: Order::Asc },
                SortKey::Doc { order: Order::Asc },
            ],
        ),
        (
            json!({"a": {"order": "desc", "missing": "_first", "unmapped_type": "long",
                "mode": "min"}}),
            vec![SortKey::Field {
                path: "a".into(),
                order: Order::Desc,
                missing: Missing::First,
                mode: Some(SortMode::Min),
                unmapped_ok: true,
                nested: None,
                numeric: None,
            }],
        ),
        (
            json!([{"a": {"missing": 7}}]),
            vec![SortKey::Field {
                path: "a".into(),
                order: Order::Asc,
                missing: Missing::Value(SortValue::I64(7)),
                mode: None,
                unmapped_ok: false,
                nested: None,
                numeric: None,
            }],
        ),
        (Value::Null, vec![]),
    ] {
        assert_eq!(parse_sort(&json), Ok(want), "{json}");
    }
    for json in [
        json!(5),
        json!([[]]),
        json!({"a": "up"}),
        json!({"a": {"mode": "mad"}}),
    ] {
        assert!(parse_sort(&json).is_err(), "{json}");
    }
}

#[test]
fn what_is_wrong_with_a_sort_or_a_number_is_told_by_the_member_that_has_it() {
    use DslErrorKind::{IllegalArgument, NumberFormat, XContentParse};
    let no_order = "No enum constant org.opensearch.search.sort.SortOrder.UP";
    let chain = |error: DslError| {
        let mut told = vec![(error.kind, error.reason)];
        let mut within = error.within;
        while let Some(error) = within {
            told.push((error.kind, error.reason));
            within = error.within;
        }
        told
    };
    for (json, want) in [
        (json!({"a": "up"}), vec![(IllegalArgument, no_order)]),
        (
            json!({"a": {"order": "up"}}),
            vec![
                (XContentParse, "[field_sort] failed to parse field [order]"),
                (IllegalArgument, no_order),
            ],
        ),
        (
            json!({"_score": {"nope": 1}}),
            vec![(XContentParse, "[_score] unknown field [nope]")],
        ),
    ] {
        let told = chain(parse_sort(&json).unwrap_err());
        let told: Vec<_> = told
            .iter()
            .map(|(kind, reason)| (*kind, reason.as_str()))
            .collect();
        assert_eq!(told, want, "{json}");
    }
    for (json, want) in [
        (
            json!({"term": {"a": {"value": 1, "boost": "x"}}}),
            vec![(NumberFormat, "For input string: \"x\"")],
        ),
        (
            json!({"bool": {"boost": "x"}}),
            vec![
                (XContentParse, "[bool] failed to parse field [boost]"),
                (NumberFormat, "For input string: \"x\""),
            ],
        ),
    ] {
        let told = chain(parse_query(&json).unwrap_err());
        let told: Vec<_> = told
            .iter()
            .map(|(kind, reason)| (*kind, reason.as_str()))
            .collect();
        assert_eq!(told, want, "{json}");
    }
}

#[test]
fn every_query_is_proposed_to_who_misspells_it() {
    let names = super::QUERIES.iter().map(|(name, _)| *name);
    for name in names.chain(super::span::names()) {
        let body = json!({ format!("{name}x"): {} });
        let reason = parse_query(&body).unwrap_err().reason;
        assert!(reason.contains(name), "{reason}");
    }
}
