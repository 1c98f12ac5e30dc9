//! A disk that is full, fails a sync or lost bytes: writes are refused, reads go on, the shard that
//! is damaged says so, and a restart has everything that was acknowledged.

use std::path::{Path, PathBuf};

use clew_engine::ErrorKind;
use clew_platform::{Disk, SimDisk};
use clew_text::Query;

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
    assert_eq!(json_of(&node.get("a").unwrap()), source(1));
    assert_eq!(node.ids(Query::matches("text", "word1")), ["a"]);
    disk.limit_bytes(u64::MAX);
    drop(node);
    let node = Node::open(&disk).unwrap();
    assert_eq!(json_of(&node.get("a").unwrap()), source(1));
    node.put("c", &source(3));
}

#[test]
fn after_a_failed_sync_nothing_is_acknowledged_any_more() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    node.put("a", &source(1));
    disk.fail_sync(1);
    assert_eq!(
        node.write_one(index("b", &source(2))).unwrap_err().kind(),
        ErrorKind::Unavailable
    );
    assert_eq!(
        node.write_one(index("c", &source(3))).unwrap_err().kind(),
        ErrorKind::Unavailable
    );
    assert!(node.engine.stats().log.poisoned);
    assert_eq!(json_of(&node.get("a").unwrap()), source(1));
    drop(node);
    let node = Node::open(&disk.crashed(3)).unwrap();
    assert_eq!(json_of(&node.get("a").unwrap()), source(1));
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

#[test]
fn a_second_process_is_kept_out() {
    let disk = SimDisk::new();
    let _node = Node::with_index(&disk, 1);
    assert!(Node::open(&disk).is_err());
}
