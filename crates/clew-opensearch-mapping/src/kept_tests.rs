//! Mappings as they are kept: what both formats make of them is what they were.

use clew_analysis::Analysis;
use clew_schema::{MappedField, Mapping, MappingError, MappingPart};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::parameters::read_field;
use crate::show::{field_json, object_settings_json, root_json};
use crate::{merge, read, reader, shown, try_mapping};

/// A mapping as builds wrote it that knew format 1 alone.
fn encode_format_1(mapping: &Mapping) -> Value {
    let kept = mapping.kept();
    let objects = kept.objects.iter();
    let objects: Map<String, Value> = objects
        .map(|(path, settings)| (path.clone(), object_settings_json(*settings).into()))
        .collect();
    let fields = mapping.fields().iter().map(|field| {
        json!({
            "path": field.path,
            "multi_field": field.multi_field,
            "hidden": field.settings.hidden,
            "mapping": field_json(field),
        })
    });
    json!({
        "root": root_json(mapping),
        "objects": objects,
        "aliases": kept.aliases,
        "fields": fields.collect::<Vec<_>>(),
        "analysis": kept.analysis,
        "similarities": kept.similarities,
    })
}

fn decode(encoded: &Value) -> Result<Mapping, MappingError> {
    Mapping::decode(encoded, Some(reader()))
}

fn limits_aside(mapping: &Mapping) -> String {
    let fields = mapping.fields().iter().map(|mapped| {
        let MappedField {
            path,
            id,
            kind,
            indexed,
            multi_field,
            field,
            settings,
            ..
        } = mapped;
        let date_format = mapped.date_format();
        format!(
            "{path} {id:?} {kind:?} {indexed} {multi_field} {field:?} {settings:?} {date_format:?}"
        )
    });
    let fields: Vec<String> = fields.collect();
    format!("{fields:#?} {:?}", mapping.kept())
}

/// Every type with what can be said of it, and now and then said as text or as null.
#[rustfmt::skip]
const FIELDS: &[&str] = &[
    r#"{"type": "text"}"#,
    r#"{"type": "text", "analyzer": "mine", "search_analyzer": "standard", "search_quote_analyzer": "simple", "norms": "false"}"#,
    r#"{"type": "text", "fielddata": true, "term_vector": "yes", "similarity": "boolean", "index_options": "docs", "position_increment_gap": "7"}"#,
    r#"{"type": "text", "index": false, "store": true, "meta": {"unit": "x"}, "boost": 2, "copy_to": "all"}"#,
    r#"{"type": "match_only_text", "meta": null}"#,
    r#"{"type": "search_as_you_type", "max_shingle_size": 2, "analyzer": "mine"}"#,
    r#"{"type": "keyword", "ignore_above": "5", "normalizer": "lowercase", "null_value": "none", "split_queries_on_whitespace": true}"#,
    r#"{"type": "keyword", "doc_values": "false", "copy_to": ["all", "more"], "fields": {"raw": {"type": "text"}, "typed": {"type": "search_as_you_type"}}}"#,
    r#"{"type": "wildcard", "normalizer": "own", "doc_values": true}"#,
    r#"{"type": "constant_keyword"}"#,
    r#"{"type": "constant_keyword", "value": "always"}"#,
    r#"{"type": "long", "coerce": false, "ignore_malformed": true, "null_value": 7}"#,
    r#"{"type": "token_count", "analyzer": "mine", "enable_position_increments": false}"#,
    r#"{"type": "unsigned_long", "null_value": "18446744073709551615"}"#,
    r#"{"type": "scaled_float", "scaling_factor": "100"}"#,
    r#"{"type": "scaled_float", "scaling_factor": 0.1}"#,
    r#"{"type": "half_float", "index": "false"}"#,
    r#"{"type": "rank_feature", "positive_score_impact": false}"#,
    r#"{"type": "rank_features"}"#,
    r#"{"type": "boolean", "null_value": "true"}"#,
    r#"{"type": "date", "format": "epoch_second||yyyy-MM-dd", "locale": "en", "print_format": "iso8601"}"#,
    r#"{"type": "date_nanos"}"#,
    r#"{"type": "ip", "null_value": "::1"}"#,
    r#"{"type": "geo_point", "null_value": [1, 2], "ignore_z_value": false}"#,
    r#"{"type": "completion", "preserve_separators": false, "max_input_length": 20, "contexts": [{"name": "c", "type": "category", "path": "p"}, {"name": "g", "type": "geo", "precision": "5km"}]}"#,
    r#"{"type": "flat_object"}"#,
    r#"{"type": "percolator"}"#,
    r#"{"type": "binary", "doc_values": true}"#,
    r#"{"type": "integer_range", "coerce": false}"#,
    r#"{"type": "date_range", "format": "yyyy"}"#,
    r#"{"type": "ip_range"}"#,
    r#"{"type": "join", "relations": {"q": ["a", "c"], "a": "v"}, "eager_global_ordinals": false}"#,
    r#"{"type": "knn_vector", "dimension": "8", "index": false, "method": {"name": "hnsw", "engine": "faiss", "space_type": "cosinesimil", "parameters": {"m": 8, "ef_search": 33, "encoder": {"name": "sq"}}}}"#,
    r#"{"type": "knn_vector", "dimension": 8, "space_type": "innerproduct", "method": {"name": "ivf", "parameters": {"nlist": 16, "nprobes": 2, "encoder": {"name": "pq"}}}}"#,
    r#"{"type": "knn_vector", "dimension": 16, "data_type": "binary"}"#,
    r#"{"type": "knn_vector", "dimension": 8, "mode": "on_disk", "compression_level": "16x"}"#,
    r#"{"type": "nested", "include_in_root": true, "properties": {"x": {"type": "long"}}}"#,
    r#"{"type": "object", "enabled": false}"#,
    r#"{"dynamic": "strict_allow_templates", "properties": {"y": {"type": "date"}}}"#,
    r#"{"type": "alias", "path": "a"}"#,
];

