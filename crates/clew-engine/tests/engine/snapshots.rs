//! Definitions that last, documents read out and written back, snapshots that are whole or absent.

use std::collections::BTreeSet;
use std::path::PathBuf;

use bytes::Bytes;
use clew_engine::{
    DefinitionChange, Document, EngineError, EngineOptions, ErrorKind, Freshness, Index,
    IndexHandle, IndexSettings, IndexState, Purpose, WriteOperation, documents_file_name,
};
use clew_platform::{Disk, MemoryLimits, SimDisk};
use clew_query::Query;
use serde_json::json;

use crate::harness::*;

fn define(node: &Node, changes: Vec<DefinitionChange>) {
    let changed = node
        .engine
        .change_definitions(&everything(), |_| Ok::<_, EngineError>(changes))
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
        .change_definitions(&everything(), |_| Ok::<_, EngineError>(vec![]))
        .unwrap();
    assert_eq!(nothing, None);
    let refused = node
        .engine
        .change_definitions(&everything(), |_| Ok::<_, EngineError>(vec![put("", 1)]));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn definitions_take_no_more_than_their_share_of_the_memory() {
    let options = EngineOptions {
        memory: MemoryLimits {
            total: 8 << 20,
            ..MemoryLimits::none()
        },
        ..EngineOptions::new("/data")
    };
    let disk = SimDisk::new();
    let node = Node::open_with(&disk, options.clone()).unwrap();
    let text = "x".repeat(300 << 10);
    let put = |name: usize| DefinitionChange::put("script", &name.to_string(), json!([text]));
    let change_in = |node: &Node, change: DefinitionChange| {
        node.engine
            .change_definitions(&everything(), |_| Ok::<_, EngineError>(vec![change]))
    };
    let change = |change: DefinitionChange| change_in(&node, change);
    let taken = (0..10).take_while(|n| change(put(*n)).is_ok()).count();
    assert!((2..8).contains(&taken), "{taken}");
    assert!(matches!(change(put(taken)), Err(EngineError::Memory(_))));
    // What is small is taken, and what takes something away, which makes room.
    change(DefinitionChange::put("setting", "s", json!(1))).unwrap();
    let gone = (0..100).map(|n| DefinitionChange::remove("script", &(10 * n).to_string()));
    define(&node, gone.collect());
    change(put(taken)).unwrap();
    assert!(change(put(0)).is_err());
    // What of it the log alone has counts, too.
    let again = Node::open_with(&disk.crashed(1), options).unwrap();
    assert!(change_in(&again, put(0)).is_err());
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
    let from = node.copied();
    let settings = IndexSettings {
        shards: 3,
        ..IndexSettings::default()
    };
    let (target, _) = node
        .engine
        .create_index(&everything(), "copy", settings, (*from.mapping()).clone())
        .unwrap();
    let mut copied = 0;
    for shard in 0..2 {
        let documents = node.engine.shard_documents(&from, shard).unwrap();
        copied += node
            .engine
            .fill_index(&everything(), &target, documents)
            .unwrap();
    }
    assert_eq!(copied, 19);
    assert_eq!(target.stats().docs, 19);
    let copy = node.opened("copy", Purpose::Read).unwrap();
    let get = |id: &str| {
        node.engine
            .get(&copy, id, None, Freshness::Searchable)
            .unwrap()
    };
    assert_eq!(json_of(&get("d3").unwrap()), source(33));
    assert!(get("d4").is_none());
    assert!(node.engine.shard_documents(&from, 2).is_err());
}

/// An index of nested objects in nested objects, vectors in both, joins and routing keys: some in
/// a segment, some replaced, some deleted, some unseen by searches. The ids with their routing keys.
fn composed(node: &Node) -> (IndexHandle, Vec<(String, Option<String>)>) {
    let vector = json!({"type": "knn_vector", "dimension": 2});
    let sparse = json!({"type": "sparse_vector"});
    let mapping = clew_opensearch_mapping::mapping(json!({"properties": {
        "v": vector,
        "s": sparse,
        "family": {"type": "join", "relations": {"parent": "child"}},
        "outer": {"type": "nested", "properties": {
            "v": vector,
            "s": sparse,
            "inner": {"type": "nested", "properties": {"word": {"type": "keyword"}}},
        }},
    }}));
    let settings = IndexSettings {
        shards: 2,
        refresh_interval: None,
        ..IndexSettings::default()
    };
    node.engine
        .create_index(&everything(), "docs", settings, mapping)
        .unwrap();
    let routed = |operation: WriteOperation, n: u64| WriteOperation {
        routing: n.is_multiple_of(3).then(|| format!("r{}", n % 4)),
        ..operation
    };
    let body = |n: u64, word: &str| {
        let inner = json!([{"word": word}, {"word": format!("w{n}")}]);
        let family = if n.is_multiple_of(3) {
            json!({"name": "child", "parent": "d1"})
        } else {
            json!("parent")
        };
        json!({"v": [n, 1], "s": {n.to_string(): 0.1}, "family": family,
            "outer": [{"v": [1, n], "s": {"7": n}, "inner": inner}, {"inner": inner}]})
    };
    let write = |operation: WriteOperation| node.write_one(operation).unwrap();
    for n in 0..20 {
        write(routed(index(&format!("d{n}"), &body(n, "first")), n));
    }
    node.refresh();
    for n in 0..10 {
        write(routed(index(&format!("d{n}"), &body(n, "second")), n));
    }
    write(routed(delete("d19"), 19));
    node.refresh();
    write(routed(index("d3", &body(3, "third")), 3));
    let ids = (0..19).map(|n| routed(delete(&format!("d{n}")), n));
    let ids = ids.map(|one| (one.id.unwrap(), one.routing)).collect();
    (node.copied(), ids)
}

/// Each index must give the same documents by id, in the same versions.
fn check_same(node: &Node, (a, b): (&Index, &Index), ids: &[(String, Option<String>)]) {
    assert_eq!(a.stats().docs, ids.len() as u64);
    assert_eq!(b.stats().docs, ids.len() as u64);
    let read = |index: &Index| node.opened(index.name(), Purpose::Read).unwrap();
    let (a, b) = (read(a), read(b));
    for (id, routing) in ids {
        let get = |index| {
            let found = node
                .engine
                .get(index, id, routing.as_deref(), Freshness::Searchable);
            let found = found.unwrap().unwrap_or_else(|| panic!("{id} is missing"));
            (json_of(&found), found.version, found.routing)
        };
        assert_eq!(get(&a), get(&b), "{id}");
    }
}

#[test]
fn documents_with_nested_objects_are_copied_whole_into_any_number_of_shards() {
    let disk = SimDisk::new();
    let node = Node::open(&disk).unwrap();
    let (from, ids) = composed(&node);
    for shards in [1, 2, 4] {
        let settings = IndexSettings {
            shards,
            ..IndexSettings::default()
        };
        let (target, _) = node
            .engine
            .create_index(
                &everything(),
                &format!("copy{shards}"),
                settings,
                (*from.mapping()).clone(),
            )
            .unwrap();
        let mut copied = 0;
        for shard in 0..2 {
            let documents = node.engine.shard_documents(&from, shard).unwrap();
            copied += node
                .engine
                .fill_index(&everything(), &target, documents)
                .unwrap();
        }
        assert_eq!(copied, ids.len() as u64);
        check_same(&node, (&from, &target), &ids);
    }
}

#[test]
fn a_snapshot_with_rows_of_nested_objects_from_an_early_build_is_restored() {
    let disk = SimDisk::new();
    let node = Node::open(&disk).unwrap();
    let (from, ids) = composed(&node);
    let repository = node.engine.snapshot_repository(PathBuf::from("/repo"));
    let id = node.engine.new_snapshot_id();
    let row = || Document {
        id: String::new(),
        version: 1,
        seq_no: 0,
        routing: None,
        source: Bytes::new(),
    };
    let files: Vec<_> = (0..2)
        .map(|shard| {
            let documents = node.engine.shard_documents(&from, shard).unwrap();
            let with_rows = documents.flat_map(|document| [Ok(row()), Ok(row()), document]);
            let name = documents_file_name(0, shard);
            let with_rows = with_rows.chain([Ok(row())]);
            repository.write_documents(&id, &name, with_rows).unwrap()
        })
        .collect();
    assert!(files.iter().map(|file| file.documents).sum::<u64>() > 2 * ids.len() as u64);
    let settings = (*from.settings()).clone();
    let (target, _) = node
        .engine
        .create_index(
            &everything(),
            "restored",
            settings,
            (*from.mapping()).clone(),
        )
        .unwrap();
    for file in &files {
        let documents = repository.read_documents(&id, file).unwrap();
        node.engine
            .fill_index(&everything(), &target, documents)
            .unwrap();
    }
    check_same(&node, (&from, &target), &ids);
}

#[test]
fn documents_of_an_index_are_those_of_one_moment_whatever_becomes_of_it() {
    type Change = fn(&Node);
    let changes: [(&str, Change); 3] = [
        ("written", |node| {
            for n in 20..40 {
                node.put(&n.to_string(), &source(n));
            }
            node.refresh();
        }),
        ("closed", |node| {
            let opened = node.opened("docs", Purpose::Change).unwrap();
            let closed = node.engine.set_index_state(&[opened], IndexState::Closed);
            closed.unwrap();
        }),
        ("deleted", |node| {
            node.engine.delete_index(&everything(), "docs").unwrap();
        }),
    ];
    for (what, change) in changes {
        let node = Node::with_index(&SimDisk::new(), 3);
        for n in 0..20 {
            node.put(&n.to_string(), &source(n));
        }
        let shards = node.engine.index_documents(&node.copied()).unwrap();
        assert_eq!(shards.len(), 3);
        change(&node);
        let all = shards.into_iter().flatten();
        let ids: Result<BTreeSet<String>, _> = all.map(|one| one.map(|one| one.id)).collect();
        let wanted: BTreeSet<String> = (0..20).map(|n| n.to_string()).collect();
        assert_eq!(ids.unwrap(), wanted, "{what}");
    }
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
            let documents = node.engine.shard_documents(&node.copied(), shard).unwrap();
            let name = documents_file_name(0, shard);
            repository.write_documents(&id, &name, documents).unwrap()
        })
        .collect();
    assert_eq!(files.iter().map(|file| file.documents).sum::<u64>(), 19);
    assert!(
        repository.snapshots().unwrap().complete.is_empty(),
        "not complete yet"
    );
    repository.complete(&id, json!({"name": "s"})).unwrap();

    let disk = disk.crashed(7);
    let node = Node::open(&disk).unwrap();
    let repository = node.engine.snapshot_repository(PathBuf::from("/repo"));
    let found = repository.snapshots().unwrap().complete;
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
    assert!(repository.snapshots().unwrap().complete.is_empty());
}

