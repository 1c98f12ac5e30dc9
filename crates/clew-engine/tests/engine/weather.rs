//! A node under weather: its disk fills up, fails, turns read-only and recovers while the node works, and the power is
//! cut at any step, also of a recovery. Whatever happened, what was acknowledged is there, nobody has to restart
//! anything when the weather is fair again, and meanwhile an answer is right or an error.

use std::time::Duration;

use clew_engine::EngineOptions;
use clew_log::LogOptions;
use clew_platform::SimDisk;

use crate::harness::*;
use crate::model::{self, Expected, Random};

fn options() -> EngineOptions {
    EngineOptions {
        search_threads: 1,
        write_buffer_bytes: 200_000,
        log_bytes_max: 100_000,
        // Small enough that some are given up in between.
        log: LogOptions {
            file_bytes_max: 20_000,
            ..LogOptions::default()
        },
        retry_every: Duration::from_millis(1),
        ..EngineOptions::new("/data")
    }
}

/// Fair weather from now on.
fn lift(disk: &SimDisk) {
    disk.limit_bytes(u64::MAX);
    disk.set_read_only(false);
    disk.fail_sync(u64::MAX);
    disk.fail_open(u64::MAX);
}

/// One thing that goes wrong.
fn strike(disk: &SimDisk, random: &mut Random) {
    match random.below(5) {
        0 => disk.limit_bytes(disk.bytes_used() + random.below(20_000)),
        1 => disk.set_read_only(true),
        2 => disk.fail_open(random.below(30) + 1),
        _ => disk.fail_sync(random.below(8) + 1),
    }
}

/// Waits until every shard takes writes, and none has failed.
fn await_fair_weather(node: &Node, seed: u64) {
    let fair = || {
        let probes = (0..8).map(|n| index(&format!("probe{n}"), &source(n)));
        let taken = node.write(probes.collect()).ok()?;
        let gone = (0..8).map(|n| delete(&format!("probe{n}")));
        let mut taken = taken.into_iter().chain(node.write(gone.collect()).ok()?);
        let all = taken.all(|one| one.is_ok());
        (all && node.index().stats().failed_shards == 0).then_some(())
    };
    eventually(&format!("seed {seed}: writes are still refused"), fair);
}

/// Does random things for some steps; what happens on the way may fail.
fn work(node: &Node, random: &mut Random, (from, expected): (u64, &mut Expected)) {
    for step in 0..random.below(20) {
        // What fails here is told; what matters is what is there afterwards.
        match random.below(12) {
            0 => drop(node.engine.refresh(&node.index())),
            1 => drop(node.engine.flush(&node.index())),
            2 => drop(node.engine.force_merge(&node.index(), 1)),
            _ => drop(expected.write_some(node, random, from + step * 10)),
        }
    }
}

fn run(seed: u64) {
    let mut random = Random(seed);
    let mut disk = SimDisk::new();
    let mut expected = Expected::default();
    let mut node = Node::open_with(&disk, options()).unwrap();
    model::create(&node.engine, 2);
    for spell in 1..=6 {
        if random.below(3) > 0 {
            strike(&disk, &mut random);
        }
        work(&node, &mut random, (spell * 1000, &mut expected));
        if random.below(3) == 0 {
            disk.cut_power_after(random.below(60) + 1);
            work(&node, &mut random, (spell * 1000 + 500, &mut expected));
            disk = recovered(&disk, &mut random);
            drop(node);
            node = Node::open_with(&disk, options())
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
        lift(&disk);
        await_fair_weather(&node, seed);
        expected.check(&node, seed);
    }
    node.engine.close().unwrap();
    drop(node);
    let node = Node::open_with(&disk.crashed(seed), options()).unwrap();
    expected.check(&node, seed);
}

/// The disk after a power cut, and after others that cut recoveries short.
fn recovered(disk: &SimDisk, random: &mut Random) -> SimDisk {
    let mut disk = disk.crashed(random.below(u64::MAX >> 33));
    for _ in 0..random.below(3) {
        disk.cut_power_after(random.below(40) + 1);
        drop(Node::open_with(&disk, options()));
        disk = disk.crashed(random.below(u64::MAX >> 33));
    }
    disk
}

#[test]
fn what_is_acknowledged_outlives_any_weather_and_nobody_restarts_anything() {
    let seeds = std::env::var("CLEW_SEEDS")
        .ok()
        .and_then(|seeds| seeds.parse().ok());
    let first = std::env::var("CLEW_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let first = first.unwrap_or(0);
    for seed in first..first + seeds.unwrap_or(30) {
        run(seed);
    }
}
