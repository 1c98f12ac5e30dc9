//! What others do while a group of writes has its places and its documents are not put in yet.

use std::sync::atomic::AtomicBool;
use std::thread;

use clew_platform::{MemoryAccount, MemoryLimits, SimDisk};
use serde_json::json;

use super::*;
use crate::base::access::{Access, Purpose};
use crate::base::blocks::Block;
use crate::base::error::EngineError;
use crate::base::settings::IndexSettings;
use crate::base::write_request::{Freshness, OpType};
use crate::index::handle::Index;
use crate::node::catalog_change::{CatalogChange, SettingsChange};
use crate::node::engine::Engine;
use crate::node::options::EngineOptions;
use crate::shard::fixture::{delete, engine_with, put, put_all, put_source};
use crate::shard::{
    CopyMemory, Prepared, SegmentView, Shard, ShardAction, ShardWrite, Target, Text,
};

/// An engine with an index of one shard that three groups may write to at once.
fn started(disk: &SimDisk) -> (Engine, Arc<Index>) {
    let options = EngineOptions {
        shard_writers: 3,
        ..EngineOptions::new("/data")
    };
    engine_with(disk, options)
}

/// Documents that are numbered and logged, and have their places.
fn placed(index: &Index, ids: &[&str]) -> Pending {
    let shard = &index.shards[0];
    let mut writer = shard.writer().unwrap();
    writer.expect(ids.len(), 0);
    let none = |_: &str, _: Text<'_>| -> Result<Prepared, EngineError> { unreachable!() };
    let account = MemoryAccount::new(MemoryLimits::none());
    for id in ids {
        let source = json!({"n": 1}).to_string();
        let text = (source.as_bytes(), Vec::new());
        let copies = CopyMemory::of_new(&account);
        let document = index.prepare(id, text, &|_| unreachable!(), copies);
        let write = ShardWrite {
            target: Target {
                id: (*id).to_string(),
                routing: None,
            },
            fresh_id: false,
            action: ShardAction::Index {
                document: document.unwrap(),
                op_type: OpType::Index,
            },
            condition: None,
        };
        writer.write(write, &none, Duration::ZERO).unwrap();
    }
    let pending = writer.take_turn();
    drop(writer);
    shard.context.log.hand_over();
    pending
}

/// The versions of documents, 0 where there is none.
fn versions<const N: usize>(engine: &Engine, ids: [&str; N], freshness: Freshness) -> [u64; N] {
    let everything = Access::everything();
    let handle = engine.open_exactly("docs", &everything, Purpose::Read);
    let handle = handle.unwrap();
    ids.map(|id| {
        let found = engine.get(&handle, id, None, freshness).unwrap();
        found.map_or(0, |found| found.version)
    })
}

/// Lets another thread get to where it waits for documents to be put in, then puts them in.
fn fill_late(shard: &Shard, pending: Pending, is_filled: &AtomicBool) {
    (0..100).for_each(|_| thread::yield_now());
    is_filled.store(true, Ordering::SeqCst);
    shard.fill(pending, false);
}

#[test]
fn documents_that_are_not_put_in_yet_are_read_changed_and_deleted() {
    let disk = SimDisk::new();
    let (engine, index) = started(&disk);
    let shard = &index.shards[0];
    let ids = ["a", "b", "c", "0", "39"];
    let pending = placed(&index, &["a", "b", "c"]);
    assert_eq!(versions(&engine, ids, Freshness::Latest), [1, 1, 1, 0, 0]);
    assert_eq!(versions(&engine, ids, Freshness::Searchable), [0; 5]);
    // As many as begin a buffer of their own.
    let others = (0..40).map(|n| n.to_string());
    put_all(&engine, others.chain(["a".to_string()])).unwrap();
    put(&engine, "c").unwrap();
    delete(&engine, "b").unwrap();
    let latest = [2, 0, 2, 1, 1];
    assert_eq!(versions(&engine, ids, Freshness::Latest), latest);
    assert_eq!(shard.writer().unwrap().buffers.len(), 2);
    let is_filled = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            shard.refresh().unwrap();
            // What has a place when a refresh begins is shown by it.
            assert!(is_filled.load(Ordering::SeqCst));
            assert_eq!(versions(&engine, ids, Freshness::Searchable), latest);
        });
        fill_late(shard, pending, &is_filled);
    });
    let view = shard.view();
    let alive = view.segments.iter().map(SegmentView::alive_count);
    assert_eq!(alive.sum::<u32>(), 42);
    engine.flush(&index).unwrap();
    assert_eq!(versions(&engine, ids, Freshness::Searchable), latest);
    assert_eq!(shard.checkpoint(), None);
}

