use clew_schema::{Dynamic, FieldKind, IntegerKind, Mapping, MappingError, MappingLimits, Parsed};
use clew_vector::{Element, Space};
use serde_json::{Value, json};

use super::{error_cause, error_type, merge, reason, shown, try_mapping};

fn decode(encoded: &Value) -> Result<Mapping, MappingError> {
    Mapping::decode(encoded, Some(super::reader()))
}

fn mapping(properties: &Value) -> Mapping {
    try_mapping(&json!({ "properties": properties })).unwrap()
}

/// A mapping with something of everything.
fn rich() -> Value {
    json!({
        "dynamic": "strict",
        "_meta": { "owner": "x" },
        "date_detection": false,
        "properties": {
            "at": { "type": "date", "format": "epoch_second||yyyy-MM-dd" },
            "body": { "type": "text", "analyzer": "simple", "copy_to": ["all"], "norms": false },
            "all": { "type": "text" },
            "client": {
                "dynamic": "false",
                "properties": {
                    "ip": { "type": "ip", "ignore_malformed": true },
                    "port": { "type": "integer", "coerce": false, "index": false },
                },
            },
            "empty": { "type": "object", "enabled": false },
            "ok": { "type": "boolean", "null_value": false },
            "ratio": { "type": "float" },
            "title": {
                "type": "text",
                "fields": {
                    "raw": { "type": "keyword", "ignore_above": 256 },
                    "ws": { "type": "text", "analyzer": "whitespace" },
                },
            },
            "v": {
                "type": "knn_vector",
                "dimension": 3,
                "method": {
                    "name": "hnsw", "engine": "faiss", "space_type": "cosinesimil",
                    "parameters": { "m": 8, "ef_construction": 64, "encoder": { "name": "flat" } },
                },
            },
            "bits": { "type": "knn_vector", "dimension": 16, "data_type": "binary" },
            "bytes": { "type": "knn_vector", "dimension": 3, "data_type": "byte", "space_type": "l2" },
            "half": {
                "type": "knn_vector",
                "dimension": 3,
                "method": {
                    "name": "hnsw",
                    "parameters": { "encoder": { "name": "sq", "parameters": { "type": "fp16" } } },
                },
            },
            "lists": {
                "type": "knn_vector",
                "dimension": 3,
                "method": { "name": "ivf", "parameters": { "nlist": 16, "nprobes": 2 } },
            },
            "w": { "type": "knn_vector", "dimension": 2, "space_type": "innerproduct" },
        },
    })
}

#[test]
fn what_is_written_is_shown_again() {
    // Lists of one are shown as lists, everything else as it was written.
    let shown = shown(&try_mapping(&rich()).unwrap());
    assert_eq!(shown, rich());
}

#[test]
fn the_parts_of_a_mapping_mean_what_they_say() {
    let mapping = try_mapping(&rich()).unwrap();
    assert_eq!(mapping.dynamic(), Dynamic::Strict);
    let port = mapping.field("client.port").unwrap();
    assert_eq!(port.kind, FieldKind::Integer(IntegerKind::Integer));
    assert!(!port.indexed && !port.settings.coerce);
    let raw = mapping.field("title.raw").unwrap();
    assert!(raw.multi_field);
    assert_eq!(raw.kind, FieldKind::keyword(Some(256)));
    let FieldKind::Vector(v) = &mapping.field("v").unwrap().kind else {
        panic!("v is a vector");
    };
    assert_eq!(
        (v.column.dimension, v.column.space.name()),
        (3, "cosinesimil")
    );
    assert_eq!((v.column.hnsw.m, v.column.hnsw.ef_construction), (8, 64));
    let FieldKind::Vector(w) = &mapping.field("w").unwrap().kind else {
        panic!("w is a vector");
    };
    assert_eq!(w.column.space.name(), "innerproduct");
    assert_eq!((w.column.hnsw.m, w.column.hnsw.ef_construction), (16, 100));
    assert!(mapping.field("v").unwrap().field.is_none());
    for (name, element, space) in [
        ("bits", Element::Bit, Space::Hamming),
        ("bytes", Element::I8, Space::L2),
        ("half", Element::F16, Space::L2),
    ] {
        let FieldKind::Vector(vector) = &mapping.field(name).unwrap().kind else {
            panic!("{name} is a vector");
        };
        let column = &vector.column;
        assert_eq!((column.element, column.space), (element, space), "{name}");
    }
}