#[rustfmt::skip]
const ROOTS: &[&str] = &[
    "{}",
    r#"{"dynamic": "strict", "_meta": {"n": [1, null]}, "date_detection": "false"}"#,
    r#"{"numeric_detection": true, "dynamic_date_formats": "yyyy", "_size": {"enabled": true}}"#,
    r#"{"_source": {"enabled": true, "includes": "a*", "excludes": ["b", "c"]}, "_routing": {"required": true}}"#,
    r#"{"dynamic_templates": [
        {"t": {"match": ["b*", "c"], "unmatch": "bb", "mapping": {"type": "{dynamic_type}", "meta": {"from": "{name}"}}}},
        {"r": {"match_pattern": "regex", "path_match": "^x[0-9]+$", "match_mapping_type": "string", "mapping": {"index": false}}}]}"#,
];

fn body() -> impl Strategy<Value = Value> {
    let read = |text: &&str| serde_json::from_str::<Value>(text).unwrap();
    let field = proptest::sample::select(FIELDS).prop_map(move |text| read(&text));
    let properties = proptest::collection::btree_map("[a-d]{1,2}", field, 0..4);
    let root = proptest::sample::select(ROOTS).prop_map(move |text| read(&text));
    (root, properties).prop_map(|(mut root, properties)| {
        root["properties"] = json!(properties);
        root
    })
}

fn with_analysis() -> Mapping {
    let mut mapping = Mapping::new();
    let analysis = json!({
        "analyzer": {
            "mine": {"type": "custom", "tokenizer": "standard", "filter": ["lowercase"]},
            "default": {"type": "custom", "tokenizer": "whitespace"},
        },
        "normalizer": {"own": {"type": "custom", "filter": ["asciifolding"]}},
    });
    mapping.set_analysis(Analysis::read(&analysis).unwrap());
    mapping
}

/// Holds a mapping against what both formats make of it.
fn check(mapping: &Mapping) {
    let read_again = |encoded: &Value| {
        // As it comes back from a file.
        let text = encoded.to_string();
        decode(&serde_json::from_str(&text).unwrap()).unwrap()
    };
    let encoded = mapping.encode();
    let again = read_again(&encoded);
    let shown = |mapping: &Mapping| shown(mapping).to_string();
    assert_eq!(shown(&again), shown(mapping), "{encoded}");
    assert_eq!(limits_aside(&again), limits_aside(mapping), "{encoded}");
    assert_eq!(again.schema(), mapping.schema());
    assert_eq!(again.encode().to_string(), encoded.to_string());
    // The first format does not say what was only named, such as the usual analyzer.
    let again = read_again(&encode_format_1(mapping));
    assert_eq!(shown(&again), shown(mapping), "{encoded}");
    assert_eq!(again.schema(), mapping.schema());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_mapping_is_the_same_after_it_was_kept(
        bodies in proptest::collection::vec(body(), 1..6),
    ) {
        let mut mapping = with_analysis();
        for body in &bodies {
            // Some of them contradict each other.
            drop(merge(&mut mapping, body).err());
        }
        check(&mapping);
    }
}

