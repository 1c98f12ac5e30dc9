//! What may not be opened is not seen by patterns, refused by name, and not written.

use clew_engine::{
    Access, Alias, AliasAction, EngineError, ErrorKind, Grant, IndexHandle, IndexSettings, Purpose,
    ResolveOptions,
};
use clew_platform::SimDisk;

use crate::harness::{Node, index, mapping, source};

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
    let name = |handle: &IndexHandle| handle.index.name().to_string();
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
            .create_index(name, IndexSettings::default(), mapping())
            .unwrap();
    }
    let shared = |index: &str| AliasAction::Add {
        index: index.to_string(),
        name: "shared".to_string(),
        alias: Alias::default(),
    };
    node.engine
        .change_aliases(vec![shared("logs-1"), shared("pay")])
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
    assert!(node.engine.index("other").is_err());
}
