//! Writes, versions, gets and searches of single documents.

use std::cell::Cell;

use clew_engine::{
    Action, Condition, EngineError, ErrorKind, Freshness, IndexSettings, OpType, WriteOperation,
    WriteResult,
};
use clew_platform::SimDisk;
use clew_query::Query;
use serde_json::json;

use crate::harness::*;

#[test]
fn a_get_sees_a_write_at_once_and_a_search_after_a_refresh() {
    let node = Node::with_index(&SimDisk::new(), 3);
    let written = node.put("a", &source(1));
    assert_eq!((written.version, written.result), (1, WriteResult::Created));
    let got = node.get("a").unwrap();
    assert_eq!(json_of(&got), source(1));
    assert!(
        node.engine
            .get(&node.index(), "a", None, Freshness::Searchable)
            .unwrap()
            .is_none()
    );
    assert!(node.ids(Query::match_all()).is_empty());
    node.refresh();
    assert_eq!(node.ids(Query::matches("text", "word1")), ["a"]);
    assert!(
        node.engine
            .get(&node.index(), "a", None, Freshness::Searchable)
            .unwrap()
            .is_some()
    );
    assert_eq!(json_of(&node.get("a").unwrap()), source(1));
    let hit = &node.hits(Query::match_all(), 10)[0];
    assert_eq!(
        hit.source
            .as_deref()
            .map(|s| serde_json::from_slice(s).unwrap()),
        Some(source(1))
    );
}

#[test]
fn a_write_of_many_documents_can_be_ended_in_the_middle() {
    let node = Node::with_index(&SimDisk::new(), 1);
    let operations = (0..2_000).map(|n| index(&n.to_string(), &source(n)));
    let asked = Cell::new(0);
    let ended = || {
        asked.set(asked.get() + 1);
        (asked.get() > 2).then_some(EngineError::Closed)
    };
    let outcome = node
        .engine
        .write_until(&everything(), operations.collect(), &ended);
    let done = outcome.results.iter().filter(|result| result.is_ok());
    let done = done.count();
    assert!((2..2_000).contains(&done), "{done}");
    let rest = &outcome.results[done..];
    assert!(
        rest.iter()
            .all(|one| matches!(one, Err(EngineError::Closed)))
    );
    node.refresh();
    assert_eq!(node.ids(Query::match_all()).len(), done);
}

#[test]
fn versions_rise_over_buffer_segments_and_deletes() {
    let node = Node::with_index(&SimDisk::new(), 1);
    assert_eq!(node.put("a", &source(1)).version, 1);
    assert_eq!(node.put("a", &source(2)).version, 2);
    node.refresh();
    let third = node.put("a", &source(3));
    assert_eq!((third.version, third.result), (3, WriteResult::Updated));
    let gone = node.write_one(delete("a")).unwrap();
    assert_eq!((gone.version, gone.result), (4, WriteResult::Deleted));
    assert!(node.get("a").is_none());
    assert_eq!(
        node.write_one(delete("a")).unwrap().result,
        WriteResult::NotFound
    );
    let back = node.put("a", &source(5));
    assert_eq!(
        (back.version, back.result, back.seq_no),
        (6, WriteResult::Created, 5)
    );
    node.refresh();
    assert_eq!(node.ids(Query::match_all()), ["a"]);
    assert_eq!(node.ids(Query::matches("text", "word5")), ["a"]);
    assert!(node.ids(Query::matches("text", "word3")).is_empty());
}

