//! What documents become under a mapping, which is written in OpenSearch's few words.
#![allow(
    clippy::unwrap_used,
    reason = "in a test the panic is the failure, with its line"
)]

use std::net::Ipv6Addr;

use clew_opensearch_mapping::{
    document_cause, document_error_type, document_reason, merge, shown, try_mapping,
};
use clew_schema::{Mapping, MappingError, NewFields, Parsed, ParsedDocument};
use serde_json::{Value, json};
use tantivy::schema::OwnedValue;

mod copies;
mod fetch;
mod fuzz;
mod growth;
mod terms;
mod vectors;

fn mapping(properties: &Value) -> Mapping {
    clew_opensearch_mapping::mapping(json!({ "properties": properties }))
}

#[track_caller]
fn parse<'a>(mapping: &Mapping, source: &'a str) -> ParsedDocument<'a> {
    match mapping.parse_document(source.as_bytes()) {
        Ok(Parsed::Document(document)) => document,
        other => panic!("{source}: {other:?}"),
    }
}

/// The values by path, in order.
fn values(mapping: &Mapping, source: &str) -> Vec<(String, OwnedValue)> {
    let document = parse(mapping, source);
    let path_of = |field| {
        let mut fields = mapping.fields().iter();
        fields
            .find(|f| f.field == Some(field))
            .unwrap()
            .path
            .clone()
    };
    document
        .fields
        .into_iter()
        .map(|(field, value)| (path_of(field), value))
        .collect()
}

fn everything() -> Mapping {
    mapping(&json!({
        "t": { "type": "text", "fields": { "raw": { "type": "keyword", "ignore_above": 3 } } },
        "k": { "type": "keyword" },
        "l": { "type": "long" }, "i": { "type": "integer" },
        "s": { "type": "short" }, "b": { "type": "byte" },
        "d": { "type": "double" }, "f": { "type": "float" },
        "o": { "type": "boolean" },
        "at": { "type": "date" },
        "ip": { "type": "ip" },
        "x": { "properties": { "y": { "properties": { "z": { "type": "long" } } } } },
        "off": { "type": "object", "enabled": false },
    }))
}

fn text(value: &str) -> OwnedValue {
    OwnedValue::Str(value.to_string())
}

