//! Aliases, closed indexes and blocks: what they mean, and that they are there after a crash.

use clew_engine::{
    Alias, AliasAction, Aliases, Block, CatalogChange, ClosedNames, EngineError, ErrorKind,
    IndexPlan, IndexSettings, IndexState, Purpose, ResolveOptions, SettingsChange, Wildcards,
    WriteOperation,
};
use clew_platform::SimDisk;
use serde_json::json;

use crate::harness::{Node, everything, index, mapping, one_more_field, source};

fn create(node: &Node, name: &str) {
    node.engine
        .create_index(&everything(), name, IndexSettings::default(), mapping())
        .unwrap();
}

fn add(index: &str, name: &str, alias: Alias) -> AliasAction {
    AliasAction::Add {
        index: index.to_string(),
        name: name.to_string(),
        alias,
    }
}

fn remove(index: &str, name: &str) -> AliasAction {
    AliasAction::Remove {
        index: index.to_string(),
        name: name.to_string(),
    }
}

fn writer() -> Alias {
    Alias {
        is_write_index: Some(true),
        ..Alias::default()
    }
}

fn names(node: &Node, expression: &str, options: ResolveOptions) -> Vec<String> {
    let found = node.named(expression, options).unwrap();
    let names = found.iter().map(|found| found.name().to_string());
    names.collect()
}

fn plain(node: &Node, expression: &str) -> Vec<String> {
    names(node, expression, ResolveOptions::default())
}

#[test]
fn an_expression_has_no_more_patterns_than_can_be_held_against_all_names() {
    let node = Node::open(&SimDisk::new()).unwrap();
    for name in ["a", "b", "c"] {
        create(&node, name);
    }
    let resolve = |count: usize| {
        let expression = format!("{}a", "x*,".repeat(count));
        let found = node.named(&expression, ResolveOptions::default());
        found.map(|found| found.len())
    };
    assert_eq!(resolve(10_000).unwrap(), 1);
    let error = resolve(1_100_000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
}

#[test]
fn changes_of_aliases_happen_together_and_survive_a_crash() {
    let disk = SimDisk::new();
    let node = Node::open(&disk).unwrap();
    for name in ["a", "b", "old"] {
        create(&node, name);
    }
    let filtered = Alias {
        filter: Some(json!({"term": {"tag": "t1"}})),
        ..Alias::default()
    };
    let changes = vec![
        add("a", "both", writer()),
        add("b", "both", Alias::default()),
        add("b", "some", filtered.clone()),
        add("b", "old", Alias::default()),
        AliasAction::RemoveIndex {
            index: "old".to_string(),
        },
    ];
    node.engine.change_aliases(&everything(), changes).unwrap();
    // The second change is wrong, so the first does not happen either.
    let wrong = vec![remove("a", "both"), add("a", "b", Alias::default())];
    let error = node
        .engine
        .change_aliases(&everything(), wrong)
        .unwrap_err();
    assert!(matches!(error, EngineError::AliasIsIndex { .. }), "{error}");
    for crash in 0..3 {
        let node = Node::open(&disk.crashed(crash)).unwrap();
        assert_eq!(plain(&node, "both"), ["a", "b"]);
        assert_eq!(plain(&node, "old"), ["b"]);
        let aliases = node.opened("b", Purpose::Read).unwrap().aliases();
        assert_eq!(aliases.get("some"), Some(&filtered));
        // Once saved with the catalog and once only in the log.
        node.engine.close().unwrap();
    }
}

#[test]
fn an_alias_says_where_writes_go() {
    let node = Node::open(&SimDisk::new()).unwrap();
    create(&node, "a");
    create(&node, "b");
    let both = vec![
        add("a", "logs", Alias::default()),
        add("b", "logs", Alias::default()),
    ];
    node.engine.change_aliases(&everything(), both).unwrap();
    let write = |name: &str, require_alias: bool| {
        let operation = WriteOperation {
            index: name.to_string(),
            require_alias,
            ..index("1", &source(1))
        };
        let mut outcome = node.engine.write(&everything(), vec![operation]);
        let written = outcome.results.pop().unwrap();
        written.map(|written| written.index.name().to_string())
    };
    let error = write("logs", false).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("no write index is defined for alias [logs]")
    );
    node.engine
        .change_aliases(&everything(), vec![add("b", "logs", writer())])
        .unwrap();
    assert_eq!(write("logs", true).unwrap(), "b");
    assert!(matches!(
        write("a", true),
        Err(EngineError::NotAnAlias { .. })
    ));
    assert!(matches!(
        write("new", true),
        Err(EngineError::NotAnAlias { .. })
    ));
    let two = node
        .engine
        .change_aliases(&everything(), vec![add("a", "logs", writer())]);
    assert!(matches!(two, Err(EngineError::AliasConflict { .. })));
    let several = node.named_one("logs", None).unwrap_err();
    assert!(several.to_string().contains("[a, b]"), "{several}");
    let clash =
        node.engine
            .create_index(&everything(), "logs", IndexSettings::default(), mapping());
    assert!(matches!(clash, Err(EngineError::InvalidIndexName { .. })));
}