#[test]
fn encoding_keeps_numbers_and_schema() {
    let mut mapping = try_mapping(&rich()).unwrap();
    let more = json!({ "properties": {
        "a": { "type": "long" },
        "title": { "type": "text", "fields": { "n": { "type": "long" } } },
    }});
    merge(&mut mapping, &more).unwrap();
    let text = mapping.encode().to_string();
    let decoded = decode(&serde_json::from_str(&text).unwrap()).unwrap();
    let list = |mapping: &Mapping| -> Vec<String> {
        let fields = mapping.fields().iter();
        fields
            .map(|f| format!("{} {:?} {:?} {:?}", f.path, f.id, f.kind, f.settings))
            .collect()
    };
    assert_eq!(list(&decoded), list(&mapping));
    assert_eq!(decoded.schema(), mapping.schema());
    assert_eq!(shown(&decoded), shown(&mapping));
    assert_eq!(decoded.encode(), mapping.encode());
    assert_eq!(
        decoded.field("a").unwrap().id.get() as usize,
        try_mapping(&rich()).unwrap().fields().len()
    );
}

#[test]
fn a_growing_mapping_keeps_its_schema_as_a_beginning() {
    let mut mapping = mapping(&json!({ "b": { "type": "keyword" } }));
    let before = mapping.schema().clone();
    merge(
        &mut mapping,
        &json!({ "properties": { "a": { "type": "long" } } }),
    )
    .unwrap();
    for (field, entry) in before.fields() {
        assert_eq!(mapping.schema().get_field_entry(field), entry);
    }
    assert_eq!(mapping.schema().num_fields(), before.num_fields() + 1);
}

#[test]
fn dotted_names_are_objects() {
    let mapping = mapping(
        &json!({ "a.b": { "type": "long" }, "a": { "properties": { "c.d": { "type": "ip" } } } }),
    );
    let expected = json!({ "properties": { "a": { "properties": {
        "b": { "type": "long" },
        "c": { "properties": { "d": { "type": "ip" } } },
    } } } });
    assert_eq!(shown(&mapping), expected);
}

