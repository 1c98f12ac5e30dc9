//! What may not be opened is not seen by patterns, refused by name, and not written.

use clew_engine::{
    Access, Alias, AliasAction, CatalogChange, ChangeLimits, DefinitionChange, Definitions,
    Document, EngineError, ErrorKind, Freshness, Grant, IndexHandle, IndexSettings, IndexState,
    Purpose, RecallEffort, RecallRequest, ResolveOptions,
};
use clew_log::Glsn;
use clew_platform::SimDisk;
use serde_json::json;

use crate::harness::{Node, everything, index, mapping, one_more_field, settings_change, source};

fn only(pattern: &str, purposes: &[Purpose]) -> Access {
    Access::only(vec![Grant {
        pattern: pattern.to_string(),
        purposes: purposes.to_vec(),
    }])
}

fn open(
    node: &Node,
    expression: &str,
    access: &Access,
    purpose: Purpose,
) -> Result<Vec<String>, EngineError> {
    let names = (expression, ResolveOptions::default());
    let opened = node.engine.open(names, access, purpose)?;
    let name = |handle: &IndexHandle| handle.name().to_string();
    Ok(opened.iter().map(name).collect())
}

fn is_denied<T: std::fmt::Debug>(result: Result<T, EngineError>) -> bool {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden, "{error}");
    matches!(error, EngineError::AccessDenied { .. })
}

#[test]
fn patterns_pass_over_what_names_are_refused_for() {
    let node = Node::open(&SimDisk::new()).unwrap();
    for name in ["logs-1", "logs-2", "pay"] {
        node.engine
            .create_index(&everything(), name, IndexSettings::default(), mapping())
            .unwrap();
    }
    let shared = |index: &str| AliasAction::Add {
        index: index.to_string(),
        name: "shared".to_string(),
        alias: Alias::default(),
    };
    node.engine
        .change_aliases(&everything(), vec![shared("logs-1"), shared("pay")])
        .unwrap();
    let access = only("logs-*", &[Purpose::Read]);
    let read = |expression| open(&node, expression, &access, Purpose::Read);
    assert_eq!(read("").unwrap(), ["logs-1", "logs-2"]);
    assert_eq!(read("*,-logs-1").unwrap(), ["logs-2"]);
    assert_eq!(read("shar*").unwrap(), ["logs-1"]);
    assert_eq!(read("logs-2").unwrap(), ["logs-2"]);
    assert!(is_denied(read("pay")));
    assert!(is_denied(read("logs-1,pay")));
    // An alias gives no right to what it stands for.
    assert!(is_denied(read("shared")));
    for purpose in [
        Purpose::Copy,
        Purpose::Write,
        Purpose::Show,
        Purpose::Change,
    ] {
        assert!(
            is_denied(open(&node, "logs-1", &access, purpose)),
            "{purpose:?}"
        );
        assert!(open(&node, "*", &access, purpose).unwrap().is_empty());
    }
    let one = |name| node.engine.open_one((name, None), &access, Purpose::Read);
    assert_eq!(one("logs-1").unwrap().0.name(), "logs-1");
    assert!(is_denied(one("pay").map(drop)));
}

#[test]
fn nothing_is_written_or_made_by_writing_without_the_right_to() {
    let node = Node::with_index(&SimDisk::new(), 1);
    let write = |access: &Access, name: &str| {
        let operation = clew_engine::WriteOperation {
            index: name.to_string(),
            ..index("1", &source(1))
        };
        let mut outcome = node.engine.write(access, vec![operation]);
        outcome.results.pop().unwrap()
    };
    let reader = only("*", &[Purpose::Read]);
    assert!(is_denied(write(&reader, "docs")));
    let writer = only("docs", &[Purpose::Write]);
    assert!(write(&writer, "docs").is_ok());
    assert!(is_denied(write(&writer, "other")));
    assert!(node.opened("other", Purpose::Read).is_err());
}