#[test]
fn aliases_change_by_what_they_are_while_nobody_else_changes_them() {
    let node = Node::open(&SimDisk::new()).unwrap();
    create(&node, "a");
    create(&node, "b");
    let access = everything();
    let first = vec![add("a", "x", Alias::default())];
    node.engine.change_aliases(&access, first).unwrap();
    let nothing = node
        .engine
        .change_aliases_by(&access, |names| -> Result<_, EngineError> {
            let of = |alias: &str| names.of_alias(alias).len();
            assert_eq!((of("x"), of("y")), (1, 0));
            assert!(names.index("b").is_some() && names.index("x").is_none());
            Ok(Vec::new())
        });
    assert_eq!(nothing.unwrap(), None);
    let moved = node
        .engine
        .change_aliases_by(&access, |names| -> Result<_, EngineError> {
            let holders = names.of_alias("x").iter();
            let removed = holders.map(|index| remove(index.name(), "x"));
            Ok(removed.chain([add("b", "x", Alias::default())]).collect())
        });
    assert!(moved.unwrap().is_some());
    assert_eq!(plain(&node, "x"), ["b"]);
}

#[test]
fn who_has_looked_at_an_index_changes_that_one_and_none_that_has_its_name_since() {
    let node = Node::open(&SimDisk::new()).unwrap();
    create(&node, "a");
    let old = node.opened("a", Purpose::Change).unwrap();
    node.engine.delete_index(&everything(), "a").unwrap();
    create(&node, "a");
    let access = everything();
    let is_gone = |error: EngineError| {
        let gone = matches!(error, EngineError::IndexNotFound { .. });
        assert!(gone, "{error}");
    };
    is_gone(
        node.engine
            .delete_these(&access, [old.index()])
            .unwrap_err(),
    );
    let added = node
        .engine
        .change_aliases_by(&access, |names| -> Result<_, EngineError> {
            Ok(vec![add(&names.of(&old)?, "x", Alias::default())])
        });
    is_gone(added.unwrap_err());
    let change = CatalogChange::Settings {
        index: "a".to_string(),
        uuid: old.uuid().to_string(),
        change: SettingsChange::new(|settings| Ok(settings.clone())),
        blocks_alone: false,
    };
    let set = node.engine.change_catalog(&access, vec![change]);
    is_gone(set.unwrap_err());
    let mapped = node.engine.put_mapping(&access, &old, one_more_field());
    is_gone(mapped.unwrap_err());
    let change = CatalogChange::Analysis {
        index: "a".to_string(),
        uuid: old.uuid().to_string(),
        source: json!({"analyzer": {"own": {"type": "standard"}}}),
    };
    let analyzed = node.engine.change_catalog(&access, vec![change]);
    is_gone(analyzed.unwrap_err());
    assert_eq!(plain(&node, "*"), ["a"]);
    assert!(!node.engine.is_alias("x"));
    let now = node.opened("a", Purpose::Change).unwrap();
    assert!(now.mapping().field("x").is_none());
    node.engine.delete_these(&access, [now.index()]).unwrap();
    assert!(plain(&node, "*").is_empty());
}

#[test]
fn a_routing_key_of_an_alias_holds_for_its_documents() {
    let node = Node::open(&SimDisk::new()).unwrap();
    let alias = Alias {
        index_routing: Some("r".to_string()),
        ..Alias::default()
    };
    let aliases = Aliases::from([("routed".to_string(), alias)]);
    node.engine
        .create_planned(
            &everything(),
            "a",
            IndexPlan {
                mapping: mapping(),
                aliases,
                ..IndexPlan::default()
            },
        )
        .unwrap();
    let (found, routing) = node.named_one("routed", None).unwrap();
    assert_eq!((found.name(), routing.as_deref()), ("a", Some("r")));
    let other = node.named_one("routed", Some("x")).unwrap_err();
    assert_eq!(other.kind(), ErrorKind::Invalid);
}