#[test]
fn a_snapshot_whose_files_somebody_else_has_taken_away_is_not_complete() {
    let disk = SimDisk::new();
    let node = filled(&disk);
    let repository = node.engine.snapshot_repository(PathBuf::from("/repo"));
    let id = node.engine.new_snapshot_id();
    let write = || {
        let documents = node.engine.shard_documents(&node.copied(), 0).unwrap();
        let name = documents_file_name(0, 0);
        repository.write_documents(&id, &name, documents).unwrap()
    };
    let content = json!({"indices": [{"files": [write()]}]});
    // As another server does, which does not know that it is being taken.
    repository.clean(&[]).unwrap();
    assert!(repository.complete(&id, content.clone()).is_err());
    assert!(repository.snapshots().unwrap().complete.is_empty());
    write();
    repository.complete(&id, content).unwrap();
    assert_eq!(repository.snapshots().unwrap().complete.len(), 1);
}

#[test]
fn what_was_never_completed_is_cleaned_away_unless_it_is_running() {
    let disk = SimDisk::new();
    let node = filled(&disk);
    let repository = node.engine.snapshot_repository(PathBuf::from("/repo"));
    let ids = [(); 2].map(|()| node.engine.new_snapshot_id());
    let [left, running] = &ids;
    for id in &ids {
        let documents = node.engine.shard_documents(&node.copied(), 0).unwrap();
        let written = repository.write_documents(id, "0-0.docs", documents);
        assert!(written.unwrap().bytes > 8);
    }
    // Folders of others.
    for foreign in ["empty", "with a file"] {
        disk.create_dir_all(&PathBuf::from("/repo").join(foreign))
            .unwrap();
    }
    let foreign = PathBuf::from("/repo/with a file/letter.docs");
    disk.write_atomic(&foreign, b"mine").unwrap();
    let cleaned = repository.clean(std::slice::from_ref(running)).unwrap();
    assert_eq!(cleaned.files, 1);
    let repo = PathBuf::from("/repo");
    assert!(!disk.exists(&repo.join(left)));
    assert!(disk.exists(&repo.join(running).join("0-0.docs")));
    assert!(disk.exists(&foreign) && disk.exists(&repo.join("empty")));
    let again = repository.clean(std::slice::from_ref(running)).unwrap();
    assert_eq!(again.files, 0);
}

