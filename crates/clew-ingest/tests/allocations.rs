//! A steady stream of lines allocates nothing, whether steps can do their work or not.

use std::alloc::System;

use clew_ingest::{Plan, Value};
use clew_platform::{CountingAllocator, thread_allocations};
use serde_json::{Value as Json, json};

#[global_allocator]
static ALLOCATOR: CountingAllocator<System> = CountingAllocator(System);

/// What a thousand lines allocate after a hundred have gone before.
fn allocated(steps: &Json, lines: &[&str]) -> u64 {
    let mut plan = Plan::default();
    let message = plan.slot("message").expect("a name");
    for step in steps.as_array().expect("a list") {
        plan.add(step).expect("a step");
    }
    let mut out = Vec::new();
    let mut run = |count: usize| {
        for number in 0..count {
            let line = plan
                .event
                .begin(lines[number % lines.len()])
                .expect("a short line");
            plan.event.put(message, Value::Text(line)).expect("a field");
            let _ = plan.run(1_767_323_045_678);
            out.clear();
            plan.event.write(&mut out);
        }
    };
    run(100);
    let before = thread_allocations();
    run(1000);
    thread_allocations() - before
}

#[test]
fn a_steady_stream_of_lines_allocates_nothing() {
    let table = [
        (
            json!([
                {"dissect": {"field": "message", "pattern": "%{ts} %{+ts} %{level->} [%{thread}] %{*k}=%{&k} %{n}"}},
                {"convert": {"field": "n", "type": "long"}},
                {"lowercase": {"field": "level"}},
                {"date": {"field": "ts", "formats": ["yyyy-MM-ddHH:mm:ss,SSS"], "timezone": "Europe/Berlin"}},
                {"remove": {"field": "message"}},
            ]),
            vec![
                "2026-01-02 03:04:05,678 INFO  [main] a=1 7",
                "2026-01-02 03:04:06,679 WARN [pool-1] b=2 123456",
                "not at all",
                "2026-01-02 03:04:06,679 WARN [pool-1] b=2 no number",
            ],
        ),
        (
            json!([
                {"json": {"field": "message", "add_to_root": true}},
                {"add": {"field": "host.os", "value": "linux"}},
                {"rename": {"field": "user", "target_field": "user_name", "ignore_missing": true}},
                {"drop": {"if": {"and": [{"equals": {"level": "debug"}}, {"range": {"n": {"lt": 5}}}]}}},
                {"truncate": {"field": "text", "max_bytes": 5}},
            ]),
            vec![
                r#"{"level":"info","n":1.5,"host":{"name":"h"},"user":"u","text":"some text"}"#,
                r#"{"level":"debug","n":2,"host":{"name":"h","os":"x"}}"#,
                r#"{"n":2,"level":"info","text":"t"}"#,
                "{broken",
            ],
        ),
        (
            json!([
                {"grok": {"field": "message", "patterns": [
                    "%{IPORHOST:ip} %{USER:user} \\[%{HTTPDATE:t}\\] %{QS:q} %{NUMBER:n:int}",
                    "%{WORD:w}=%{GREEDYDATA:rest}",
                ]}},
            ]),
            vec![
                r#"10.0.0.1 - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/1.1" 200"#,
                "a=b c d",
                "none of them",
            ],
        ),
        (
            json!([{"regex": {"field": "message", "pattern": "^(?<a>\\w+) (?<b>\\d+)$"}}]),
            vec!["x 12", "y 13", "no"],
        ),
        (
            json!([{"csv": {"field": "message", "target_fields": ["a", "b", "c"]}}]),
            vec!["1,2,3", "1,\"2,\"\"\",3", "\"open"],
        ),
        (
            json!([{"logfmt": {"field": "message"}}]),
            vec![
                "level=info msg=\"two words\" n=1 ok",
                "level=warn msg=\"a b\"",
                "= x",
            ],
        ),
        (
            json!([{"kv": {"field": "message", "field_split": "&", "value_split": "=", "target_field": "q"}}]),
            vec!["a=1&b=2", "b=3&a=4&c=", "a"],
        ),
    ];
    for (steps, lines) in table {
        assert_eq!(allocated(&steps, &lines), 0, "{steps}");
    }
}

#[test]
fn lines_of_patterns_that_are_known_allocate_nothing() {
    let steps = json!([{"pattern": {}}, {"remove": {"field": "message"}}]);
    let lines = [
        "user anna logged in from 10.0.0.1 after 17 ms",
        "user bert logged in from 10.0.0.2 after 18 ms",
        "",
    ];
    assert_eq!(allocated(&steps, &lines), 0);
}