#[test]
fn a_checkpoint_waits_for_what_is_not_put_in_yet() {
    let (engine, index) = started(&SimDisk::new());
    let shard = &index.shards[0];
    let pending = placed(&index, &["a", "b"]);
    let is_filled = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            engine.flush(&index).unwrap();
            assert!(is_filled.load(Ordering::SeqCst));
            assert_eq!(shard.checkpoint(), None);
        });
        fill_late(shard, pending, &is_filled);
    });
    assert_eq!(versions(&engine, ["a", "b"], Freshness::Searchable), [1, 1]);
}

#[test]
fn a_mapping_that_grows_meanwhile_waits_for_documents_of_the_one_before() {
    let (engine, index) = started(&SimDisk::new());
    let shard = &index.shards[0];
    let pending = placed(&index, &["a", "b"]);
    let is_filled = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            put_source(&engine, "b", &json!({"another": 1})).unwrap();
            assert!(is_filled.load(Ordering::SeqCst));
        });
        fill_late(shard, pending, &is_filled);
    });
    shard.refresh().unwrap();
    assert_eq!(versions(&engine, ["a", "b"], Freshness::Searchable), [1, 2]);
}

/// Lets a write find its index and get to where it waits for the shard, changes the index, and tells what became of the write.
fn overtaken(engine: &Engine, index: &Index, change: impl FnOnce()) -> Result<(), EngineError> {
    let shard = &index.shards[0];
    let held = shard.writer().unwrap();
    thread::scope(|scope| {
        let write = scope.spawn(|| put(engine, "late"));
        while !shard.is_written_to() {
            thread::yield_now();
        }
        change();
        drop(held);
        write.join().unwrap()
    })
}

#[test]
fn a_write_that_waits_for_its_shard_while_the_index_is_blocked_or_closed_is_refused() {
    let options = EngineOptions {
        shard_writers: 1,
        ..EngineOptions::new("/data")
    };
    let (engine, index) = engine_with(&SimDisk::new(), options);
    let set_blocks = |blocks: &[Block]| {
        let blocks = blocks.to_vec();
        let change = SettingsChange::new(move |current| {
            Ok(IndexSettings {
                blocks: blocks.clone(),
                ..current.clone()
            })
        });
        let change = CatalogChange::Settings {
            index: "docs".to_string(),
            uuid: index.uuid().to_string(),
            change,
            blocks_alone: true,
        };
        let changed = engine.change_catalog(&Access::everything(), vec![change]);
        changed.unwrap();
    };
    // A copy is made of what is there once the block is: what came later would be missing in it.
    let refused = overtaken(&engine, &index, || set_blocks(&[Block::Write])).unwrap_err();
    assert!(matches!(refused, EngineError::Blocked { .. }), "{refused}");
    set_blocks(&[]);
    let refused = overtaken(&engine, &index, || {
        index.closed.store(true, Ordering::SeqCst);
    });
    let refused = refused.unwrap_err();
    assert!(
        matches!(refused, EngineError::IndexClosed { .. }),
        "{refused}"
    );
    index.closed.store(false, Ordering::SeqCst);
    assert_eq!(versions(&engine, ["late"], Freshness::Latest), [0]);
    overtaken(&engine, &index, || ()).unwrap();
    assert_eq!(versions(&engine, ["late"], Freshness::Latest), [1]);
}