#[rustfmt::skip]
const REFUSED: &[(&str, &str)] = &[
    (r#"{ "f": { "type": "foo" } }"#, "No handler for type [foo] declared on field [f]"),
    (r#"{ "f": { "type": "shape" } }"#, "No handler for type [shape] declared on field [f]"),
    (r#"{ "f": {} }"#, "No type specified for field [f]"),
    (r#"{ "f": 1 }"#, "Expected map for property [fields] on field [f] but got a class java.lang.String"),
    (r#"{ "f": { "type": "long", "analyzer": "x" } }"#, "unknown parameter [analyzer] on mapper [f] of type [long]"),
    (r#"{ "f": { "type": "text", "analyzer": "x" } }"#, "analyzer [x] has not been configured in mappings"),
    (r#"{ "f": { "type": "keyword", "normalizer": "x" } }"#, "normalizer [x] not found for field [f]"),
    (r#"{ "f": { "type": "object", "x": 1 } }"#, "Mapping definition for [f] has unsupported parameters:  [x : 1]"),
    (r#"{ "f": { "type": "date", "format": "nope" } }"#, "Invalid format: [nope]: Unknown pattern letter: o"),
    (r#"{ "f": { "type": "long", "index": "maybe" } }"#, "Failed to parse value [maybe] as only [true] or [false] are allowed."),
    (r#"{ "f": { "type": "text", "fields": { "o": { "type": "object" } } } }"#, "Type [object] cannot be used in multi field"),
    (r#"{ "f": { "type": "text", "fields": { "o": { "type": "text", "fields": {} } } } }"#, "unknown parameter [fields] on mapper [o] of type [text]"),
    (r#"{ "": { "type": "long" } }"#, "name cannot be empty string"),
    (r#"{ ".f": { "type": "long" } }"#, "object field starting or ending with a [.] makes object resolution ambiguous: [.f]"),
    (r#"{ "_id": { "type": "long" } }"#, "Field [_id] is defined more than once"),
    (r#"{ "f": { "type": "knn_vector" } }"#, "Dimension value missing for vector: f"),
    (r#"{ "f": { "type": "knn_vector", "dimension": 0 } }"#, "Dimension value must be greater than 0 for vector: f"),
    (r#"{ "f": { "type": "knn_vector", "dimension": 16001 } }"#, "Dimension value cannot be greater than 16000 for vector: f"),
    (r#"{ "f": { "type": "knn_vector", "dimension": 2, "method": { "name": "flat" } } }"#, "Invalid method name: flat, only [hnsw, ivf] are supported"),
    (r#"{ "f": { "type": "knn_vector", "dimension": 2, "method": { "name": "hnsw", "parameters": { "z": 1 } } } }"#, "Invalid parameter for method \"hnsw\": z."),
    (r#"{ "f": { "type": "long" }, "f.g": { "type": "long" } }"#, "mapper [f] cannot be changed from type [long] to [ObjectMapper]"),
    (r#"{ "f.g": { "type": "long" }, "f": { "type": "long" } }"#, "can't merge a non object mapping [f] with an object mapping"),
];

#[test]
fn errors_are_in_opensearchs_words() {
    for (properties, expected) in REFUSED {
        let properties: Value = serde_json::from_str(properties).unwrap();
        let refused = try_mapping(&json!({ "properties": properties }));
        assert_eq!(reason(&refused.unwrap_err()), *expected, "{properties}");
    }
    let refused = try_mapping(&json!({ "foo": 1 })).unwrap_err();
    assert_eq!(
        reason(&refused),
        "Root mapping definition has unsupported parameters:  [foo : 1]"
    );
    let refused = try_mapping(&json!({ "_routing": { "path": "a" } })).unwrap_err();
    assert_eq!(
        reason(&refused),
        "unknown parameter [path] on mapper [_routing] of type [null]"
    );
}

const NEITHER: &str = "Failed to parse value [x] as only [true] or [false] are allowed.";
const ILLEGAL: &str = "illegal_argument_exception";

#[rustfmt::skip]
const UNFIT: &[(&str, &str, &str)] = &[
    (r#"{"properties": {"a": {"type": "integer", "null_value": "x"}}}"#, "number_format_exception", "For input string: \"x\""),
    (r#"{"properties": {"a": {"type": "boolean", "null_value": "x"}}}"#, ILLEGAL, NEITHER),
    (r#"{"properties": {"a": {"type": "keyword", "ignore_above": "x"}}}"#, "number_format_exception", "For input string: \"x\""),
    (r#"{"properties": {"a": {"type": "text", "store": "x"}}}"#, ILLEGAL, NEITHER),
    (r#"{"properties": {"a": {"type": "text", "norms": "x"}}}"#, ILLEGAL, NEITHER),
    (r#"{"properties": {"a": {"type": "scaled_float", "scaling_factor": "x"}}}"#, "number_format_exception", "For input string: \"x\""),
    (r#"{"properties": {"a": {"type": "scaled_float"}}}"#, ILLEGAL, "Field [scaling_factor] is required"),
    (r#"{"properties": {"a": {"type": "scaled_float", "scaling_factor": 0}}}"#, ILLEGAL, "[scaling_factor] must be a positive number, got [0.0]"),
    (r#"{"properties": 1}"#, "parse_exception", "properties must be a map type"),
    (r#"{"properties": {"a": {"type": "join", "relations": 1}}}"#, "parse_exception", "relations should be a hash but was of type: class java.lang.Integer"),
    (r#"{"properties": {"a": {"type": "text", "meta": 1}}}"#, "mapper_parsing_exception", "[meta] must be an object, got Integer[1] for field [a]"),
    (r#"{"properties": {"a": {"type": "keyword", "fields": 1}}}"#, "mapper_parsing_exception", "expected map for property [fields] on field [1] or [fields] but got a class java.lang.Integer"),
    (r#"{"_source": {"enabled": "x"}}"#, ILLEGAL, NEITHER),
    (r#"{"properties": {"a": {"type": "keyword", "boost": "x"}}}"#, "number_format_exception", "For input string: \"x\""),
    (r#"{"properties": {"a": {"type": "text", "meta": {"a": 1}}}}"#, "mapper_parsing_exception", "[meta] values can only be strings, but got Integer[1] for field [a]"),
    (r#"{"properties": {"a": {"type": "text", "index_prefixes": {"min_chars": 5, "max_chars": 2}}}}"#, ILLEGAL, "min_chars [5] must be less than max_chars [2]"),
    (r#"{"properties": {"a": {"type": "unsigned_long", "null_value": "x"}}}"#, "number_format_exception", "For input string: \"x\""),
    (r#"{"properties": {"a": {"type": "completion", "max_input_length": 0}}}"#, ILLEGAL, "[max_input_length] must be > 0 but was [0]"),
];

#[test]
fn what_a_value_should_be_is_told_by_the_type_of_the_error() {
    for (body, kind, told) in UNFIT {
        let body: Value = serde_json::from_str(body).unwrap();
        let refused = try_mapping(&body).unwrap_err();
        assert_eq!(error_type(&refused), *kind, "{body}");
        assert_eq!(reason(&refused), *told, "{body}");
        assert_eq!(error_cause(&refused), None, "{body}");
    }
}

#[test]
fn flags_that_are_none_are_told_by_their_names() {
    let field = |field: Value| json!({ "properties": { "a": field } });
    for (body, name) in [
        (
            field(json!({ "type": "nested", "include_in_parent": "x" })),
            "a.include_in_parent",
        ),
        (
            field(json!({ "type": "object", "enabled": "x" })),
            "enabled.enabled",
        ),
        (
            field(json!({ "type": "geo_point", "ignore_malformed": "x" })),
            "a.ignore_malformed",
        ),
        (json!({ "dynamic": "x" }), "dynamic.dynamic"),
        (json!({ "enabled": "x" }), "enabled.enabled"),
        (json!({ "date_detection": "x" }), "date_detection"),
    ] {
        let refused = try_mapping(&body).unwrap_err();
        let told = format!("Could not convert [{name}] to boolean");
        assert_eq!(error_type(&refused), ILLEGAL, "{body}");
        assert_eq!(reason(&refused), told, "{body}");
        let within = Some((ILLEGAL, NEITHER.to_string()));
        assert_eq!(error_cause(&refused), within, "{body}");
    }
}

#[rustfmt::skip]
const COPIES: &[(&str, &str)] = &[
    (r#"{"a": {"type": "text", "copy_to": "o"}, "o": {"type": "object"}}"#, "Cannot copy to field [o] since it is mapped as an object"),
    (r#"{"a": {"type": "text", "copy_to": "a.k", "fields": {"k": {"type": "keyword"}}}}"#, "[copy_to] may not be used to copy to a multi-field: [a.k]"),
    (r#"{"a": {"type": "text", "fields": {"k": {"type": "keyword", "copy_to": "b"}}}}"#, "[copy_to] may not be used to copy from a multi-field: [a.k]"),
    (r#"{"a": {"type": "text", "copy_to": "n.x"}, "n": {"type": "nested", "properties": {"x": {"type": "text"}}}}"#, "Illegal combination of [copy_to] and [nested] mappings: [copy_to] may only copy data to the current nested document or any of its parents, however one [copy_to] directive is trying to copy data from nested object [null] to [n]"),
    (r#"{"n": {"type": "nested", "properties": {"x": {"type": "text", "copy_to": "a"}, "y": {"type": "text", "copy_to": "n.x"}}}}"#, ""),
];

#[test]
fn copies_that_cannot_be_made_are_refused() {
    for (properties, told) in COPIES {
        let properties: Value = serde_json::from_str(properties).unwrap();
        let refused = try_mapping(&json!({ "properties": properties })).err();
        let found = refused
            .as_ref()
            .map(|error| (error_type(error), reason(error)));
        let expected = (!told.is_empty()).then(|| (ILLEGAL, told.to_string()));
        assert_eq!(found, expected, "{properties}");
    }
}

#[test]
fn a_refused_merge_changes_nothing() {
    let mut mapping = mapping(&json!({
        "t": { "type": "text" },
        "v": { "type": "knn_vector", "dimension": 2 },
        "n": { "type": "long" },
        "quiet": { "type": "text", "norms": false },
        "o": { "properties": { "x": { "type": "long" } } },
    }));
    let before = mapping.encode();
    let rows = [
        (
            json!({ "t": { "type": "long" } }),
            "mapper [t] cannot be changed from type [text] to [long]",
        ),
        (
            json!({ "t": { "type": "text", "analyzer": "simple" } }),
            "Mapper for [t] conflicts with existing mapper:\n\tCannot update parameter [analyzer] from [default] to [simple]",
        ),
        (
            json!({ "v": { "type": "knn_vector", "dimension": 3 } }),
            "Mapper for [v] conflicts with existing mapper:\n\tCannot update parameter [dimension] from [2] to [3]",
        ),
        (
            json!({ "t": { "type": "text", "index_options": "docs", "term_vector": "yes" } }),
            "Mapper for [t] conflicts with existing mapper:\n\tCannot update parameter [index_options] from [positions] to [docs]\n\tCannot update parameter [term_vector] from [no] to [yes]",
        ),
        (
            json!({ "n": { "type": "long", "null_value": 3 } }),
            "Mapper for [n] conflicts with existing mapper:\n\tCannot update parameter [null_value] from [null] to [3]",
        ),
        (
            json!({ "quiet": { "type": "text" } }),
            "Mapper for [quiet] conflicts with existing mapper:\n\tCannot update parameter [norms] from [false] to [true]",
        ),
        (
            json!({ "o": { "type": "long" } }),
            "can't merge a non object mapping [o] with an object mapping",
        ),
        (
            json!({ "t": { "properties": {} } }),
            "can't merge a non object mapping [t] with an object mapping",
        ),
    ];
    for (change, expected) in rows {
        let mut properties = json!({ "new": { "type": "long" } });
        properties
            .as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        let refused = merge(&mut mapping, &json!({ "properties": properties }));
        assert_eq!(reason(&refused.unwrap_err()), expected);
        assert_eq!(mapping.encode(), before);
    }
}

#[test]
fn settings_that_may_change_do() {
    let mut mapping = mapping(&json!({ "k": { "type": "keyword" } }));
    let change = json!({ "k": { "type": "keyword", "ignore_above": 10, "fields": { "t": { "type": "text" } } } });
    merge(
        &mut mapping,
        &json!({ "dynamic": false, "properties": change }),
    )
    .unwrap();
    assert_eq!(
        shown(&mapping),
        json!({ "dynamic": "false", "properties": change })
    );
}

#[test]
fn a_vector_field_said_again_stays_what_an_older_build_made_of_it() {
    let encoder = json!({ "name": "sq", "parameters": { "bits": 7 } });
    let method =
        json!({ "name": "hnsw", "engine": "lucene", "parameters": { "encoder": encoder } });
    let body = json!({ "properties": {
        "v": { "type": "knn_vector", "dimension": 2, "method": method },
    } });
    let mut mapping = try_mapping(&body).unwrap();
    let element = |mapping: &Mapping| match &mapping.field("v").unwrap().kind {
        FieldKind::Vector(vector) => vector.column.element,
        other => panic!("{other:?} is no vector"),
    };
    assert_eq!(element(&mapping), Element::F32);
    // Once this encoder stood for numbers of half the size.
    let mut encoded = mapping.encode();
    let column = &mut encoded["fields"][0]["field"]["kind"]["vector"]["column"];
    assert!(column["element"].is_string(), "{column}");
    column["element"] = json!(Element::F16);
    mapping = decode(&encoded).unwrap();
    assert_eq!(element(&mapping), Element::F16);
    merge(&mut mapping, &body).unwrap();
    assert_eq!(element(&mapping), Element::F16);
    let other = json!({ "properties": { "v": { "type": "knn_vector", "dimension": 2 } } });
    assert!(merge(&mut mapping, &other).is_err());
}

#[test]
fn limits_hold() {
    let many = |count: usize| {
        let properties: serde_json::Map<_, _> = (0..count)
            .map(|n| (format!("f{n}"), json!({ "type": "long" })))
            .collect();
        json!({ "properties": properties })
    };
    assert!(try_mapping(&many(1000)).is_ok());
    let refused = try_mapping(&many(1001)).unwrap_err();
    assert_eq!(
        reason(&refused),
        "Limit of total fields [1000] has been exceeded"
    );

    let deep =
        |count: usize| json!({ "properties": { vec!["o"; count].join("."): { "type": "long" } } });
    assert!(try_mapping(&deep(20)).is_ok());
    let refused = try_mapping(&deep(21)).unwrap_err();
    assert_eq!(
        reason(&refused),
        format!(
            "Limit of mapping depth [20] has been exceeded due to object field [{}]",
            ["o"; 20].join(".")
        )
    );

    let mut wider = Mapping::new();
    wider.set_limits(MappingLimits {
        fields_max: 1001,
        ..MappingLimits::default()
    });
    assert!(merge(&mut wider, &many(1001)).is_ok());
    assert!(decode(&wider.encode()).is_ok());
}

#[test]
fn what_is_no_encoded_mapping_is_refused() {
    for wrong in [
        json!(null),
        json!({}),
        json!({ "root": {}, "objects": {}, "fields": [{}] }),
        json!({ "root": {}, "objects": {}, "fields": [{ "path": "a.b", "multi_field": true, "mapping": { "type": "long" } }] }),
    ] {
        assert!(decode(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn names_that_are_too_long_are_refused_wherever_they_come_from() {
    let limits = MappingLimits {
        name_chars_max: 8,
        ..MappingLimits::default()
    };
    let (fits, long) = ("abcdef\u{1f600}", "abcdefg\u{1f600}");
    let keyword = json!({"type": "keyword"});
    let bodies = |name: &str| {
        [
            json!({"properties": {name: keyword}}),
            json!({"properties": {"o": {"properties": {name: keyword}}}}),
            json!({"properties": {name: {"type": "object"}}}),
            json!({"properties": {name: {"properties": {"x": keyword}}}}),
            json!({"properties": {name: {"type": "nested"}}}),
            json!({"properties": {"a": keyword, name: {"type": "alias", "path": "a"}}}),
            json!({"properties": {"a": {"type": "keyword", "fields": {name: keyword}}}}),
            json!({"properties": {format!("x.{name}.y"): keyword}}),
        ]
    };
    let limited = || {
        let mut mapping = Mapping::new();
        mapping.set_limits(limits);
        mapping
    };
    for (good, bad) in bodies(fits).into_iter().zip(bodies(long)) {
        merge(&mut limited(), &good).unwrap();
        let error = merge(&mut limited(), &bad).unwrap_err();
        let want = format!("Field name [{long}...] is longer than the limit of [8] characters");
        assert_eq!(reason(&error), want, "{bad}");
        assert_eq!(error_type(&error), "illegal_argument_exception");
    }
    let grow = |document: serde_json::Value| {
        let mut mapping = limited();
        let text = document.to_string();
        let Ok(Parsed::NeedsMapping(fields)) = mapping.parse_document(text.as_bytes()) else {
            panic!("{document} brings fields");
        };
        mapping.grow(fields)
    };
    for (good, bad) in [
        (json!({fits: 1}), json!({long: 1})),
        (json!({fits: {"x": 1}}), json!({long: {"x": 1}})),
        (json!({"o": {fits: "t"}}), json!({"o": {long: "t"}})),
    ] {
        grow(good).unwrap();
        assert!(matches!(grow(bad), Err(MappingError::NameTooLong { .. })));
    }
    // One that has such a field already keeps it.
    let mut mapping = Mapping::new();
    merge(&mut mapping, &bodies(long)[0]).unwrap();
    let mut again = decode(&mapping.encode()).unwrap();
    again.set_limits(limits);
    merge(&mut again, &json!({"properties": {"new": keyword}})).unwrap();
}
