//! Writes that are one change: after a power cut, or where one of them is refused, all of them are there or none.

use std::collections::BTreeMap;
use std::thread;

use clew_engine::{EngineError, EngineOptions, Written};
use clew_platform::{MemoryLimits, SimDisk};
use clew_query::Query;
use serde_json::json;

use crate::harness::*;

/// More than a part in which requests are parsed otherwise.
const DOCUMENTS: u64 = 700;

fn key(n: u64) -> String {
    format!("{n:05}")
}

/// Writes all of them or none, and waits until that may be acknowledged.
fn write_as_one(
    node: &Node,
    operations: Vec<clew_engine::WriteOperation>,
) -> Result<Vec<Written>, EngineError> {
    let found = BTreeMap::new();
    let outcome = node
        .engine
        .write_as_one(&everything(), &found, operations)?;
    node.block_on(node.engine.durable(&outcome))?;
    outcome.results.into_iter().collect()
}

/// Of each document, by its key, what is in `n`.
fn found(node: &Node) -> Vec<u64> {
    let number = |n| {
        let document = node.get(&key(n));
        document.map_or(0, |document| json_of(&document)["n"].as_u64().unwrap())
    };
    (0..DOCUMENTS).map(number).collect()
}

#[test]
fn after_a_power_cut_all_of_a_request_is_there_or_nothing() {
    let mut all_or_none = [false; 2];
    for seed in 0..32 {
        let disk = SimDisk::new();
        let node = Node::with_index(&disk, 2);
        let first = (0..DOCUMENTS).map(|n| index(&key(n), &json!({"n": 1})));
        write_as_one(&node, first.collect()).unwrap();
        disk.cut_power_after(1 + seed / 3);
        let second = (0..DOCUMENTS).map(|n| match n % 2 {
            0 => index(&key(n), &json!({"n": 2})),
            _ => update(&key(n), &json!({"n": 2})),
        });
        let told = write_as_one(&node, second.collect());
        let _ = node.engine.close();
        drop(node);
        let node = Node::open(&disk.crashed(seed)).unwrap();
        let numbers = found(&node);
        let is_new = numbers[0] == 2;
        assert!(is_new || told.is_err(), "seed {seed}");
        assert!(
            numbers.iter().all(|n| *n == numbers[0]),
            "seed {seed}: a part of the request is there"
        );
        all_or_none[usize::from(is_new)] = true;
        // It goes on from there.
        node.put(&key(0), &source(7));
        assert_eq!(node.ids(Query::match_all()).len() as u64, DOCUMENTS);
    }
    assert_eq!(
        all_or_none, [true; 2],
        "the power was cut too early or late"
    );
}

#[test]
fn where_one_is_refused_none_is_written() {
    let node = Node::with_index(&SimDisk::new(), 2);
    node.put("there", &source(1));
    let many = || (0..DOCUMENTS).map(|n| index(&key(n), &json!({"n": 1})));
    let refused = [
        index("bad", &json!({"n": "no number"})),
        operation(
            Some("missing"),
            clew_engine::Action::Update(clew_engine::UpdateSpec {
                doc: Some("{\"n\":1}".into()),
                ..Default::default()
            }),
        ),
        operation(
            Some("there"),
            clew_engine::Action::index("{}", clew_engine::OpType::Create),
        ),
        // What it would change is nowhere yet.
        update(&key(3), &json!({"n": 2})),
    ];
    for operation in refused {
        let mut operations: Vec<_> = many().collect();
        operations.push(operation);
        write_as_one(&node, operations).unwrap_err();
        assert_eq!(found(&node), vec![0; DOCUMENTS as usize]);
    }
    // Numbers have no gap by what was refused: this is what a restart would stumble over.
    let written = write_as_one(&node, many().collect()).unwrap();
    let mut numbers: Vec<_> = written.iter().map(|one| (one.shard, one.seq_no)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len() as u64, DOCUMENTS);
    node.refresh();
    assert_eq!(
        node.ids(Query::match_all()).len() as u64,
        1 + DOCUMENTS,
        "what was refused is found"
    );
}

