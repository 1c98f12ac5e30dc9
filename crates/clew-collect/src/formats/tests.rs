use clew_ingest::{Plan, Reason, Value};
use serde_json::{Value as Json, json};

use super::*;

/// What the step makes of a text in `said`, beside which there is `kept`.
fn parsed(parameters: Json, text: &str) -> Result<Json, Reason> {
    let mut plan = Plan::with_formats(&KnownFormats);
    let mut parameters = parameters;
    parameters["timezone"] = "UTC".into();
    plan.add(&json!({ "parse": parameters })).unwrap();
    let said = plan.slot("said").unwrap();
    let line = plan.event.begin(text).unwrap();
    plan.event.put(said, Value::Text(line)).unwrap();
    plan.event
        .put_object(None, r#""event":{"kept":1},"log":{"offset":7}"#)
        .unwrap();
    plan.run(1_782_777_600_000)?;
    let mut out = Vec::new();
    plan.event.write(&mut out);
    Ok(serde_json::from_slice(&out).unwrap())
}

#[test]
fn a_field_has_the_fields_that_its_input_would_give_it() {
    let line = r#"10.0.0.7 - bob [02/Jan/2026:03:04:05 +0000] "GET /a?b HTTP/1.1" 200 12"#;
    for (format, dataset) in [
        ("nginx_access", "nginx_access"),
        ("clf", "apache_access"),
        ("auto", "nginx_access"),
    ] {
        let found = parsed(json!({"field": "said", "format": format}), line).unwrap();
        assert_eq!(
            found,
            json!({
                "@timestamp": "2026-01-02T03:04:05.000Z",
                "said": line,
                "event": {"kept": 1, "dataset": dataset, "outcome": "success"},
                "log": {"offset": 7},
                "source": {"address": "10.0.0.7", "ip": "10.0.0.7"},
                "user": {"name": "bob"},
                "http": {"version": "1.1", "request": {"method": "GET"},
                         "response": {"status_code": 200, "body": {"bytes": 12}}},
                "url": {"original": "/a?b", "path": "/a", "query": "b"},
            }),
            "{format}"
        );
    }
    // A time without a year is of the last one that is not in the future.
    let glog = "E1231 03:04:05.678901 17 main.cc:42] it broke";
    let found = parsed(json!({"field": "said", "format": "auto"}), glog).unwrap();
    assert_eq!(found["@timestamp"], "2025-12-31T03:04:05.678Z");
    assert_eq!(
        found["log"],
        json!({"offset": 7, "level": "error", "origin": {"file": {"name": "main.cc", "line": 42}}})
    );
}

#[test]
fn wrappings_give_the_text_that_is_in_them() {
    let check = |format: &str, text: &str, expected: Json| {
        let found = parsed(json!({"field": "said", "format": format}), text).unwrap();
        let time = "2016-10-06T00:07:09.794Z";
        assert_eq!(found["@timestamp"], time, "{text}");
        let seen = json!([found["said"], found["stream"], found["log"]]);
        assert_eq!(seen, expected, "{text}");
    };
    let cri = "2016-10-06T00:07:09.794Z stderr P a part";
    let part = json!(["a part", "stderr", {"offset": 7, "flags": ["partial"]}]);
    check("cri", cri, part.clone());
    check("container", cri, part);
    let docker = r#"{"log":"a \"line\"\n","stream":"stdout","time":"2016-10-06T00:07:09.794Z"}"#;
    let whole = json!(["a \"line\"", "stdout", {"offset": 7}]);
    check("docker", docker, whole.clone());
    check("container", docker, whole);
}

#[test]
fn what_is_not_of_the_format_stays_as_it_is_and_is_counted() {
    for format in ["nginx_access", "syslog", "cri", "docker", "glog", "auto"] {
        let parameters = json!({"field": "said", "format": format});
        assert_eq!(parsed(parameters, "no such line"), Err(Reason::NoMatch));
    }
    let missing = |parameters| parsed(parameters, "a");
    assert_eq!(missing(json!({"format": "json"})), Err(Reason::Missing));
    let quiet = json!({"format": "json", "ignore_missing": true});
    assert_eq!(missing(quiet).unwrap()["said"], "a");
    let refused = |parameters: Json| {
        let mut plan = Plan::with_formats(&KnownFormats);
        let refused = plan.add(&json!({ "parse": parameters })).unwrap_err();
        refused.to_string()
    };
    let unknown = refused(json!({"format": "ngnix"}));
    assert!(unknown.starts_with("[format] is [ngnix], and there are auto, cri, docker,"));
    assert!(refused(json!({})).contains("[format] required property is missing"));
    assert!(refused(json!({"format": "glog", "timezone": "Mars"})).contains("[timezone]"));
    let alone = Plan::default().add(&json!({"parse": {"format": "glog"}}));
    assert!(alone.is_err());
}
