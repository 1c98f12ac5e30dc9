//! Requests that change more than one thing: whatever the disk does at whatever step, all of it happens or nothing,
//! and what did not happen can be asked for again.

use clew_platform::SimDisk;
use serde_json::{Map, Value, json};

use super::{Node, eventually, open};
use crate::indices::filling::Filling;

/// A request, and those that must have been made before.
struct Scene {
    before: Vec<(&'static str, Value)>,
    request: (&'static str, Value),
}

#[allow(clippy::too_many_lines, reason = "a table of requests")]
fn scenes() -> Vec<Scene> {
    let two = || {
        vec![
            ("PUT /a", json!({"aliases": {"x": {}}})),
            ("PUT /b", json!({"settings": {"number_of_shards": 2}})),
            ("PUT /a/_doc/1?refresh=true", json!({"n": 1})),
            ("PUT /b/_doc/2?refresh=true", json!({"n": 2})),
        ]
    };
    let with = |more: Vec<(&'static str, Value)>| two().into_iter().chain(more).collect();
    let stream = || {
        let template = json!({"index_patterns": ["s*"], "data_stream": {}});
        vec![
            ("PUT /_index_template/t", template),
            ("PUT /_data_stream/s", Value::Null),
        ]
    };
    let scene = |before, request, body| Scene {
        before,
        request: (request, body),
    };
    let snapshot = with(vec![
        ("PUT /_index_template/t", json!({"index_patterns": ["t*"]})),
        (
            "PUT /_snapshot/r",
            json!({"type": "fs", "settings": {"location": "/repo/r"}}),
        ),
        ("PUT /_snapshot/r/s?wait_for_completion=true", Value::Null),
        ("DELETE /_index_template/t", Value::Null),
        ("DELETE /a,b", Value::Null),
    ]);
    let over_closed = with(vec![
        (
            "PUT /_snapshot/r",
            json!({"type": "fs", "settings": {"location": "/repo/r"}}),
        ),
        ("PUT /_snapshot/r/s?wait_for_completion=true", Value::Null),
        ("PUT /b/_alias/y", Value::Null),
        ("DELETE /b/_doc/2", Value::Null),
        ("POST /a,b/_close", Value::Null),
    ]);
    let logs = json!({"aliases": {"logs": {"is_write_index": true}}});
    let aliases = json!({"actions": [
        {"add": {"index": "b", "alias": "x"}},
        {"remove_index": {"index": "a"}},
    ]});
    vec![
        scene(
            vec![("PUT /logs-1", logs)],
            "POST /logs/_rollover",
            Value::Null,
        ),
        scene(
            vec![("PUT /logs-1", json!({"aliases": {"logs": {}}}))],
            "POST /logs/_rollover/next",
            json!({"aliases": {"other": {}}}),
        ),
        scene(stream(), "POST /s/_rollover", Value::Null),
        scene(
            [stream(), vec![("POST /s/_rollover", Value::Null)]].concat(),
            "DELETE /_data_stream/s",
            Value::Null,
        ),
        scene(two(), "DELETE /a,b", Value::Null),
        scene(two(), "POST /_aliases", aliases),
        scene(
            two(),
            "PUT /a,b/_mapping",
            json!({"properties": {"new": {"type": "keyword"}}}),
        ),
        scene(
            two(),
            "PUT /a,b/_settings",
            json!({"index.refresh_interval": "7s"}),
        ),
        scene(two(), "PUT /a,b/_block/write", Value::Null),
        scene(two(), "POST /a,b/_close", Value::Null),
        scene(
            with(vec![("PUT /a/_block/write", Value::Null)]),
            "PUT /a/_clone/c",
            Value::Null,
        ),
        scene(
            snapshot,
            "POST /_snapshot/r/s/_restore?wait_for_completion=true",
            json!({"include_global_state": true}),
        ),
        scene(
            over_closed,
            "POST /_snapshot/r/s/_restore?wait_for_completion=true",
            Value::Null,
        ),
    ]
}

/// What the node has, without what every try gives another value.
fn state(node: &Node) -> Value {
    let mut indices = node.done("GET /*?expand_wildcards=all", Value::Null);
    for (name, shown) in indices.as_object_mut().unwrap() {
        let settings = shown["settings"]["index"].as_object_mut().unwrap();
        for changing in ["uuid", "creation_date", "clew"] {
            settings.remove(changing);
        }
        let count = node.ask(&format!("GET /{name}/_stats/docs"), Value::Null).1;
        shown["docs"] = count["_all"]["primaries"]["docs"]["count"].clone();
    }
    let templates = node.done("GET /_index_template", Value::Null);
    json!({"indices": indices, "templates": templates})
}

impl Scene {
    fn prepared(&self, disk: &SimDisk) -> Node {
        let node = open(disk).unwrap();
        for (request, body) in &self.before {
            node.done(request, body.clone());
        }
        node
    }

    /// What was there before, and what is there when all goes well.
    fn ends(&self) -> (Value, Value) {
        let node = self.prepared(&SimDisk::new());
        let before = state(&node);
        node.done(self.request.0, self.request.1.clone());
        let after = state(&node);
        assert_ne!(before, after, "{}", self.request.0);
        (before, after)
    }

    /// The state is one of both, that of success if there was success; what did not happen can happen now.
    fn check(&self, node: &Node, (before, after): &(Value, Value), (status, place): (u16, &str)) {
        let place = format!("{}, {place}", self.request.0);
        let found = state(node);
        assert!(
            found == *after || status >= 300 && found == *before,
            "{place}: {status}, {}",
            difference(&found, before, after)
        );
        if found != *after {
            node.done(self.request.0, self.request.1.clone());
            assert_eq!(state(node), *after, "{place}");
        }
    }
}

/// The indexes that are in neither state.
fn difference(found: &Value, before: &Value, after: &Value) -> Value {
    let empty = Map::new();
    let found = found["indices"].as_object().unwrap_or(&empty);
    let other = found.iter().map(|(name, shown)| {
        let is = |state: &Value| state["indices"][name] == *shown;
        (name.clone(), json!([is(before), is(after), shown]))
    });
    other.collect::<Map<_, _>>().into()
}

/// Takes the power at each step of these.
fn cut_power(scenes: impl Iterator<Item = Scene>) {
    for scene in scenes {
        let ends = scene.ends();
        for step in 1.. {
            let disk = SimDisk::new();
            let node = scene.prepared(&disk);
            disk.cut_power_after(step);
            let (status, _) = node.ask(scene.request.0, scene.request.1.clone());
            let found = disk.crashed(step);
            drop(node);
            let node = open(&found).unwrap();
            scene.check(
                &node,
                &ends,
                (status, &format!("power cut at change {step}")),
            );
            if status < 300 {
                break;
            }
        }
    }
}

// Two tests, each with every other scene, so that they run side by side: no other of this crate takes as long.
#[test]
fn a_power_cut_leaves_all_of_a_change_or_nothing() {
    cut_power(scenes().into_iter().step_by(2));
}

#[test]
fn a_power_cut_leaves_all_of_every_other_change_or_nothing() {
    cut_power(scenes().into_iter().skip(1).step_by(2));
}

#[test]
fn a_failed_sync_leaves_all_of_a_change_or_nothing_and_it_can_be_asked_for_again() {
    for scene in scenes() {
        let ends = scene.ends();
        for step in 1.. {
            let disk = SimDisk::new();
            let node = scene.prepared(&disk);
            disk.fail_sync(step);
            let (status, _) = node.ask(scene.request.0, scene.request.1.clone());
            disk.fail_sync(u64::MAX);
            // The log takes writes again, and then indexes whose deletion was taken back are read from it.
            let place = format!("{}, sync {step} failed: {status}", scene.request.0);
            eventually(&format!("{place}: something stays failed"), || {
                if node.ask("PUT /_scripts/probe", script()).0 != 200 {
                    return None;
                }
                // As the node does itself now and then.
                crate::indices::filling::remove_unfinished(
                    &node.api.engine,
                    &node.api.parts.get::<Filling>(),
                );
                node.api.engine.health().shards.is_empty().then_some(())
            });
            node.done("DELETE /_scripts/probe", Value::Null);
            scene.check(&node, &ends, (status, &format!("sync {step} failed")));
            drop(node);
            let again = open(&disk.crashed(step)).unwrap();
            assert_eq!(state(&again), ends.1, "{}, restart", scene.request.0);
            if status < 300 {
                break;
            }
        }
    }
}

fn script() -> Value {
    json!({"script": {"lang": "mustache", "source": "{}"}})
}