/// The verbs that refuse somebody with these rights, in one order.
fn refused(node: &Node, access: &Access) -> Vec<&'static str> {
    let engine = &node.engine;
    let add = AliasAction::Add {
        index: "docs".to_string(),
        name: "other".to_string(),
        alias: Alias::default(),
    };
    let template = || DefinitionChange::put("template", "t", json!({}));
    let define = |_: &Definitions| Ok::<_, EngineError>(vec![template()]);
    let with_others = vec![CatalogChange::Definition(template())];
    let (index, made) = (node.index(), IndexSettings::default());
    let kept = (*index.settings()).clone();
    let field = one_more_field();
    let document = Document {
        id: "filled".to_string(),
        version: 1,
        seq_no: 0,
        routing: None,
        source: source(1).to_string().into(),
    };
    let filling = [Ok(document)].into_iter();
    let made = engine.create_index(access, "new", made, mapping());
    let all = [
        ("create", made.map(drop)),
        ("alias", engine.change_aliases(access, vec![add]).map(drop)),
        ("map", engine.put_mapping(access, &index, field).map(drop)),
        (
            "set",
            engine
                .change_catalog(access, settings_change(node, kept))
                .map(drop),
        ),
        (
            "fill",
            engine.fill_index(access, index.index(), filling).map(drop),
        ),
        (
            "define",
            engine.change_definitions(access, define).map(drop),
        ),
        (
            "define too",
            engine.change_catalog(access, with_others).map(drop),
        ),
        ("delete", engine.delete_index(access, "docs").map(drop)),
    ];
    let denied = |(name, result): (&'static str, Result<(), EngineError>)| match result {
        Ok(()) => None,
        Err(error) if error.kind() == ErrorKind::Forbidden => Some(name),
        Err(error) => panic!("{name}: {error}"),
    };
    all.into_iter().filter_map(denied).collect()
}

#[test]
fn every_verb_that_changes_something_asks_for_the_right_to_it() {
    let node = Node::with_index(&SimDisk::new(), 1);
    let reader = only("*", &[Purpose::Read, Purpose::Copy, Purpose::Show]);
    let of_the_node = ["define", "define too"];
    let mut all = vec!["create", "alias", "map", "set", "fill"];
    all.extend(of_the_node);
    all.push("delete");
    assert_eq!(refused(&node, &reader), all);
    assert!(node.engine.indices(&reader).is_empty());
    let keeper = only("*", &[Purpose::Write, Purpose::Change, Purpose::Watch]);
    assert_eq!(node.engine.indices(&keeper).len(), 1);
    assert_eq!(refused(&node, &keeper), of_the_node);
    let node = Node::with_index(&SimDisk::new(), 1);
    assert!(refused(&node, &keeper.and_the_node()).is_empty());
}

#[test]
fn a_handle_serves_only_what_it_was_opened_for() {
    let node = Node::with_index(&SimDisk::new(), 1);
    node.put("1", &source(1));
    let opened = |purpose| node.opened("docs", purpose).unwrap();
    let limits = ChangeLimits {
        changes_max: 1,
        bytes_max: 1,
    };
    let request = RecallRequest {
        field: "v".to_string(),
        k: 1,
        effort: RecallEffort::Index,
        sample: 1,
        seed: 1,
    };
    for purpose in [
        Purpose::Read,
        Purpose::Copy,
        Purpose::Write,
        Purpose::Show,
        Purpose::Change,
        Purpose::Watch,
    ] {
        let handle = opened(purpose);
        let reads = [
            node.engine.pin(std::slice::from_ref(&handle)).map(drop),
            node.engine
                .get(&handle, "1", None, Freshness::Latest)
                .map(drop),
            node.engine
                .changes(std::slice::from_ref(&handle), Glsn::ZERO, limits)
                .map(drop),
            node.block_on(node.engine.measure_recall(&handle, &request))
                .map(drop),
        ];
        for (place, result) in reads.into_iter().enumerate() {
            let says = (purpose, place);
            assert_eq!(result.is_ok(), purpose == Purpose::Read, "{says:?}");
        }
        let copied = node.engine.shard_documents(&handle, 0);
        assert_eq!(copied.is_ok(), purpose == Purpose::Copy, "{purpose:?}");
        let closed = node.engine.set_index_state(&[handle], IndexState::Open);
        assert_eq!(closed.is_ok(), purpose == Purpose::Change, "{purpose:?}");
    }
}

#[test]
fn who_writes_only_to_what_is_there_makes_no_index() {
    let node = Node::open(&SimDisk::new()).unwrap();
    let access = everything().to_what_is_there();
    let mut outcome = node.engine.write(&access, vec![index("1", &source(1))]);
    let refused = outcome.results.pop().unwrap().unwrap_err();
    assert!(
        matches!(refused, EngineError::IndexNotFound { .. }),
        "{refused}"
    );
    assert!(node.opened("docs", Purpose::Read).is_err());
    node.create_index(1);
    let mut outcome = node.engine.write(&access, vec![index("1", &source(1))]);
    outcome.results.pop().unwrap().unwrap();
}
