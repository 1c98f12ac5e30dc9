use std::path::Path;

use clew_platform::{Disk, FixedClock, SimDisk};
use clew_schema::Mapping;

use super::*;
use crate::base::access::Access;
use crate::base::settings::IndexSettings;
use crate::base::write_request::{Action, OpType, WriteOperation};
use crate::node::engine::Engine;
use crate::node::options::EngineOptions;

fn write(engine: &Engine, n: u32) {
    let action = Action::index(r#"{"n": 1}"#, OpType::Index);
    let outcome = engine.write(
        &Access::everything(),
        vec![WriteOperation {
            index: "docs".into(),
            require_alias: false,
            id: Some(n.to_string()),
            routing: None,
            action,
            condition: None,
        }],
    );
    assert!(outcome.results[0].is_ok());
}

/// An index of several flushed segments that nobody merges.
fn flushed(disk: &SimDisk, segments: u32) -> (Engine, Arc<Index>) {
    let clock = Arc::new(FixedClock::at(Duration::from_secs(1_790_000_000)));
    let options = EngineOptions::new("/data");
    let engine = Engine::start(options, Arc::new(disk.clone()), clock).unwrap();
    let settings = IndexSettings {
        refresh_interval: None,
        ..IndexSettings::default()
    };
    let (index, _) = engine
        .create_index(&Access::everything(), "docs", settings, Mapping::new())
        .unwrap();
    for n in 0..segments {
        write(&engine, n);
        engine.refresh(&index).unwrap();
    }
    engine.flush(&index).unwrap();
    (engine, index)
}

fn files(disk: &SimDisk, dir: &Path) -> usize {
    disk.list(dir).unwrap().len()
}

#[test]
fn a_defect_in_the_work_for_a_shard_ends_no_thread_and_leaves_nothing() {
    let disk = SimDisk::new();
    let (engine, index) = flushed(&disk, 3);
    let (inner, shard) = (&engine.inner, &index.shards[0]);
    let broken = |work: &dyn Fn()| {
        disk.break_down_after(1);
        work();
        assert!(disk.has_broken_down());
    };
    let before = files(&disk, &shard.place.dir);
    let how = (MergeGoal::AtMost(1), MergeOrder::Stacked);
    broken(&|| assert!(!merge(inner, shard, how)));
    assert!(!shard.merge_state.running.load(Ordering::SeqCst));
    assert_eq!(files(&disk, &shard.place.dir), before);
    assert!(merge(inner, shard, how), "it goes on as ever");
    shard
        .counters
        .superseded_bytes
        .store(SUPERSEDED_BYTES_MAX, Ordering::SeqCst);
    broken(&|| {
        let mut trimmed = Glsn::ZERO;
        flush_due(inner, &mut HashMap::new(), &mut trimmed);
    });
    write(&engine, 9);
    // Nothing else changes the disk then.
    let log = &inner.log;
    log.wait(log.last(), Durability::Sync).unwrap();
    broken(&|| refresh(&index));
}

#[test]
fn a_merge_that_replaced_much_is_flushed_although_nothing_was_written() {
    let disk = SimDisk::new();
    let (engine, index) = flushed(&disk, 3);
    let shard = &index.shards[0];
    // Its own threads have nothing to do: the clock stands, and three segments are no crowd.
    let before = files(&disk, &shard.place.dir);
    let merged = shard.merge(MergeGoal::AtMost(1), MergeOrder::Stacked);
    assert!(merged.unwrap());
    assert!(files(&disk, &shard.place.dir) > before);
    let mut flushed_at = HashMap::new();
    let mut trimmed = Glsn::ZERO;
    let mut flush = |at: &mut _| flush_due(&engine.inner, at, &mut trimmed);
    let superseded = &shard.counters.superseded_bytes;
    assert!(superseded.load(Ordering::SeqCst) > 0);
    let next = flush(&mut flushed_at);
    assert_eq!(next, Some(FLUSH_AGE_MAX), "a little may wait");
    assert!(files(&disk, &shard.place.dir) > before);
    superseded.store(SUPERSEDED_BYTES_MAX, Ordering::SeqCst);
    flush(&mut flushed_at);
    assert!(files(&disk, &shard.place.dir) < before / 2);
    assert_eq!(superseded.load(Ordering::SeqCst), 0);
    assert_eq!(flush(&mut flushed_at), None);
    assert_eq!(flushed_at.len(), 1);
    engine.delete_index(&Access::everything(), "docs").unwrap();
    flush(&mut flushed_at);
    assert!(flushed_at.is_empty());
    engine.close().unwrap();
}
