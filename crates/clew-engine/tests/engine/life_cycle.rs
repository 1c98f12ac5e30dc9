//! Mappings that grow, merges, flushes, restarts, deleted indexes.

use std::path::Path;
use std::sync::mpsc;
use std::thread;

use clew_engine::{
    CatalogChange, DefinitionChange, Engine, EngineError, EngineOptions, ErrorKind, IndexSettings,
    Purpose, ResolveOptions, SettingsChange,
};
use clew_platform::{Disk, SimDisk};
use clew_query::Query;
use serde_json::json;

use crate::harness::*;

#[test]
fn a_mapping_that_grows_keeps_old_segments_and_merges_with_them() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    for round in 0..4u64 {
        let field = format!("extra{round}");
        for n in 0..10 {
            let id = format!("{round}-{n}");
            let mut document = source(round * 10 + n);
            document[&field] = json!(format!("only in round {round}"));
            node.put(&id, &document);
        }
        node.refresh();
    }
    node.write_one(delete("0-0")).unwrap();
    let check = |node: &Node, when: &str| {
        assert_eq!(node.ids(Query::match_all()).len(), 39, "{when}");
        assert_eq!(
            node.ids(Query::matches("extra3", "round")).len(),
            10,
            "{when}"
        );
        assert_eq!(
            node.ids(Query::matches("extra0", "round")).len(),
            9,
            "{when}"
        );
        assert_eq!(
            node.ids(Query::term("extra1.keyword", "only in round 1"))
                .len(),
            10,
            "{when}"
        );
        assert_eq!(
            node.hits(knn(vector(25), 1, None), 1)[0].id,
            "2-5",
            "{when}"
        );
    };
    node.refresh();
    check(&node, "before the merge");
    node.engine.force_merge(&node.index(), 1).unwrap();
    assert_eq!(node.index().stats().segments, 1);
    assert_eq!(node.index().stats().deleted, 0);
    check(&node, "after the merge");
    drop(node);
    check(&Node::open(&disk).unwrap(), "after a restart");
}

#[test]
fn a_clean_restart_needs_nothing_of_the_log() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 3);
    for n in 0..50 {
        node.put(&n.to_string(), &source(n));
    }
    let last = node.put("7", &source(700));
    node.engine.close().unwrap();
    drop(node);
    let node = Node::open(&disk).unwrap();
    assert_eq!(node.ids(Query::match_all()).len(), 50);
    let again = node.get("7").unwrap();
    assert_eq!((again.version, json_of(&again)), (2, source(700)));
    let next = node.put("7", &source(701));
    assert_eq!(next.seq_no, last.seq_no + 1);
    assert!(next.glsn > last.glsn);
}

#[test]
fn deletes_and_updates_that_come_during_a_merge_are_kept() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    for round in 0..20u64 {
        for n in 0..20 {
            node.put(&n.to_string(), &source(round * 100 + n));
        }
        node.refresh();
    }
    std::thread::scope(|scope| {
        let merger = scope.spawn(|| {
            for _ in 0..10 {
                node.engine.force_merge(&node.index(), 1).unwrap();
            }
        });
        for n in 0..20u64 {
            let outcome = node.engine.write(
                &everything(),
                vec![if n % 2 == 0 {
                    delete(&n.to_string())
                } else {
                    index(&n.to_string(), &source(5000 + n))
                }],
            );
            assert!(outcome.results[0].is_ok());
            node.engine.refresh(&node.index()).unwrap();
        }
        merger.join().unwrap();
    });
    node.refresh();
    let odd: Vec<String> = {
        let mut ids: Vec<String> = (1..20).step_by(2).map(|n: u32| n.to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(node.ids(Query::match_all()), odd);
    for n in (1..20).step_by(2) {
        assert_eq!(
            json_of(&node.get(&n.to_string()).unwrap()),
            source(5000 + n)
        );
        assert_eq!(
            node.ids(Query::matches("text", format!("word{}", 5000 + n))),
            [n.to_string()]
        );
    }
}

#[test]
fn a_deleted_index_is_gone_for_good() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 2);
    let written = node.put("a", &source(1));
    let held = node.index();
    node.engine.delete_index(&everything(), "docs").unwrap();
    assert!(matches!(
        node.opened("docs", Purpose::Read),
        Err(EngineError::IndexNotFound { .. })
    ));
    // Nobody misses what happens while an index goes: all of these were asked for all indexes.
    node.engine.refresh(&held).unwrap();
    node.engine.refresh_shard(&held, 0).unwrap();
    node.engine.flush(&held).unwrap();
    node.engine.force_merge(&held, 1).unwrap();
    let seconds = std::time::Duration::from_secs(60);
    let indices = [held.index().clone()];
    let waited = node.engine.wait_visible(&indices, written.glsn, seconds);
    node.block_on(waited).unwrap();
    drop((node, held, indices));
    let node = Node::open(&disk.crashed(1)).unwrap();
    assert!(matches!(
        node.opened("docs", Purpose::Read),
        Err(EngineError::IndexNotFound { .. })
    ));
    // The name is free, and nothing of the old index comes back.
    node.engine
        .create_index(&everything(), "docs", IndexSettings::default(), mapping())
        .unwrap();
    assert!(node.get("a").is_none());
}