#[test]
fn looking_whether_a_repository_can_be_written_leaves_nothing_there() {
    let disk = SimDisk::new();
    let node = filled(&disk);
    let repo = PathBuf::from("/repo");
    let repository = node.engine.snapshot_repository(repo.clone());
    // As left by a process that was killed meanwhile, and by one that removed nothing after a failure.
    disk.create_dir_all(&repo).unwrap();
    for left in ["probe", "probe.tmp"] {
        drop(disk.create_new(&repo.join(left)).unwrap());
    }
    repository.verify().unwrap();
    assert!(disk.list(&repo).unwrap().is_empty());
    for fault in 0..3 {
        match fault {
            0 => disk.limit_bytes(disk.bytes_used()),
            1 => disk.fail_sync(1),
            _ => disk.set_read_only(true),
        }
        assert!(repository.verify().is_err());
        disk.limit_bytes(u64::MAX);
        disk.set_read_only(false);
        assert!(disk.list(&repo).unwrap().is_empty(), "fault {fault}");
    }
}

/// What restoring every snapshot of a repository gives, document by document, or why it is refused.
fn restored(node: &Node, repo: &str) -> Result<Vec<String>, EngineError> {
    let repository = node.engine.snapshot_repository(PathBuf::from(repo));
    let found = repository.snapshots()?;
    if let Some(unread) = found.unread {
        return Err(unread.error);
    }
    let mut ids = Vec::new();
    for snapshot in found.complete {
        for file in snapshot.content["indices"][0]["files"].as_array().unwrap() {
            let file = serde_json::from_value(file.clone()).unwrap();
            for document in repository.read_documents(&snapshot.id, &file)? {
                let document = document?;
                let Document { id, version, .. } = &document;
                ids.push(format!("{id} {version} {}", json_of(&document)));
            }
        }
    }
    Ok(ids)
}

