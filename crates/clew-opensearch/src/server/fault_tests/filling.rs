//! An index that is being filled: should that fail, it goes. So nothing is acknowledged that would go with it, and no
//! answer takes a part of it for the whole.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, mpsc};

use clew_engine::{Access, Alias, Aliases, Document, EngineError, Index, Purpose};
use clew_platform::{Disk, SimDisk};
use clew_schema::Mapping;
use serde_json::{Value, json};

use super::{Node, PATIENCE, eventually, open};
use crate::http::error::ApiError;
use crate::http::setting_values::Flat;
use crate::indices::filling::{self, Filled};

/// Makes the index `i` with the alias `other` of one document; does something before that is in it.
fn fill(node: &Node, meanwhile: impl Fn() -> Result<(), EngineError>) -> Result<(), ApiError> {
    fill_in_place_of(node, None, meanwhile)
}

/// The same, in place of a closed index of that name.
fn fill_in_place_of(
    node: &Node,
    in_place_of: Option<Arc<Index>>,
    meanwhile: impl Fn() -> Result<(), EngineError>,
) -> Result<(), ApiError> {
    let access = Access::everything();
    let filled = Filled {
        name: "i".to_string(),
        settings: Flat::new(),
        mapping: Mapping::new(),
        aliases: Aliases::from([("other".to_string(), Alias::default())]),
        private: BTreeMap::new(),
        in_place_of,
    };
    let around = (&*node.api, &access);
    filling::make(
        around,
        vec![filled],
        Vec::new(),
        |(engine, access), _, index| {
            meanwhile()?;
            let document = Document {
                id: "1".to_string(),
                version: 1,
                seq_no: 0,
                routing: None,
                source: r#"{"n": 1}"#.into(),
            };
            let documents = [Ok(document)].into_iter();
            engine.fill_index(access, index, documents).map(drop)
        },
    )
}

/// What a node answers over an index that is being filled.
fn check_unserved(node: &Node) {
    let document = || json!({"n": 2});
    let update = json!({"doc": document(), "doc_as_upsert": true});
    for (request, body) in [
        ("PUT /i/_doc/2", document()),
        ("PUT /other/_create/2", document()),
        ("POST /i/_doc", document()),
        ("POST /i/_update/1", update),
        ("DELETE /i/_doc/1", Value::Null),
    ] {
        let (status, answer) = node.ask(request, body);
        assert_eq!(status, 503, "{request}: {answer}");
        let error = &answer["error"];
        assert_eq!(error["type"], "unavailable_shards_exception", "{request}");
        assert_eq!(error["reason"], "[i][0] primary shard is not active");
    }
    let lines = "{\"index\": {\"_index\": \"i\", \"_id\": \"2\"}}\n{\"n\": 2}\n";
    let answer = node.done("POST /_bulk", lines);
    let item = &answer["items"][0]["index"];
    assert_eq!(item["status"], 503, "{answer}");
    assert_eq!(item["error"]["type"], "unavailable_shards_exception");
    for request in ["GET /i/_doc/1", "POST /i/_search", "POST /other/_count"] {
        let (status, answer) = node.ask(request, Value::Null);
        assert_eq!(status, 503, "{request}: {answer}");
        let text = answer.to_string();
        assert!(
            text.contains("no_shard_available_action_exception"),
            "{text}"
        );
    }
    let health = node.done("GET /_cluster/health/i?level=shards", Value::Null);
    let shown = [
        "status",
        "active_shards",
        "initializing_shards",
        "unassigned_shards",
    ];
    let shown = shown.map(|name| health[name].clone());
    assert_eq!(shown, [json!("yellow"), json!(0), json!(1), json!(0)]);
    let shard = &health["indices"]["i"]["shards"]["0"];
    assert_eq!(shard["primary_active"], false);
    let waiting = "GET /_cluster/health?wait_for_no_initializing_shards=true&timeout=0s";
    assert_eq!(node.ask(waiting, Value::Null).0, 408);
    let states = node.done("GET /_cat/shards/i?h=state", Value::Null);
    assert_eq!(states.as_str().map(str::trim), Some("INITIALIZING"));
}

