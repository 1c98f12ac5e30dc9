//! Values, lists, dates, and what is made of them.

use super::*;

#[test]
fn values_may_be_spelled_leniently() {
    let converted = |kind: &str, written: &str| {
        let steps = json!([{"convert": {"field": "message", "type": kind, "lenient": true}}]);
        run(steps, written)
    };
    for (kind, written, expected) in [
        ("long", "1,234.7", "1234"),
        ("long", "-12", "-12"),
        ("long", "12.0", "12"),
        ("double", "1,234.5", "1234.5"),
        ("boolean", "Yes", "true"),
        ("boolean", "0", "false"),
    ] {
        let expected = format!(r#"{{"message":{expected}}}"#);
        assert_eq!(converted(kind, written), expected, "{kind} {written}");
    }
    for (kind, written) in [
        ("long", "12x"),
        ("long", "1.2.3"),
        ("long", ""),
        ("boolean", "maybe"),
        ("double", "a"),
    ] {
        let expected = format!(r#"not_convertible {{"message":"{written}"}}"#);
        assert_eq!(converted(kind, written), expected, "{kind} {written}");
    }
}

#[test]
fn values_may_be_spelled_as_in_go() {
    let converted = |kind: &str, value: &str| {
        let steps = json!([
            {"json": {"field": "message", "add_to_root": true}}, {"remove": {"field": "message"}},
            {"convert": {"field": "v", "type": kind, "lenient": "go"}},
        ]);
        run(steps, &format!(r#"{{"v":{value}}}"#))
    };
    for (kind, value, expected) in [
        ("boolean", r#""1""#, "true"),
        ("boolean", r#""T""#, "true"),
        ("boolean", r#""True""#, "true"),
        ("boolean", r#""f""#, "false"),
        ("boolean", r#""0""#, "false"),
        ("boolean", "true", "true"),
        ("long", "3.7", "3"),
        ("integer", "-3.7", "-3"),
        ("long", r#""12""#, "12"),
        ("long", "[3.7,\"4\"]", "[3,4]"),
        ("double", r#""1.5""#, "1.5"),
    ] {
        let expected = format!(r#"{{"v":{expected}}}"#);
        assert_eq!(converted(kind, value), expected, "{kind} {value}");
    }
    for (kind, value) in [
        ("boolean", r#""yes""#),
        ("boolean", r#""tRue""#),
        ("boolean", "1"),
        ("long", r#""3.7""#),
        ("long", r#""1,000""#),
    ] {
        let expected = format!(r#"not_convertible {{"v":{value}}}"#);
        assert_eq!(converted(kind, value), expected, "{kind} {value}");
    }
}

#[test]
fn values_may_be_spelled_as_in_ruby() {
    let converted = |kind: &str, value: &str| {
        let steps = json!([
            {"json": {"field": "message", "add_to_root": true}}, {"remove": {"field": "message"}},
            {"convert": {"field": "v", "type": kind, "lenient": "ruby"}},
        ]);
        run(steps, &format!(r#"{{"v":{value}}}"#))
    };
    for (kind, value, expected) in [
        ("long", r#""12ms""#, "12"),
        ("long", r#"" -1,234.5 kB""#, "-1234"),
        ("long", r#""none""#, "0"),
        ("long", r#""-""#, "0"),
        ("long", "true", "1"),
        ("long", "3.9", "3"),
        ("long", r#"["1","2x"]"#, "[1,2]"),
        ("double", r#""1.5s""#, "1.5"),
        ("double", r#""1.5.6""#, "1.5"),
        ("double", r#""2e3x""#, "2000.0"),
        ("double", r#""x""#, "0.0"),
        ("boolean", r#""Yes""#, "true"),
        ("boolean", "0", "false"),
        ("boolean", r#""""#, "false"),
        ("boolean", r#""maybe""#, r#""maybe""#),
    ] {
        let expected = format!(r#"{{"v":{expected}}}"#);
        assert_eq!(converted(kind, value), expected, "{kind} {value}");
    }
    // An object spells nothing, whether it was taken apart or not.
    let expected = r#"not_convertible {"v":{"a":1}}"#;
    assert_eq!(converted("boolean", r#"{"a":1}"#), expected);
    let steps = json!([
        {"add": {"field": "v.a", "value": 1}}, {"remove": {"field": "message"}},
        {"convert": {"field": "v", "type": "boolean", "lenient": "ruby"}},
    ]);
    assert_eq!(run(steps, ""), expected);
}

#[test]
fn items_of_lists_are_converted_and_have_their_letters_changed() {
    let steps = |step: &str, more: Json| {
        let mut parameters = json!({"field": "l"});
        let members = parameters.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        json!([
            {"json": {"field": "message", "add_to_root": true}}, {"remove": {"field": "message"}},
            {step: parameters},
        ])
    };
    let long = || steps("convert", json!({"type": "long", "lenient": true}));
    check(long(), r#"{"l":["1","2.7",3]}"#, r#"{"l":[1,2,3]}"#);
    check(
        long(),
        r#"{"l":["1","x"]}"#,
        r#"not_convertible {"l":["1","x"]}"#,
    );
    check(
        long(),
        r#"{"l":["1",null]}"#,
        r#"not_convertible {"l":["1",null]}"#,
    );
    let text = steps("convert", json!({"type": "string"}));
    check(text, r#"{"l":[1,true,"a"]}"#, r#"{"l":["1","true","a"]}"#);
    for (step, expected) in [
        ("lowercase", r#"{"l":[" ab",1]}"#),
        ("uppercase", r#"{"l":[" AB",1]}"#),
        ("trim", r#"{"l":["aB",1]}"#),
    ] {
        check(steps(step, json!({})), r#"{"l":[" aB",1]}"#, expected);
    }
    check(
        steps("lowercase", json!({})),
        r#"{"l":{"a":"B"}}"#,
        r#"unfit {"l":{"a":"B"}}"#,
    );
}

#[test]
fn a_member_that_is_null_is_no_text() {
    let steps = |condition: Json| {
        json!([
            {"json": {"field": "message", "add_to_root": true}}, {"remove": {"field": "message"}},
            {"lowercase": {"field": "a", "ignore_missing": true}},
            {"drop": {"if": condition}},
        ])
    };
    for condition in [
        json!({"regexp": {"a": "."}}),
        json!({"equals": {"a": "null"}}),
        json!({"includes": {"a": "ul"}}),
    ] {
        check(steps(condition), r#"{"a":null}"#, r#"{"a":null}"#);
    }
}

#[test]
fn items_of_lists_are_removed() {
    let steps = |value: Json| {
        json!([
            {"remove": {"field": "message"}},
            {"add": {"field": "tags", "value": value}},
            {"remove_item": {"field": "tags", "value": ["a", 1]}},
        ])
    };
    check(
        steps(json!(["a", "b", 1, "1"])),
        "x",
        r#"{"tags":["b","1"]}"#,
    );
    check(steps(json!(["a"])), "x", r#"{"tags":[]}"#);
    check(steps(json!("a")), "x", "{}");
    check(steps(json!("b")), "x", r#"{"tags":"b"}"#);
}

#[test]
fn texts_show_what_is_missing_and_lists_as_logstash_does_if_they_are_told_to() {
    let steps = |keeps: bool| {
        json!([
            {"json": {"field": "message", "add_to_root": true}},
            {"keep": {"field": ["l", "o", "f", "e", "n"]}},
            {"set": {"field": "t", "value": "{{l}}|{{o}}|{{f}}|{{e}}|{{n}}|{{x}}|{{x.y}}", "keep_references": keeps}},
            {"append": {"field": "tags", "value": ["{{x}}!"], "keep_references": keeps}},
            {"keep": {"field": ["t", "tags"]}},
        ])
    };
    let line = r#"{"l":["a",2,["b"]],"o":{"k":1},"f":false,"e":"","n":null}"#;
    check(
        steps(true),
        line,
        r#"{"t":"a,2,b|{\"k\":1}|false||%{n}|%{x}|%{[x][y]}","tags":["%{x}!"]}"#,
    );
    check(
        steps(false),
        line,
        r#"{"t":"{0=a, 1=2, 2=[b]}|{k=1}|false||||","tags":["!"]}"#,
    );
    // Items are counted from the end, too.
    check(
        json!([
            {"json": {"field": "message", "add_to_root": true}},
            {"set": {"field": "t", "value": "{{l.-1}} {{l.-3}} {{l.-4}} {{l.-0}}", "keep_references": true}},
            {"keep": {"field": "t"}},
        ]),
        line,
        r#"{"t":"b a %{[l][-4]} %{[l][-0]}"}"#,
    );
}

#[test]
fn what_a_step_on_documents_leaves_alone_is_as_it_was_written() {
    let big = "123456789012345678901234567890";
    let steps = json!([
        {"json": {"field": "message", "add_to_root": true}},
        {"remove": {"field": "message"}},
        {"set": {"field": "o.said", "value": "{{a}}!"}},
        {"split": {"field": "l", "separator": ","}},
        {"remove_by_pattern": {"field_pattern": "gone*"}},
    ]);
    check(
        steps,
        &format!(r#"{{"a":"x","o":{{"n":{big},"f":1.0e2}},"l":"1,2","gone1":1,"b":{big}}}"#),
        &format!(r#"{{"a":"x","o":{{"said":"x!","n":{big},"f":1.0e2}},"l":["1","2"],"b":{big}}}"#),
    );
}

#[test]
fn dates_that_cannot_be_written_are_none() {
    let steps = json!([{"date": {"field": "message", "formats": ["UNIX", "UNIX_MS"]}}, {"remove": {"field": "message"}}]);
    check(
        steps,
        "1767323045678",
        r#"{"@timestamp":"2026-01-02T03:04:05.678Z"}"#,
    );
    let steps = json!([{"date": {"field": "message", "formats": ["ISO8601"]}}, {"remove": {"field": "message"}}]);
    check(
        steps,
        "2026-01-02 03:04:05,678",
        r#"{"@timestamp":"2026-01-02T03:04:05.678Z"}"#,
    );
}

#[test]
fn fields_are_copied_cut_and_changed() {
    check(
        json!([{"copy": {"source_field": "message", "target_field": "a.b"}}, {"truncate": {"field": "message", "max_bytes": 3}}]),
        "aéi o",
        r#"{"message":"aé","a":{"b":"aéi o"}}"#,
    );
    for (given, cut) in [("aéi o", "aéi"), ("aéi", "aéi"), ("éé", "éé")] {
        check(
            json!([{"truncate": {"field": "message", "max_characters": 3}}]),
            given,
            &json!({"message": cut}).to_string(),
        );
    }
    check(
        json!([
            {"json": {"field": "message", "add_to_root": true}}, {"remove": {"field": "message"}},
            {"truncate": {"field": ["l", "n", "s", "o"], "max_bytes": 3}},
        ]),
        r#"{"l":["abcdef"],"n":123456,"s":"abcdef","o":{"a":"b"}}"#,
        r#"{"l":["abcdef"],"n":123456,"s":"abc","o":{"a":"b"}}"#,
    );
    check(
        json!([{"truncate": {"field": "message", "max_characters": 3, "max_bytes": 2}}]),
        "aéi o",
        r#"{"message":"a"}"#,
    );
    check(
        json!([{"trim": {"field": "message"}}, {"uppercase": {"field": "message", "target_field": "u"}}]),
        " aé ",
        r#"{"message":"aé","u":"AÉ"}"#,
    );
    check(
        json!([{"convert": {"field": "message", "type": "double"}}]),
        "1e3",
        r#"{"message":1000.0}"#,
    );
    check(
        json!([{"convert": {"field": "message", "type": "integer"}}]),
        "x",
        r#"not_convertible {"message":"x"}"#,
    );
    check(
        json!([{"rename": {"field": "none", "target_field": "x"}}]),
        "x",
        r#"missing_field {"message":"x"}"#,
    );
    check(
        json!([{"gsub": {"field": "message", "pattern": "a+", "replacement": "<$0>"}}, {"set": {"field": "y", "value": "{{message}}!"}}]),
        "baa",
        r#"{"message":"b<aa>","y":"b<aa>!"}"#,
    );
}

#[test]
fn dates_are_read_by_the_first_format_that_fits() {
    let step = |formats: Json| json!([{"date": {"field": "message", "formats": formats, "target_field": "t", "timezone": "Europe/Berlin"}}, {"keep": {"field": "t"}}]);
    check(
        step(json!(["dd/MMM/yyyy:HH:mm:ss Z", "yyyy-MM-dd HH:mm:ss"])),
        "2026-07-02 03:04:05",
        r#"{"t":"2026-07-02T01:04:05.000Z"}"#,
    );
    check(
        step(json!(["%d/%b/%Y:%H:%M:%S %z"])),
        "02/Jan/2026:03:04:05 +0000",
        r#"{"t":"2026-01-02T03:04:05.000Z"}"#,
    );
    check(
        step(json!(["ISO8601"])),
        "2026-07-02T03:04:05.5Z",
        r#"{"t":"2026-07-02T03:04:05.500Z"}"#,
    );
    for (format, written) in [
        ("ISO8601", "2016-12-31T23:59:60.5Z"),
        ("ISO8601", "2016-12-31 23:59:60,5Z"),
        ("yyyy-MM-dd HH:mm:ss.S X", "2016-12-31 23:59:60.5 Z"),
        ("%Y-%m-%dT%H:%M:%S.%f%z", "2016-12-31T23:59:60.5Z"),
    ] {
        check(
            step(json!([format])),
            written,
            r#"{"t":"2016-12-31T23:59:59.500Z"}"#,
        );
    }
    for (written, day) in [
        ("2026-W48-6T03:04:05Z", "2026-11-28"),
        ("2026-332 03:04:05Z", "2026-11-28"),
        ("2026-W01T03:04:05Z", "2025-12-29"),
        ("2024-366T03:04:05Z", "2024-12-31"),
    ] {
        let expected = format!(r#"{{"t":"{day}T03:04:05.000Z"}}"#);
        check(step(json!(["ISO8601"])), written, &expected);
    }
    for (written, expected) in [
        ("2026-W48-6", r#"{"t":"2026-11-27T23:00:00.000Z"}"#),
        ("2026-332", r#"{"t":"2026-11-27T23:00:00.000Z"}"#),
    ] {
        check(step(json!(["ISO8601"])), written, expected);
    }
    for written in [
        "2026-W54-1",
        "2026-W48-8",
        "2026-366",
        "2026-33",
        "2026-+48",
    ] {
        let shown = run(step(json!(["ISO8601"])), written);
        assert!(shown.contains(written), "{shown}");
    }
    check(
        step(json!(["UNIX"])),
        "1767323045.25",
        r#"{"t":"2026-01-02T03:04:05.250Z"}"#,
    );
    check(
        step(json!(["UNIX_MS"])),
        "1767323045678",
        r#"{"t":"2026-01-02T03:04:05.678Z"}"#,
    );
    check(
        step(json!(["yyyy-MM-dd"])),
        "soon",
        r#"not_a_date {"message":"soon"}"#,
    );
}

#[test]
fn the_local_zone_is_that_of_the_machine_for_lines_and_no_zone_of_documents() {
    let steps = |zone: &str| json!([{"date": {"field": "message", "formats": ["yyyy-MM-dd HH:mm"], "timezone": zone}}]);
    let local = jiff::civil::date(2026, 7, 2).at(3, 4, 0, 0);
    let local = local.to_zoned(jiff::tz::TimeZone::system()).unwrap();
    let expected = local.timestamp().strftime("%Y-%m-%dT%H:%M:%S.000Z");
    check(
        steps("Local"),
        "2026-07-02 03:04",
        &format!(r#"{{"message":"2026-07-02 03:04","@timestamp":"{expected}"}}"#),
    );
    let config = &steps("Local")[0]["date"];
    let mut config = config.as_object().unwrap().clone();
    assert!(crate::steps::dates::DateStep::parse(&mut config).is_err());
}

#[test]
fn what_is_hidden_is_known_to_steps_and_not_written() {
    let mut plan = Plan::default();
    let hidden = plan.event.hide("@metadata").unwrap();
    let id = plan.slot("@metadata._id").unwrap();
    let message = plan.slot("message").unwrap();
    for step in [
        json!({"copy": {"source_field": "@metadata._index", "target_field": "of"}}),
        json!({"add": {"field": "@metadata.more", "value": [1]}}),
        // One that works on a document.
        json!({"set": {"field": "@metadata._id", "value": "{{message}}!"}}),
        json!({"keep": {"field": "of"}}),
    ] {
        plan.add(&step).unwrap();
    }
    for (text, shown) in [("a", r#"{"of":"x"}"#), ("b", r#"{"of":"x"}"#)] {
        let line = plan.event.begin(text).unwrap();
        plan.event.put(message, Value::Text(line)).unwrap();
        assert!(!plan.event.has_hidden());
        plan.event.put_json(hidden, r#"{"_index":"x"}"#).unwrap();
        assert_eq!(plan.run(0), Ok(Flow::On));
        let mut out = Vec::new();
        plan.event.write(&mut out);
        assert_eq!(String::from_utf8_lossy(&out), shown);
        assert!(plan.event.has_hidden());
        assert_eq!(plan.event.text_of(id), Some(format!("{text}!").as_str()));
        let all: Json = serde_json::from_str(plan.event.object_of(hidden).unwrap()).unwrap();
        assert_eq!(
            all,
            json!({"_index": "x", "_id": format!("{text}!"), "more": [1]})
        );
        let mut all = Vec::new();
        plan.event.write_all(&mut all);
        assert!(String::from_utf8_lossy(&all).contains(r#""@metadata":{"#));
    }
    assert_eq!(plan.event.object_of(message), None);
}
