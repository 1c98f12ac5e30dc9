//! Definitions that last, documents read out and written back, snapshots that are whole or absent.

use std::path::PathBuf;

use clew_engine::{DefinitionChange, EngineError, ErrorKind, IndexSettings, documents_file_name};
use clew_platform::{Disk, SimDisk};
use clew_text::Query;
use serde_json::json;

use crate::harness::*;

fn define(node: &Node, changes: Vec<DefinitionChange>) {
    let changed = node
        .engine
        .change_definitions(|_| Ok::<_, EngineError>(changes))
        .unwrap();
    assert!(changed.is_some());
}

#[test]
fn definitions_outlive_crashes_and_saved_catalogs() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    let put = |name: &str, n: u64| DefinitionChange::put("template", name, json!({"n": n}));
    define(&node, vec![put("a", 1), put("b", 2)]);
    node.engine.flush(&node.index()).unwrap();
    define(
        &node,
        vec![put("b", 3), DefinitionChange::remove("template", "a")],
    );
    let names = |node: &Node| {
        node.engine.with_definitions(|definitions| {
            let all = definitions.of("template");
            all.map(|(name, value)| format!("{name}{}", value["n"]))
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(names(&node), ["b3"]);
    let node = Node::open(&disk.crashed(1)).unwrap();
    assert_eq!(names(&node), ["b3"]);
    let nothing = node
        .engine
        .change_definitions(|_| Ok::<_, EngineError>(vec![]))
        .unwrap();
    assert_eq!(nothing, None);
    let refused = node
        .engine
        .change_definitions(|_| Ok::<_, EngineError>(vec![put("", 1)]));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
}

/// An index of two shards with 20 documents, of which some were replaced and one deleted.
fn filled(disk: &SimDisk) -> Node {
    let node = Node::with_index(disk, 2);
    for n in 0..20 {
        node.put(&format!("d{n}"), &source(n));
    }
    node.refresh();
    node.put("d3", &source(33));
    node.write_one(delete("d4")).unwrap();
    node
}

#[test]
fn documents_read_out_of_shards_fill_another_index() {
    let disk = SimDisk::new();
    let node = filled(&disk);
    let from = node.index();
    let settings = IndexSettings {
        shards: 3,
        ..IndexSettings::default()
    };
    let (target, _) = node
        .engine
        .create_index("copy", settings, (*from.mapping()).clone())
        .unwrap();
    let mut copied = 0;
    for shard in 0..2 {
        let documents = node.engine.shard_documents(&from, shard).unwrap();
        copied += node.engine.fill_index(&target, documents).unwrap();
    }
    assert_eq!(copied, 19);
    assert_eq!(target.stats().docs, 19);
    let get = |id: &str| node.engine.get(&target, id, None, false).unwrap();
    assert_eq!(json_of(&get("d3").unwrap()), source(33));
    assert!(get("d4").is_none());
    assert!(node.engine.shard_documents(&from, 2).is_err());
}

#[test]
fn a_snapshot_is_offered_when_it_is_whole_and_damage_is_found() {
    let disk = SimDisk::new();
    let node = filled(&disk);
    let repository = node.engine.snapshot_repository(PathBuf::from("/repo"));
    repository.verify().unwrap();
    let id = node.engine.new_snapshot_id();
    let files: Vec<_> = (0..2)
        .map(|shard| {
            let documents = node.engine.shard_documents(&node.index(), shard).unwrap();
            let name = documents_file_name(0, shard);
            repository.write_documents(&id, &name, documents).unwrap()
        })
        .collect();
    assert_eq!(files.iter().map(|file| file.documents).sum::<u64>(), 19);
    assert!(
        repository.snapshots().unwrap().is_empty(),
        "not complete yet"
    );
    repository.complete(&id, json!({"name": "s"})).unwrap();

    let disk = disk.crashed(7);
    let node = Node::open(&disk).unwrap();
    let repository = node.engine.snapshot_repository(PathBuf::from("/repo"));
    let found = repository.snapshots().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].content["name"], "s");
    let mut ids: Vec<String> = Vec::new();
    for file in &files {
        let documents = repository.read_documents(&id, file).unwrap();
        ids.extend(documents.map(|document| document.unwrap().id));
    }
    ids.sort();
    assert_eq!(ids, node.ids(Query::match_all()));

    let path = PathBuf::from("/repo").join(&id).join(&files[0].name);
    let mut file = disk.open(&path).unwrap();
    file.write_all_at(b"x", 20).unwrap();
    drop(file);
    let damaged = repository.read_documents(&id, &files[0]).err().unwrap();
    assert_eq!(damaged.kind(), ErrorKind::Corrupt);
    repository.delete(&id).unwrap();
    assert!(repository.snapshots().unwrap().is_empty());
}

#[test]
fn what_was_never_completed_is_cleaned_away_unless_it_is_running() {
    let disk = SimDisk::new();
    let node = filled(&disk);
    let repository = node.engine.snapshot_repository(PathBuf::from("/repo"));
    for id in ["left", "running"] {
        let documents = node.engine.shard_documents(&node.index(), 0).unwrap();
        let written = repository.write_documents(id, "0-0.docs", documents);
        assert!(written.unwrap().bytes > 8);
    }
    let cleaned = repository.clean(&["running".to_string()]).unwrap();
    assert_eq!(cleaned.files, 1);
    assert!(!disk.exists(&PathBuf::from("/repo/left")));
    assert!(disk.exists(&PathBuf::from("/repo/running/0-0.docs")));
    assert_eq!(repository.clean(&["running".to_string()]).unwrap().files, 0);
}
