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
    use DslErrorKind::{IllegalArgument, Json, Parsing, XContentParse};
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
            json!({"term": {"a": {"value": "x", "case_insensitive": 0}}}),
            Json,
            "Current token (VALUE_NUMBER_INT) not of boolean type",
        ),
        (
            json!({"dis_max": {"queries": [{"match_all": {}}], "tie_breaker": null}}),
            Json,
            "Current token (VALUE_NULL) not numeric, can not use numeric value accessors",
        ),
        (
            json!({"simple_query_string": {"query": ["x"]}}),
            Parsing,
            "[simple_query_string] query does not support [query]",
        ),
        (
            json!({"constant_score": {"filter": {"match_all": {}}, "boost": {}}}),
            Parsing,
            "[constant_score] query does not support [boost]",
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
fn what_is_unknown_is_told_before_what_is_missing() {
    for (body, reason) in [
        (
            json!({"match": {"a": {"nope": 1}}}),
            "[match] query does not support [nope]",
        ),
        (
            json!({"boosting": {"nope": 1}}),
            "[boosting] query does not support [nope]",
        ),
        (
            json!({"script": {"nope": 1}}),
            "[script] query does not support [nope]",
        ),
        (
            json!({"script_score": {"nope": 1}}),
            "[script_score] unknown field [nope]",
        ),
        (
            json!({"distance_feature": {"nope": 1}}),
            "[distance_feature] unknown field [nope]",
        ),
        (
            json!({"rank_feature": {"nope": 1}}),
            "[feature] unknown field [nope]",
        ),
        (
            json!({"percolate": {"nope": 1}}),
            "[percolate] unknown field [nope]",
        ),
        (
            json!({"intervals": {"a": {"match": {"nope": 1}}}}),
            "[match] unknown field [nope]",
        ),
        (
            json!({"terms": {"a": {"index": "x", "nope": 1}}}),
            "[terms_lookup] unknown field [nope]",
        ),
        (
            json!({"geo_polygon": {"a": {"nope": 1}}}),
            "[geo_polygon] query does not support token type [VALUE_NUMBER] under [nope]",
        ),
    ] {
        assert_eq!(parse_query(&body).unwrap_err().reason, reason, "{body}");
    }
}

#[test]
fn what_is_missing_or_out_of_range_is_told_in_the_words_of_each_query() {
    use DslErrorKind::{
        Create, DateTime, IllegalArgument, Json, Malformed, NumberFormat, Parsing, ZoneRules,
    };
    let over = |field: &str| json!({"span_term": {field: "x"}});
    for (body, kind, reason) in [
        (
            json!({"span_near": {"clauses": [over("a"), over("b")]}}),
            Create,
            "failed to create query: Cannot add clause b:x to SpanNearQuery for field a",
        ),
        (
            json!({"span_or": {"clauses": [over("a"), over("b")]}}),
            Create,
            "failed to create query: Clauses must have same field.",
        ),
        (
            json!({"match_phrase": {"a": {}}}),
            IllegalArgument,
            "[match_phrase] requires query value",
        ),
        (
            json!({"multi_match": {}}),
            Parsing,
            "No text specified for multi_match query",
        ),
        (
            json!({"match": {"a": {"query": "x", "max_expansions": 0}}}),
            IllegalArgument,
            "[match] requires maxExpansions to be positive.",
        ),
        (
            json!({"match_phrase": {"a": {"query": "x", "slop": -1}}}),
            IllegalArgument,
            "No negative slop allowed.",
        ),
        (
            json!({"multi_match": {"query": "x", "fields": ["a^b"]}}),
            NumberFormat,
            "For input string: \"b\"",
        ),
        (
            json!({"multi_match": {"query": "x", "type": "y"}}),
            Malformed,
            "failed to parse [multi_match] query type [y]. unknown type.",
        ),
        (
            json!({"term": {"a": {"value": "x", "boost": [1]}}}),
            Json,
            "Current token (START_ARRAY) not numeric, can not use numeric value accessors",
        ),
        (
            json!({"query_string": {"query": "x", "time_zone": "y"}}),
            DateTime,
            "Invalid ID for ZoneOffset, invalid format: y",
        ),
        (
            json!({"query_string": {"query": "x", "time_zone": "Europe/Nowhere"}}),
            ZoneRules,
            "Unknown time-zone ID: Europe/Nowhere",
        ),
        (
            json!({"range": {"a": {"gte": 1, "time_zone": "y"}}}),
            IllegalArgument,
            "java.time.DateTimeException: Invalid ID for ZoneOffset, invalid format: y",
        ),
        (
            json!({"terms": {"a": {"index": "x"}}}),
            IllegalArgument,
            "Required [id, path]",
        ),
        (
            json!({"script_score": {}}),
            IllegalArgument,
            "Required [query, script]",
        ),
        (
            json!({"geo_distance": {"distance": "x", "a": "1,2"}}),
            NumberFormat,
            "For input string: \"x\"",
        ),
        (
            json!({"geo_distance": {"distance": "1km", "distance_type": "x", "a": "1,2"}}),
            IllegalArgument,
            "No geo distance for [x]",
        ),
        (
            json!({"geo_bounding_box": {"a": {"top_left": "1,2"}}}),
            IllegalArgument,
            "bottom latitude is invalid: NaN",
        ),
    ] {
        let error = parse_query(&body).unwrap_err();
        let told = (error.kind, error.reason.as_str());
        assert_eq!(told, (kind, reason), "{body}");
    }
}

#[test]
fn what_is_read_by_fields_inside_a_reader_by_hand_is_handed_on() {
    for (body, reason) in [
        (
            json!({"match_all": {"boost": "x"}}),
            "[match_all] failed to parse field [boost]",
        ),
        (
            json!({"ids": {"values": ["1"], "nope": 1}}),
            "[ids] unknown field [nope]",
        ),
        (
            json!({"ids": {"values": [null]}}),
            "[ids] failed to parse field [values]",
        ),
    ] {
        let error = parse_query(&body).unwrap_err();
        let within = error.within.as_ref().expect("what it hands on");
        let told = (error.kind, within.kind);
        assert_eq!(told, (DslErrorKind::Parsing, DslErrorKind::XContentParse));
        assert_eq!(
            (error.reason.as_str(), within.reason.as_str()),
            (reason, reason)
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
