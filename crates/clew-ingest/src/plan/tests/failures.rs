//! Failures and bounds.

use super::*;

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
        "[if] has no condition [equal]; there are equals, is, contains, includes, within, compare, regexp, range, network, has_fields, and, or, not",
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