/// Documents and the values they become.
#[rustfmt::skip]
fn converted() -> Vec<(&'static str, Vec<(&'static str, OwnedValue)>)> {
    use OwnedValue::{F64, I64, IpAddr};
    let ip = |text: &str| IpAddr(text.parse::<Ipv6Addr>().unwrap());
    let float = |value: f32| F64(f64::from(value));
    vec![
        (r#"{"t":"a\u00e9\n"}"#, vec![("t", text("aé\n")), ("t.raw", text("aé\n"))]),
        (r#"{"t":"long"}"#, vec![("t", text("long"))]),
        (r#"{"t":1.50}"#, vec![("t", text("1.50"))]),
        (r#"{"k":true}"#, vec![("k", text("true"))]),
        (r#"{"k":["b","a","b"]}"#, vec![("k", text("b")), ("k", text("a"))]),
        (r#"{"l":9223372036854775807}"#, vec![("l", I64(i64::MAX))]),
        (r#"{"l":"-12"}"#, vec![("l", I64(-12))]),
        (r#"{"l":1.9,"i":-1.9,"s":1e3}"#, vec![("l", I64(1)), ("i", I64(-1)), ("s", I64(1000))]),
        (r#"{"l":9007199254740993.5}"#, vec![("l", I64(9_007_199_254_740_993))]),
        (r#"{"l":"","i":-0.5}"#, vec![("i", I64(0))]),
        (r#"{"l":[3,[1,null],3]}"#, vec![("l", I64(3)), ("l", I64(1)), ("l", I64(3))]),
        (r#"{"b":-128}"#, vec![("b", I64(-128))]),
        (r#"{"d":0.1,"f":0.1}"#, vec![("d", F64(0.1)), ("f", float(0.1))]),
        (r#"{"d":"1e2","f":7}"#, vec![("d", F64(100.0)), ("f", F64(7.0))]),
        (r#"{"o":[true,"false",""]}"#, vec![("o", I64(1)), ("o", I64(0)), ("o", I64(0))]),
        (r#"{"at":"2024-02-29T10:11:12.345+01:00"}"#, vec![("at", I64(1_709_197_872_345))]),
        (r#"{"at":1700000000123}"#, vec![("at", I64(1_700_000_000_123))]),
        (r#"{"ip":["1.2.3.4","::1","1.2.3.4"]}"#, vec![("ip", ip("::ffff:1.2.3.4")), ("ip", ip("::1"))]),
        (r#"{"x.y":{"z":1}}"#, vec![("x.y.z", I64(1))]),
        (r#"{"x":[{"y.z":1},{"y":[{"z":2},null]}]}"#, vec![("x.y.z", I64(1)), ("x.y.z", I64(2))]),
        (r#"{"t":null,"x":null,"l":[],"off":{"a":[1,{}]}}"#, vec![]),
        (r#"{"off":7}"#, vec![]),
        (" {\n} ", vec![]),
    ]
}

#[test]
fn values_become_what_their_field_holds() {
    let mapping = everything();
    for (source, expected) in converted() {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(p, v)| (p.to_string(), v))
            .collect();
        assert_eq!(values(&mapping, source), expected, "{source}");
        assert_eq!(parse(&mapping, source).source, source.as_bytes());
    }
}

#[rustfmt::skip]
const REFUSED: &[(&str, &str, &str)] = &[
    (r#"{"i":"abc"}"#, "failed to parse field [i] of type [integer] in document with id '7'. Preview of field's value: 'abc'", "For input string: \"abc\""),
    (r#"{"i":2147483648}"#, "failed to parse field [i] of type [integer] in document with id '7'. Preview of field's value: '2147483648'", "Numeric value (2147483648) out of range of int (-2147483648 - 2147483647)\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 16]"),
    (r#"{"l":9223372036854775808}"#, "failed to parse field [l] of type [long] in document with id '7'. Preview of field's value: '9223372036854775808'", "Numeric value (9223372036854775808) out of range of long (-9223372036854775808 - 9223372036854775807)\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 25]"),
    (r#"{"l":-9223372036854775809}"#, "failed to parse field [l] of type [long] in document with id '7'. Preview of field's value: '-9223372036854775809'", "Numeric value (-9223372036854775809) out of range of long (-9223372036854775808 - 9223372036854775807)\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 26]"),
    (r#"{"i":"2147483648"}"#, "failed to parse field [i] of type [integer] in document with id '7'. Preview of field's value: '2147483648'", "Value [2147483648] is out of range for an integer"),
    (r#"{"s":40000}"#, "failed to parse field [s] of type [short] in document with id '7'. Preview of field's value: '40000'", "Numeric value (40000) out of range of Java short\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 11]"),
    (r#"{"o":1}"#, "failed to parse field [o] of type [boolean] in document with id '7'. Preview of field's value: '1'", "Current token (VALUE_NUMBER_INT) not of boolean type\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 7]"),
    (r#"{"o":{}}"#, "failed to parse field [o] of type [boolean] in document with id '7'. Preview of field's value: '{}'", "Current token (START_OBJECT) not of boolean type\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 7]"),
    (r#"{"b":[1,200]}"#, "failed to parse field [b] of type [byte] in document with id '7'. Preview of field's value: '200'", "Value [200] is out of range for a byte"),
    (r#"{"s":true}"#, "failed to parse field [s] of type [short] in document with id '7'. Preview of field's value: 'true'", "Current token (VALUE_TRUE) not numeric, can not use numeric value accessors\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 10]"),
    (r#"{"f":1e39}"#, "failed to parse field [f] of type [float] in document with id '7'. Preview of field's value: '1e39'", "[float] supports only finite values, but got [Infinity]"),
    (r#"{"d":"NaN"}"#, "failed to parse field [d] of type [double] in document with id '7'. Preview of field's value: 'NaN'", "[double] supports only finite values, but got [NaN]"),
    (r#"{"o":"yes"}"#, "failed to parse field [o] of type [boolean] in document with id '7'. Preview of field's value: 'yes'", "Failed to parse value [yes] as only [true] or [false] are allowed."),
    (r#"{"at":"soon"}"#, "failed to parse field [at] of type [date] in document with id '7'. Preview of field's value: 'soon'", "failed to parse date field [soon] with format [strict_date_optional_time||epoch_millis]"),
    (r#"{"ip":"1.2.3"}"#, "failed to parse field [ip] of type [ip] in document with id '7'. Preview of field's value: '1.2.3'", "'1.2.3' is not an IP string literal."),
    (r#"{"t":{"a":1}}"#, "failed to parse field [t] of type [text] in document with id '7'. Preview of field's value: '{a=1}'", "Can't get text on a START_OBJECT at 1:6"),
    (r#"{"l":{"a":1}}"#, "failed to parse field [l] of type [long] in document with id '7'. Preview of field's value: '{a=1}'", "Current token (START_OBJECT) not numeric, can not use numeric value accessors\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 7]"),
    (r#"{"x":1}"#, "object mapping for [x] tried to parse field [x] as object, but found a concrete value", ""),
    (r#"{"_id":"a"}"#, "failed to parse field [_id] of type [_id] in document with id '7'. Preview of field's value: 'a'", "Field [_id] is a metadata field and cannot be added inside a document. Use the index API request parameters."),
    (r#"{"_source":{"x":1}}"#, "failed to parse field [_source] of type [_source] in document with id '7'. Preview of field's value: '{x=1}'", "Field [_source] is a metadata field and cannot be added inside a document. Use the index API request parameters."),
    (r#"{"_id.x":1}"#, "Could not dynamically add mapping for field [_id.x]. Existing mapping for [_id] must be of type object but found [_id].", ""),
    (r#"{"_data_stream_timestamp":1}"#, "failed to parse field [_data_stream_timestamp] of type [_data_stream_timestamp] in document with id '7'. Preview of field's value: '1'", "Field [_data_stream_timestamp] is a metadata field and cannot be added inside a document. Use the index API request parameters."),
    (r#"{"":1}"#, "failed to parse", "field name cannot be an empty string"),
    (r#"{"a..b":1}"#, "failed to parse", "object field starting or ending with a [.] makes object resolution ambiguous: [a..b]"),
    (r#"{"a. ":1}"#, "failed to parse", "object field cannot contain only whitespace: ['a. ']"),
    (r#"{"t.raw":"x"}"#, "Could not dynamically add mapping for field [t.raw]. Existing mapping for [t] must be of type object but found [text].", ""),
    ("", "failed to parse, document is empty", ""),
    ("x{", "failed to parse", "Compressor detection can only be called on some xcontent bytes or compressed xcontent bytes"),
    ("[1]", "failed to parse", "Compressor detection can only be called on some xcontent bytes or compressed xcontent bytes"),
    ("{\"t\":1,\n \"k\" 2}", "failed to parse", "Unexpected character ('2' (code 50)): was expecting a colon to separate field name and value\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 2, column: 6]"),
    ("{\"t\":1", "failed to parse", "Unexpected end-of-input: expected close marker for Object (start marker at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 1])\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 7]"),
    (r#"{"t":1} x"#, "failed to parse", "Unrecognized token 'x': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 10]"),
    (r#"{"t":1} {"t":2}"#, "failed to parse", "Malformed content, found extra data after parsing: START_OBJECT"),
    (r#"{"l":1,"l":2}"#, "failed to parse", "Duplicate field 'l'\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 11]"),
    (r#"{"k":"a\x"}"#, "failed to parse field [k] of type [keyword] in document with id '7'. Preview of field's value: ''", "Unrecognized character escape 'x' (code 120)\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 9]"),
    (r#"{"l":01}"#, "failed to parse", "Invalid numeric value: Leading zeroes not allowed\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 7]"),
];

#[test]
fn refusals_are_in_opensearchs_words() {
    let mapping = everything();
    for (source, reason, cause) in REFUSED {
        let error = mapping.parse_document(source.as_bytes()).unwrap_err();
        assert_eq!(document_reason(&error, "7"), *reason, "{source}");
        assert_eq!(
            document_cause(&error).map_or(String::new(), |(_, text)| text),
            *cause,
            "{source}"
        );
        assert_eq!(document_error_type(&error), "mapper_parsing_exception");
    }
}

#[test]
fn what_wants_an_object_names_its_field() {
    let mapping = mapping(&json!({
        "ir": { "type": "integer_range" }, "in": { "type": "ip_range" },
        "fo": { "type": "flat_object" }, "hf": { "type": "half_float" },
    }));
    for (source, type_name, cause) in [
        (
            r#"{"ir":5}"#,
            "mapper_parsing_exception",
            "error parsing field [ir], expected an object but got ir",
        ),
        (
            r#"{"in":5}"#,
            "mapper_parsing_exception",
            "error parsing field [in], expected an object but got in",
        ),
        (
            r#"{"fo":[true]}"#,
            "parsing_exception",
            "[fo] unexpected token [VALUE_BOOLEAN] in flat_object field value",
        ),
        (
            r#"{"hf":65520}"#,
            "illegal_argument_exception",
            "[half_float] supports only finite values, but got [65520.0]",
        ),
    ] {
        let error = mapping.parse_document(source.as_bytes()).unwrap_err();
        let wanted = Some((type_name, cause.to_string()));
        assert_eq!(document_cause(&error), wanted, "{source}");
        assert_eq!(document_error_type(&error), "mapper_parsing_exception");
    }
    assert!(mapping.parse_document(br#"{"in":"1.2.3.0/24"}"#).is_ok());
}

#[test]
fn a_mapping_that_is_not_enabled_looks_at_nothing() {
    let mapping = clew_opensearch_mapping::mapping(json!({ "enabled": false }));
    assert_eq!(shown(&mapping), json!({ "enabled": false }));
    for source in [r#"{"a":1,"b":{"c":["x",{}]},"_id":"7"}"#, "{}"] {
        assert!(values(&mapping, source).is_empty(), "{source}");
        assert_eq!(parse(&mapping, source).source, source.as_bytes());
    }
    assert!(mapping.parse_document(b"[]").is_err());
    assert!(mapping.parse_document(br#"{"a":}"#).is_err());
}

#[test]
fn lists_without_items_are_maps_without_members() {
    for properties in [json!([]), json!({})] {
        let body = json!({ "properties": properties });
        assert_eq!(shown(&clew_opensearch_mapping::mapping(body)), json!({}));
    }
    let mapping = mapping(&json!({ "a": { "type": "keyword", "fields": [] } }));
    let expected = json!({ "properties": { "a": { "type": "keyword" } } });
    assert_eq!(shown(&mapping), expected);
}

#[test]
fn bytes_are_looked_at_where_something_is_kept_of_them() {
    let mapping = mapping(&json!({
        "plain": { "type": "binary" },
        "stored": { "type": "binary", "store": true },
        "column": { "type": "binary", "doc_values": true },
    }));
    assert!(values(&mapping, r#"{"plain":["a*b",5,true,"aGVsbG8="]}"#).is_empty());
    for source in [r#"{"stored":"a*b"}"#, r#"{"column":"a*b"}"#] {
        assert!(
            mapping.parse_document(source.as_bytes()).is_err(),
            "{source}"
        );
    }
    parse(&mapping, r#"{"stored":"aGVs bG8=","column":"aGVsbG8="}"#);
}

#[test]
fn a_mark_before_a_document_is_none_of_it() {
    let mapping = everything();
    let document = parse(&mapping, "\u{feff}{\"l\":1}");
    assert_eq!(document.source, br#"{"l":1}"#.as_slice());
    assert_eq!(document.fields.len(), 1);
}

#[test]
fn completions_that_do_not_fit_are_told_as_documents_that_do_not() {
    let mapping = mapping(&json!({ "c": { "type": "completion" } }));
    for (source, kind, told) in [
        (
            r#"{"c":5}"#,
            "parsing_exception",
            "failed to parse [c]: expected text or object, but got VALUE_NUMBER",
        ),
        (
            r#"{"c":["a",5]}"#,
            "parsing_exception",
            "failed to parse [null]: expected text or object, but got VALUE_NUMBER",
        ),
        (
            r#"{"c":{"input":[1]}}"#,
            "illegal_argument_exception",
            "input array must have string values, but was [VALUE_NUMBER]",
        ),
    ] {
        let error = mapping.parse_document(source.as_bytes()).unwrap_err();
        assert_eq!(document_reason(&error, "7"), "failed to parse", "{source}");
        assert_eq!(document_cause(&error), Some((kind, told.to_string())));
    }
}

#[test]
fn half_characters_are_replaced_in_text_and_source() {
    let mapping = everything();
    let source = r#"{"k":"\ud83d\ude00\ud83d-\ude00"}"#;
    let document = parse(&mapping, source);
    assert_eq!(document.fields[0].1, text("😀\u{fffd}-\u{fffd}"));
    assert_eq!(
        document.source,
        br#"{"k":"\ud83d\ude00\ufffd-\ufffd"}"#.as_slice()
    );
}

#[test]
fn settings_of_a_field_change_what_it_takes() {
    let mut mapping = mapping(&json!({
        "n": { "type": "long", "coerce": false },
        "m": { "type": "integer", "ignore_malformed": true },
        "z": { "type": "keyword", "null_value": "none" },
        "q": { "type": "byte", "null_value": 5 },
        "from": { "type": "text", "copy_to": ["all", "nowhere"] },
        "all": { "type": "text", "fields": { "k": { "type": "keyword" } } },
        "w": { "type": "text", "analyzer": "keyword" },
    }));
    assert!(mapping.parse_document(br#"{"n":"1"}"#).is_err());
    assert!(mapping.parse_document(br#"{"n":1.5}"#).is_err());
    assert_eq!(
        values(&mapping, r#"{"n":2.0}"#),
        [("n".to_string(), OwnedValue::I64(2))]
    );
    assert!(mapping.parse_document(br#"{"m":{"a":1}}"#).is_err());
    assert!(mapping.parse_document(br#"{"m":[7,{}]}"#).is_err());
    let malformed = r#"{"m":["x",7,3e9]}"#;
    grow(&mut mapping, malformed);
    assert_eq!(
        values(&mapping, malformed),
        [
            ("m".to_string(), OwnedValue::I64(7)),
            ("_ignored".to_string(), text("m"))
        ]
    );
    assert_eq!(values(&mapping, r#"{"z":[null,"a"],"q":null}"#).len(), 3);
    let source = r#"{"from":"x"}"#;
    grow(&mut mapping, source);
    let copied = values(&mapping, source);
    let paths: Vec<_> = copied.iter().map(|(path, _)| path.as_str()).collect();
    let expected = ["from", "all", "all.k", "nowhere", "nowhere.keyword"];
    assert_eq!(paths, expected);
}

#[test]
fn a_frozen_mapping_leaves_out_what_it_cannot_name() {
    let frozen = mapping(&json!({
        "m": { "type": "integer", "ignore_malformed": true },
        "from": { "type": "text", "copy_to": "nowhere" },
    }))
    .frozen();
    let found = values(&frozen, r#"{"m":["x",{"a":1}],"from":"y"}"#);
    assert_eq!(found, [("from".to_string(), text("y"))]);
}

#[test]
fn what_was_left_out_is_told_of_documents_that_would_be_refused_today() {
    let mut mapping = mapping(&json!({
        "m": { "type": "integer", "ignore_malformed": true },
        "r": { "type": "rank_feature" },
    }));
    grow(&mut mapping, r#"{"m":"x"}"#);
    let source = br#"{"m":"x","r":[1,2]}"#;
    assert!(mapping.parse_document(source).is_err());
    assert_eq!(mapping.ignored_of(source), ["m"]);
}

/// Adds to a mapping what a document needs.
fn grow(mapping: &mut Mapping, source: &str) {
    if let Parsed::NeedsMapping(fields) = mapping.parse_document(source.as_bytes()).unwrap() {
        mapping.grow(fields).unwrap();
    }
}

#[test]
fn what_contradicts_itself_ends_in_an_error() {
    for source in [
        r#"{"a":1,"a.b":2}"#,
        r#"{"a":[{"b":1},2]}"#,
        r#"{"a":[1,"x"]}"#,
    ] {
        let mut mapping = Mapping::new();
        let Ok(Parsed::NeedsMapping(fields)) = mapping.parse_document(source.as_bytes()) else {
            panic!("{source} needs fields");
        };
        let is_refused =
            mapping.grow(fields).is_err() || mapping.parse_document(source.as_bytes()).is_err();
        assert!(is_refused, "{source}");
    }
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth: usize| format!(r#"{{"a":{}1{}}}"#, "[".repeat(depth), "]".repeat(depth));
    for mapping in [
        Mapping::new(),
        try_mapping(&json!({ "dynamic": false })).unwrap(),
    ] {
        assert!(mapping.parse_document(nested(99).as_bytes()).is_ok());
        for depth in [101, 100_000] {
            let error = mapping
                .parse_document(nested(depth).as_bytes())
                .unwrap_err();
            assert!(error.to_string().contains("nesting depth"), "{error}");
        }
    }
    let deep = format!(r#"{{"{}":1}}"#, vec!["a"; 50_000].join("."));
    let Ok(Parsed::NeedsMapping(fields)) = Mapping::new().parse_document(deep.as_bytes()) else {
        panic!("new fields are proposed before limits are known");
    };
    assert!(matches!(
        Mapping::new().grow(fields),
        Err(MappingError::TooDeep { .. })
    ));
}

#[test]
fn a_constant_without_a_value_takes_that_of_the_first_document() {
    let mut mapping = mapping(&json!({ "c": { "type": "constant_keyword" } }));
    assert_eq!(
        shown(&mapping)["properties"]["c"],
        json!({ "type": "constant_keyword" })
    );
    // A document without one settles nothing.
    parse(&mapping, r#"{ "c": null }"#);
    let Ok(Parsed::NeedsMapping(new)) = mapping.parse_document(br#"{ "c": "x" }"#) else {
        panic!("the value was not noticed");
    };
    mapping.grow(new.clone()).unwrap();
    let settled = shown(&mapping)["properties"]["c"].clone();
    assert_eq!(settled, json!({ "type": "constant_keyword", "value": "x" }));
    parse(&mapping, r#"{ "c": "x" }"#);
    assert!(mapping.parse_document(br#"{ "c": "y" }"#).is_err());
    // What was settled stays, whatever a later document or definition leaves out.
    let later = NewFields {
        constants: vec![("c".to_string(), "z".to_string())],
        ..new
    };
    mapping.grow(later).unwrap();
    let same = json!({ "properties": { "c": { "type": "constant_keyword" } } });
    merge(&mut mapping, &same).unwrap();
    assert_eq!(shown(&mapping)["properties"]["c"], settled);
}

#[test]
fn what_no_range_and_no_shape_is_made_of_is_told_by_its_kind() {
    let mapping =
        mapping(&json!({ "r": { "type": "integer_range" }, "g": { "type": "geo_shape" } }));
    for (source, kind) in [
        (r#"{"r":5}"#, "mapper_parsing_exception"),
        (r#"{"r":{"foo":1}}"#, "mapper_parsing_exception"),
        (r#"{"r":{"gte":"x"}}"#, "number_format_exception"),
        (r#"{"g":5}"#, "parse_exception"),
    ] {
        let error = mapping.parse_document(source.as_bytes()).unwrap_err();
        let told = document_cause(&error).map(|(kind, _)| kind);
        assert_eq!(told, Some(kind), "{source}");
    }
}

#[test]
fn a_flattened_object_is_a_flat_one() {
    let mapping = mapping(&json!({ "labels": { "type": "flattened" } }));
    assert_eq!(
        shown(&mapping)["properties"]["labels"]["type"],
        "flat_object"
    );
    assert!(
        !parse(&mapping, r#"{ "labels": { "a": { "b": "c" }, "n": 1 } }"#)
            .fields
            .is_empty()
    );
}