#[test]
fn an_index_serves_nothing_before_it_is_filled_and_everything_then() {
    let disk = SimDisk::new();
    let node = open(&disk).unwrap();
    let filled = fill(&node, || {
        check_unserved(&node);
        // What it is may change, though.
        node.done(
            "PUT /i/_mapping",
            json!({"properties": {"k": {"type": "keyword"}}}),
        );
        node.done("PUT /i/_settings", json!({"index.blocks.write": true}));
        node.done("PUT /i/_settings", json!({"index.max_result_window": 7}));
        node.done("PUT /i/_alias/more", Value::Null);
        Ok(())
    });
    filled.unwrap();
    let check = |node: &Node| {
        let found = node.done("POST /i/_search", json!({"size": 7}));
        assert_eq!(found["hits"]["hits"][0]["_source"], json!({"n": 1}));
        let shown = node.done("GET /more", Value::Null);
        assert_eq!(shown["i"]["mappings"]["properties"]["k"]["type"], "keyword");
        let settings = &shown["i"]["settings"]["index"];
        assert_eq!(settings["max_result_window"], "7");
        assert_eq!(settings["blocks"]["write"], "true");
        assert!(settings["clew"].is_null(), "{settings}");
    };
    check(&node);
    node.done("PUT /i/_settings", json!({"index.blocks.write": false}));
    node.done("PUT /other/_doc/2", json!({"n": 2}));
    node.done("DELETE /other/_doc/2", Value::Null);
    node.done("PUT /i/_settings", json!({"index.blocks.write": true}));
    drop(node);
    check(&open(&disk.crashed(1)).unwrap());
}

#[test]
fn an_index_that_is_made_anew_under_the_name_of_one_that_is_filled_is_left_alone() {
    let node = open(&SimDisk::new()).unwrap();
    let refused = fill(&node, || {
        node.done("DELETE /i", Value::Null);
        node.done("PUT /i/_doc/mine?refresh=true", json!({"n": 3}));
        Ok(())
    });
    assert_eq!(refused.unwrap_err().status().as_u16(), 404);
    let found = node.done("POST /i/_search", Value::Null);
    assert_eq!(found["hits"]["total"]["value"], 1);
    assert_eq!(found["hits"]["hits"][0]["_id"], "mine");
}

#[test]
fn blocks_that_an_index_gets_while_it_is_filled_hold_up_neither_its_end_nor_its_removal() {
    let node = open(&SimDisk::new()).unwrap();
    let block = || {
        node.done("PUT /i/_settings", json!({"index.blocks.read_only": true}));
    };
    let refused = fill(&node, || {
        block();
        let reason = "there are no more documents".to_string();
        Err(EngineError::InvalidRequest { reason })
    });
    refused.unwrap_err();
    assert_eq!(node.ask("GET /i", Value::Null).0, 404);
    let filled = fill(&node, || {
        block();
        Ok(())
    });
    filled.unwrap();
    let found = node.done("POST /i/_search", Value::Null);
    assert_eq!(found["hits"]["total"]["value"], 1);
    // Now they keep what it has.
    assert_eq!(node.ask("DELETE /i", Value::Null).0, 403);
}

/// The index `i` of two documents and an alias, closed.
fn closed(node: &Node) -> Arc<Index> {
    for id in ["1", "2"] {
        node.done(&format!("PUT /i/_doc/{id}"), json!({"n": "old"}));
    }
    node.done("PUT /i/_alias/kept", Value::Null);
    node.done("POST /i/_close", Value::Null);
    let everything = Access::everything();
    let opened = node
        .api
        .engine
        .open_exactly("i", &everything, Purpose::Change);
    opened.unwrap().index().clone()
}

fn count_after_opening(node: &Node) -> Value {
    node.done("POST /i/_open", Value::Null);
    node.done("POST /i/_refresh", Value::Null);
    node.done("GET /i/_count", Value::Null)["count"].clone()
}

