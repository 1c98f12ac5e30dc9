use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use clew_platform::SimDisk;
use serde_json::json;

use super::*;
use crate::base::access::{Access, Purpose};
use crate::base::write_request::Freshness;
use crate::node::engine::Engine;
use crate::node::options::EngineOptions;
use crate::shard::fixture::{delete, engine, engine_with, put, put_all, put_source};

/// The versions of documents `a` to `e`, 0 where there is none.
fn versions(engine: &Engine, freshness: Freshness) -> [u64; 5] {
    let everything = Access::everything();
    let handle = engine.open_exactly("docs", &everything, Purpose::Read);
    let handle = handle.unwrap();
    ["a", "b", "c", "d", "e"].map(|id| {
        let found = engine.get(&handle, id, None, freshness).unwrap();
        found.map_or(0, |found| found.version)
    })
}

/// Takes the buffer out as a refresh does.
fn begin(shard: &Shard) -> (Filled, MutexGuard<'_, ()>) {
    let sealing = shard.sealing.lock();
    let mut writer = shard.writer().unwrap();
    writer.settle_deletes(&shard.context.clock).unwrap();
    (writer.take_out().unwrap(), sealing)
}

#[test]
fn a_refresh_shows_what_was_written_before_it_and_nothing_of_what_came_while_it_wrote() {
    let (engine, index) = engine(&SimDisk::new());
    let shard = &index.shards[0];
    for id in ["a", "b", "c"] {
        put(&engine, id).unwrap();
    }
    shard.refresh().unwrap();
    put(&engine, "d").unwrap();
    put(&engine, "c").unwrap();
    let (filled, sealing) = begin(shard);
    // Of a segment, of the buffer that is written, new, and gone.
    put(&engine, "a").unwrap();
    put(&engine, "d").unwrap();
    put(&engine, "e").unwrap();
    delete(&engine, "b").unwrap();
    let latest = [2, 0, 2, 2, 1];
    assert_eq!(versions(&engine, Freshness::Latest), latest);
    assert_eq!(versions(&engine, Freshness::Searchable), [1, 1, 1, 0, 0]);
    assert!(shard.first_invisible().is_some());
    let (mut writer, is_alone) = shard.write_out(filled, sealing).unwrap();
    assert!(is_alone);
    let view = writer.show(&shard.place, None).unwrap();
    shard.shows(view, Duration::ZERO);
    drop(writer);
    assert_eq!(versions(&engine, Freshness::Searchable), [1, 1, 2, 1, 0]);
    assert_eq!(versions(&engine, Freshness::Latest), latest);
    assert!(shard.is_dirty());
    shard.refresh().unwrap();
    assert_eq!(versions(&engine, Freshness::Searchable), latest);
    assert!(!shard.is_dirty());
    engine.flush(&index).unwrap();
    assert_eq!(versions(&engine, Freshness::Searchable), latest);
}

#[test]
fn when_the_mapping_grows_while_a_segment_is_written_all_is_shown() {
    let (engine, index) = engine(&SimDisk::new());
    let shard = &index.shards[0];
    put(&engine, "a").unwrap();
    let (filled, sealing) = begin(shard);
    put(&engine, "a").unwrap();
    put_source(&engine, "b", &json!({"another": 1})).unwrap();
    let (mut writer, is_alone) = shard.write_out(filled, sealing).unwrap();
    assert!(!is_alone);
    shard.publish(&mut writer).unwrap();
    drop(writer);
    assert_eq!(versions(&engine, Freshness::Searchable), [2, 1, 0, 0, 0]);
    assert!(!shard.is_dirty());
}