#[test]
fn the_files_of_a_deleted_index_go_while_others_are_served() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 2);
    node.put("1", &source(1));
    node.engine.flush(&node.index()).unwrap();
    let settings = IndexSettings::default();
    let made = node
        .engine
        .create_index(&everything(), "other", settings, mapping());
    made.unwrap();
    let folders = |disk: &SimDisk| disk.list(Path::new("/data/indices")).unwrap().len();
    disk.stall_removals();
    let engine = node.engine.clone();
    let deleting = thread::spawn(move || engine.delete_index(&everything(), "docs").map(drop));
    let (tell, told) = mpsc::channel();
    let engine = node.engine.clone();
    let looking = thread::spawn(move || {
        while engine.indices(&everything()).len() > 1 {
            thread::yield_now();
        }
        // Nobody may listen any more.
        let _ = tell.send(());
    });
    let others = told.recv_timeout(PATIENCE);
    let middle = disk.crashed(1);
    assert_eq!(folders(&middle), 2);
    disk.resume();
    deleting.join().unwrap().unwrap();
    looking.join().unwrap();
    others.expect("who looks for an index waits for the files of another one");
    assert_eq!(folders(&disk), 1);
    // Those that a crash has left go with the next start.
    let again = Node::open(&middle).unwrap();
    assert!(again.opened("docs", Purpose::Read).is_err());
    assert!(again.opened("other", Purpose::Read).is_ok());
    assert_eq!(folders(&middle), 1);
}

#[test]
fn an_index_that_is_made_after_the_clock_was_set_back_has_a_folder_of_its_own() {
    let disk = SimDisk::new();
    // The clock of these nodes stands still.
    for n in 0..4 {
        let node = Node::open(&disk).unwrap();
        if n == 2 {
            node.engine.delete_index(&everything(), "i1").unwrap();
        }
        let settings = IndexSettings::default();
        node.engine
            .create_index(&everything(), &format!("i{n}"), settings, mapping())
            .unwrap();
        let mut uuids: Vec<String> = node
            .engine
            .indices(&everything())
            .iter()
            .map(|i| i.uuid().into())
            .collect();
        uuids.sort();
        uuids.dedup();
        assert_eq!(uuids.len(), if n < 2 { n + 1 } else { n });
    }
}

