//! Dates, types, and definitions that are wrong.

use super::*;

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
        (
            "integer",
            " 42 ",
            json!("Unfit: unable to convert [ 42 ] to integer"),
        ),
        ("double", " 42 ", json!(42.0)),
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
            json!({"dot_expander": {"field": "a..b"}}),
            "[field] No space between dots; dot_expander; field",
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
