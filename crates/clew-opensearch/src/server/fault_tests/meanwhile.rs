//! What a request has looked at, and others have changed before it does what it wants.

use std::sync::{Arc, Barrier};

use clew_engine::{Access, Index, Purpose};
use clew_platform::SimDisk;
use serde_json::{Value, json};

use super::{Node, eventually, open};
use crate::http::setting_values::Flat;
use crate::indices::{index_settings, rollover};

fn index(node: &Node, name: &str) -> Arc<Index> {
    let everything = Access::everything();
    let engine = &node.api.engine;
    let opened = engine.open_exactly(name, &everything, Purpose::Change);
    opened.unwrap().index().clone()
}

#[test]
fn a_rollover_takes_an_alias_from_the_index_that_is_written_to_alone() {
    let node = open(&SimDisk::new()).unwrap();
    let logs = json!({"aliases": {"logs": {"is_write_index": true}}});
    node.done("PUT /logs-1", logs);
    node.done("PUT /other", Value::Null);
    let everything = Access::everything();
    let around = (&node.api.engine, &everything);
    let (old, _) = rollover::find(around, "logs").unwrap();
    let moved = json!({"actions": [
        {"add": {"index": "logs-1", "alias": "logs", "is_write_index": false}},
        {"add": {"index": "other", "alias": "logs", "is_write_index": true}},
    ]});
    node.done("POST /_aliases", moved);
    let finished = rollover::finish(around, "logs", (&old, "logs-000002"));
    assert_eq!(finished.unwrap_err().status().as_u16(), 400);
    assert_eq!(node.ask("HEAD /logs-000002", Value::Null).0, 404);
    let aliases = node.done("GET /_alias/logs", Value::Null);
    let writes = |name: &str| aliases[name]["aliases"]["logs"]["is_write_index"].clone();
    assert_eq!(
        (writes("logs-1"), writes("other")),
        (json!(false), json!(true))
    );
    let written = node.done("POST /logs/_doc", json!({"n": 1}));
    assert_eq!(written["_index"], "other");
}

#[test]
fn a_rollover_of_an_index_that_was_deleted_makes_none() {
    let node = open(&SimDisk::new()).unwrap();
    node.done("PUT /logs-1", json!({"aliases": {"logs": {}}}));
    let old = index(&node, "logs-1");
    node.done("DELETE /logs-1", Value::Null);
    let everything = Access::everything();
    let around = (&node.api.engine, &everything);
    let finished = rollover::finish(around, "logs", (&old, "logs-000002"));
    assert_eq!(finished.unwrap_err().status().as_u16(), 404);
    assert_eq!(node.ask("HEAD /logs-000002", Value::Null).0, 404);
}

#[test]
fn settings_are_given_to_the_index_that_was_looked_at() {
    let node = open(&SimDisk::new()).unwrap();
    node.done("PUT /i", Value::Null);
    let old = index(&node, "i");
    node.done("DELETE /i", Value::Null);
    node.done("PUT /i", Value::Null);
    let flat = Flat::from([("index.blocks.write".to_string(), Some("true".to_string()))]);
    let everything = Access::everything();
    let around = (&node.api.engine, &everything);
    let changed = index_settings::change(around, &old, &flat);
    assert_eq!(changed.unwrap_err().status().as_u16(), 404);
    assert!(index(&node, "i").settings().blocks.is_empty());
}

#[test]
fn of_snapshots_of_one_name_at_once_one_is_taken() {
    let node = open(&SimDisk::new()).unwrap();
    let repository = json!({"type": "fs", "settings": {"location": "/repo/r"}});
    node.done("PUT /_snapshot/r", repository);
    node.done("PUT /d/_doc/1", json!({"n": 1}));
    for _ in 0..20 {
        let take = || {
            let request = "PUT /_snapshot/r/s?wait_for_completion=true";
            node.ask(request, Value::Null).0
        };
        let both = Barrier::new(2);
        let (first, second) = std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                both.wait();
                take()
            });
            both.wait();
            let second = take();
            (first.join().unwrap(), second)
        });
        let is_taken = |status: u16| usize::from(status == 200);
        assert_eq!(is_taken(first) + is_taken(second), 1, "{first} {second}");
        let shown = node.done("GET /_snapshot/r/_all", Value::Null);
        assert_eq!(shown["snapshots"].as_array().map(Vec::len), Some(1));
        node.done("DELETE /_snapshot/r/s", Value::Null);
    }
}