#[test]
fn names_resolve_with_wildcards_lists_and_exclusions() {
    let node = Node::open(&SimDisk::new()).unwrap();
    for name in ["logs-1", "logs-2", "other"] {
        node.engine
            .create_index(&everything(), name, IndexSettings::default(), mapping())
            .unwrap();
    }
    let names = |expression: &str| -> Vec<String> {
        let found = node.named(expression, ResolveOptions::default()).unwrap();
        let names = found.iter().map(|found| found.name().to_string());
        names.collect()
    };
    assert_eq!(names("_all"), ["logs-1", "logs-2", "other"]);
    assert_eq!(names(""), names("*"));
    assert_eq!(names("logs-*"), ["logs-1", "logs-2"]);
    assert_eq!(names("*,-logs-1"), ["logs-2", "other"]);
    assert_eq!(names("other,logs-1"), ["logs-1", "other"]);
    assert!(names("none*").is_empty());
    let error = node
        .named("other,none", ResolveOptions::default())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let again =
        node.engine
            .create_index(&everything(), "other", IndexSettings::default(), mapping());
    assert!(matches!(again, Err(EngineError::IndexExists { .. })));
}

#[test]
fn settings_change_but_not_the_number_of_shards() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 2);
    let settings = IndexSettings {
        ef_search: 77,
        ..(*node.index().settings()).clone()
    };
    node.engine
        .change_catalog(&everything(), settings_change(&node, settings.clone()))
        .unwrap();
    let split = IndexSettings {
        shards: 4,
        ..settings
    };
    assert_eq!(
        node.engine
            .change_catalog(&everything(), settings_change(&node, split))
            .unwrap_err()
            .kind(),
        ErrorKind::Invalid
    );
    drop(node);
    assert_eq!(Node::open(&disk).unwrap().index().settings().ef_search, 77);
}

#[test]
fn of_two_changes_of_settings_neither_takes_back_the_other() {
    let node = Node::with_index(&SimDisk::new(), 1);
    let changed = |change: fn(&mut IndexSettings)| {
        let change = SettingsChange::new(move |settings| {
            let mut settings = settings.clone();
            change(&mut settings);
            Ok(settings)
        });
        vec![CatalogChange::Settings {
            index: "docs".to_string(),
            uuid: node.index().uuid().to_string(),
            change,
            blocks_alone: false,
        }]
    };
    // Both are there before either is done, as those of two requests.
    let one = changed(|settings| settings.ef_search = 77);
    let other = changed(|settings| settings.max_result_window = 5);
    for change in [one, other] {
        node.engine.change_catalog(&everything(), change).unwrap();
    }
    let settings = node.index().settings();
    assert_eq!((settings.ef_search, settings.max_result_window), (77, 5));
    let refused = SettingsChange::new(|_| {
        let reason = "no".to_string();
        Err(EngineError::InvalidSetting { reason })
    });
    let refused = CatalogChange::Settings {
        index: "docs".to_string(),
        uuid: node.index().uuid().to_string(),
        change: refused,
        blocks_alone: false,
    };
    let refused = node.engine.change_catalog(&everything(), vec![refused]);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(node.index().settings().ef_search, 77);
}

#[test]
fn a_force_merge_ends_although_writes_go_on() {
    let node = Node::with_index(&SimDisk::new(), 1);
    for n in 0..10 {
        node.put(&n.to_string(), &source(n));
        node.refresh();
    }
    let merging = std::sync::atomic::AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut n = 0;
            while merging.load(std::sync::atomic::Ordering::SeqCst) {
                n += 1;
                node.engine.write(
                    &everything(),
                    vec![index(&(n % 20).to_string(), &source(n))],
                );
            }
        });
        node.engine.force_merge(&node.index(), 1).unwrap();
        merging.store(false, std::sync::atomic::Ordering::SeqCst);
    });
    assert!(node.index().stats().segments <= 12);
}

#[test]
fn without_any_refresh_full_buffers_are_merged_and_the_log_is_trimmed() {
    let disk = SimDisk::new();
    let options = clew_engine::EngineOptions {
        write_buffer_bytes: 1,
        log: clew_log::LogOptions {
            file_bytes_max: 10_000,
            ..clew_log::LogOptions::default()
        },
        ..clew_engine::EngineOptions::new("/data")
    };
    let node = Node::open_with(&disk, options).unwrap();
    let settings = IndexSettings {
        refresh_interval: None,
        flush_threshold_bytes: 20_000,
        ..IndexSettings::default()
    };
    let (index, _) = node
        .engine
        .create_index(&everything(), "docs", settings, mapping())
        .unwrap();
    let logs = || {
        let files = clew_platform::Disk::list(&disk, std::path::Path::new("/data/log")).unwrap();
        let is_log = |path: &&std::path::PathBuf| path.extension().is_some_and(|e| e == "log");
        files.iter().filter(is_log).count()
    };
    // Upkeep runs beside us: write until it has been seen to do both.
    let done = (0..200_000u64).any(|n| {
        node.put(&(n % 50).to_string(), &source(n));
        let stats = index.stats();
        stats.merges.total > 0 && stats.flushes.total > 0 && logs() < 4 && n > 500
    });
    assert!(done, "{:?}, {} files of the log", index.stats(), logs());
}

