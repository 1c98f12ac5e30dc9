use std::path::{Path, PathBuf};

use clew_platform::{Disk, SimDisk};
use serde_json::json;

use super::*;
use crate::base::access::{Access, Purpose};
use crate::base::operation::{Body, DocumentOperation};
use crate::base::settings::MergeOrder;
use crate::base::write_request::Freshness;
use crate::node::options::EngineOptions;
use crate::shard::MergeGoal;
use crate::shard::fixture::{engine, engine_with, put};

#[test]
fn a_log_that_goes_on_takes_nothing_back_that_is_not_durable_yet() {
    let (engine, index) = engine(&SimDisk::new());
    put(&engine, "not waited for").unwrap();
    let shard = &index.shards[0];
    // By somebody who saw the log fail, and comes here only when it has gone on.
    shard.forget_undurable();
    assert_eq!(shard.remedy(), None);
    engine.close().unwrap();
}

#[test]
fn a_shard_that_has_failed_answers_nothing_until_it_was_rebuilt_from_the_log() {
    let (engine, index) = engine(&SimDisk::new());
    let (everything, read) = (Access::everything(), Purpose::Read);
    let handle = engine.open_exactly("docs", &everything, read).unwrap();
    put(&engine, "flushed").unwrap();
    engine.flush(&index).unwrap();
    put(&engine, "refreshed").unwrap();
    engine.refresh(&index).unwrap();
    put(&engine, "buffered").unwrap();
    let shard = &index.shards[0];
    // Nobody rebuilds it while this is held.
    let held = shard.flushing.lock();
    shard.fail(&"a test wants it so");
    for freshness in [Freshness::Latest, Freshness::Searchable] {
        let refused = engine.get(&handle, "flushed", None, freshness).unwrap_err();
        assert!(
            refused.to_string().contains("a test wants it so"),
            "{refused}"
        );
    }
    assert!(engine.refresh(&index).is_err());
    assert!(put(&engine, "refused").is_err());
    drop(held);
    shard.rebuild(&index.mapping()).unwrap();
    assert_eq!(shard.remedy(), None);
    for id in ["flushed", "refreshed", "buffered"] {
        let found = engine
            .get(&handle, id, None, Freshness::Searchable)
            .unwrap();
        assert_eq!(found.map(|found| found.version), Some(1), "{id}");
    }
    assert!(
        engine
            .get(&handle, "refused", None, Freshness::Latest)
            .unwrap()
            .is_none()
    );
    put(&engine, "buffered").unwrap();
    let again = engine
        .get(&handle, "buffered", None, Freshness::Latest)
        .unwrap();
    assert_eq!(
        again.map(|found| (found.version, found.seq_no)),
        Some((2, 3))
    );
}

#[test]
fn a_shard_that_lacks_operations_does_not_pass_for_rebuilt() {
    let (engine, index) = engine(&SimDisk::new());
    put(&engine, "a").unwrap();
    put(&engine, "b").unwrap();
    let shard = &index.shards[0];
    shard.check_rebuilt(2).unwrap();
    let refused = shard.check_rebuilt(1).unwrap_err();
    assert!(matches!(refused, EngineError::Corrupt { .. }));
    let words = "operations [1] to [1] are missing";
    assert!(refused.to_string().contains(words), "{refused}");
}

#[test]
fn what_a_document_of_the_log_becomes_in_further_fields_is_told() {
    let (_engine, index) = engine(&SimDisk::new());
    let copied = json!({"type": "text"});
    let mapping = clew_opensearch_mapping::mapping(json!({"properties": {
        "a": copied, "b": copied, "from": {"type": "text", "copy_to": ["a", "b"]},
    }}));
    let source = json!({"from": "word ".repeat(6_000)}).to_string();
    let operation = DocumentOperation {
        id: "1",
        routing: None,
        seq_no: 0,
        version: 1,
        body: Body::Index {
            vectors: Vec::new(),
            source: source.as_bytes(),
        },
    };
    let document = index.shards[0].prepare_logged(&operation, &Arc::new(mapping));
    let copies = document.unwrap().and_then(|document| document.copies);
    assert!(copies.is_some_and(|copies| copies.bytes() > 400_000));
}

#[test]
fn what_a_failed_shard_is_rebuilt_from_is_not_trimmed() {
    let (engine, index) = engine(&SimDisk::new());
    put(&engine, "flushed").unwrap();
    engine.flush(&index).unwrap();
    // Nobody rebuilds it after this.
    engine.close().unwrap();
    let shard = &index.shards[0];
    assert_eq!(shard.checkpoint(), None);
    shard.fail(&"a test wants it so");
    assert_eq!(shard.checkpoint(), Some(shard.recovered_from()));
}

#[test]
fn segments_that_died_before_anybody_saw_them_are_not_looked_through() {
    let options = EngineOptions {
        write_buffer_bytes: 1,
        ..EngineOptions::new("/data")
    };
    let (engine, index) = engine_with(&SimDisk::new(), options);
    let shard = &index.shards[0];
    // No merge helps.
    let _held = shard.merging.lock();
    for n in 0..1000 {
        put(&engine, &format!("d{}", n % 40)).unwrap();
    }
    let segments = shard.writer.lock().segment_count();
    assert!((1..=3).contains(&segments), "{segments}");
}

#[test]
fn a_merge_with_nothing_to_do_waits_for_no_other() {
    let (engine, index) = engine(&SimDisk::new());
    put(&engine, "a").unwrap();
    engine.force_merge(&index, 1).unwrap();
    let shard = &index.shards[0];
    // As if another one were running, which had to give way.
    let _held = shard.merging.lock();
    engine.force_merge(&index, 1).unwrap();
    assert!(!shard.merge_state.progress.is_cancelled());
    // Nor does the upkeep, which looks whenever something was written.
    let merged = shard.merge(MergeGoal::Upkeep, MergeOrder::Stacked);
    assert!(!merged.unwrap());
}

#[test]
fn damage_is_not_rebuilt() {
    let disk = SimDisk::new();
    let (engine, index) = engine(&disk);
    put(&engine, "a").unwrap();
    engine.flush(&index).unwrap();
    let shard = &index.shards[0];
    let held = shard.flushing.lock();
    let store = file_of(&disk, &shard.place.dir, ".store");
    disk.open(&store).unwrap().set_len(3).unwrap();
    shard.fail(&"a test wants it so");
    drop(held);
    crate::node::healing::heal(&engine.inner);
    assert_eq!(shard.remedy(), Some(Remedy::Repair));
    let told = shard.failure().unwrap();
    assert!(told.contains("3 bytes"), "{told}");
    assert_eq!(shard.checkpoint(), Some(Glsn::ZERO));
}

fn file_of(disk: &SimDisk, dir: &Path, suffix: &str) -> PathBuf {
    let mut files = disk.list(dir).unwrap().into_iter();
    let is_it = |path: &PathBuf| path.to_string_lossy().ends_with(suffix);
    files.find(is_it).unwrap()
}

#[test]
fn who_waits_to_see_what_was_written_is_told_when_the_index_goes() {
    let (engine, index) = engine(&SimDisk::new());
    put(&engine, "1").unwrap();
    let shard = &index.shards[0];
    let mut published = shard.published();
    published.borrow_and_update();
    engine.delete_index(&Access::everything(), "docs").unwrap();
    assert!(published.has_changed().unwrap());
}