#[test]
fn every_field_is_the_same_after_it_was_kept() {
    for field in FIELDS {
        let field: Value = serde_json::from_str(field).unwrap();
        let mut mapping = with_analysis();
        let body = json!({"properties": {"a": {"type": "long"}, "f": field}});
        merge(&mut mapping, &body).unwrap();
        check(&mapping);
    }
}

/// A field that is shown without anything of it having been written, as one of another protocol is.
#[test]
fn what_was_never_written_is_shown_as_what_makes_it() {
    for field in FIELDS {
        let field: Value = serde_json::from_str(field).unwrap();
        let mut written = with_analysis();
        let body = json!({"properties": {"a": {"type": "long"}, "f": field}});
        merge(&mut written, &body).unwrap();
        let mut spec = read(&body, written.analysis()).unwrap();
        for part in &mut spec.parts {
            if let MappingPart::Field(field) = part {
                field.shown.clear();
            }
        }
        let mut unwritten = with_analysis();
        unwritten.merge(spec).unwrap();
        let mut again = with_analysis();
        merge(&mut again, &shown(&unwritten)).unwrap();
        let without_shown = |mapping: &Mapping| {
            let fields = mapping.fields().iter().map(|field| {
                let mut settings = field.settings.clone();
                settings.shown.clear();
                format!("{} {:?} {settings:?}", field.path, field.kind)
            });
            fields.collect::<Vec<_>>()
        };
        let expected = without_shown(&written);
        assert_eq!(without_shown(&again), expected, "{field}");
    }
}

