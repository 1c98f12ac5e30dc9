//! What steps make of a document, and what they say of one that they cannot change; the hashes and the words are those
//! of OpenSearch 2.19.

use serde_json::{Value, json};

use crate::document::Document;
use crate::error::Failure;
use crate::pipeline::Pipeline;

fn document() -> Document {
    let source = json!({
        "tag": "Red", "n": 5, "list": ["b", "a", "C"], "nums": [3, 1, 2], "mix": [1, "a"],
        "nul": null, "obj": {"x": 1, "y": {"z": "q"}}, "raw": "{\"j\": 1} x", "empty": "",
        "html": "<b>x</b> y &amp; &lt;z <br/>w", "pairs": "k=v l=w", "src": "128.232.110.120",
        "dst": "66.35.250.204", "sp": 34855, "dp": 80, "tr": "tcp", "icmp": "icmp", "ty": 8,
        "date": "2016-04-25T12:02:01.789Z", "url": "%zz",
    });
    Document::new("i", source, 0)
}

/// What a step leaves at a path, or what it says.
fn check(step: Value, path: &str, expected: Value) {
    let pipeline = Pipeline::parse(&json!({"processors": [step]})).unwrap();
    let mut document = document();
    let done = pipeline.steps[0].what.change(&mut document);
    let found = match done {
        Ok(()) => document.get(path).unwrap_or(json!("nothing")),
        Err(failure) => told(failure).into(),
    };
    assert_eq!(found, expected, "{step}");
}

/// The kind and the reason.
fn told(failure: Failure) -> String {
    format!("{:?}: {}", failure.kind, failure.reason)
}

fn refuse(step: Value, expected: &str) {
    let error = Pipeline::parse(&json!({"processors": [step]})).unwrap_err();
    let told = [Some(error.reason), error.step, error.property];
    let told: Vec<String> = told.into_iter().flatten().collect();
    assert_eq!(told.join("; "), expected, "{step}");
}

#[test]
fn fields_are_copied_sorted_and_removed() {
    for (step, path, expected) in [
        (
            json!({"copy": {"source_field": "obj", "target_field": "a.b"}}),
            "a.b.x",
            json!(1),
        ),
        (
            json!({"copy": {"source_field": "tag", "target_field": "a", "remove_source": true}}),
            "tag",
            json!("nothing"),
        ),
        (
            json!({"copy": {"source_field": "tag", "target_field": "n"}}),
            "n",
            json!("Unfit: target field [n] already exists"),
        ),
        (
            json!({"copy": {"source_field": "none", "target_field": "a"}}),
            "a",
            json!("Unfit: source field [none] doesn't exist"),
        ),
        (
            json!({"sort": {"field": "list"}}),
            "list",
            json!(["C", "a", "b"]),
        ),
        (
            json!({"sort": {"field": "nums", "order": "desc", "target_field": "s"}}),
            "s",
            json!([3, 2, 1]),
        ),
        (
            json!({"sort": {"field": "mix"}}),
            "mix",
            json!("MixedTypes: class java.lang.Integer cannot be cast to class java.lang.String"),
        ),
        (
            json!({"remove": {"exclude_field": ["tag"]}}),
            "n",
            json!("nothing"),
        ),
        (
            json!({"remove": {"field": "none"}}),
            "n",
            json!("Unfit: field [none] doesn't exist"),
        ),
        (
            json!({"remove_by_pattern": {"field_pattern": ["s*", "x"]}}),
            "src",
            json!("nothing"),
        ),
        (
            json!({"remove_by_pattern": {"exclude_field_pattern": "t*"}}),
            "tag",
            json!("Red"),
        ),
    ] {
        check(step, path, expected);
    }
}

#[test]
fn values_are_put_where_others_are() {
    for (step, path, expected) in [
        (
            json!({"append": {"field": "tag", "value": "Red", "allow_duplicates": false}}),
            "tag",
            json!("Red"),
        ),
        (
            json!({"append": {"field": "nul", "value": "x"}}),
            "nul",
            json!([null, "x"]),
        ),
        (
            json!({"set": {"field": "a", "value": {"b": ["{{tag}}", "{{list}}"]}}}),
            "a",
            json!({"b": ["Red", "{0=b, 1=a, 2=C}"]}),
        ),
    ] {
        check(step, path, expected);
    }
}

