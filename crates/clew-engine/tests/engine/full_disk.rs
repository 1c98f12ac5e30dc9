//! A disk that fills up: writes are refused while there is room for all that was acknowledged, nothing fails, reads
//! are right, and once there is room again writes are taken without anybody's help.

use std::path::Path;

use clew_engine::{Block, DiskLimits, DiskStage, EngineError, ErrorKind, IndexSettings, Watermark};
use clew_platform::{Disk, SimDisk};
use clew_query::Query;
use serde_json::{Value, json};

use crate::harness::*;

const MIB: u64 = 1 << 20;

/// A document of about two kilobytes that does not pack well.
fn large(n: u64) -> Value {
    let word = |at: u64| format!("w{:x}", (n * 100 + at).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let words: Vec<String> = (0..100).map(word).collect();
    json!({"n": n, "text": words.join(" ")})
}

fn id(n: u64) -> String {
    format!("{n:06}")
}

/// Writes until that is refused: the ids of what was acknowledged, and the refusal.
fn fill(node: &Node, from: u64) -> (Vec<String>, EngineError) {
    let mut acknowledged = Vec::new();
    for start in (from..100_000).step_by(20) {
        let operations = (start..start + 20).map(|n| index(&id(n), &large(n)));
        // One shard of two may have room for a little more.
        let mut refused = None;
        for (n, result) in (start..).zip(node.write(operations.collect()).unwrap()) {
            match result {
                Ok(_) => acknowledged.push(id(n)),
                Err(error) => refused = Some(error),
            }
        }
        if let Some(refused) = refused {
            return (acknowledged, refused);
        }
        if start % 400 == 0 {
            node.refresh();
        }
    }
    panic!("the disk is never full");
}

fn is_disk_block(error: &EngineError) -> bool {
    let EngineError::Blocked { blocks, .. } = error else {
        return false;
    };
    *blocks == [Block::ReadOnlyAllowDelete] && error.kind() == ErrorKind::Overloaded
}

/// Everything that was acknowledged is there, and nothing else.
fn assert_holds(node: &Node, acknowledged: &[String]) {
    node.refresh();
    let found = node.ids(Query::match_all());
    // The lists would fill the screen.
    assert_eq!(found.len(), acknowledged.len());
    assert!(found == acknowledged);
    for id in acknowledged.iter().step_by(37) {
        assert!(node.get(id).is_some(), "{id}");
    }
}

/// The same after a crash now.
fn assert_survives(disk: &SimDisk, acknowledged: &[String]) {
    for seed in 0..2 {
        let after = Node::open(&disk.crashed(seed)).unwrap();
        assert_eq!(after.index().stats().failed_shards, 0);
        assert_holds(&after, acknowledged);
    }
}

/// A disk of so many bytes with an index that is refreshed when it is asked for.
fn node_on(disk: &SimDisk, bytes: u64) -> Node {
    disk.set_capacity(bytes);
    Node::with_index(disk, 2)
}

#[test]
fn writes_are_refused_before_anything_fails_and_go_on_when_there_is_room() {
    let disk = SimDisk::new();
    let node = node_on(&disk, 24 * MIB);
    let settings = IndexSettings::default();
    node.engine
        .create_index(&everything(), "other", settings.clone(), mapping())
        .unwrap();
    let (mut acknowledged, refused) = fill(&node, 0);
    assert!(is_disk_block(&refused), "{refused}");
    assert_eq!(
        refused.to_string(),
        "index [docs] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, \
         index has read-only-allow-delete block];"
    );
    assert!(disk.bytes_used() < 24 * MIB);
    assert!(acknowledged.len() > 1_000, "{}", acknowledged.len());
    let health = node.engine.health();
    assert_eq!((health.log, health.shards), (None, vec![]));
    assert_survives(&disk, &acknowledged);
    assert_holds(&node, &acknowledged);
    // Buffers become segments although the disk is nearly full.
    node.engine.flush(&node.index()).unwrap();
    assert_holds(&node, &acknowledged);
    assert_survives(&disk, &acknowledged);
    // Room comes from elsewhere.
    disk.set_capacity(48 * MIB);
    let (more, refused) = fill(&node, 50_000);
    assert!(is_disk_block(&refused) && more.len() > 1_000);
    acknowledged.extend(more);
    assert_holds(&node, &acknowledged);
    assert_survives(&disk, &acknowledged);
    assert!(node.engine.health().shards.is_empty());
}

#[test]
fn what_makes_data_is_refused_and_what_makes_room_is_not() {
    let disk = SimDisk::new();
    let node = node_on(&disk, 64 * MIB);
    let settings = IndexSettings::default;
    node.engine
        .create_index(&everything(), "other", settings(), mapping())
        .unwrap();
    node.put("a", &source(1));
    let free = node.engine.health().disk.free;
    node.engine.set_disk_limits(DiskLimits {
        flood_stage: Watermark::FreeBytes(free + MIB),
        high: Watermark::FreeBytes(free + MIB),
        low: Watermark::FreeBytes(free + MIB),
        ..DiskLimits::default()
    });
    assert_eq!(node.engine.health().disk.stage, DiskStage::FloodStage);
    assert!(!node.engine.health().is_whole());
    assert_eq!(node.index().blocks(), [Block::ReadOnlyAllowDelete]);
    assert!(node.index().settings().blocks.is_empty());
    let engine = &node.engine;
    let refusals = [
        node.write_one(index("b", &source(2))).map(drop),
        node.write_one(update("a", &json!({"n": 2}))).map(drop),
        node.write_one(delete("a")).map(drop),
        engine
            .create_index(&everything(), "new", settings(), mapping())
            .map(drop),
        engine
            .put_mapping(&everything(), &node.index(), one_more_field())
            .map(drop),
        engine
            .change_catalog(
                &everything(),
                settings_change(
                    &node,
                    IndexSettings {
                        given: [("index.x".to_string(), "y".to_string())].into(),
                        ..(*node.index().settings()).clone()
                    },
                ),
            )
            .map(drop),
    ];
    for refused in refusals {
        let refused = refused.unwrap_err();
        assert!(is_disk_block(&refused), "{refused}");
    }
    assert_eq!(json_of(&node.get("a").unwrap()), source(1));
    assert_holds(&node, &["a".to_string()]);
    engine.flush(&node.index()).unwrap();
    engine.delete_index(&everything(), "other").unwrap();
    assert_eq!(node.engine.health().disk.stage, DiskStage::FloodStage);
    // Another mark is as good as room.
    engine.set_disk_limits(DiskLimits::default());
    assert!(node.engine.health().is_whole() && node.index().blocks().is_empty());
    node.put("b", &source(2));
}

#[test]
fn a_block_that_a_user_has_set_stays_the_users() {
    let disk = SimDisk::new();
    let node = node_on(&disk, 64 * MIB);
    let settings = IndexSettings {
        blocks: vec![Block::ReadOnlyAllowDelete],
        given: [(
            "index.blocks.read_only_allow_delete".to_string(),
            "true".to_string(),
        )]
        .into(),
        ..(*node.index().settings()).clone()
    };
    node.engine
        .change_catalog(&everything(), settings_change(&node, settings))
        .unwrap();
    disk.set_capacity(disk.bytes_used());
    assert_eq!(node.engine.health().disk.stage, DiskStage::FloodStage);
    assert_eq!(node.index().blocks(), [Block::ReadOnlyAllowDelete]);
    disk.set_capacity(64 * MIB);
    assert_eq!(node.engine.health().disk.stage, DiskStage::Normal);
    assert_eq!(node.index().blocks(), [Block::ReadOnlyAllowDelete]);
    assert!(is_disk_block(
        &node.write_one(index("a", &source(1))).unwrap_err()
    ));
}

#[test]
fn deleting_an_index_gives_room_at_once() {
    let disk = SimDisk::new();
    let node = node_on(&disk, 24 * MIB);
    let (_, refused) = fill(&node, 0);
    assert!(is_disk_block(&refused), "{refused}");
    node.engine.delete_index(&everything(), "docs").unwrap();
    assert!(node.engine.health().is_whole());
    let settings = IndexSettings {
        refresh_interval: None,
        ..IndexSettings::default()
    };
    node.engine
        .create_index(&everything(), "docs", settings, mapping())
        .unwrap();
    let (acknowledged, refused) = fill(&node, 0);
    assert!(is_disk_block(&refused) && acknowledged.len() > 1_000);
    assert_holds(&node, &acknowledged);
    assert_survives(&disk, &acknowledged);
}

#[test]
fn a_single_write_that_does_not_fit_is_refused_and_smaller_ones_are_taken() {
    let disk = SimDisk::new();
    let node = node_on(&disk, 24 * MIB);
    let huge = json!({"text": "x".repeat(12 << 20)});
    let refused = node.write_one(index("huge", &huge)).unwrap_err();
    assert!(is_disk_block(&refused), "{refused}");
    node.put("small", &source(1));
    assert_holds(&node, &["small".to_string()]);
    assert!(node.engine.health().is_whole());
}

#[test]
fn a_merge_that_would_fill_the_disk_is_not_begun() {
    let disk = SimDisk::new();
    let node = node_on(&disk, 1 << 30);
    for n in 0..400 {
        node.put(&id(n), &large(n));
        if n % 100 == 0 {
            node.refresh();
        }
    }
    node.engine.flush(&node.index()).unwrap();
    let files = files_of(&node, &disk);
    // A merge needs as much again as the segments have, and a twentieth is always left.
    disk.set_capacity(disk.bytes_used() * 10 / 9);
    let refused = node.engine.force_merge(&node.index(), 1).unwrap_err();
    let EngineError::DiskFull { needed, spare, .. } = refused else {
        panic!("{refused}");
    };
    assert!(needed > spare && refused.kind() == ErrorKind::Overloaded);
    assert_eq!(files_of(&node, &disk), files);
    disk.set_capacity(1 << 30);
    node.engine.force_merge(&node.index(), 1).unwrap();
    assert!(node.index().stats().segments <= 2);
}

#[test]
fn a_merge_that_fails_leaves_nothing() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    let mut acknowledged = Vec::new();
    for n in 0..400 {
        node.put(&id(n), &large(n));
        acknowledged.push(id(n));
        if n % 100 == 0 {
            node.refresh();
        }
    }
    node.engine.flush(&node.index()).unwrap();
    let (files, bytes) = (files_of(&node, &disk), disk.bytes_used());
    // Nobody was told that so little is left.
    for room in [1, 1_000, 50_000, 200_000] {
        disk.limit_bytes(bytes + room);
        assert!(node.engine.force_merge(&node.index(), 1).is_err());
        assert_eq!(files_of(&node, &disk), files, "{room}");
    }
    disk.limit_bytes(u64::MAX);
    assert_holds(&node, &acknowledged);
    node.engine.force_merge(&node.index(), 1).unwrap();
    assert_survives(&disk, &acknowledged);
}

