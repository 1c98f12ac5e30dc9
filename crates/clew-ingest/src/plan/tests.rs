use serde_json::{Value as Json, json};

use super::*;
use crate::event::Value;

/// What steps make of a line that is in `message`, or why they fail; what was done before is shown too.
fn run(steps: Json, line: &str) -> String {
    let mut plan = Plan::default();
    let message = plan.slot("message").unwrap();
    for step in steps.as_array().unwrap() {
        plan.add(step).unwrap();
    }
    let mut shown = String::new();
    // Twice, as the second line finds the memory of the first.
    for _ in 0..2 {
        let line = plan.event.begin(line).unwrap();
        plan.event.put(message, Value::Text(line)).unwrap();
        shown = match plan.run(1_767_323_045_678) {
            Ok(Flow::On) => String::new(),
            Ok(Flow::Dropped) => "dropped".to_owned(),
            Err(reason) => format!("{} ", reason.as_str()),
        };
        let mut out = Vec::new();
        plan.event.write(&mut out);
        serde_json::from_slice::<Json>(&out).unwrap();
        shown.push_str(std::str::from_utf8(&out).unwrap());
    }
    shown
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

#[track_caller]
fn check(steps: Json, line: &str, expected: &str) {
    assert_eq!(run(steps, line), expected);
}

fn dissect(pattern: &str) -> Json {
    json!([{"dissect": {"field": "message", "pattern": pattern, "append_separator": "+"}},
           {"remove": {"field": "message"}}])
}

#[test]
fn dissect_with_all_its_modifiers() {
    check(
        dissect("%{a} [%{b.c}] %{b.d}"),
        "1 [2] 3 4",
        r#"{"a":"1","b":{"c":"2","d":"3 4"}}"#,
    );
    check(dissect("%{a->} %{b}"), "1    2", r#"{"a":"1","b":"2"}"#);
    check(
        dissect("%{+a/2} %{+a/1} %{?x} %{}"),
        "1 2 3 4",
        r#"{"a":"2+1"}"#,
    );
    check(
        dissect("%{*n}=%{&n};%{*m}=%{&m}"),
        "k=v;é=ü",
        r#"{"k":"v","é":"ü"}"#,
    );
    check(dissect("<%{a}>"), "<1", r#"no_match {"message":"<1"}"#);
    check(dissect("%{a}%{b}"), "12", r#"no_match {"message":"12"}"#);
    check(
        dissect("%{a},%{b}"),
        "\"x\\,\t",
        r#"{"a":"\"x\\","b":"\t"}"#,
    );
}

#[test]
fn json_is_merged_or_put_into_a_field_and_lines_that_are_none_are_kept() {
    let merged = json!([{"json": {"field": "message", "add_to_root": true}}]);
    check(
        merged.clone(),
        r#" {"a":{"b":[1, 2]},"message":"x\"y"} "#,
        r#"{"message":"x\"y","a":{"b":[1, 2]}}"#,
    );
    check(merged.clone(), "{oops", r#"not_json {"message":"{oops"}"#);
    check(merged.clone(), "[1]", r#"not_json {"message":"[1]"}"#);
    check(
        merged,
        &"{\"a\":".repeat(70),
        &format!("not_json {{\"message\":\"{}\"}}", "{\\\"a\\\":".repeat(70)),
    );
    check(
        json!([{"json": {"field": "message", "add_to_root": true}}, {"remove": {"field": "message"}}]),
        "{\"a\":\n{\"b\":\n\"c\\n\"}}\n",
        r#"{"a":{"b":"c\n"}}"#,
    );
    let inside = json!([{"json": {"field": "message", "target_field": "j.k"}}]);
    check(
        inside.clone(),
        "[1] ",
        r#"{"message":"[1] ","j":{"k":[1]}}"#,
    );
    check(inside, "1 2", r#"not_json {"message":"1 2"}"#);
}

#[test]
fn what_is_there_may_stay_when_json_comes() {
    let steps = json!([
        {"add": {"field": "a", "value": 1}},
        {"add": {"field": "o.p", "value": {"q": 1}}},
        {"json": {"field": "message", "add_to_root": true, "overwrite": false}},
    ]);
    check(
        steps,
        r#"{"message":"x","a":2,"b":3,"o":{"p":{"q":2,"r":3},"s":4},"@timestamp":"y"}"#,
        &json!({
            "message": r#"{"message":"x","a":2,"b":3,"o":{"p":{"q":2,"r":3},"s":4},"@timestamp":"y"}"#,
            "a": 1, "o": {"p": {"q": 1, "r": 3}, "s": 4}, "@timestamp": "y", "b": 3,
        })
        .to_string(),
    );
    let inside = json!([
        {"add": {"field": "j.a", "value": 1}},
        {"json": {"field": "message", "target_field": "j", "overwrite": false}},
        {"remove": {"field": "message"}},
    ]);
    check(inside, r#"{"a":2,"b":3}"#, r#"{"j":{"a":1,"b":3}}"#);
}

#[test]
fn objects_that_meet_may_be_put_together_when_json_comes() {
    let steps = json!([
        {"add": {"field": "a", "value": 1}},
        {"add": {"field": "o.p", "value": {"q": 1, "s": 1}}},
        {"json": {"field": "message", "add_to_root": true, "overwrite": "merge"}},
        {"remove": {"field": "message"}},
    ]);
    check(
        steps,
        r#"{"a":{"b":2},"o":{"p":{"q":2,"r":{"t":3}},"u":4},"@timestamp":"2026-01-02T03:04:05Z"}"#,
        &json!({
            "a": {"b": 2}, "o": {"p": {"q": 2, "s": 1, "r": {"t": 3}}, "u": 4},
            "@timestamp": "2026-01-02T03:04:05Z",
        })
        .to_string(),
    );
    let inside = json!([
        {"add": {"field": "j", "value": {"a": 1, "c": 1}}},
        {"json": {"field": "message", "target_field": "j", "overwrite": "merge"}},
        {"remove": {"field": "message"}},
    ]);
    check(inside, r#"{"a":2,"b":3}"#, r#"{"j":{"a":2,"c":1,"b":3}}"#);
}

#[test]
fn a_time_of_json_that_is_none_leaves_the_events_own() {
    let own = "2026-01-02T03:04:05.678Z";
    let checked = |written: &str, expected: &str| {
        let steps = json!([
            {"add": {"field": "@timestamp", "value": own}},
            {"json": {"field": "message", "add_to_root": true}},
            {"remove": {"field": "message"}},
        ]);
        let line = format!(r#"{{"@timestamp":{written}}}"#);
        check(steps, &line, &format!(r#"{{"@timestamp":{expected}}}"#));
    };
    for taken in [
        r#""2026-02-03T04:05:06.789Z""#,
        r#""2026-02-03T04:05:06+01:00""#,
        r#""2026-02-03""#,
        "1767323045678",
    ] {
        checked(taken, taken);
    }
    checked(
        r#""2026-02-03 04:05:06,789""#,
        r#""2026-02-03T04:05:06.789Z""#,
    );
    for refused in [r#""garbage""#, "null", "{}", "true", r#""""#] {
        checked(refused, &format!("{own:?}"));
    }
}

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
fn pairs_with_quotes_take_the_place_of_what_was_there() {
    let steps = json!([
        {"add": {"field": "a", "value": 0}},
        {"kv": {"field": "message", "field_split": " ", "value_split": "=", "quotes": true, "prefix": ""}},
        {"remove": {"field": "message"}},
    ]);
    check(
        steps,
        r#"a=1 junk b="x y" a=2 c= d=[z]"#,
        r#"{"a":["1","2"],"b":"x y","d":"z"}"#,
    );
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
fn a_field_may_be_a_part_of_a_text() {
    let steps = json!([{"drop": {"if": {"within": {"message": "abc def"}}}}]);
    check(steps.clone(), "c d", "dropped{\"message\":\"c d\"}");
    check(steps, "cd", r#"{"message":"cd"}"#);
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
fn objects_of_json_are_taken_apart_where_steps_reach_into_them() {
    let line = r#"{"host":{"name":"h","ip":"1"},"n":"7","t":"a\nb"}"#;
    let steps = |more: Json| {
        let mut steps = json!([{"json": {"field": "message", "add_to_root": true}}, {"remove": {"field": "message"}}]);
        steps
            .as_array_mut()
            .unwrap()
            .extend(more.as_array().unwrap().clone());
        steps
    };
    check(
        steps(json!([{"add": {"field": "host.os", "value": {"x": 1}}}])),
        line,
        r#"{"host":{"os":{"x":1},"name":"h","ip":"1"},"n":"7","t":"a\nb"}"#,
    );
    check(
        steps(
            json!([{"rename": {"field": "host.name", "target_field": "host_name"}}, {"convert": {"field": "n", "type": "long"}}]),
        ),
        line,
        r#"{"host":{"ip":"1"},"host_name":"h","n":7,"t":"a\nb"}"#,
    );
    check(
        steps(
            json!([{"remove": {"field": "host.ip"}}, {"rename": {"field": "host", "target_field": "server"}}]),
        ),
        line,
        r#"{"server":{"name":"h"},"n":"7","t":"a\nb"}"#,
    );
    check(
        steps(json!([{"uppercase": {"field": "t"}}, {"keep": {"field": ["host.name", "t"]}}])),
        line,
        r#"{"t":"A\nB","host":{"name":"h"}}"#,
    );
    check(
        steps(json!([{"add": {"field": "n.m", "value": 1}}])),
        line,
        r#"not_an_object {"n":"7","host":{"name":"h","ip":"1"},"t":"a\nb"}"#,
    );
}

#[test]
fn fields_are_copied_cut_and_changed() {
    check(
        json!([{"copy": {"source_field": "message", "target_field": "a.b"}}, {"truncate": {"field": "message", "max_bytes": 3}}]),
        "aéi o",
        r#"{"message":"aé","a":{"b":"aéi o"}}"#,
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
fn pairs_cells_and_groups_are_fields() {
    let check = |step: Json, line: &str, expected: &str| {
        check(
            json!([step, {"remove": {"field": "message"}}]),
            line,
            expected,
        );
    };
    let kv = json!({"kv": {"field": "message", "field_split": "; ?", "value_split": "=", "exclude_keys": ["x"], "trim_value": "'"}});
    check(
        kv.clone(),
        "a='1';b.c=2; x=3;a=4;a=5",
        r#"{"a":["1","4","5"],"b":{"c":"2"}}"#,
    );
    // A field without a name is none.
    check(kv.clone(), "a=1;=2", r#"{"a":"1"}"#);
    check(kv, "a=1;b", r#"no_match {"message":"a=1;b"}"#);
    let inside = json!({"kv": {"field": "message", "field_split": " ", "value_split": ":", "target_field": "t", "prefix": "p_"}});
    check(inside, "a:1 b:2:3", r#"{"t":{"p_a":"1","p_b":"2:3"}}"#);
    check(
        json!({"logfmt": {"field": "message"}}),
        r#"level=warn msg="a \"b\"" ok n=1 n=2"#,
        r#"{"level":"warn","msg":"a \"b\"","ok":true,"n":["1","2"]}"#,
    );
    let csv = json!({"csv": {"field": "message", "target_fields": ["a", "b", "c"], "trim": true, "empty_value": null}});
    check(
        csv.clone(),
        r#"1, "x,y" ,"d""e""#,
        r#"{"a":"1","b":"x,y","c":"d\"e"}"#,
    );
    check(
        csv.clone(),
        r#"1,,"open"#,
        r#"no_match {"message":"1,,\"open"}"#,
    );
    check(csv, "1,,3,4", r#"{"a":"1","b":null,"c":"3"}"#);
    check(
        json!({"regex": {"field": "message", "pattern": "^(?<a>\\d+)(?<b>x)? (?<c>.*)"}}),
        "12 é",
        r#"{"a":"12","c":"é"}"#,
    );
}

#[test]
fn captures_that_are_empty_may_be_none() {
    let step = |keeps: bool, all: bool| {
        json!([
        {"grok": {"field": "message", "patterns": ["^(?<a>x*)(?<b>y*),(?<a>x*)$"],
                  "capture_all_matches": all, "keep_empty_captures": keeps}},
        {"remove": {"field": "message"}}])
    };
    check(step(true, false), "y,x", r#"{"a":"","b":"y"}"#);
    check(step(false, false), "y,x", r#"{"a":"x","b":"y"}"#);
    check(step(false, true), ",x", r#"{"a":"x"}"#);
    check(step(true, true), ",x", r#"{"a":["","x"],"b":""}"#);
}

#[test]
fn grok_captures_have_fields_and_types() {
    let step = |patterns: Json, all: bool| {
        json!([
        {"grok": {"field": "message", "patterns": patterns, "capture_all_matches": all,
                  "pattern_definitions": {"PAIR": "%{WORD}=%{WORD}"}}},
        {"remove": {"field": "message"}}])
    };
    let patterns = json!([
        "%{IP:[source][ip]}:%{POSINT:source.port:int}",
        "%{PAIR:p} %{NUMBER:n:float} (?<rest>.*)"
    ]);
    check(
        step(patterns.clone(), false),
        "from 10.0.0.1:80",
        r#"{"source":{"ip":"10.0.0.1","port":80}}"#,
    );
    check(
        step(patterns.clone(), false),
        "a=b 1.5 é",
        r#"{"p":"a=b","n":1.5,"rest":"é"}"#,
    );
    check(
        step(patterns, false),
        "nothing",
        r#"no_match {"message":"nothing"}"#,
    );
    let twice = json!(["%{WORD:w} %{WORD:w}"]);
    check(step(twice.clone(), false), "a b", r#"{"w":"a"}"#);
    check(step(twice, true), "a b", r#"{"w":["a","b"]}"#);
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
fn conditions_say_whether_a_step_is_done() {
    let holds = |condition: Json, line: &str| {
        let steps = json!([
            {"dissect": {"field": "message", "pattern": "%{a} %{b.c}"}},
            {"drop": {"if": condition}},
        ]);
        run(steps, line).starts_with("dropped")
    };
    let table = [
        (json!({"equals": {"a": "x"}}), true),
        (json!({"equals": {"a": "x", "b.c": 8}}), false),
        (json!({"equals": {"b.c": 7}}), true),
        (json!({"contains": {"message": "x 7"}}), true),
        (json!({"contains": {"none": "x"}}), false),
        (json!({"regexp": {"a": "^[x-z]$"}}), true),
        (json!({"range": {"b.c": {"gte": 7, "lt": 8}}}), true),
        (json!({"range": {"b.c": {"gt": 7}}}), false),
        (json!({"range": {"b.c.gte": 7, "b.c.lt": 8}}), true),
        (json!({"range": {"b.c.gte": 7, "b.c.lt": 7}}), false),
        (json!({"range": {"a": {"gt": 0}}}), false),
        (json!({"network": {"a": "private"}}), false),
        (json!({"has_fields": ["a", "b", "b.c"]}), true),
        (json!({"has_fields": ["b.d"]}), false),
        (json!({"not": {"has_fields": ["b.d"]}}), true),
        (
            json!({"and": [{"equals": {"a": "x"}}, {"equals": {"b.c": "7"}}]}),
            true,
        ),
        (
            json!({"or": [{"equals": {"a": "y"}}, {"equals": {"b.c": "8"}}]}),
            false,
        ),
    ];
    for (condition, expected) in table {
        assert_eq!(holds(condition.clone(), "x 7"), expected, "{condition}");
    }
}

#[test]
fn conditions_on_lists_look_at_each_item() {
    let line =
        r#"{"tags":["application","b\"c","[x]"],"codes":[200,404.0],"none":[],"text":"[\"app\"]"}"#;
    let table = [
        (json!({"contains": {"tags": "app"}}), true),
        (json!({"contains": {"tags": "b\"c"}}), true),
        (json!({"contains": {"tags": "\",\""}}), false),
        (json!({"regexp": {"tags": "^app.*n$"}}), true),
        (json!({"regexp": {"tags": "^app$"}}), false),
        (json!({"regexp": {"none": ""}}), false),
        (json!({"includes": {"tags": "app"}}), false),
        (json!({"includes": {"tags": "application"}}), true),
        (json!({"includes": {"tags": "[x]"}}), true),
        (json!({"includes": {"codes": 404}}), true),
        (json!({"includes": {"codes": "200"}}), true),
        (json!({"includes": {"codes": 20}}), false),
        (json!({"includes": {"text": "app"}}), true),
        (json!({"includes": {"missing": "app"}}), false),
    ];
    for (condition, expected) in table {
        let steps = json!([
            {"json": {"field": "message", "add_to_root": true}},
            {"drop": {"if": condition}},
        ]);
        let is_dropped = run(steps, line).starts_with("dropped");
        assert_eq!(is_dropped, expected, "{condition}");
    }
}

#[test]
fn conditions_compare_two_fields() {
    let line = r#"{"a":"x","b":"x","n":9,"m":"10","list":["x",9],"text":"a box","f":9.0}"#;
    let table = [
        (json!({"compare": {"a": {"eq": "b"}}}), true),
        (json!({"compare": {"a": {"eq": "n"}}}), false),
        (json!({"compare": {"n": {"eq": "f"}}}), true),
        (json!({"compare": {"none": {"eq": "nothing"}}}), true),
        (json!({"compare": {"a": {"eq": "nothing"}}}), false),
        // Numbers, though one of them is a text.
        (json!({"compare": {"m": {"gt": "n"}}}), true),
        (json!({"compare": {"n": {"gte": "f", "lte": "f"}}}), true),
        (json!({"compare": {"n": {"lt": "f"}}}), false),
        (json!({"compare": {"text": {"lt": "a"}}}), true),
        (json!({"compare": {"none": {"gte": "nothing"}}}), false),
        (json!({"compare": {"a": {"in": "list"}}}), true),
        (json!({"compare": {"n": {"in": "list"}}}), true),
        (json!({"compare": {"text": {"in": "list"}}}), false),
        (json!({"compare": {"a": {"in": "text"}}}), true),
        (json!({"compare": {"none": {"in": "text"}}}), false),
        (json!({"not": {"compare": {"a": {"in": "none"}}}}), true),
    ];
    for (condition, expected) in table {
        let steps = json!([
            {"json": {"field": "message", "add_to_root": true}},
            {"drop": {"if": condition}},
        ]);
        let is_dropped = run(steps, line).starts_with("dropped");
        assert_eq!(is_dropped, expected, "{condition}");
    }
}

#[test]
fn failures_end_the_run_unless_they_are_ignored_or_handled_and_are_counted() {
    let fails = json!({"field": "message", "pattern": "%{a}|%{b}"});
    let with = |more: Json| {
        let mut config = fails.clone();
        config
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!([{"dissect": config}, {"add": {"field": "x", "value": 1}}])
    };
    check(with(json!({})), "l", r#"no_match {"message":"l"}"#);
    check(
        with(json!({"ignore_failure": true})),
        "l",
        r#"{"message":"l","x":1}"#,
    );
    check(
        with(json!({"on_failure": [{"add": {"field": "y", "value": 2}}]})),
        "l",
        r#"{"message":"l","y":2,"x":1}"#,
    );
    let mut plan = Plan::default();
    plan.add(&json!({"dissect": {"field": "m", "pattern": "%{a} %{b}", "tag": "t"}}))
        .unwrap();
    let slot = plan.slot("m").unwrap();
    for number in 0..100 {
        let line = plan.event.begin(&format!("line{number}")).unwrap();
        plan.event.put(slot, Value::Text(line)).unwrap();
        assert_eq!(plan.run(0), Err(Reason::NoMatch));
    }
    let counted = FailureCount {
        step: "dissect",
        tag: Some("t".to_owned()),
        reason: Reason::NoMatch,
        count: 100,
    };
    assert_eq!(plan.failures(), [counted]);
    assert_eq!(plan.failed_lines().len(), 3);
    assert_eq!(plan.failed_lines()[1].line, "line1");
}

#[test]
fn definitions_that_are_wrong_say_where() {
    let check = |definition: Json, expected: &str| {
        let error = Plan::default().add(&definition).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    check(
        json!({"dissekt": {}}),
        "No processor type exists with name [dissekt]",
    );
    check(
        json!({"dissect": {"pattern": "%{a}"}}),
        "[field] required property is missing",
    );
    check(
        json!({"remove": {"field": "a", "fild": "b"}}),
        "[fild] is no parameter of [remove]",
    );
    check(
        json!({"drop": {"if": {"equal": {"a": 1}}}}),
        "[if] has no condition [equal]; there are equals, contains, includes, within, compare, regexp, range, network, has_fields, and, or, not",
    );
    check(
        json!({"drop": {"if": {"compare": {"a": {"ne": "b"}}}}}),
        "[if] [compare] wants eq, gt, gte, lt, lte or in, and the names of other fields",
    );
    check(
        json!({"pipeline": {"name": "x"}}),
        "processor [pipeline] is for pipelines of a server",
    );
    check(json!([]), "expected one step and its parameters");
}

#[test]
fn lists_without_end_are_refused_before_they_fill_the_memory() {
    let kv = json!([{"kv": {"field": "message", "field_split": "&", "value_split": "="}}]);
    let short = vec!["a=1"; 500].join("&");
    assert!(run(kv.clone(), &short).starts_with("{\"message\""));
    let long = vec!["a=1"; 100_000].join("&");
    assert!(run(kv, &long).starts_with("too_long {\"message\""));
}

#[test]
fn names_without_end_are_refused_and_the_line_is_kept() {
    let mut plan = Plan::default();
    let message = plan.slot("message").unwrap();
    plan.add(&json!({"json": {"field": "message", "add_to_root": true}}))
        .unwrap();
    let mut refused = 0;
    for number in 0..2_000 {
        let line = plan.event.begin(&format!("{{\"k{number}\":1}}")).unwrap();
        plan.event.put(message, Value::Text(line)).unwrap();
        match plan.run(0) {
            Ok(Flow::On) => {}
            other => {
                assert_eq!(other, Err(Reason::TooManyNames));
                refused += 1;
            }
        }
    }
    // The message and the event's time have names, too.
    assert_eq!(refused, 2_002 - crate::NAMES_MAX);
}

#[test]
fn objects_that_bring_too_many_names_stay_whole() {
    let mut plan = Plan::default();
    let message = plan.slot("message").unwrap();
    let inner = plan.slot("o.known").unwrap();
    let outer = plan.slot("o").unwrap();
    plan.add(&json!({"json": {"field": "message", "add_to_root": true}}))
        .unwrap();
    for number in 0..crate::NAMES_MAX {
        let line = plan.event.begin(&format!("{{\"k{number}\":1}}")).unwrap();
        plan.event.put(message, Value::Text(line)).unwrap();
        let _ = plan.run(0);
    }
    plan.event.begin("x").unwrap();
    plan.event
        .put_json(outer, r#"{"known":1,"other":2}"#)
        .unwrap();
    assert_eq!(plan.event.get(inner), Value::Missing);
    assert_eq!(
        plan.event.put(inner, Value::Int(3)),
        Err(Reason::TooManyNames)
    );
    let mut out = Vec::new();
    plan.event.write(&mut out);
    assert_eq!(
        String::from_utf8_lossy(&out),
        r#"{"o":{"known":1,"other":2}}"#
    );
}

#[test]
fn lines_that_failed_are_shown_without_what_was_made_of_them() {
    let mut plan = Plan::default();
    let message = plan.slot("message").unwrap();
    let own = plan.slot("own").unwrap();
    plan.add(&json!({"json": {"field": "message"}})).unwrap();
    let line = plan.event.begin("no json").unwrap();
    plan.event.put(message, Value::Text(line)).unwrap();
    plan.event.put_text(own, "made").unwrap();
    assert_eq!(plan.run(0), Err(Reason::NotJson));
    assert_eq!(plan.failed_lines()[0].line, "no json");
}

#[test]
fn texts_are_redacted_and_durations_are_numbers() {
    check(
        json!([{"redact": {"field": ["message", "none"], "pattern": "\\d{4}"}}]),
        "card 1234 5678é",
        r#"{"message":"card *** ***é"}"#,
    );
    check(
        json!([{"redact": {"field": "message", "pattern": "x"}}]),
        "abc",
        r#"{"message":"abc"}"#,
    );
    let duration = |unit: &str| json!([{"duration": {"field": "message", "unit": unit}}]);
    check(duration("ms"), "1.5s", r#"{"message":1500.0}"#);
    check(duration("s"), "2m30s", r#"{"message":150.0}"#);
    check(duration("us"), "1 ms 5 µs", r#"{"message":1005.0}"#);
    for (written, seconds) in [
        ("-5ms", "-0.005"),
        ("1 hour 2 minutes 5 seconds", "3725.0"),
        ("2w", "1209600.0"),
        ("00:01:02.5", "62.5"),
        ("1.02:03:04", "93784.0"),
        ("PT1M30.5S", "90.5"),
        ("P1DT2H", "93600.0"),
    ] {
        let expected = format!(r#"{{"message":{seconds}}}"#);
        check(duration("s"), written, &expected);
    }
    for wrong in [
        "P", "PT", "P1H", "PT1D", "00:60:00", "1:2", "1e3s", "--1s", "PT-1S", ":::", ".",
    ] {
        let expected = format!(r#"not_convertible {{"message":"{wrong}"}}"#);
        check(duration("s"), wrong, &expected);
    }
    check(
        duration("ms"),
        "fast",
        r#"not_convertible {"message":"fast"}"#,
    );
    check(duration("ms"), "12", r#"not_convertible {"message":"12"}"#);
}
