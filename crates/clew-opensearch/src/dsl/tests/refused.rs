//! Queries that are refused.

use super::*;

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