#[test]
fn fingerprints_are_those_of_opensearch() {
    for (step, path, expected) in [
        (
            json!({"fingerprint": {"fields": ["n", "tag"]}}),
            "fingerprint",
            "SHA-1@2.16.0:EKpGgnVwVo2XGAS5CXajiESZB5s=",
        ),
        (
            json!({"fingerprint": {"fields": ["obj"]}}),
            "fingerprint",
            "SHA-1@2.16.0:jChXAXRq+6YnLTAPoZ6o/uGtxY8=",
        ),
        (
            json!({"fingerprint": {"fields": ["nul"]}}),
            "fingerprint",
            "SHA-1@2.16.0:0KPHUZqc2LUjhDn2+Q/71Boz/vo=",
        ),
        (
            json!({"fingerprint": {"fields": ["list"]}}),
            "fingerprint",
            "SHA-1@2.16.0:2pYIJ/UnkR/HVTjPrLLUFxCcll8=",
        ),
        (
            json!({"fingerprint": {"fields": ["tag"], "hash_method": "MD5@2.16.0", "target_field": "f"}}),
            "f",
            "MD5@2.16.0:bHjF6Hv7FLth1qqPklvBtg==",
        ),
        (
            json!({"fingerprint": {"fields": ["tag"], "hash_method": "SHA-256@2.16.0"}}),
            "fingerprint",
            "SHA-256@2.16.0:HWZpVidlcuePNAdgEqrm4zJ/gbyeJp8UagyB3iXe2O4=",
        ),
        (
            json!({"fingerprint": {"fields": ["tag"], "hash_method": "SHA3-256@2.16.0"}}),
            "fingerprint",
            "SHA3-256@2.16.0:fQJgxnQ8X3sYsSIy83I0bBc51sEZr8JDD5Bcvd82JAo=",
        ),
    ] {
        check(step, path, expected.into());
    }
}

#[test]
fn connections_have_the_identity_that_opensearch_gives_them() {
    let ends = json!({"source_ip_field": "src", "destination_ip_field": "dst"});
    let flow = |more: Value| {
        let mut config = ends.clone();
        let members = config.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        json!({"community_id": config})
    };
    let tcp =
        json!({"protocol_field": "tr", "source_port_field": "sp", "destination_port_field": "dp"});
    for (step, path, expected) in [
        (
            flow(tcp.clone()),
            "community_id",
            "1:LQU9qZlK+B5F3KDmev6m5PMibrg=",
        ),
        (
            flow(
                json!({"seed": 7, "protocol_field": "tr", "source_port_field": "sp", "destination_port_field": "dp"}),
            ),
            "community_id",
            "1:uZNg8EfF5M99KLdQ6q/AIpt8Pyg=",
        ),
        (
            flow(json!({"protocol_field": "icmp", "icmp_type_field": "ty"})),
            "community_id",
            "1:46Jwgg+8nrGay2E7JcQU/fbhUmk=",
        ),
        (
            flow(json!({"protocol_field": "tag"})),
            "community_id",
            "Unfit: unsupported protocol [Red]",
        ),
        (
            flow(json!({"protocol_field": "tr"})),
            "community_id",
            "Unfit: both source port and destination port field path cannot be null nor empty",
        ),
    ] {
        check(step, path, expected.into());
    }
}

#[test]
fn patterns_may_look_around() {
    for (step, path, expected) in [
        (
            json!({"gsub": {"field": "tag", "pattern": "(?<=R)(?=e)|(?<x>d)$", "replacement": "-${x}"}}),
            "tag",
            json!("R-e-d"),
        ),
        (
            json!({"split": {"field": "tag", "separator": "(?<=e)"}}),
            "tag",
            json!(["Re", "d"]),
        ),
    ] {
        check(step, path, expected);
    }
}

#[test]
fn texts_are_taken_apart_as_java_does() {
    for (step, path, expected) in [
        (json!({"json": {"field": "raw"}}), "raw", json!({"j": 1})),
        (json!({"json": {"field": "empty"}}), "empty", json!(null)),
        (
            json!({"html_strip": {"field": "html"}}),
            "html",
            json!("x y & <z \nw"),
        ),
        (
            json!({"split": {"field": "tag", "separator": "x*"}}),
            "tag",
            json!(["R", "e", "d"]),
        ),
        (
            json!({"gsub": {"field": "tag", "pattern": "(?<x>e)", "replacement": "${x}-$0-\\$"}}),
            "tag",
            json!("Re-e-$d"),
        ),
        (
            json!({"gsub": {"field": "tag", "pattern": "(e)", "replacement": "$12"}}),
            "tag",
            json!("Re2d"),
        ),
        (
            json!({"gsub": {"field": "tag", "pattern": "e", "replacement": "$"}}),
            "tag",
            json!("Unfit: Illegal group reference: group index is missing"),
        ),
        (
            json!({"dissect": {"field": "pairs", "pattern": "%{*a}=%{&a} %{c}"}}),
            "k",
            json!("v"),
        ),
        (
            json!({"dissect": {"field": "pairs", "pattern": "%{+a/2}=%{+a/1} %{?c}"}}),
            "a",
            json!("vk"),
        ),
        (
            json!({"convert": {"field": "obj", "type": "string"}}),
            "obj",
            json!("{x=1, y={z=q}}"),
        ),
        (
            json!({"urldecode": {"field": "url"}}),
            "url",
            json!(
                "Unfit: URLDecoder: Illegal hex characters in escape (%) pattern - not a hexadecimal digit: \"z\" = 122"
            ),
        ),
        (
            json!({"bytes": {"field": "tag"}}),
            "tag",
            json!(
                "Unreadable: failed to parse setting [Ingest Field] with value [Red] as a size in bytes: unit is missing or unrecognized"
            ),
        ),
        (
            json!({"date_index_name": {"field": "date", "date_rounding": "M", "index_name_prefix": "p-{{tag}}-"}}),
            "_index",
            json!("<p-Red-{2016-04-25||/M{yyyy-MM-dd|UTC}}>"),
        ),
    ] {
        check(step, path, expected);
    }
}

