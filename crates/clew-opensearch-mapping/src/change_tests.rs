//! What is said of fields that are there: what may not change is refused in OpenSearch's words.

use clew_schema::Mapping;
use serde_json::{Value, json};

use crate::{error_type, merge, reader, reason, try_mapping};

/// What of a field cannot change: what there is, what is said of it then, and the parameters of which that is told.
#[rustfmt::skip]
const FIXED: &[(&str, &str, &str)] = &[
    (r#"{"type": "binary"}"#, r#"{"type": "binary", "doc_values": true}"#, "[doc_values] from [false] to [true]"),
    (r#"{"type": "token_count", "analyzer": "standard"}"#, r#"{"type": "token_count", "analyzer": "standard", "enable_position_increments": false}"#, "[enable_position_increments] from [true] to [false]"),
    (r#"{"type": "text", "analyzer": "standard"}"#, r#"{"type": "text"}"#, "[analyzer] from [standard] to [default]"),
    (r#"{"type": "search_as_you_type"}"#, r#"{"type": "search_as_you_type", "max_shingle_size": 2}"#, "[max_shingle_size] from [3] to [2]"),
    (r#"{"type": "rank_feature"}"#, r#"{"type": "rank_feature", "positive_score_impact": false}"#, "[positive_score_impact] from [true] to [false]"),
    (r#"{"type": "completion"}"#, r#"{"type": "completion", "preserve_position_increments": false}"#, "[preserve_position_increments] from [true] to [false]"),
    (r#"{"type": "completion"}"#, r#"{"type": "completion", "contexts": [{"name": "a", "type": "category"}]}"#, "[contexts] from [null] to [[a: Category]]"),
    (r#"{"type": "date"}"#, r#"{"type": "date", "locale": "de"}"#, "[locale] from [] to [de]"),
    (r#"{"type": "date"}"#, r#"{"type": "date", "print_format": "yyyy"}"#, "[print_format] from [strict_date_optional_time] to [yyyy]"),
    (r#"{"type": "text"}"#, r#"{"type": "text", "position_increment_gap": 5}"#, "[position_increment_gap] from [-1] to [5]"),
    (r#"{"type": "text"}"#, r#"{"type": "text", "index_phrases": true}"#, "[index_phrases] from [false] to [true]"),
    (r#"{"type": "text"}"#, r#"{"type": "text", "index_prefixes": {}}"#, "[index_prefixes] from [null] to [{ min_chars=2, max_chars=5 }]"),
    (r#"{"type": "keyword"}"#, r#"{"type": "keyword", "normalizer": "lowercase"}"#, "[normalizer] from [default] to [lowercase]"),
    (r#"{"type": "scaled_float", "scaling_factor": 10}"#, r#"{"type": "scaled_float", "scaling_factor": 100, "null_value": 1}"#, "[null_value] from [null] to [1.0]\n\tCannot update parameter [scaling_factor] from [10.0] to [100.0]"),
];

#[test]
fn what_documents_were_indexed_with_cannot_change() {
    for (was, said, told) in FIXED {
        let [was, said] = [was, said].map(|field| {
            let field: Value = serde_json::from_str(field).unwrap();
            json!({"properties": {"f": field}})
        });
        let mut mapping = try_mapping(&was).unwrap();
        merge(&mut mapping, &was).unwrap();
        let refused = merge(&mut mapping, &said).unwrap_err();
        let told = format!(
            "Mapper for [f] conflicts with existing mapper:\n\tCannot update parameter {told}"
        );
        assert_eq!(reason(&refused), told, "{said}");
    }
}

#[test]
fn a_text_is_given_the_name_of_the_analyzer_that_it_has() {
    let of = |field: Value| json!({"properties": {"f": field}});
    // As older builds kept one that was said to be cut by `standard`.
    let mut mapping = try_mapping(&of(json!({"type": "text"}))).unwrap();
    let said = of(json!({"type": "text", "analyzer": "standard"}));
    for _ in 0..2 {
        merge(&mut mapping, &said).unwrap();
    }
}

#[test]
fn what_a_type_makes_nothing_of_may_be_kept_otherwise_than_it_is_now() {
    for (field, member, kept) in [
        (
            json!({"type": "text", "doc_values": false}),
            "doc_values",
            false,
        ),
        (
            json!({"type": "rank_feature", "store": true}),
            "store",
            true,
        ),
        (
            json!({"type": "wildcard", "index": false}),
            "indexed",
            false,
        ),
    ] {
        let said = json!({"properties": {"f": field}});
        let mut encoded = try_mapping(&said).unwrap().encode();
        encoded["fields"][0]["field"][member] = json!(kept);
        let mut mapping = Mapping::decode(&encoded, Some(reader())).unwrap();
        merge(&mut mapping, &said).unwrap();
    }
}

#[test]
fn fields_objects_and_aliases_do_not_become_each_other() {
    let properties = json!({"n": {"type": "long"}, "a": {"type": "alias", "path": "n"}, "o": {"properties": {"x": {"type": "long"}}}});
    let mut mapping = try_mapping(&json!({"properties": properties})).unwrap();
    for (said, told) in [
        (
            json!({"a": {"type": "long"}}),
            "Cannot merge a field alias mapping [a] with a mapping that is not for a field alias.",
        ),
        (
            json!({"a": {"properties": {}}}),
            "can't merge a non object mapping [a] with an object mapping",
        ),
        (
            json!({"n.x": {"type": "long"}}),
            "can't merge a non object mapping [n] with an object mapping",
        ),
        (
            json!({"o": {"type": "alias", "path": "n"}}),
            "can't merge a non object mapping [o] with an object mapping",
        ),
        (
            json!({"n": {"type": "alias", "path": "o.x"}}),
            "mapper [n] cannot be changed from type [long] to [FieldAliasMapper]",
        ),
    ] {
        let refused = merge(&mut mapping, &json!({"properties": said})).unwrap_err();
        assert_eq!(reason(&refused), told);
    }
}

#[test]
fn an_alias_is_in_the_nested_object_of_its_field() {
    let nested = json!({"type": "nested", "properties": {"c": {"type": "long"}}});
    let alias = |path: &str| json!({"type": "alias", "path": path});
    for (properties, told) in [
        (
            json!({"b": nested, "a": alias("b.c")}),
            "The alias is not nested, but the target's nested scope is [b].",
        ),
        (
            json!({"b": nested, "n": {"type": "long"}, "b.a": alias("n")}),
            "The alias's nested scope is [b], but the target is not nested.",
        ),
    ] {
        let refused = try_mapping(&json!({"properties": properties})).unwrap_err();
        let refused = (error_type(&refused), reason(&refused));
        assert_eq!(refused.0, "illegal_argument_exception");
        assert!(refused.1.ends_with(told), "{refused:?}");
    }
    let beside = json!({"b": nested, "b.a": alias("b.c")});
    assert!(try_mapping(&json!({"properties": beside})).is_ok());
}
