use serde_json::{Value as Json, json};

use crate::event::Value;
use crate::pipeline::Flow;
use crate::plan::Plan;

/// What a program makes of a line that is in `message`, beside a time, a number and an object.
fn run_step(parameters: &Json, line: &str) -> (String, Json, String) {
    let mut plan = Plan::default();
    let message = plan.slot("message").unwrap();
    let timestamp = plan.slot("@timestamp").unwrap();
    let offset = plan.slot("log.offset").unwrap();
    let host = plan.slot("host").unwrap();
    plan.add(&json!({"vrl": parameters})).unwrap();
    let mut shown = (String::new(), Json::Null, String::new());
    // Twice, as the second line finds the memory of the first.
    for _ in 0..2 {
        let line = plan.event.begin(line).unwrap();
        plan.event.put(message, Value::Text(line)).unwrap();
        plan.event
            .put(timestamp, Value::Time(1_767_323_045_678))
            .unwrap();
        plan.event.put(offset, Value::Int(17)).unwrap();
        plan.event
            .put_object(Some(host), r#""name":"web1""#)
            .unwrap();
        let done = match plan.run(0) {
            Ok(Flow::On) => "on".to_owned(),
            Ok(Flow::Dropped) => "dropped".to_owned(),
            Err(reason) => reason.as_str().to_owned(),
        };
        let mut out = Vec::new();
        plan.event.write(&mut out);
        shown = (
            done,
            serde_json::from_slice(&out).unwrap(),
            plan.said().to_owned(),
        );
    }
    shown
}

/// The changes of an event, those that are gone as null.
fn changes(source: &str, line: &str) -> Json {
    let (done, after, said) = run_step(&json!({"source": source}), line);
    assert_eq!(done, "on", "{said}");
    let before = json!({"message": line, "@timestamp": "2026-01-02T03:04:05.678Z",
        "log": {"offset": 17}, "host": {"name": "web1"}});
    let (before, after) = (before.as_object().unwrap(), after.as_object().unwrap());
    let mut changes = serde_json::Map::new();
    for name in before.keys().chain(after.keys()) {
        if before.get(name) != after.get(name) {
            changes.insert(name.clone(), after.get(name).cloned().unwrap_or_default());
        }
    }
    changes.into()
}

fn refused(source: &str) -> String {
    let step = json!({"vrl": {"source": source, "file": "p.vrl"}});
    Plan::default().add(&step).unwrap_err().to_string()
}

#[test]
fn fields_are_read_set_and_deleted() {
    let program = "
        parts = parse_regex!(.message, r'^(?P<level>\\w+) (?P<took>\\d+)ms (?P<text>.*)$')
        .level = downcase(parts.level)
        .took = to_int!(parts.took)
        .ratio = 1.5
        .text = parts.text
        .log.file = \"a\"
        .first = slice!(.message, 0, 4)
        .none = null
        .list = [1, {\"a\": true}]
        del(.message)
        del(.host.name)
    ";
    let expected = json!({"level": "warn", "took": 7, "ratio": 1.5, "text": "é\"ü", "message": null,
        "log": {"offset": 17, "file": "a"}, "first": "WARN", "none": null,
        "list": [1, {"a": true}], "host": {}});
    assert_eq!(changes(program, "WARN 7ms é\"ü"), expected);
}

#[test]
fn the_whole_event_may_be_asked_for_and_put_in_another_place() {
    assert_eq!(
        changes(". = merge(., {\"a.b\": 1})", "x"),
        json!({"a.b": 1})
    );
    assert_eq!(changes(".n = length(.)", "x"), json!({"n": 4}));
    assert_eq!(
        changes(".n = length(keys!(get!(., [])))", "x"),
        json!({"n": 4})
    );
    let moved = changes(". = {\"message\": .message, \"was\": .}", "x");
    assert_eq!(moved["was"]["host"], json!({"name": "web1"}));
    assert_eq!(moved["host"], Json::Null);
    let (done, after, said) = run_step(&json!({"source": ". = [1]"}), "x");
    assert_eq!(
        (done.as_str(), &after["message"]),
        ("not_an_object", &json!("x"))
    );
    assert!(said.contains("array"), "{said}");
    let (done, _, _) = run_step(&json!({"source": ". = unnest!(.list)"}), "x");
    assert_eq!(done, "program_failed");
}

#[test]
fn times_are_times() {
    assert_eq!(changes(".@timestamp = .@timestamp", "x"), json!({}));
    let later = changes(
        ".@timestamp = from_unix_timestamp!(to_unix_timestamp(timestamp!(.@timestamp)) + 1)",
        "x",
    );
    assert_eq!(later, json!({"@timestamp": "2026-01-02T03:04:06.000Z"}));
    let precise = changes(
        ".at = parse_timestamp!(\"2026-01-02T03:04:05.123456Z\", \"%+\")",
        "x",
    );
    assert_eq!(precise, json!({"at": "2026-01-02T03:04:05.123456Z"}));
    let source = ".at = parse_timestamp!(.message, \"%Y-%m-%d %H:%M:%S\")";
    let parameters = json!({"source": source, "timezone": "Europe/Berlin"});
    let (_, after, said) = run_step(&parameters, "2026-07-02 03:04:05");
    assert_eq!(after["at"], "2026-07-02T01:04:05.000Z", "{said}");
    let step = json!({"vrl": {"source": "", "timezone": "Mars"}});
    let error = Plan::default().add(&step).unwrap_err().to_string();
    assert!(error.starts_with("[timezone] has [Mars]"), "{error}");
}

#[test]
fn an_abort_drops_and_a_failure_keeps_unless_told_otherwise() {
    let abort = ".x = 1\nif .message == \"x\" { abort }";
    assert_eq!(run_step(&json!({"source": abort}), "x").0, "dropped");
    let (done, after, _) = run_step(&json!({"source": abort, "drop_on_abort": false}), "x");
    assert_eq!((done.as_str(), &after["x"]), ("on", &Json::Null));
    let failing = ".x = 1\n.y = parse_json!(.message)";
    let (done, after, said) = run_step(&json!({"source": failing}), "{");
    assert_eq!(
        (done.as_str(), &after["x"]),
        ("program_failed", &Json::Null)
    );
    assert!(said.contains("parse_json"), "{said}");
    let (done, _, _) = run_step(&json!({"source": failing, "drop_on_error": true}), "{");
    assert_eq!(done, "dropped");
}

#[test]
fn failures_are_counted_and_shown_also_when_they_drop() {
    let mut plan = Plan::default();
    let step =
        json!({"vrl": {"source": ". = parse_json!(\"{\")", "drop_on_error": true, "tag": "t"}});
    plan.add(&step).unwrap();
    plan.event.begin("a line").unwrap();
    assert_eq!(plan.run(0), Ok(Flow::Dropped));
    let counts = plan.failures();
    assert_eq!((counts[0].step, counts[0].count), ("vrl", 1));
    let failed = &plan.failed_lines()[0];
    assert_eq!(failed.line, "a line");
    assert!(failed.said.contains("parse_json"), "{}", failed.said);
}

#[test]
fn metadata_is_there_for_one_program() {
    assert_eq!(changes("%x = .message\n.y = %x", "x"), json!({"y": "x"}));
    assert_eq!(changes(".y = %x", "x"), json!({"y": null}));
}

#[test]
fn what_does_not_compile_is_shown_with_its_place() {
    let error = refused(".a = 1\n.b = parse_json(.message)\n");
    assert!(
        error.starts_with("[source] of p.vrl does not compile:\nerror[E103]"),
        "{error}"
    );
    assert!(error.contains("2 │ .b = parse_json(.message)"), "{error}");
    let error = refused(". = get_enrichment_table_record!(\"t\", {\"a\": 1})");
    assert!(
        error.contains("the processor `lookup` has tables"),
        "{error}"
    );
    let error = refused(".a = reverse_dns!(\"127.0.0.1\")");
    assert!(error.contains("must not make requests"), "{error}");
}

#[test]
fn what_only_the_system_knows_is_there() {
    assert_eq!(
        changes(".a = sha2(\"\", variant: \"SHA-224\")", "x")["a"]
            .as_str()
            .unwrap()
            .len(),
        56
    );
    assert!(changes(".a = get_hostname!()", "x")["a"].is_string());
    assert!(changes(".a = get_env_var(\"PATH\") ?? 1", "x")["a"].is_string());
}

#[test]
fn names_that_are_too_many_leave_the_event_as_it_was() {
    let many: serde_json::Map<String, Json> =
        (0..2000).map(|n| (format!("n{n}"), n.into())).collect();
    let line = Json::Object(many).to_string();
    let (done, after, _) = run_step(&json!({"source": ". = parse_json!(.message)"}), &line);
    assert_eq!(
        (done.as_str(), &after["message"]),
        ("too_many_names", &json!(line))
    );
}