#[test]
fn what_is_usual_is_written_down() {
    let body = json!({"properties": {
        "t": {"type": "text"}, "d": {"type": "date"}, "v": {"type": "knn_vector", "dimension": 2},
    }});
    let kept = try_mapping(&body).unwrap().encode();
    let kinds: Vec<&Value> = kept["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| &field["field"]["kind"])
        .collect();
    let column = json!({
        "dimension": 2, "space": "l2", "element": "f32", "code_bits": 4, "method": "graph",
        "hnsw": {"m": 16, "ef_construction": 100}, "multi": false,
    });
    assert_eq!(
        kinds,
        [
            &json!({"text": {"analyzer": "standard", "style": "full"}}),
            &json!({"date": {"format": "strict_date_optional_time||epoch_millis"}}),
            &json!({"vector": {"column": column}}),
        ]
    );
}

#[test]
fn what_is_no_kept_mapping_is_refused() {
    let kept = try_mapping(&json!({"properties": {"a": {"type": "long"}}}));
    let kept = kept.unwrap().encode();
    assert!(decode(&kept).is_ok());
    let with = |member: &str, value: Value| {
        let mut kept = kept.clone();
        kept[member] = value;
        kept
    };
    for wrong in [
        json!({"format": 2}),
        with("format", json!(3)),
        with("unknown", json!(1)),
        with("fields", json!([{"follower": "b"}])),
        with("fields", json!([{"field": {"path": "a"}}])),
        with("fields", json!([kept["fields"][0], kept["fields"][0]])),
        with("aliases", json!({"b": "c"})),
    ] {
        assert!(decode(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_read_in_the_place_of_another_is_later_where_its_analyzers_are_others() {
    let mut before = with_analysis();
    let body = json!({"properties": {"t": {"type": "text", "analyzer": "mine"}}});
    merge(&mut before, &body).unwrap();
    let again = |mapping: &Mapping| decode(&mapping.encode()).unwrap().in_place_of(&before);
    assert!(!again(&before).is_later_than(&before));
    let upper = json!({"type": "custom", "tokenizer": "standard", "filter": ["uppercase"]});
    let analysis = Analysis::read(&json!({"analyzer": {"mine": upper}})).unwrap();
    let other = before.with_analysis(analysis.source().clone()).unwrap();
    let later = again(&other);
    assert!(later.is_later_than(&before));
    // And what comes after it is no later.
    assert!(
        !decode(&other.encode())
            .unwrap()
            .in_place_of(&later)
            .is_later_than(&later)
    );
}

#[test]
fn numbers_take_any_boost_and_keep_none() {
    for kind in ["long", "byte", "double", "half_float", "unsigned_long"] {
        for boost in [json!("x"), json!(2), json!({})] {
            let mut mapping = with_analysis();
            let body = json!({"properties": {"a": {"type": kind, "boost": boost}}});
            merge(&mut mapping, &body).unwrap();
            assert_eq!(shown(&mapping)["properties"]["a"], json!({"type": kind}));
        }
    }
}

#[test]
fn a_new_field_is_shown_as_opensearch_tells_it() {
    for (written, told) in [
        (
            json!({"type": "completion"}),
            json!({"type": "completion", "analyzer": "simple", "preserve_separators": true, "max_input_length": 50,
                "preserve_position_increments": true}),
        ),
        (
            json!({"type": "completion", "max_input_length": "7", "preserve_separators": "false", "index": false, "contexts":
                {"name": "c", "type": "Category", "path": "p"}}),
            json!({"type": "completion", "preserve_separators": false, "max_input_length": 7, "contexts":
                [{"name": "c", "type": "CATEGORY", "path": "p"}], "analyzer": "simple", "preserve_position_increments": true}),
        ),
        (
            json!({"type": "text", "analyzer": "default", "boost": 2, "index_prefixes": {"max_chars": 9}}),
            json!({"type": "text", "boost": 2.0, "index_prefixes": {"max_chars": 9, "min_chars": 2}}),
        ),
        (
            json!({"type": "text", "search_analyzer": "default", "search_quote_analyzer": "default"}),
            json!({"type": "text"}),
        ),
        (
            json!({"type": "text", "search_quote_analyzer": "simple"}),
            json!({"type": "text", "search_quote_analyzer": "simple", "analyzer": "default", "search_analyzer": "default"}),
        ),
        (
            json!({"type": "text", "search_analyzer": "simple", "search_quote_analyzer": "default"}),
            json!({"type": "text", "search_analyzer": "simple", "search_quote_analyzer": "default", "analyzer": "default"}),
        ),
        (
            json!({"type": "text", "analyzer": "mine", "search_analyzer": "mine", "search_quote_analyzer": "mine"}),
            json!({"type": "text", "analyzer": "mine"}),
        ),
        (
            json!({"type": "keyword", "normalizer": "default"}),
            json!({"type": "keyword"}),
        ),
        (
            json!({"type": "keyword", "norms": false, "index_options": "docs", "null_value": 5}),
            json!({"type": "keyword", "null_value": "5"}),
        ),
        (
            json!({"type": "wildcard", "index": false}),
            json!({"type": "wildcard", "doc_values": false}),
        ),
        (
            json!({"type": "binary", "index": false}),
            json!({"type": "binary"}),
        ),
    ] {
        let mut mapping = with_analysis();
        merge(&mut mapping, &json!({"properties": {"f": written}})).unwrap();
        assert_eq!(shown(&mapping)["properties"]["f"], told, "{written}");
        let kept = decode(&mapping.encode()).unwrap();
        assert_eq!(shown(&kept), shown(&mapping), "{written}");
        // What is shown says the same again.
        let again = json!({"properties": {"f": told}});
        merge(&mut mapping, &again).unwrap();
        assert_eq!(shown(&mapping)["properties"]["f"], told, "{written}");
    }
}

/// Everything that fits into one mapping.
fn everything() -> Mapping {
    let mut mapping = with_analysis();
    let body = json!({"properties": {"a": {"type": "long"}}});
    merge(&mut mapping, &body).unwrap();
    for text in ROOTS {
        let body: Value = serde_json::from_str(text).unwrap();
        merge(&mut mapping, &body).unwrap();
    }
    for (number, text) in FIELDS.iter().enumerate() {
        let field: Value = serde_json::from_str(text).unwrap();
        let path = format!("f{number}");
        let body = json!({"properties": {path.clone(): field}});
        let mut spec = read(&body, mapping.analysis()).unwrap();
        for part in &mut spec.parts {
            // Fields of these records are shown as they were written.
            if let (MappingPart::Field(read), Some(parameters)) = (part, field.as_object())
                && read.path == path
            {
                **read = read_field(&path, parameters, false, mapping.analysis()).unwrap();
            }
        }
        mapping.merge(spec).unwrap();
    }
    mapping
}

/// Records as the builds wrote them that brought their formats; these files never change.
#[test]
fn records_of_each_format_are_read_as_they_were_meant() {
    let records = [
        include_str!("records/format_1.json"),
        include_str!("records/format_2.json"),
    ];
    let as_shown: Value = serde_json::from_str(include_str!("records/shown.json")).unwrap();
    for record in records {
        let record: Value = serde_json::from_str(record).unwrap();
        let mapping = decode(&record).unwrap();
        assert_eq!(shown(&mapping).to_string(), as_shown.to_string());
        assert_eq!(limits_aside(&mapping), limits_aside(&everything()));
    }
}