#[test]
fn a_condition_or_a_create_on_another_state_is_a_conflict() {
    let node = Node::with_index(&SimDisk::new(), 1);
    let first = node.put("a", &source(1));
    let action = || Action::index(source(2).to_string(), OpType::Create);
    let error = node.write_one(operation(Some("a"), action())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(
        error
            .to_string()
            .contains("document already exists (current version [1])"),
        "{error}"
    );
    let conditional = |seq_no| {
        let mut write = index("a", &source(3));
        write.condition = Some(Condition::At {
            seq_no,
            primary_term: 1,
        });
        node.write_one(write)
    };
    assert!(matches!(
        conditional(7),
        Err(EngineError::VersionConflict { .. })
    ));
    assert_eq!(conditional(first.seq_no).unwrap().version, 2);
    assert!(matches!(
        conditional(first.seq_no),
        Err(EngineError::VersionConflict { .. })
    ));
}

#[test]
fn a_bad_document_fails_alone_and_never_reaches_the_log() {
    let node = Node::with_index(&SimDisk::new(), 2);
    let before = node.engine.stats().last;
    let results = node
        .write(vec![
            index("a", &json!({"n": "not a number"})),
            index("b", &source(2)),
            index("c", &json!({"v": [1.0, 2.0]})),
            operation(Some("d"), Action::index("{", OpType::Index)),
            index("b", &source(3)),
        ])
        .unwrap();
    let kinds: Vec<bool> = results.iter().map(Result::is_ok).collect();
    assert_eq!(kinds, [false, true, false, false, true]);
    assert_eq!(results[4].as_ref().unwrap().version, 2);
    assert_eq!(node.engine.stats().last.get() - before.get(), 2);
    node.refresh();
    assert_eq!(node.ids(Query::match_all()), ["b"]);
}

#[test]
fn updates_merge_and_a_noop_writes_nothing() {
    let node = Node::with_index(&SimDisk::new(), 1);
    let created = node
        .write_one(update("a", &json!({"n": 1, "o": {"x": 1}})))
        .unwrap();
    assert_eq!(created.result, WriteResult::Created);
    node.refresh();
    let updated = node
        .write_one(update("a", &json!({"o": {"y": 2}, "v": vector(9)})))
        .unwrap();
    assert_eq!((updated.result, updated.version), (WriteResult::Updated, 2));
    let noop = node.write_one(update("a", &json!({"n": 1}))).unwrap();
    assert_eq!(
        (noop.result, noop.version, noop.seq_no),
        (WriteResult::Noop, 2, updated.seq_no)
    );
    let want = json!({"n": 1, "o": {"x": 1, "y": 2}, "v": vector(9)});
    assert_eq!(json_of(&node.get("a").unwrap()), want);
    node.refresh();
    assert_eq!(json_of(&node.get("a").unwrap()), want);
    assert_eq!(node.hits(knn(vector(9), 1, None), 1)[0].id, "a");
}

#[test]
fn generated_ids_are_new_every_time() {
    let node = Node::with_index(&SimDisk::new(), 4);
    let write = || operation(None, Action::index("{}", OpType::Index));
    let results = node.write((0..500).map(|_| write()).collect()).unwrap();
    let ids: std::collections::BTreeSet<String> = results
        .into_iter()
        .map(|result| result.unwrap().id)
        .collect();
    assert_eq!(ids.len(), 500);
    node.refresh();
    assert_eq!(node.ids(Query::match_all()).len(), 500);
}

#[test]
fn ids_and_routing_have_limits() {
    let node = Node::with_index(&SimDisk::new(), 1);
    for id in ["".to_string(), "x".repeat(513)] {
        let error = node.write_one(index(&id, &source(1))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    assert!(node.write_one(index(&"x".repeat(512), &source(1))).is_ok());
}

#[test]
fn waiting_for_a_position_makes_it_visible() {
    let node = Node::with_index(&SimDisk::new(), 2);
    let written = node.put("a", &source(1));
    let timeout = std::time::Duration::from_secs(60);
    node.block_on(
        node.engine
            .wait_visible(&[node.index().index().clone()], written.glsn, timeout),
    )
    .unwrap();
    assert_eq!(node.ids(Query::match_all()), ["a"]);
}

#[test]
fn a_write_that_changes_nothing_can_be_waited_for() {
    let node = Node::with_index(&SimDisk::new(), 1);
    let index = [node.index().index().clone()];
    for _ in 0..100 {
        let written = node.write_one(delete("nothing")).unwrap();
        let waited =
            node.engine
                .wait_visible(&index, written.glsn, std::time::Duration::from_secs(60));
        node.block_on(waited).unwrap();
    }
}

#[test]
fn ids_are_as_long_as_the_index_lets_them_be() {
    let disk = SimDisk::new();
    let node = Node::open(&disk).unwrap();
    let create = |name: &str, id_bytes_max: usize| {
        let settings = IndexSettings {
            id_bytes_max,
            ..IndexSettings::default()
        };
        let made = node
            .engine
            .create_index(&everything(), name, settings, mapping());
        made.map(|_| ())
    };
    create("docs", 32_766).unwrap();
    create("usual", IndexSettings::default().id_bytes_max).unwrap();
    for wrong in [0, 32_767] {
        let refused = create("wrong", wrong).unwrap_err();
        assert!(matches!(refused, EngineError::InvalidSetting { .. }));
    }
    let long = |n: usize| "k".repeat(32_765) + &n.to_string();
    for n in 0..3 {
        node.put(&long(n), &source(n as u64));
        node.refresh();
    }
    let refused = |index_name: &str, id: &str| {
        let operation = WriteOperation {
            index: index_name.into(),
            ..index(id, &source(1))
        };
        let error = node.write_one(operation).unwrap_err().to_string();
        assert!(error.contains("is too long"), "{error}");
    };
    refused("docs", &"k".repeat(32_767));
    refused("usual", &"k".repeat(513));
    node.write_one(delete(&long(1))).unwrap();
    node.refresh();
    node.engine.force_merge(&node.index(), 1).unwrap();
    for node in [node, Node::open(&disk.crashed(1)).unwrap()] {
        assert!(node.get(&long(1)).is_none());
        for n in [0, 2] {
            assert_eq!(json_of(&node.get(&long(n)).unwrap()), source(n as u64));
        }
        assert_eq!(node.ids(Query::match_all()), [long(0), long(2)]);
    }
}