#[test]
fn a_snapshot_beside_the_data_does_not_fill_the_disk() {
    let disk = SimDisk::new();
    let node = node_on(&disk, 1 << 30);
    for n in 0..2_000 {
        node.put(&id(n), &large(n));
    }
    node.refresh();
    let repository = node.engine.snapshot_repository("/data/snapshots".into());
    let take = |id: &str| {
        let documents = node.engine.shard_documents(&node.copied(), 0).unwrap();
        repository.write_documents(id, "0-0.docs", documents)
    };
    disk.set_capacity(disk.bytes_used() + disk.bytes_used() / 9);
    let refused = take("full").unwrap_err();
    assert!(matches!(refused, EngineError::DiskFull { .. }), "{refused}");
    repository.delete("full").unwrap();
    disk.set_capacity(1 << 30);
    take("room").unwrap();
}

#[test]
fn a_start_on_a_full_disk_refuses_writes_and_serves() {
    let disk = SimDisk::new();
    let node = node_on(&disk, 24 * MIB);
    let (acknowledged, _) = fill(&node, 0);
    drop(node);
    let node = Node::open(&disk).unwrap();
    assert!(node.engine.health().shards.is_empty());
    assert_holds(&node, &acknowledged);
    // Somebody else has filled it, which is seen at the next look: so much that nothing which merges and flushes give back
    // makes room enough.
    disk.set_capacity(disk.bytes_used() / 8);
    assert!(!node.engine.health().is_whole());
    let refused = node.write_one(index("new", &large(1))).unwrap_err();
    assert!(is_disk_block(&refused), "{refused}");
}

