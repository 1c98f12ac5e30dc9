//! JSON of lines, and where it comes among what is there.

use super::*;

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
fn objects_alone_may_be_taken() {
    let steps = json!([{"json": {"field": "message", "target_field": "j", "objects_only": true}}]);
    for line in ["[1]", "12", "true", "null"] {
        let expected = format!(r#"not_json {{"message":"{line}"}}"#);
        check(steps.clone(), line, &expected);
    }
    check(
        steps,
        r#" {"a":1}"#,
        r#"{"message":" {\"a\":1}","j":{"a":1}}"#,
    );
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