#[test]
fn wildcards_pass_over_hidden_and_closed_indexes() {
    let node = Node::open(&SimDisk::new()).unwrap();
    create(&node, "open-1");
    create(&node, "open-2");
    let hidden = IndexSettings {
        hidden: true,
        ..IndexSettings::default()
    };
    node.engine
        .create_index(&everything(), ".hidden", hidden, mapping())
        .unwrap();
    let second = node.opened("open-2", Purpose::Change).unwrap();
    node.engine
        .set_index_state(&[second], IndexState::Closed)
        .unwrap();
    let with = |wildcards| ResolveOptions {
        wildcards,
        closed: ClosedNames::Allow,
        ..ResolveOptions::default()
    };
    assert_eq!(plain(&node, "*"), ["open-1"]);
    assert_eq!(plain(&node, ".h*"), [".hidden"]);
    assert_eq!(
        names(&node, "open*", with(Wildcards::SHOWN)),
        ["open-1", "open-2"]
    );
    assert_eq!(names(&node, "open*", with(Wildcards::CLOSED)), ["open-2"]);
    assert_eq!(names(&node, "*", with(Wildcards::ALL)).len(), 3);
    assert!(names(&node, "*", with(Wildcards::NONE)).is_empty());
    let strict = ResolveOptions {
        wildcards: Wildcards::SHOWN,
        ..ResolveOptions::default()
    };
    for (expression, options) in [
        ("open-2", ResolveOptions::default()),
        ("open*", strict),
        ("*", strict),
    ] {
        let error = node.named(expression, options).unwrap_err();
        assert!(matches!(error, EngineError::IndexClosed { .. }), "{error}");
    }
    let skipping = ResolveOptions {
        ignore_unavailable: true,
        ..ResolveOptions::default()
    };
    assert_eq!(names(&node, "open-1,open-2", skipping), ["open-1"]);
    // Each pattern has to fit something.
    let some = ResolveOptions {
        allow_no_indices: false,
        ..ResolveOptions::default()
    };
    assert_eq!(names(&node, "open-*", some), ["open-1"]);
    assert_eq!(names(&node, "open-1,o*", some), ["open-1"]);
    for expression in ["open-1,nope*", "nope*,open-1", "nope*"] {
        let error = node.named(expression, some).unwrap_err();
        assert!(
            matches!(error, EngineError::IndexNotFound { .. }),
            "{error}"
        );
    }
    let skipping = ResolveOptions {
        wildcards: Wildcards::SHOWN,
        ..skipping
    };
    assert_eq!(names(&node, "open*", skipping), ["open-1"]);
}

#[test]
fn a_closed_index_serves_nothing_and_has_everything_when_it_opens() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 2);
    assert!(node.write(vec![index("1", &source(1))]).is_ok());
    let docs = [node.opened("docs", Purpose::Change).unwrap()];
    node.engine
        .set_index_state(&docs, IndexState::Closed)
        .unwrap();
    let refused = node
        .engine
        .write(&everything(), vec![index("2", &source(2))])
        .results;
    assert!(matches!(refused[0], Err(EngineError::IndexClosed { .. })));
    assert!(node.named_one("docs", None).is_err());
    drop(node);
    let node = Node::open(&disk.crashed(0)).unwrap();
    assert!(!node.index().is_open());
    let docs = [node.opened("docs", Purpose::Change).unwrap()];
    node.engine
        .set_index_state(&docs, IndexState::Open)
        .unwrap();
    assert!(node.get("1").is_some());
    assert!(node.get("2").is_none());
}

#[test]
fn a_block_forbids_until_it_is_taken_away() {
    let node = Node::with_index(&SimDisk::new(), 1);
    let set = |block: Option<Block>| {
        let mut settings = (*node.index().settings()).clone();
        settings.blocks = block.into_iter().collect();
        let value = block.is_some().to_string();
        settings
            .given
            .insert("a protocol's word".to_string(), value);
        let change = CatalogChange::Settings {
            index: "docs".to_string(),
            uuid: node.index().uuid().to_string(),
            change: SettingsChange::new(move |_| Ok(settings.clone())),
            blocks_alone: true,
        };
        node.engine
            .change_catalog(&everything(), vec![change])
            .unwrap();
    };
    let write = || {
        node.engine
            .write(&everything(), vec![index("1", &source(1))])
            .results
            .remove(0)
    };
    set(Some(Block::ReadOnly));
    assert_eq!(write().unwrap_err().kind(), ErrorKind::Forbidden);
    assert_eq!(
        node.engine
            .delete_index(&everything(), "docs")
            .unwrap_err()
            .kind(),
        ErrorKind::Forbidden
    );
    set(Some(Block::ReadOnlyAllowDelete));
    assert_eq!(write().unwrap_err().kind(), ErrorKind::Overloaded);
    set(None);
    assert!(write().is_ok());
    set(Some(Block::ReadOnlyAllowDelete));
    node.engine.delete_index(&everything(), "docs").unwrap();
}