#[test]
fn an_index_that_is_deleted_waits_for_who_writes_to_its_files() {
    let (_engine, index) = started(&SimDisk::new());
    let shard = &index.shards[0];
    let pending = placed(&index, &["a"]);
    let is_filled = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            shard.retire();
            assert!(is_filled.load(Ordering::SeqCst));
        });
        fill_late(shard, pending, &is_filled);
    });
}

#[test]
fn a_shard_that_is_made_anew_waits_for_documents_of_its_life_before() {
    let (engine, index) = started(&SimDisk::new());
    let shard = &index.shards[0];
    let pending = placed(&index, &["a", "b"]);
    let is_filled = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            shard.fail(&"a test wants it so");
            shard.rebuild(&index.mapping()).unwrap();
            assert!(is_filled.load(Ordering::SeqCst));
        });
        fill_late(shard, pending, &is_filled);
    });
    assert_eq!(shard.remedy(), None);
    assert_eq!(versions(&engine, ["a", "b"], Freshness::Searchable), [1, 1]);
    put(&engine, "b").unwrap();
    assert_eq!(versions(&engine, ["a", "b"], Freshness::Latest), [1, 2]);
}

/// Lets something go wrong with the buffer of a shard that has documents in it, and mends it: what was logged is there.
fn check_broken(ids: &[&str], break_it: impl Fn(&Engine, &Index, Pending)) {
    let (engine, index) = started(&SimDisk::new());
    let shard = &index.shards[0];
    put(&engine, "flushed").unwrap();
    engine.flush(&index).unwrap();
    // Nobody rebuilds it while this is held.
    let held = shard.flushing.lock();
    break_it(&engine, &index, placed(&index, ids));
    assert_eq!(shard.remedy(), Some(Remedy::Rebuild));
    assert!(shard.refresh().is_err() && put(&engine, "refused").is_err());
    drop(held);
    shard.rebuild(&index.mapping()).unwrap();
    for id in ids.iter().chain(&["flushed"]) {
        let found = versions(&engine, [*id], Freshness::Searchable);
        assert_eq!(found, [1], "{id}");
    }
    engine.flush(&index).unwrap();
    assert_eq!(shard.checkpoint(), None);
}

#[test]
fn a_buffer_that_lacks_a_document_never_becomes_a_segment() {
    // A panic before the documents are put in.
    check_broken(&["a", "b"], |_, index, pending| {
        drop(pending);
        assert!(index.shards[0].refresh().is_err());
    });
    // The same, and others come before anybody notices.
    check_broken(&["a", "b", "c"], |engine, index, pending| {
        drop(pending);
        put(engine, "c2").unwrap();
        assert!(index.shards[0].seal_buffer().is_err());
    });
    // A panic in the middle, which leaves the buffer to the next group.
    check_broken(&["a", "b"], |_, index, mut pending| {
        let turn = pending.turn.as_mut().unwrap();
        turn.fill.as_mut().unwrap().is_whole = false;
        index.shards[0].fill(pending, false);
    });
    // A place that nobody has a document for.
    check_broken(&["a"], |_, index, pending| {
        index.shards[0].fill(pending, false);
        index.shards[0].writer().unwrap().buffers[0].rows += 1;
        assert!(index.shards[0].refresh().is_err());
    });
}

#[test]
fn a_group_that_fills_its_buffer_has_it_sealed() {
    let options = EngineOptions {
        write_buffer_bytes: 1,
        ..EngineOptions::new("/data")
    };
    let (engine, index) = engine_with(&SimDisk::new(), options);
    put_all(&engine, (0..64).map(|n| n.to_string())).unwrap();
    assert_eq!(index.shards[0].buffer_bytes(), 0);
    assert!(index.shards[0].is_dirty());
}