#[test]
fn dates_without_a_year_are_of_the_year_in_which_they_came_and_zones_may_be_fields() {
    let in_berlin = json!({"formats": ["yyyy-MM-dd HH:mm"], "timezone": "{{zone}}"});
    for (said, zone, step, expected) in [
        (
            "Jan 12 10:11:12",
            "",
            json!({"formats": ["MMM dd HH:mm:ss"]}),
            "2026-01-12T10:11:12.000Z",
        ),
        (
            "Dec 31 10:11:12",
            "",
            json!({"formats": ["MMM  d HH:mm:ss||MMM dd HH:mm:ss"]}),
            "2026-12-31T10:11:12.000Z",
        ),
        (
            "Fri Jan 2",
            "",
            json!({"formats": ["EEE MMM d"]}),
            "2026-01-02T00:00:00.000Z",
        ),
        (
            "10:11",
            "",
            json!({"formats": ["HH:mm"]}),
            "2026-01-01T10:11:00.000Z",
        ),
        (
            "12 févr. 10:00",
            "",
            json!({"formats": ["dd MMM HH:mm"], "locale": "fr"}),
            "2026-02-12T10:00:00.000Z",
        ),
        (
            "10 o'clock, 2024",
            "",
            json!({"formats": ["HH 'o''clock', yyyy"]}),
            "2024-01-01T10:00:00.000Z",
        ),
        (
            "2026-07-02 10:00",
            "Europe/Berlin",
            in_berlin.clone(),
            "2026-07-02T10:00:00.000+02:00",
        ),
        (
            "2026-07-02 10:00",
            "Nowhere",
            in_berlin,
            "Unfit: unable to parse date [2026-07-02 10:00]",
        ),
    ] {
        let mut step = step;
        step["field"] = "said".into();
        let pipeline = json!({"processors": [{"date": step.clone()}]});
        let pipeline = Pipeline::parse(&pipeline).unwrap();
        let source = json!({"said": said, "zone": zone});
        // 2026-01-03.
        let mut document = Document::new("i", source, 1_767_400_000_000);
        let found = match pipeline.steps[0].what.change(&mut document) {
            Ok(()) => document.get("@timestamp").unwrap(),
            Err(failure) => told(failure).into(),
        };
        assert_eq!(found, json!(expected), "{step}");
    }
}

#[test]
fn names_of_a_rename_are_templates_pairs_may_end_with_a_separator_and_types_are_read_as_java_reads_them()
 {
    let check = |source: Value, step: Value, expected: Value| {
        let pipeline = Pipeline::parse(&json!({"processors": [step.clone()]})).unwrap();
        let mut document = Document::new("i", source, 0);
        let done = pipeline.steps[0].what.change(&mut document);
        let found = match done {
            Ok(()) => document.source,
            Err(failure) => told(failure).into(),
        };
        assert_eq!(found, expected, "{step}");
    };
    let rename = json!({"rename": {"field": "{{from}}", "target_field": "{{from}}_old"}});
    check(
        json!({"from": "a", "a": 1}),
        rename.clone(),
        json!({"from": "a", "a_old": 1}),
    );
    check(
        json!({"from": "b"}),
        rename,
        json!("Unfit: field [b] doesn't exist"),
    );
    let kv = json!({"kv": {"field": "m", "field_split": " ", "value_split": "="}});
    check(
        json!({"m": "x=1  "}),
        kv.clone(),
        json!({"m": "x=1  ", "x": "1"}),
    );
    check(json!({"m": "  "}), kv.clone(), json!({"m": "  "}));
    check(
        json!({"m": "x=1  y=2"}),
        kv.clone(),
        json!("Unfit: field [m] does not contain value_split [=]"),
    );
    check(json!({}), kv, json!("Unfit: field [m] doesn't exist"));
    let kv = json!({"kv": {"field": "m", "field_split": " ", "value_split": "=", "strip_brackets": true, "trim_value": "_"}});
    check(
        json!({"m": "x=<_1_] y=((2))"}),
        kv,
        json!({"m": "x=<_1_] y=((2))", "x": "1", "y": "(2)"}),
    );
    for (kind, said, expected) in [
        ("AUTO", "TRUE", json!(true)),
        ("auto", "-0x10", json!(-16)),
        ("Integer", "-0x1F", json!(-31)),
        (
            "long",
            "0x-1",
            json!("Unfit: unable to convert [0x-1] to long"),
        ),
    ] {
        let expected = match expected {
            Value::String(_) => expected,
            value => json!({ "m": value }),
        };
        check(
            json!({"m": said}),
            json!({"convert": {"field": "m", "type": kind}}),
            expected,
        );
    }
    refuse(
        json!({"csv": {"field": "m", "target_fields": []}}),
        "[target_fields] target fields list can't be empty; csv; target_fields",
    );
}

