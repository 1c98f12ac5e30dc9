//! Changes read back from the log: all, once, in order, for as long as they are kept.

use clew_engine::{ChangeLimits, EngineError, EngineOptions, IndexSettings};
use clew_log::{Glsn, LogOptions};
use clew_platform::SimDisk;

use crate::harness::*;

const WIDE: ChangeLimits = ChangeLimits {
    changes_max: 1000,
    bytes_max: usize::MAX,
};

/// Everything from a position on, with pages of a size.
fn feed(
    node: &Node,
    mut at: Glsn,
    limits: ChangeLimits,
) -> Vec<(String, Option<serde_json::Value>)> {
    let mut told = Vec::new();
    loop {
        let page = node.engine.changes(&[node.index()], at, limits).unwrap();
        assert!(page.changes.len() <= limits.changes_max);
        for change in &page.changes {
            assert!(at <= change.glsn && change.glsn < page.next);
            let source = change.source.as_deref();
            let source = source.map(|source| serde_json::from_slice(source).unwrap());
            told.push((change.id.clone(), source));
        }
        at = page.next;
        if at > node.engine.log().durable() {
            return told;
        }
    }
}

#[test]
fn changes_come_in_order_however_they_are_cut() {
    let node = Node::with_index(&SimDisk::new(), 3);
    let mut wanted = Vec::new();
    for n in 0..30 {
        let id = (n % 11).to_string();
        node.put(&id, &source(n));
        wanted.push((id, Some(source(n))));
    }
    node.write_one(delete("4")).unwrap();
    wanted.push(("4".to_string(), None));
    for changes_max in [1, 7, 1000] {
        let limits = ChangeLimits {
            changes_max,
            ..WIDE
        };
        assert_eq!(feed(&node, Glsn::ZERO, limits), wanted);
    }
    // A change longer than a page is a page of its own.
    let narrow = ChangeLimits {
        bytes_max: 1,
        ..WIDE
    };
    assert_eq!(feed(&node, Glsn::ZERO, narrow), wanted);
    let beyond = Glsn::new(1_000_000);
    let page = node.engine.changes(&[node.index()], beyond, WIDE).unwrap();
    assert!(page.changes.is_empty() && page.next == beyond);
}

/// What the log keeps of many writes after a restart, with a promise to readers.
fn kept_after_restart(changes_retention_bytes: u64) -> Result<usize, EngineError> {
    let disk = SimDisk::new();
    let options = EngineOptions {
        changes_retention_bytes,
        log: LogOptions {
            file_bytes_max: 16 << 10,
            ..LogOptions::default()
        },
        ..EngineOptions::new("/data")
    };
    let node = Node::open_with(&disk, options.clone()).unwrap();
    let settings = IndexSettings::default();
    node.engine
        .create_index(&everything(), "docs", settings, mapping())
        .unwrap();
    for n in 0..1000 {
        node.put(&n.to_string(), &source(n));
    }
    node.engine.close().unwrap();
    drop(node);
    let node = Node::open_with(&disk, options).unwrap();
    let first = Glsn::FIRST;
    node.engine.changes(&[node.index()], first, WIDE)?;
    Ok(feed(&node, first, WIDE).len())
}

#[test]
fn readers_of_changes_are_kept_as_much_as_they_are_promised() {
    let Err(EngineError::Trimmed { from, first }) = kept_after_restart(0) else {
        panic!("the first changes are still there");
    };
    assert!(from == Glsn::FIRST && first > from);
    assert_eq!(kept_after_restart(100 << 20).unwrap(), 1000);
}