#[test]
fn damage_to_any_byte_of_a_repository_is_named() {
    let disk = SimDisk::new();
    let node = filled(&disk);
    let repo = PathBuf::from("/repo");
    let repository = node.engine.snapshot_repository(repo.clone());
    let id = node.engine.new_snapshot_id();
    let files: Vec<_> = (0..2)
        .map(|shard| {
            let documents = node.engine.shard_documents(&node.copied(), shard).unwrap();
            let name = documents_file_name(0, shard);
            repository.write_documents(&id, &name, documents).unwrap()
        })
        .collect();
    let content = json!({"name": "s", "indices": [{"files": files}]});
    repository.complete(&id, content).unwrap();
    let whole = restored(&node, "/repo").unwrap();
    assert_eq!(whole.len(), 19);
    let sound = clew_engine::verify_repository(&disk, &repo, &mut |_| {}).unwrap();
    assert_eq!((sound.snapshots, sound.files), (1, 2));
    assert!(sound.damage.is_empty() && sound.foreign.is_empty());

    let named = |path: &PathBuf, what: &str| {
        let text = path.to_str().unwrap();
        let refused = restored(&node, "/repo").map_err(|error| error.to_string());
        let refused = refused.expect_err(what);
        assert!(refused.contains(text), "{what}: {refused}");
        let report = clew_engine::verify_repository(&disk, &repo, &mut |_| {}).unwrap();
        assert!(report.damage.iter().any(|one| one.path == *path), "{what}");
    };
    let paths = disk.list(&repo.join(&id)).unwrap();
    assert_eq!(paths.len(), 3);
    for path in &paths {
        let before = disk.read(path).unwrap();
        for at in 0..before.len() {
            let mut file = disk.open(path).unwrap();
            file.write_all_at(&[before[at] ^ 1 << (at % 8)], at as u64)
                .unwrap();
            named(path, &format!("flip at {at}"));
            file.write_all_at(&before[at..=at], at as u64).unwrap();
        }
        for left in [0, 1, before.len() / 2, before.len() - 1] {
            disk.open(path).unwrap().set_len(left as u64).unwrap();
            named(path, &format!("cut to {left}"));
            disk.write_atomic(path, &before).unwrap();
        }
        disk.write_atomic(path, &[&before[..], b"x"].concat())
            .unwrap();
        named(path, "grown");
        let other = paths.iter().find(|other| *other != path).unwrap();
        disk.write_atomic(path, &disk.read(other).unwrap()).unwrap();
        named(path, "exchanged");
        disk.write_atomic(path, &before).unwrap();
    }
    for path in paths.iter().filter(|path| path.ends_with(&files[0].name)) {
        disk.remove_file(path).unwrap();
        named(path, "missing");
    }
}