#[test]
fn a_closed_index_stays_as_it_is_until_the_one_that_takes_its_place_is_whole() {
    let disk = SimDisk::new();
    let node = open(&disk).unwrap();
    let old = closed(&node);
    let filled = fill_in_place_of(&node, Some(old.clone()), || {
        // All there is of it is a hidden index that serves nothing.
        let shown = node.done("GET /*?expand_wildcards=open,closed", Value::Null);
        let names: Vec<&String> = shown.as_object().unwrap().keys().collect();
        assert_eq!(names, ["i"]);
        assert_eq!(shown["i"]["aliases"], json!({"kept": {}}));
        let waiting = "GET /_cluster/health/i?wait_for_no_initializing_shards=true&timeout=0s";
        assert_eq!(node.ask(waiting, Value::Null).0, 408);
        let recovery = node.done("GET /i/_recovery?active_only=true", Value::Null);
        assert_eq!(recovery["i"]["shards"][0]["stage"], "INDEX");
        assert_eq!(node.ask("GET /other", Value::Null).0, 404);
        // The end of the process leaves the old one alone.
        let again = open(&disk.crashed(1)).unwrap();
        let shown = again.done("GET /*?expand_wildcards=all", Value::Null);
        assert_eq!(shown.as_object().map(|shown| shown.len()), Some(1));
        assert_eq!(count_after_opening(&again), 2);
        Ok(())
    });
    filled.unwrap();
    let check = |node: &Node| {
        let shown = node.done("GET /*?expand_wildcards=all", Value::Null);
        assert_eq!(shown.as_object().map(|shown| shown.len()), Some(1));
        assert_eq!(shown["i"]["aliases"], json!({"other": {}}));
        let found = node.done("POST /other/_search", Value::Null);
        assert_eq!(found["hits"]["hits"][0]["_index"], "i");
        assert_eq!(found["hits"]["hits"][0]["_source"], json!({"n": 1}));
        assert_eq!(found["hits"]["total"]["value"], 1);
        assert_eq!(node.ask("GET /kept", Value::Null).0, 404);
    };
    check(&node);
    let folder = Path::new("/data/indices").join(old.uuid());
    assert!(!disk.exists(&folder), "the old files are there");
    drop((old, node));
    check(&open(&disk.crashed(2)).unwrap());
}

#[test]
fn a_closed_index_is_there_when_what_was_to_take_its_place_fails() {
    type Filled = fn(&Node) -> Result<(), EngineError>;
    let failing: [Filled; 3] = [
        |_| {
            let reason = "there are no more documents".to_string();
            Err(EngineError::InvalidRequest { reason })
        },
        // Who has opened it goes on with it.
        |node| {
            node.done("POST /i/_open", Value::Null);
            Ok(())
        },
        |node| {
            node.done("PUT /i/_settings", json!({"index.blocks.read_only": true}));
            Ok(())
        },
    ];
    for (n, fails) in failing.into_iter().enumerate() {
        let node = open(&SimDisk::new()).unwrap();
        let old = closed(&node);
        fill_in_place_of(&node, Some(old.clone()), || fails(&node)).unwrap_err();
        let shown = node.done("GET /*?expand_wildcards=all", Value::Null);
        assert_eq!(shown.as_object().map(|shown| shown.len()), Some(1), "{n}");
        assert!(!old.is_initializing(), "{n}");
        node.done("PUT /i/_settings", json!({"index.blocks.read_only": false}));
        assert_eq!(count_after_opening(&node), 2, "{n}");
    }
}

#[test]
fn an_index_that_is_deleted_while_another_one_is_filled_to_take_its_place_is_not_made_again() {
    let node = open(&SimDisk::new()).unwrap();
    let old = closed(&node);
    let refused = fill_in_place_of(&node, Some(old), || {
        node.done("DELETE /i", Value::Null);
        Ok(())
    });
    assert_eq!(refused.unwrap_err().status().as_u16(), 404);
    let shown = node.done("GET /*?expand_wildcards=all", Value::Null);
    assert_eq!(shown, json!({}));
}

#[test]
fn a_snapshot_of_all_indexes_goes_on_without_one_that_is_filled() {
    let node = open(&SimDisk::new()).unwrap();
    let repository = json!({"type": "fs", "settings": {"location": "/repo/r"}});
    node.done("PUT /_snapshot/r", repository);
    node.done("PUT /d/_doc/1", json!({"n": 1}));
    let filled = fill(&node, || {
        let taken = node.done("PUT /_snapshot/r/s?wait_for_completion=true", Value::Null);
        assert_eq!(taken["snapshot"]["indices"], json!(["d"]), "{taken}");
        // Whoever names it is told that there is nothing to take yet.
        for name in ["i", "d,other"] {
            let named = json!({"indices": name});
            let (status, _) = node.ask("PUT /_snapshot/r/n?wait_for_completion=true", named);
            assert_eq!(status, 503, "{name}");
        }
        Ok(())
    });
    filled.unwrap();
    let taken = node.done("PUT /_snapshot/r/n?wait_for_completion=true", Value::Null);
    assert_eq!(taken["snapshot"]["indices"], json!(["d", "i"]), "{taken}");
}