#[test]
fn a_path_that_leads_nowhere_says_where_it_ends() {
    for (field, kind, expected) in [
        (
            "none.a",
            "Unfit",
            "field [none] not present as part of path [none.a]",
        ),
        (
            "obj.y.z.a",
            "Unfit",
            "cannot resolve [a] from object of type [java.lang.String] as part of path [obj.y.z.a]",
        ),
        (
            "list.7",
            "OutOfBounds",
            "[7] is out of bounds for array with length [3] as part of path [list.7]",
        ),
        (
            "list.x",
            "Unfit",
            "[x] is not an integer, cannot be used as an index as part of path [list.x]",
        ),
        (
            "nul.x",
            "Unfit",
            "cannot resolve [x] from null as part of path [nul.x]",
        ),
    ] {
        let expected = format!("{kind}: {expected}");
        check(json!({"trim": {"field": field}}), field, expected.into());
    }
}

#[test]
fn a_wrong_definition_names_the_step_and_the_member() {
    for (step, expected) in [
        (
            json!({"trim": {}}),
            "[field] required property is missing; trim; field",
        ),
        (
            json!({"trim": {"field": 1}}),
            "[field] property isn't a string, but of type [java.lang.Integer]; trim; field",
        ),
        (
            json!({"unheard_of": {}}),
            "No processor type exists with name [unheard_of]; unheard_of",
        ),
        (
            json!({"drop": {"a": 1}}),
            "processor [drop] doesn't support one or more provided configuration parameters [a]; drop",
        ),
        (
            json!({"foreach": {"field": "a", "processor": {}}}),
            "[processor] Must specify exactly one processor type; foreach; processor",
        ),
        (
            json!({"foreach": {"field": "a", "processor": {"trim": {}}}}),
            "[field] required property is missing; foreach; field",
        ),
        (
            json!({"sort": {"field": "a", "order": "up"}}),
            "[order] Sort direction [up] not recognized. Valid values are: [asc, desc]; sort; order",
        ),
        (
            json!({"remove_by_pattern": {"field_pattern": "_*"}}),
            "[field_pattern] Validation Failed: 1: field_pattern [_*] must not start with '_';; remove_by_pattern; field_pattern",
        ),
    ] {
        refuse(step, expected);
    }
}

#[test]
fn cells_elements_and_pairs_are_what_opensearch_takes_for_them() {
    let check = |source: Value, step: Value, expected: Value| {
        let pipeline = Pipeline::parse(&json!({"processors": [step.clone()]})).unwrap();
        let mut document = Document::new("i", source, 0);
        let found = match pipeline.steps[0].what.change(&mut document) {
            Ok(()) => document.source,
            Err(failure) => told(failure).into(),
        };
        assert_eq!(found, expected, "{step}");
    };
    let kv = json!({"kv": {"field": "m", "field_split": " ", "value_split": "="}});
    let nameless = json!("Unfit: path cannot be null nor empty");
    check(json!({"m": "=1"}), kv, nameless);
    for (said, expected) in [
        ("a &lt;b&gt;", "a &lt;b&gt;"),
        ("<i>a</i> &lt;b&gt;", "a <b>"),
    ] {
        let strip = json!({"html_strip": {"field": "m"}});
        check(json!({ "m": said }), strip, json!({ "m": expected }));
    }
    let csv = json!({"csv": {"field": "m", "target_fields": ["x", "y"], "empty_value": "-"}});
    for (said, expected) in [
        ("\"1\", \"2\"", json!({"x": "1", "y": "2"})),
        ("1,", json!({"x": "1"})),
        (",1", json!({"x": "-", "y": "1"})),
        ("1,\"\"", json!({"x": "1", "y": "-"})),
        ("1,2,\"3", json!({"x": "1", "y": "2"})),
    ] {
        let mut expected = expected;
        expected["m"] = said.into();
        check(json!({ "m": said }), csv.clone(), expected);
    }
    check(
        json!({"m": "1,2\"2\""}),
        csv,
        json!("Unfit: Unmatched quote"),
    );
}