#[test]
fn one_long_document_waits_for_nobody() {
    let (engine, index) = started(&SimDisk::new());
    let shard = &index.shards[0];
    let pending = placed(&index, &["a"]);
    // It brings no field that the mapping lacks, which would wait.
    put_source(&engine, "b", &json!({"n": vec![1; 1 << 19]})).unwrap();
    shard.fill(pending, false);
    assert_eq!(versions(&engine, ["a", "b"], Freshness::Latest), [1, 1]);
}

#[test]
fn documents_that_are_not_put_in_yet_count_as_what_has_to_be_written() {
    let (engine, index) = started(&SimDisk::new());
    let shard = &index.shards[0];
    put(&engine, "a").unwrap();
    let before = shard.buffer_bytes();
    let long = json!({"n": vec![1; 1 << 10]});
    let pending = placed(&index, &["b"]);
    let after = shard.buffer_bytes();
    assert!(after > before);
    shard.fill(pending, false);
    assert_eq!(shard.buffer_bytes(), after);
    // Nobody looks after so few documents.
    put_source(&engine, "c", &long).unwrap();
    assert!(shard.buffer_bytes() >= after + 2 * (1 << 10));
}

#[test]
fn the_time_of_each_document_is_told_where_somebody_asks() {
    let (_engine, index) = started(&SimDisk::new());
    let shard = &index.shards[0];
    for (is_timed, wanted) in [(true, vec![0, 1]), (false, vec![])] {
        let pending = placed(&index, &["a", "b"]);
        let took = shard.fill(pending, is_timed).took;
        let numbers: Vec<u64> = took.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, wanted);
    }
}

#[test]
fn few_documents_wait_for_a_buffer_rather_than_begin_one() {
    let (engine, index) = started(&SimDisk::new());
    let shard = &index.shards[0];
    let pending = placed(&index, &["a"]);
    let is_filled = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            put(&engine, "b").unwrap();
            assert!(is_filled.load(Ordering::SeqCst));
        });
        fill_late(shard, pending, &is_filled);
    });
    assert_eq!(shard.writer().unwrap().buffers.len(), 1);
    shard.refresh().unwrap();
    assert_eq!(versions(&engine, ["a", "b"], Freshness::Searchable), [1, 1]);
}

#[test]
fn a_document_that_is_refused_with_its_fields_waits_for_no_change_of_the_mapping() {
    let (_engine, index) = started(&SimDisk::new());
    let _changing = index.changing.lock();
    let account = MemoryAccount::new(MemoryLimits::none());
    // The first value of a new field says its type.
    for source in [
        json!({"new": [1, "x"]}),
        json!({"other": "y", "new": [true, "x"]}),
    ] {
        let source = source.to_string();
        let text = (source.as_bytes(), Vec::new());
        let copies = CopyMemory::of_new(&account);
        let refused = index.prepare("a", text, &|_| unreachable!(), copies);
        assert!(matches!(refused, Err(EngineError::Document { .. })));
    }
}

#[test]
fn every_one_of_many_documents_that_bring_fields_at_once_gets_them() {
    const EACH: usize = 25;
    let (engine, index) = started(&SimDisk::new());
    thread::scope(|scope| {
        for writer in 0..8 {
            let engine = &engine;
            scope.spawn(move || {
                for n in 0..EACH {
                    let id = format!("{writer}-{n}");
                    let source = json!({format!("own_{id}"): n, format!("all_{n}"): writer});
                    put_source(engine, &id, &source).unwrap();
                }
            });
        }
    });
    let mapping = index.mapping();
    for n in 0..EACH {
        assert!(mapping.field(&format!("all_{n}")).is_some());
        for writer in 0..8 {
            assert!(mapping.field(&format!("own_{writer}-{n}")).is_some());
        }
    }
}