/// Documents of `src`, which may not be written to then.
const DOCUMENTS: usize = 3;

fn blocked_source(node: &Node) {
    let lines: String = (0..DOCUMENTS)
        .map(|n| format!("{{\"index\": {{\"_id\": \"{n}\"}}}}\n{{\"n\": {n}}}\n"))
        .collect();
    let written = node.done("POST /src/_bulk?refresh=true", lines);
    assert_eq!(written["errors"], false);
    node.done("PUT /src/_settings", json!({"index.blocks.write": true}));
}

/// What a request is answered while the disk stands still, so that nothing that it began can end before. One that waits for
/// its end all the same has another answer, or none.
fn answer_before_the_end((node, disk): (&Node, &SimDisk), (request, body): (&str, Value)) -> Value {
    let (answered, is_answered) = mpsc::channel();
    disk.stall();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = is_answered.recv_timeout(PATIENCE);
            disk.resume();
        });
        let answer = node.ask(request, body);
        // Nobody is there any more where it came too late.
        let _ = answered.send(());
        let (status, answer) = answer;
        assert_eq!(status, 200, "{request}: {answer}");
        answer
    })
}

/// Waits until an index has all documents of `src`.
fn check_filled(node: &Node, name: &str) {
    eventually("an index is not filled", || {
        let (status, counted) = node.ask(&format!("GET /{name}/_count"), Value::Null);
        (status == 200 && counted["count"] == DOCUMENTS).then_some(())
    });
}

#[test]
fn a_copy_that_is_not_there_in_time_goes_on_and_its_client_is_told_so() {
    let disk = SimDisk::new();
    let node = open(&disk).unwrap();
    blocked_source(&node);
    let clone = ("PUT /src/_clone/copy?timeout=0", json!({}));
    let answer = answer_before_the_end((&node, &disk), clone);
    assert_eq!(answer["shards_acknowledged"], false, "{answer}");
    assert_eq!(answer["index"], "copy");
    check_filled(&node, "copy");
    let answer = node.done("PUT /src/_clone/other", json!({}));
    let shown = json!({"acknowledged": true, "shards_acknowledged": true, "index": "other"});
    assert_eq!(answer, shown);
    check_filled(&node, "other");
}

#[test]
fn snapshots_are_restored_and_cloned_though_nobody_waits_for_it() {
    let disk = SimDisk::new();
    let node = open(&disk).unwrap();
    blocked_source(&node);
    let repository = json!({"type": "fs", "settings": {"location": "/repo/r"}});
    node.done("PUT /_snapshot/r", repository);
    node.done("PUT /_snapshot/r/s?wait_for_completion=true", Value::Null);
    let clone = "PUT /_snapshot/r/s/_clone/t?master_timeout=0";
    let clone = (clone, json!({"indices": "src"}));
    let answer = answer_before_the_end((&node, &disk), clone);
    assert_eq!(answer, json!({"acknowledged": false}));
    eventually("a snapshot is not cloned", || {
        let (status, shown) = node.ask("GET /_snapshot/r/t", Value::Null);
        let state = &shown["snapshots"][0]["state"];
        (status == 200 && state == "SUCCESS").then_some(())
    });
    let renamed = json!({"rename_pattern": "src", "rename_replacement": "back"});
    let restore = "POST /_snapshot/r/t/_restore?master_timeout=0";
    let answer = answer_before_the_end((&node, &disk), (restore, renamed.clone()));
    assert_eq!(answer, json!({"accepted": true}));
    check_filled(&node, "back");
    // Who waits is told what is wrong before anything has begun.
    let (status, refused) = node.ask("POST /_snapshot/r/t/_restore", renamed);
    assert_eq!(status, 500, "{refused}");
    assert_eq!(refused["error"]["type"], "snapshot_restore_exception");
}