/// An index whose documents have the same ids and sequence numbers whenever it is made.
fn fill(node: &Node, name: &str) {
    let lines: String = (0..40)
        .map(|n| format!("{{\"index\":{{\"_id\":\"{n}\"}}}}\n{{\"n\":{n}}}\n"))
        .collect();
    let written = node.done(&format!("POST /{name}/_bulk?refresh=true"), lines);
    assert_eq!(written["errors"], false);
}

/// Begins a job by query that rests behind its first ten documents; its task.
fn resting(node: &Node, verb: &str, done: &str) -> String {
    let slow = "wait_for_completion=false&requests_per_second=0.01&scroll_size=10";
    let all = json!({"query": {"match_all": {}}});
    let begun = node.done(&format!("POST /i/{verb}?{slow}"), all);
    let task = begun["task"].as_str().unwrap().to_string();
    eventually("the first page is not written", || {
        let shown = node.done(&format!("GET /_tasks/{task}"), Value::Null);
        (shown["task"]["status"][done] == 10).then_some(())
    });
    task
}

#[test]
fn a_job_by_query_writes_to_no_index_that_has_the_name_of_its_own_since() {
    for (verb, done) in [
        ("_delete_by_query", "deleted"),
        ("_update_by_query", "updated"),
    ] {
        for is_made_anew in [true, false] {
            let node = open(&SimDisk::new()).unwrap();
            fill(&node, "i");
            let task = resting(&node, verb, done);
            node.done("DELETE /i", Value::Null);
            if is_made_anew {
                fill(&node, "i");
            }
            let go_on = format!("POST /{verb}/{task}/_rethrottle?requests_per_second=-1");
            node.done(&go_on, Value::Null);
            let wait = format!("GET /_tasks/{task}?wait_for_completion=true");
            let ended = &node.done(&wait, Value::Null)["response"];
            assert_eq!(ended[done], 10, "{ended}");
            let failure = &ended["failures"][0];
            let kind = &failure["cause"]["type"];
            assert_eq!(kind, "index_not_found_exception", "{ended}");
            if !is_made_anew {
                assert_eq!(node.ask("HEAD /i", Value::Null).0, 404, "{verb}");
                continue;
            }
            node.done("POST /i/_refresh", Value::Null);
            let all = json!({"version": true, "size": 100});
            let found = node.done("POST /i/_search", all);
            let hits = found["hits"]["hits"].as_array().unwrap();
            assert_eq!(hits.len(), 40, "{verb}");
            assert!(hits.iter().all(|hit| hit["_version"] == 1), "{verb}");
        }
    }
}

#[test]
fn a_job_by_query_that_fails_in_the_middle_tells_what_it_has_done() {
    let disk = SimDisk::new();
    let node = open(&disk).unwrap();
    fill(&node, "i");
    let script = "ctx._source.n = 1 / (25 - ctx._source.n)";
    let request = "POST /i/_update_by_query?scroll_size=10";
    let (status, told) = node.ask(request, json!({ "script": script }));
    assert_eq!((status, &told["updated"]), (400, &json!(20)), "{told}");
    let reason = &told["failures"][0]["reason"];
    assert_eq!(reason["type"], "script_exception", "{told}");
    // Where nothing was done there is nothing to tell beside it.
    let all_at_once = node.ask("POST /i/_update_by_query", json!({ "script": "1 / 0" }));
    let error = &all_at_once.1["error"];
    assert_eq!(error["type"], "script_exception", "{}", all_at_once.1);

    fill(&node, "i");
    let task = resting(&node, "_delete_by_query", "deleted");
    disk.fail_sync(1);
    let go_on = format!("POST /_delete_by_query/{task}/_rethrottle?requests_per_second=-1");
    node.done(&go_on, Value::Null);
    let wait = format!("GET /_tasks/{task}?wait_for_completion=true");
    let ended = &node.done(&wait, Value::Null)["response"];
    let failure = &ended["failures"][0];
    assert_eq!(
        (&ended["deleted"], &failure["status"]),
        (&json!(10), &json!(503))
    );
}
