//! Another name for an index: everything stays but the name, whatever happens to the power.

use clew_engine::{
    Access, Alias, AliasAction, CatalogChange, EngineError, EngineOptions, Grant, IndexSettings,
    Purpose, SearchRequest,
};
use clew_platform::SimDisk;
use clew_query::Query;

use crate::harness::*;

fn rename(node: &Node, name: &str, new: &str) -> Result<(), EngineError> {
    node.engine
        .rename_index(&everything(), name, new)
        .map(|_| ())
}

fn names(node: &Node) -> Vec<String> {
    let indices = node.engine.indices(&everything());
    indices.iter().map(|index| index.name().into()).collect()
}

fn aliased(node: &Node, alias: &str) -> Vec<String> {
    let all = node.engine.aliases();
    let indices = all.get(alias).into_iter().flatten();
    indices.map(|index| index.name().into()).collect()
}

fn add(index: &str, name: &str) -> AliasAction {
    AliasAction::Add {
        index: index.into(),
        name: name.into(),
        alias: Alias::default(),
    }
}

#[test]
fn everything_but_the_name_stays_through_crashes_and_restarts() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 2);
    for n in 0..20 {
        node.put(&n.to_string(), &source(n));
    }
    let (before, index) = (node.index().uuid().to_string(), node.index());
    let actions = vec![add("docs", "other")];
    node.engine.change_aliases(&everything(), actions).unwrap();
    rename(&node, "docs", "Moved.elsewhere").unwrap();
    // Whoever has it open goes on, and is told the truth.
    assert_eq!(index.name(), "Moved.elsewhere");
    node.engine.refresh(&index).unwrap();
    assert!(node.engine.has_index(&index));
    assert!(matches!(
        node.opened("docs", Purpose::Read),
        Err(EngineError::IndexNotFound { .. })
    ));
    // The old name is free.
    node.create_index(1);
    node.put("0", &source(77));
    for crash in 0..3 {
        let node = Node::open(&disk.crashed(crash)).unwrap();
        assert_eq!(names(&node), ["Moved.elsewhere", "docs"]);
        assert_eq!(aliased(&node, "other"), ["Moved.elsewhere"]);
        let moved = node.opened("Moved.elsewhere", Purpose::Read).unwrap();
        assert_eq!(moved.uuid(), before);
        node.engine.refresh(&moved).unwrap();
        assert_eq!(moved.stats().docs, 20);
        assert_eq!(json_of(&node.get("0").unwrap()), source(77));
        // Once saved with the catalog and once only in the log.
        node.engine.close().unwrap();
    }
}

#[test]
fn a_power_cut_at_any_moment_leaves_one_of_both_names() {
    let mut seen = std::collections::BTreeSet::new();
    for cut in 0..12 {
        let disk = SimDisk::new();
        let node = Node::with_index(&disk, 1);
        node.put("1", &source(1));
        disk.cut_power_after(cut + 1);
        let done = rename(&node, "docs", "new").is_ok();
        let _ = node.engine.close();
        let node = Node::open(&disk.crashed(cut)).unwrap();
        let names = names(&node);
        assert!(names == ["docs"] || names == ["new"], "{names:?}");
        assert!(!done || names == ["new"], "what was acknowledged is lost");
        let index = node.opened(&names[0], Purpose::Read).unwrap();
        node.engine.refresh(&index).unwrap();
        assert_eq!(index.stats().docs, 1);
        seen.insert(names[0].clone());
    }
    assert_eq!(seen.len(), 2, "the power was cut too late, or too early");
}

#[test]
fn the_index_that_was_looked_at_is_renamed_and_no_other_of_its_name() {
    let node = Node::with_index(&SimDisk::new(), 1);
    let old = node.index().uuid().to_string();
    node.engine.delete_index(&everything(), "docs").unwrap();
    node.create_index(1);
    let rename = |uuid: &str| {
        let names = ("docs", "new");
        node.engine
            .rename_index_if(&everything(), names, |index| index.check_is(uuid))
    };
    let refused = rename(&old).unwrap_err();
    let is_gone = matches!(refused, EngineError::IndexNotFound { .. });
    assert!(is_gone, "{refused}");
    assert_eq!(names(&node), ["docs"]);
    rename(node.index().uuid()).unwrap();
    assert_eq!(names(&node), ["new"]);
}

