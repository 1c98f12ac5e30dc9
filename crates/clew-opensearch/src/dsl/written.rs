//! Queries of every kind can be written and read again; the one that cannot says so.

use clew_query::Query;
use serde_json::json;

use super::parse_query;

fn written(query: &Query) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    ciborium::into_writer(query, &mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

#[test]
fn queries_are_read_as_they_were_written() {
    let place = json!({"lat": 1.5, "lon": -0.25});
    for json in [
        json!({"match_all": {"boost": 2.5}}),
        json!({"match_none": {}}),
        json!({"match": {"t": {"query": "a b", "operator": "and", "fuzziness": "AUTO"}}}),
        json!({"common": {"t": {"query": "a b", "minimum_should_match": {"high_freq": 2}}}}),
        json!({"match_phrase": {"t": {"query": "a b", "slop": 2}}}),
        json!({"match_phrase_prefix": {"t": "a b"}}),
        json!({"match_bool_prefix": {"t": "a b"}}),
        json!({"multi_match": {"query": "a", "fields": ["t^2", "u"], "tie_breaker": 0.3}}),
        json!({"query_string": {"query": "a AND b*", "default_field": "t"}}),
        json!({"simple_query_string": {"query": "a + b", "flags": "AND|OR"}}),
        json!({"term": {"n": {"value": 18_446_744_073_709_551_615_u64, "boost": 0.1}}}),
        json!({"terms": {"n": [-1, 0.5, "x", true]}}),
        json!({"terms": {"u": {"index": "i", "id": "1", "path": "p"}}}),
        json!({"range": {"n": {"gte": 1, "lt": "2026-01-01", "relation": "within"}}}),
        json!({"exists": {"field": "t"}}),
        json!({"ids": {"values": ["1", "é"]}}),
        json!({"prefix": {"k": {"value": "a", "case_insensitive": true}}}),
        json!({"wildcard": {"k": "a*b?"}}),
        json!({"regexp": {"k": {"value": "a.*", "flags": "INTERVAL"}}}),
        json!({"fuzzy": {"k": {"value": "ab", "fuzziness": 1}}}),
        json!({"bool": {"must": {"exists": {"field": "t"}}, "minimum_should_match": "2<75%"}}),
        json!({"constant_score": {"filter": {"match_none": {}}}}),
        json!({"dis_max": {"queries": [{"match_all": {}}], "tie_breaker": 0.7}}),
        json!({"boosting": {"positive": {"match_all": {}}, "negative": {"match_none": {}},
            "negative_boost": 0.5}}),
        json!({"knn": {"v": {"vector": [0.1, -2.5], "k": 3, "filter": {"match_none": {}}}}}),
        json!({"nested": {"path": "p", "query": {"match_all": {}}, "score_mode": "max"}}),
        json!({"has_child": {"type": "c", "query": {"match_all": {}}}}),
        json!({"has_parent": {"parent_type": "p", "query": {"match_all": {}}}}),
        json!({"parent_id": {"type": "c", "id": "1"}}),
        json!({"geo_distance": {"distance": "1km", "at": place}}),
        json!({"geo_bounding_box": {"at": {"top_left": [-1, 1], "bottom_right": [1, -1]}}}),
        json!({"geo_polygon": {"at": {"points": [[0, 0], [1, 0], [1, 1]]}}}),
        json!({"function_score": {"query": {"match_all": {}}, "functions": [
            {"weight": 2, "filter": {"match_none": {}}},
            {"gauss": {"n": {"origin": 1, "scale": 2}}}, {"random_score": {}},
            {"field_value_factor": {"field": "n", "modifier": "log1p"}}]}}),
        json!({"rank_feature": {"field": "f", "saturation": {"pivot": 8}}}),
        json!({"neural_sparse": {"s": {"query_tokens": {"a": 1.5}}}}),
        json!({"distance_feature": {"field": "d", "origin": "now", "pivot": "7d"}}),
        json!({"more_like_this": {"fields": ["t"], "like": ["text", {"_id": "1"}]}}),
        json!({"terms_set": {"k": {"terms": ["a"], "minimum_should_match_field": "n"}}}),
        json!({"script_score": {"query": {"match_all": {}}, "script": {"source":
            "cosineSimilarity(params.v, doc['v']) + 1.0", "params": {"v": [1, 2]}}}}),
        json!({"script_score": {"query": {"match_all": {}}, "script": {"source":
            "for (def x : doc['n']) { if (x > params.m.a) return x } return _score",
            "params": {"m": {"a": 1.5}}}}}),
        json!({"bool": {"filter": [{"exists": {"field": "n"}}, {"script": {"script": {
            "lang": "expression", "source": "doc['n'].value % 2 == f", "params": {"f": 1}}}}]}}),
        json!({"intervals": {"t": {"all_of": {"ordered": true, "intervals": [
            {"match": {"query": "a b"}}, {"prefix": {"prefix": "c"}}]}}}}),
    ] {
        let query = parse_query(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
        let bytes = written(&query).unwrap();
        let read: Query = ciborium::from_reader(&bytes[..]).unwrap();
        assert_eq!(read, query, "{json}");
    }
}

#[test]
fn a_query_that_holds_a_function_says_so() {
    let query = json!({"bool": {"must": {"percolate": {"field": "q", "document": {}}}}});
    let error = written(&parse_query(&query).unwrap()).unwrap_err();
    assert!(error.contains("percolate"), "{error}");
}