#[test]
fn a_buffer_that_becomes_a_segment_alone_is_not_shown() {
    let (engine, index) = engine(&SimDisk::new());
    let shard = &index.shards[0];
    put(&engine, "a").unwrap();
    shard.refresh().unwrap();
    put(&engine, "a").unwrap();
    put(&engine, "b").unwrap();
    shard.seal_buffer().unwrap();
    assert_eq!(shard.buffer_bytes(), 0);
    assert_eq!(versions(&engine, Freshness::Searchable), [1, 0, 0, 0, 0]);
    assert_eq!(versions(&engine, Freshness::Latest), [2, 1, 0, 0, 0]);
    assert!(shard.is_dirty());
    shard.refresh().unwrap();
    assert_eq!(versions(&engine, Freshness::Searchable), [2, 1, 0, 0, 0]);
}

#[test]
fn groups_that_come_while_others_are_put_in_fill_segments_of_their_own() {
    let options = EngineOptions {
        shard_writers: 2,
        ..EngineOptions::new("/data")
    };
    let (engine, index) = engine_with(&SimDisk::new(), options);
    let shard = &index.shards[0];
    let ids = |from: u32| (from..from + 40).map(|id| id.to_string());
    put_all(&engine, ids(0)).unwrap();
    // As if somebody were putting documents in.
    let busy = shard.writer().unwrap().begin_turn().unwrap();
    put_all(&engine, ids(20)).unwrap();
    drop(busy);
    assert_eq!(shard.writer().unwrap().buffers.len(), 2);
    shard.refresh().unwrap();
    let view = shard.view();
    let alive = view.segments.iter().map(SegmentView::alive_count);
    let mut alive: Vec<u32> = alive.collect();
    alive.sort_unstable();
    assert_eq!(alive, [20, 40]);
    for (id, version) in [("0", 1), ("25", 2), ("59", 1)] {
        let handle = engine.open_exactly("docs", &Access::everything(), Purpose::Read);
        let found = engine.get(&handle.unwrap(), id, None, Freshness::Searchable);
        assert_eq!(
            found.unwrap().map(|found| found.version),
            Some(version),
            "{id}"
        );
    }
}

#[test]
fn every_view_has_each_document_once_whatever_goes_on() {
    const DOCUMENTS: u32 = 40;
    const GROUPS: u32 = 30;
    let options = EngineOptions {
        shard_writers: 3,
        ..EngineOptions::new("/data")
    };
    let (engine, index) = engine_with(&SimDisk::new(), options);
    let shard = &index.shards[0];
    for n in 0..DOCUMENTS {
        put(&engine, &n.to_string()).unwrap();
    }
    shard.refresh().unwrap();
    let is_done = AtomicBool::new(false);
    let until_done = |work: &dyn Fn()| {
        while !is_done.load(Ordering::Relaxed) {
            work();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| until_done(&|| shard.refresh().unwrap()));
        scope.spawn(|| until_done(&|| shard.seal_buffer().unwrap()));
        scope.spawn(|| until_done(&|| engine.flush(&index).unwrap()));
        scope.spawn(|| until_done(&|| engine.force_merge(&index, 2).unwrap()));
        scope.spawn(|| {
            until_done(&|| {
                let view = shard.view();
                let alive = view.segments.iter().map(SegmentView::alive_count);
                assert_eq!(alive.sum::<u32>(), DOCUMENTS);
            });
        });
        let writers = [0, 1].map(|writer| {
            let engine = &engine;
            scope.spawn(move || {
                for n in 0..400_u32 {
                    let id = (n * 7 + writer * 3) % DOCUMENTS;
                    put(engine, &id.to_string()).unwrap();
                }
            })
        });
        // Groups as large as these fill segments of their own beside each other.
        let groups = [1, 3, 7, 9].map(|step| {
            let engine = &engine;
            scope.spawn(move || {
                for _ in 0..GROUPS {
                    let ids = (0..DOCUMENTS).map(|n| n * step % DOCUMENTS);
                    put_all(engine, ids.map(|id| id.to_string())).unwrap();
                }
            })
        });
        for group in groups {
            group.join().unwrap();
        }
        for writer in writers {
            writer.join().unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
    });
    shard.refresh().unwrap();
    let written = DOCUMENTS * (1 + 4 * GROUPS) + 800;
    assert_eq!(shard.operations(), u64::from(written));
}