#[test]
fn names_that_are_taken_are_refused_and_nothing_changes() {
    let node = Node::with_index(&SimDisk::new(), 1);
    let settings = IndexSettings::default();
    let create = |name: &str, settings: IndexSettings| {
        let made = node
            .engine
            .create_index(&everything(), name, settings, mapping());
        made.unwrap();
    };
    create("b", settings.clone());
    let unfinished = IndexSettings {
        unfinished: true,
        ..settings.clone()
    };
    create("half", unfinished);
    let part = IndexSettings {
        data_stream: Some("stream".into()),
        ..settings
    };
    create(".ds-stream-000001", part);
    let actions = vec![add("docs", "own"), add("b", "alias")];
    node.engine.change_aliases(&everything(), actions).unwrap();
    let refused = |name: &str, new: &str, said: &str| {
        let error = rename(&node, name, new).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    };
    refused("nope", "c", "nope");
    refused("docs", "b", "already exists");
    refused("docs", "docs", "already exists");
    refused("docs", "alias", "already exists as alias");
    refused("docs", "own", "already exists as alias");
    refused("own", "c", "own");
    refused("docs", "a*b", "must not contain");
    refused(".ds-stream-000001", "c", "data stream");
    refused("half", "c", "still being filled");
    let grant = |pattern: &str| Grant {
        pattern: pattern.into(),
        purposes: vec![Purpose::Change],
    };
    let only = Access::only(vec![grant("docs")]);
    let denied = node.engine.rename_index(&only, "docs", "c");
    assert!(matches!(denied, Err(EngineError::AccessDenied { .. })));
    assert_eq!(names(&node), [".ds-stream-000001", "b", "docs", "half"]);
    let both = Access::only(vec![grant("docs"), grant("c")]);
    node.engine.rename_index(&both, "docs", "c").unwrap();
}

#[test]
fn an_index_is_written_searched_and_changed_under_its_new_name() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 1);
    node.put("1", &source(1));
    let pinned = {
        node.refresh();
        node.engine.pin(&[node.index()]).unwrap()
    };
    rename(&node, "docs", "new").unwrap();
    let found = node
        .run(SearchRequest::new(pinned, Query::match_all()))
        .unwrap();
    assert_eq!(found.hits[0].index.name(), "new");
    let operation = clew_engine::WriteOperation {
        index: "new".into(),
        ..index("2", &source(2))
    };
    assert_eq!(node.write_one(operation).unwrap().index.name(), "new");
    assert!(node.write_one(index("3", &source(3))).is_ok(), "made anew");
    let change = CatalogChange::Mapping {
        index: "new".into(),
        uuid: node
            .opened("new", Purpose::Read)
            .unwrap()
            .uuid()
            .to_string(),
        spec: Box::new(one_more_field()),
    };
    node.engine
        .change_catalog(&everything(), vec![change])
        .unwrap();
    rename(&node, "new", "newer").unwrap();
    let options = EngineOptions {
        search_threads: 1,
        ..EngineOptions::new("/data")
    };
    let node = Node::open_with(&disk.crashed(1), options).unwrap();
    assert_eq!(names(&node), ["docs", "newer"]);
    let index = node.opened("newer", Purpose::Read).unwrap();
    assert!(index.mapping().field("x").is_some());
    node.engine.refresh(&index).unwrap();
    assert_eq!(index.stats().docs, 2);
    let deleted = node.engine.delete_index(&everything(), "newer");
    deleted.unwrap();
    assert_eq!(names(&node), ["docs"]);
}

#[test]
fn so_many_names_are_kept_and_no_more() {
    let node = Node::with_index(&SimDisk::new(), 1);
    let mut renamed = 0;
    let refused = loop {
        let (old, new) = match renamed {
            0 => ("docs", "b"),
            n if n % 2 == 1 => ("b", "a"),
            _ => ("a", "b"),
        };
        match rename(&node, old, new) {
            Ok(()) => renamed += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(renamed, 999, "{refused}");
    assert!(refused.to_string().contains("1000"), "{refused}");
}