/// The files of the index's first shard.
fn files_of(node: &Node, disk: &SimDisk) -> Vec<String> {
    let dir = Path::new("/data/indices")
        .join(node.index().uuid())
        .join("0");
    let files = disk.list(&dir).unwrap();
    files
        .iter()
        .map(|path| path.display().to_string())
        .collect()
}

#[test]
fn definitions_do_not_take_the_room_of_what_was_acknowledged() {
    let disk = SimDisk::new();
    // All of them are saved anew whenever the log is trimmed: a disk of twice the size takes four times as long.
    disk.set_capacity(24 * MIB);
    let node = Node::with_index(&disk, 1);
    node.put("a", &source(1));
    let put = |name: &str, bytes: usize| {
        let value = json!({"text": "x".repeat(bytes)});
        let change = clew_engine::DefinitionChange::put("template", name, value);
        node.engine
            .change_definitions(&everything(), |_| Ok::<_, EngineError>(vec![change]))
    };
    let refused = (0..1000).find_map(|n| put(&n.to_string(), 256 << 10).err());
    let refused = refused.expect("definitions fill the disk");
    assert!(matches!(refused, EngineError::DiskFull { .. }), "{refused}");
    assert_eq!(refused.kind(), ErrorKind::Overloaded);
    // A setting that is to make room is taken, and so is what takes values away.
    put("small", 100).unwrap();
    node.engine.flush(&node.index()).unwrap();
    assert_survives(&disk, &["a".to_string()]);
}
