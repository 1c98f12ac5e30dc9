//! A disk that is full, fails a sync or lost bytes: writes are refused, reads go on, the shard that
//! is damaged says so, and a restart has everything that was acknowledged.

use std::path::{Path, PathBuf};

use clew_engine::ErrorKind;
use clew_platform::{Disk, SimDisk};
use clew_query::Query;

use crate::harness::*;

#[test]
fn a_full_disk_refuses_writes_and_serves_reads() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    node.put("a", &source(1));
    node.refresh();
    disk.limit_bytes(disk.bytes_used());
    let failed = (0..50).find_map(|n| node.write_one(index("b", &source(n))).err());
    let error = failed.expect("a write must fail on a full disk");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    // What was refused is taken back, then the shard serves again, although the disk is still full.
    node.mended();
    assert_eq!(json_of(&node.get("a").unwrap()), source(1));
    assert!(node.get("b").is_none());
    assert_eq!(node.ids(Query::matches("text", "word1")), ["a"]);
    // Room comes back: nobody starts anything anew.
    disk.limit_bytes(u64::MAX);
    let written = || node.write_one(index("c", &source(3))).ok();
    eventually("writes are still refused", written);
    drop(node);
    let node = Node::open(&disk).unwrap();
    for (id, n) in [("a", 1), ("c", 3)] {
        assert_eq!(json_of(&node.get(id).unwrap()), source(n));
    }
}

#[test]
fn after_a_failed_sync_what_was_refused_is_gone_and_the_log_goes_on() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    node.put("a", &source(1));
    disk.fail_sync(1);
    assert_eq!(
        node.write_one(index("b", &source(2))).unwrap_err().kind(),
        ErrorKind::Unavailable
    );
    // The file on which it happened is left, and the log goes on in another one.
    let written = || node.write_one(index("c", &source(3))).ok();
    eventually("writes are still refused", written);
    node.mended();
    for seed in 0..8 {
        let again = Node::open(&disk.crashed(seed)).unwrap();
        for node in [&node, &again] {
            assert_eq!(json_of(&node.get("a").unwrap()), source(1));
            assert!(node.get("b").is_none());
            assert_eq!(json_of(&node.get("c").unwrap()), source(3));
            assert_eq!(node.get("c").unwrap().seq_no, 1);
        }
    }
}

#[test]
fn a_change_that_the_log_has_lost_is_taken_back() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    node.put("a", &source(1));
    disk.fail_sync(1);
    let settings = clew_engine::IndexSettings::default();
    let refused = node
        .engine
        .create_index(&everything(), "lost", settings.clone(), mapping());
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unavailable);
    let made = || {
        node.engine
            .create_index(&everything(), "next", settings.clone(), mapping())
            .ok()
    };
    eventually("changes are still refused", made);
    // Until then the next failure could be another's than the change's, and a shard may refuse by itself.
    let whole = || node.engine.health().is_whole().then_some(());
    eventually("something stays broken", whole);
    disk.fail_sync(1);
    assert!(node.engine.delete_index(&everything(), "next").is_err());
    eventually("something stays broken", whole);
    disk.fail_sync(1);
    let renamed = node.engine.rename_index(&everything(), "next", "renamed");
    assert!(renamed.is_err());
    eventually("something stays broken", whole);
    let mut grown = source(2);
    grown["grown"] = serde_json::json!("a field that the mapping lacks");
    disk.fail_sync(1);
    assert!(node.write_one(index("b", &grown)).is_err());
    eventually("writes are still refused", || {
        node.write_one(index("c", &source(3))).ok()
    });
    node.mended();
    let again = Node::open(&disk.crashed(5)).unwrap();
    for node in [&node, &again] {
        node.refresh();
        let names: Vec<String> = node
            .engine
            .indices(&everything())
            .iter()
            .map(|index| index.name().to_string())
            .collect();
        assert_eq!(names, ["docs", "next"]);
        assert!(node.index().mapping().field("grown").is_none());
        assert_eq!(node.ids(Query::matches("text", "word3")), ["c"]);
    }
}

#[test]
fn a_file_that_cannot_be_opened_for_a_moment_is_not_taken_for_damaged() {
    let before = SimDisk::new();
    let node = Node::with_index(&before, 1);
    for n in 0..6 {
        node.put(&n.to_string(), &source(n));
        node.refresh();
    }
    node.write_one(delete("0")).unwrap();
    node.engine.flush(&node.index()).unwrap();
    node.put("6", &source(6));
    drop(node);
    let mut refused = 0;
    for nth in 1..160 {
        let disk = before.crashed(0);
        disk.fail_open(nth);
        let node = Node::open(&disk).unwrap_or_else(|_| {
            // Without the log or the catalog there is no start; the next one has everything.
            refused += 1;
            Node::open(&disk).unwrap()
        });
        disk.fail_open(u64::MAX);
        node.mended();
        for n in 1..=6 {
            assert_eq!(json_of(&node.get(&n.to_string()).unwrap()), source(n));
        }
        assert!(node.get("0").is_none());
    }
    assert!((1..100).contains(&refused), "{refused}");
}

pub(crate) fn segment_file(disk: &SimDisk, uuid: &str, suffix: &str) -> PathBuf {
    let dir = Path::new("/data/indices").join(uuid).join("0");
    let files = disk.list(&dir).unwrap();
    files
        .into_iter()
        .find(|path| path.to_str().unwrap().ends_with(suffix))
        .unwrap()
}

