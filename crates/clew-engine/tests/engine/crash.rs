//! Power cuts at arbitrary moments: what was acknowledged is there, exactly once, in its version.

use clew_engine::{EngineOptions, Purpose};
use clew_log::LogOptions;
use clew_platform::SimDisk;
use clew_query::Query;

use crate::harness::*;
use crate::model::{self, Expected, Random};

/// Does random things until the power fails; what it acknowledged and what it did not.
fn run_until_power_fails(disk: &SimDisk, seed: u64) -> Expected {
    let mut random = Random(seed);
    let mut expected = Expected::default();
    let options = EngineOptions {
        search_threads: 1,
        write_buffer_bytes: 200_000,
        log_bytes_max: 30_000,
        // Small enough that some are given up before the power fails.
        log: LogOptions {
            file_bytes_max: 10_000,
            ..LogOptions::default()
        },
        ..EngineOptions::new("/data")
    };
    let node = Node::open_with(disk, options).unwrap();
    model::create(&node.engine, 2);
    disk.cut_power_after(random.below(500) + 1);
    for step in 1..400 {
        let done = match random.below(12) {
            0 => node.engine.refresh(&node.index()).is_ok(),
            1 => node.engine.flush(&node.index()).is_ok(),
            2 => node.engine.force_merge(&node.index(), 1).is_ok(),
            _ => expected.write_some(&node, &mut random, step * 100),
        };
        if !done {
            break;
        }
    }
    // The disk is dead: closing reports that and changes nothing.
    let _ = node.engine.close();
    expected
}

#[test]
fn everything_acknowledged_survives_a_power_cut_at_any_moment() {
    for seed in 0..60 {
        let disk = SimDisk::new();
        let expected = run_until_power_fails(&disk, seed);
        let disk = disk.crashed(seed);
        let node = Node::open(&disk).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        if node.opened("docs", Purpose::Read).is_ok() {
            expected.check(&node, seed);
        }
        // It goes on from there, through another crash without a clean end.
        node.put("after", &source(1_000_000));
        let again = Node::open(&disk.crashed(seed + 1)).unwrap();
        assert_eq!(
            json_of(&again.get("after").unwrap()),
            source(1_000_000),
            "seed {seed}"
        );
        check_rest(&again, &expected, seed);
    }
}

fn check_rest(node: &Node, expected: &Expected, seed: u64) {
    node.write_one(delete("after")).unwrap();
    expected.check(node, seed);
}

#[test]
fn a_flush_never_covers_what_the_log_could_still_lose() {
    for seed in 0..20 {
        let disk = SimDisk::new();
        let node = Node::open(&disk).unwrap();
        let settings = clew_engine::IndexSettings {
            durability: clew_engine::TranslogDurability::Async,
            refresh_interval: None,
            ..Default::default()
        };
        node.engine
            .create_index(&everything(), "docs", settings, mapping())
            .unwrap();
        for n in 0..10 {
            node.put(&n.to_string(), &source(n));
        }
        node.engine.flush(&node.index()).unwrap();
        let node = Node::open(&disk.crashed(seed)).unwrap();
        assert_eq!(node.ids(Query::match_all()).len(), 10, "seed {seed}");
        let next = node.put("next", &source(11));
        assert_eq!(
            (next.seq_no, node.get("next").unwrap().version),
            (10, 1),
            "seed {seed}"
        );
    }
}
