//! Requests that write to one shard at once, each of which fills a segment of its own, while the shard is refreshed, flushed and
//! merged: what was acknowledged outlives a power cut and a disk that fails, as of one writer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clew_engine::EngineOptions;
use clew_platform::SimDisk;
use clew_query::Query;
use serde_json::{Value, json};

use crate::harness::*;
use crate::model::{self, Random};

const WRITERS: usize = 4;
/// Enough that each request begins a buffer where others fill theirs.
const DOCUMENTS: u64 = 40;
const ROUNDS: u64 = 5;

/// Of all documents of a writer: the last round that was acknowledged, and the last that was tried.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    acknowledged: u64,
    tried: u64,
}

fn options() -> EngineOptions {
    EngineOptions {
        search_threads: 1,
        shard_writers: 3,
        write_buffer_bytes: 200_000,
        log_bytes_max: 100_000,
        retry_every: Duration::from_millis(1),
        ..EngineOptions::new("/data")
    }
}

fn key(writer: usize, document: u64) -> String {
    format!("w{writer}-{document}")
}

fn document(round: u64) -> Value {
    let mut document = source(round);
    document["parts"] = (0..round % 3).map(|part| json!({"k": part})).collect();
    document
}

/// Writes all documents of a writer some times over. Each time is one request, which counts when all of it was acknowledged.
fn write_rounds(node: &Node, writer: usize, mut told: Told) -> Told {
    for _ in 0..ROUNDS {
        told.tried += 1;
        let source = document(told.tried);
        let group = (0..DOCUMENTS).map(|n| index(&key(writer, n), &source));
        let results = node.write(group.collect());
        if results.is_ok_and(|results| results.iter().all(Result::is_ok)) {
            told.acknowledged = told.tried;
        }
    }
    told
}

/// All writers at once, beside what makes segments of what they write.
fn write_at_once(node: &Node, told: &mut [Told; WRITERS]) {
    let is_done = AtomicBool::new(false);
    // What fails here is told; what matters is what is there afterwards.
    let works: [&(dyn Fn() + Sync); 3] = [
        &|| drop(node.engine.refresh(&node.index())),
        &|| drop(node.engine.flush(&node.index())),
        &|| drop(node.engine.force_merge(&node.index(), 1)),
    ];
    thread::scope(|scope| {
        for work in works {
            let is_done = &is_done;
            scope.spawn(move || {
                while !is_done.load(Ordering::Relaxed) {
                    work();
                    thread::yield_now();
                }
            });
        }
        let writers: Vec<_> = told
            .iter()
            .enumerate()
            .map(|(writer, before)| {
                let before = *before;
                scope.spawn(move || write_rounds(node, writer, before))
            })
            .collect();
        let ended = writers.into_iter().map(thread::ScopedJoinHandle::join);
        let ended: Vec<_> = ended.collect();
        is_done.store(true, Ordering::Relaxed);
        for (told, ended) in told.iter_mut().zip(ended) {
            *told = ended.unwrap();
        }
    });
}

/// Every document is there once, as of the last round that was acknowledged or a later one.
fn check(node: &Node, told: &[Told; WRITERS], seed: u64) {
    node.refresh();
    let mut living = Vec::new();
    for (writer, told) in told.iter().enumerate() {
        for n in 0..DOCUMENTS {
            let key = key(writer, n);
            let found = node.get(&key).map_or(0, |document| {
                let source = json_of(&document);
                source["n"].as_u64().unwrap()
            });
            let fits = (told.acknowledged..=told.tried).contains(&found);
            assert!(fits, "seed {seed}, {key}: found {found}, {told:?}");
            living.extend((found > 0).then_some(key));
        }
    }
    living.sort();
    assert_eq!(node.ids(Query::match_all()), living, "seed {seed}");
}

#[test]
fn what_several_writers_were_told_survives_a_power_cut_at_any_moment() {
    for seed in 0..12 {
        let mut random = Random(seed);
        let disk = SimDisk::new();
        let mut told = [Told::default(); WRITERS];
        let node = Node::open_with(&disk, options()).unwrap();
        model::create(&node.engine, 1);
        disk.cut_power_after(random.below(1500) + 1);
        write_at_once(&node, &mut told);
        // The disk may be dead: closing reports that and changes nothing.
        let _ = node.engine.close();
        drop(node);
        let disk = disk.crashed(seed);
        let node = Node::open_with(&disk, options())
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        check(&node, &told, seed);
        write_at_once(&node, &mut told);
        assert!(told.iter().all(|told| told.acknowledged == told.tried));
        check(&node, &told, seed);
        node.engine.close().unwrap();
        drop(node);
        let node = Node::open_with(&disk.crashed(seed + 1), options()).unwrap();
        check(&node, &told, seed);
    }
}

#[test]
fn what_several_writers_were_told_outlives_a_disk_that_fails_and_recovers() {
    for seed in 0..12 {
        let mut random = Random(seed);
        let disk = SimDisk::new();
        let mut told = [Told::default(); WRITERS];
        let node = Node::open_with(&disk, options()).unwrap();
        model::create(&node.engine, 1);
        for _ in 0..3 {
            match random.below(3) {
                0 => disk.limit_bytes(disk.bytes_used() + random.below(200_000)),
                1 => disk.fail_sync(random.below(20) + 1),
                _ => disk.set_read_only(true),
            }
            write_at_once(&node, &mut told);
            disk.limit_bytes(u64::MAX);
            disk.fail_sync(u64::MAX);
            disk.set_read_only(false);
            let fair = || {
                node.write_one(index("probe", &source(1))).ok()?;
                node.write_one(delete("probe")).ok()?;
                (node.index().stats().failed_shards == 0).then_some(())
            };
            eventually(&format!("seed {seed}: writes are still refused"), fair);
            check(&node, &told, seed);
        }
        node.engine.close().unwrap();
        drop(node);
        let node = Node::open_with(&disk.crashed(seed), options()).unwrap();
        check(&node, &told, seed);
    }
}