#[test]
fn an_index_that_cannot_be_made_leaves_no_folder() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    let folders = || disk.list(Path::new("/data/indices")).unwrap().len();
    assert_eq!(folders(), 1);
    let settings = IndexSettings {
        shards: 3,
        ..IndexSettings::default()
    };
    let create = || {
        let (settings, mapping) = (settings.clone(), mapping());
        node.engine
            .create_index(&everything(), "more", settings, mapping)
    };
    // The folders of the index and of its shards are there by then.
    disk.fail_folder_sync(2);
    let refused = create().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Internal, "{refused}");
    assert_eq!(folders(), 1);
    create().unwrap();
    assert_eq!(folders(), 2);
}

/// Lets something change while the disk stands, and others look for indexes meanwhile.
fn change_beside_others(change: impl FnOnce(&Engine) + Send + 'static) {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    disk.stall();
    let engine = node.engine.clone();
    let changing = thread::spawn(move || change(&engine));
    let (tell, told) = mpsc::channel();
    let engine = node.engine.clone();
    let looking = thread::spawn(move || {
        for _ in 0..1000 {
            engine.indices(&everything());
            thread::yield_now();
        }
        // Nobody may listen any more.
        let _ = tell.send(());
    });
    let others = told.recv_timeout(PATIENCE);
    disk.resume();
    changing.join().unwrap();
    looking.join().unwrap();
    others.expect("who looks for an index waits for the disk");
}

#[test]
fn indexes_are_made_and_deleted_while_others_are_served() {
    change_beside_others(|engine| {
        let settings = IndexSettings::default();
        let made = engine.create_index(&everything(), "other", settings, mapping());
        made.unwrap();
    });
    change_beside_others(|engine| {
        engine.delete_index(&everything(), "docs").unwrap();
    });
}

#[test]
fn who_looks_at_definitions_does_not_wait_for_a_log_that_is_full() {
    let disk = SimDisk::new();
    let mut options = EngineOptions {
        search_threads: 1,
        ..EngineOptions::new("/data")
    };
    options.log.pending_bytes_max = 1;
    let node = Node::open_with(&disk, options).unwrap();
    disk.stall();
    let define = |name: &'static str| {
        let engine = node.engine.clone();
        thread::spawn(move || {
            let changes = vec![DefinitionChange::put("kind", name, json!({"n": 1}))];
            let done = engine.change_definitions(&everything(), |_| Ok::<_, EngineError>(changes));
            done.map(drop)
        })
    };
    // Of two one finds room, and the other one waits for the disk before it has a place in the log.
    let both = ["a", "b"].map(define);
    eventually("nobody waits for room in the log", || {
        (node.engine.stats().log.append_waits > 0).then_some(())
    });
    let (tell, told) = mpsc::channel();
    let engine = node.engine.clone();
    let looking = thread::spawn(move || {
        let seen = engine.with_definitions(|all| all.of("kind").count());
        // Nobody may listen any more.
        let _ = tell.send(seen);
    });
    let seen = told.recv_timeout(PATIENCE);
    disk.resume();
    looking.join().unwrap();
    for defined in both {
        defined.join().unwrap().unwrap();
    }
    assert_eq!(seen, Ok(1), "who looks at definitions waits for the disk");
    let count = || node.engine.with_definitions(|all| all.of("kind").count());
    assert_eq!(count(), 2);
}