#[test]
fn of_one_document_the_last_write_of_a_request_counts() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    node.put("b", &source(9));
    let written = write_as_one(
        &node,
        vec![
            index("a", &source(1)),
            index("a", &source(2)),
            delete("b"),
            index("c", &source(3)),
            delete("c"),
            index("b", &source(4)),
        ],
    );
    let versions: Vec<_> = written.unwrap().iter().map(|one| one.version).collect();
    assert_eq!(versions, [1, 2, 2, 1, 2, 3]);
    let check = |node: &Node| {
        node.refresh();
        assert_eq!(node.ids(Query::match_all()), ["a", "b"]);
        assert_eq!(json_of(&node.get("a").unwrap()), source(2));
        assert_eq!(json_of(&node.get("b").unwrap()), source(4));
    };
    check(&node);
    drop(node);
    check(&Node::open(&disk.crashed(1)).unwrap());
}

#[test]
fn without_memory_for_values_documents_are_parsed_again() {
    let disk = SimDisk::new();
    let options = || EngineOptions {
        search_threads: 1,
        // Enough for what the log takes beside the texts, and for the values of few documents.
        memory: MemoryLimits {
            operations: 400 << 10,
            ..EngineOptions::new("/data").memory
        },
        ..EngineOptions::new("/data")
    };
    let node = Node::open_with(&disk, options()).unwrap();
    node.create_index(2);
    let all = |more: u64| {
        let operations = (0..DOCUMENTS).map(move |n| index(&key(n), &source(n + more)));
        operations.collect::<Vec<_>>()
    };
    write_as_one(&node, all(0)).unwrap();
    write_as_one(&node, all(5)).unwrap();
    node.refresh();
    for n in [0, 1, DOCUMENTS / 2, DOCUMENTS - 1] {
        let document = node.get(&key(n)).unwrap();
        assert_eq!((json_of(&document), document.version), (source(n + 5), 2));
        let near = node.hits(knn(vector(n + 5), 1, None), 1);
        assert_eq!(near[0].id, key(n));
    }
    assert_eq!(node.ids(Query::match_all()).len() as u64, DOCUMENTS);
    // What has no room at all is refused as a whole.
    let long = (0..DOCUMENTS).map(|n| {
        let text = "word ".repeat(100);
        update(&key(n), &json!({"n": 0, "text": text}))
    });
    let refused = write_as_one(&node, long.collect()).unwrap_err();
    assert!(matches!(refused, EngineError::Memory(_)), "{refused}");
    assert_eq!(json_of(&node.get(&key(0)).unwrap()), source(5));
}

#[test]
fn buffers_become_segments_once_the_documents_of_all_shards_are_in_them() {
    let options = EngineOptions {
        search_threads: 1,
        memory: MemoryLimits {
            buffers: 1,
            ..EngineOptions::new("/data").memory
        },
        ..EngineOptions::new("/data")
    };
    let node = Node::open_with(&SimDisk::new(), options).unwrap();
    node.create_index(2);
    let all = (0..DOCUMENTS).map(|n| index(&key(n), &json!({"n": 1})));
    write_as_one(&node, all.collect()).unwrap();
    assert_eq!(found(&node), vec![1; DOCUMENTS as usize]);
}

#[test]
fn requests_to_the_same_shards_do_not_wait_for_each_other_in_a_circle() {
    let options = EngineOptions {
        search_threads: 1,
        write_buffer_bytes: 1,
        shard_writers: 2,
        ..EngineOptions::new("/data")
    };
    let node = Node::open_with(&SimDisk::new(), options).unwrap();
    node.create_index(2);
    let write = |count: u64, times: u64| {
        for _ in 0..times {
            let all = (0..count).map(|n| index(&key(n), &json!({"n": 1})));
            let found = BTreeMap::new();
            let written = node
                .engine
                .write_as_one(&everything(), &found, all.collect());
            written.unwrap();
        }
    };
    thread::scope(|scope| {
        // These fill buffers that become segments at once, the others wait for a buffer.
        scope.spawn(|| write(200, 10));
        scope.spawn(|| write(4, 60));
    });
    assert_eq!(found(&node).iter().sum::<u64>(), 200);
}