#[test]
fn a_damaged_shard_says_so_and_the_others_serve() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 2);
    for n in 0..20 {
        node.put(&n.to_string(), &source(n));
    }
    node.engine.flush(&node.index()).unwrap();
    let uuid = node.index().uuid().to_string();
    drop(node);
    let victim = segment_file(&disk, &uuid, ".store");
    disk.open(&victim).unwrap().set_len(3).unwrap();
    let node = Node::open(&disk).unwrap();
    let response = node
        .run(node.search_request(Query::match_all(), 100))
        .unwrap();
    assert_eq!((response.shards.total, response.shards.failed), (2, 1));
    assert!(
        response.failures[0].error.to_string().contains("3 bytes"),
        "{:?}",
        response.failures
    );
    assert!(!response.hits.is_empty() && response.hits.len() < 20);
    let outcomes: Vec<bool> = (0..20)
        .map(|n| node.write_one(index(&n.to_string(), &source(n))).is_ok())
        .collect();
    assert!(outcomes.contains(&true) && outcomes.contains(&false));
    assert_eq!(node.index().stats().failed_shards, 1);
}

/// Everything that was put is there, by id and by search.
fn assert_all(node: &Node, ids: &[&str]) {
    for id in ids {
        assert!(node.get(id).is_some(), "{id}");
    }
    assert_eq!(node.ids(Query::match_all()), ids);
}

#[test]
fn a_full_disk_takes_nothing_from_what_searches_see() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    node.put("a", &source(1));
    node.refresh();
    node.put("b", &source(2));
    // The log is full, and so is the folder of the shard, to which the refresh must write.
    disk.limit_bytes(disk.bytes_used());
    node.refresh();
    assert_all(&node, &["a", "b"]);
    assert_eq!(node.ids(Query::matches("text", "word2")), ["b"]);
    assert!(node.engine.flush(&node.index()).is_err());
    assert_all(&node, &["a", "b"]);
    // Room comes back: nobody starts anything anew.
    disk.limit_bytes(u64::MAX);
    node.engine.flush(&node.index()).unwrap();
    assert_all(&node, &["a", "b"]);
    assert_eq!(node.ids(Query::matches("text", "word2")), ["b"]);
    node.engine.close().unwrap();
    drop(node);
    assert_all(&Node::open(&disk.crashed(1)).unwrap(), &["a", "b"]);
}

#[test]
fn a_start_on_a_full_disk_answers_with_what_the_log_has() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    node.put("a", &source(1));
    drop(node.engine.log().clone());
    let disk = disk.crashed(1);
    drop(node);
    // Room for what a start notes in the log, but for no segment.
    disk.limit_bytes(disk.bytes_used() + 100);
    let node = Node::open(&disk).unwrap();
    assert_all(&node, &["a"]);
}

#[test]
fn a_read_only_disk_takes_nothing_from_what_searches_see() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    node.put("a", &source(1));
    disk.set_read_only(true);
    node.refresh();
    assert_all(&node, &["a"]);
    disk.set_read_only(false);
    node.engine.flush(&node.index()).unwrap();
    drop(node);
    assert_all(&Node::open(&disk.crashed(1)).unwrap(), &["a"]);
}

#[test]
fn a_failed_sync_of_a_segment_is_not_believed_the_second_time() {
    // Each file of a segment, then the living documents and the manifest.
    for failing in 1..12 {
        let disk = SimDisk::new();
        let node = Node::with_index(&disk, 1);
        for n in 0..20 {
            node.put(&n.to_string(), &source(n));
        }
        node.refresh();
        node.write_one(delete("3")).unwrap();
        disk.fail_sync(failing);
        let _ = node.engine.flush(&node.index());
        node.engine.flush(&node.index()).unwrap();
        // Closing trims the log up to what the segments cover.
        node.engine.close().unwrap();
        drop(node);
        for seed in 0..4 {
            let node = Node::open(&disk.crashed(seed)).unwrap();
            assert_eq!(node.index().stats().failed_shards, 0, "{failing} {seed}");
            let ids = node.ids(Query::match_all());
            assert_eq!(ids.len(), 19, "sync {failing}, seed {seed}: {ids:?}");
        }
    }
}

#[test]
fn what_an_interrupted_write_leaves_is_no_file_of_a_segment() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    node.put("a", &source(1));
    node.engine.flush(&node.index()).unwrap();
    let uuid = node.index().uuid().to_string();
    let store = segment_file(&disk, &uuid, ".store");
    let left = [
        store.with_extension("7.alive.tmp"),
        store.with_extension("idx.tmp"),
        store.with_file_name("manifest-00000000000000000009.tmp"),
    ];
    for path in &left {
        disk.create_new(path)
            .unwrap()
            .write_all_at(b"half", 0)
            .unwrap();
    }
    node.put("b", &source(2));
    node.write_one(delete("a")).unwrap();
    node.engine.flush(&node.index()).unwrap();
    drop(node);
    let node = Node::open(&disk).unwrap();
    assert_all(&node, &["b"]);
    assert!(left.iter().all(|path| !disk.exists(path)));
}

#[test]
fn a_write_of_a_whole_file_that_fails_leaves_nothing() {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new("/data")).unwrap();
    disk.fail_sync(1);
    assert!(disk.write_atomic(Path::new("/data/file"), b"new").is_err());
    assert_eq!(disk.list(Path::new("/data")).unwrap(), [] as [PathBuf; 0]);
}

#[test]
fn a_second_process_is_kept_out() {
    let disk = SimDisk::new();
    let _node = Node::with_index(&disk, 1);
    assert!(Node::open(&disk).is_err());
}
