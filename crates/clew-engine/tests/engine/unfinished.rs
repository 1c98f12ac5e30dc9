//! Indexes that documents from elsewhere are being put into: they serve nothing before all are in.

use clew_engine::{
    CatalogChange, EngineError, ErrorKind, Freshness, IndexSettings, Purpose, SearchRequest,
    SettingsChange, WriteOperation,
};
use clew_platform::SimDisk;
use clew_query::Query;

use crate::harness::*;

/// Asserts that nothing is read or written, and that nothing has failed all the same.
fn refused(node: &Node, purpose: Purpose, what: Result<(), EngineError>) {
    let error = what.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let asked = match error {
        EngineError::ShardNotActive { purpose, .. } => purpose,
        other => panic!("{other}"),
    };
    assert_eq!(asked, purpose);
    assert_eq!(node.index().stats().failed_shards, 0);
}

#[test]
fn an_index_that_is_being_filled_takes_what_fills_it_and_nothing_else() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 2);
    for n in 0..20 {
        node.put(&format!("d{n}"), &source(n));
    }
    let from = node.copied();
    let settings = IndexSettings {
        unfinished: true,
        ..IndexSettings::default()
    };
    let mapping = (*from.mapping()).clone();
    let made = node
        .engine
        .create_index(&everything(), "copy", settings, mapping);
    let (target, _) = made.unwrap();
    let check = |node: &Node| {
        let copy = node.opened("copy", Purpose::Read).unwrap();
        let write = WriteOperation {
            index: "copy".into(),
            ..index("new", &source(1))
        };
        refused(node, Purpose::Write, node.write_one(write).map(drop));
        let got = node.engine.get(&copy, "d3", None, Freshness::Latest);
        refused(node, Purpose::Read, got.map(drop));
        let pinned = node.engine.pin(std::slice::from_ref(&copy)).unwrap();
        let found = node.run(SearchRequest::new(pinned, Query::match_all()));
        refused(node, Purpose::Read, found.map(drop));
        let copied = node.opened("copy", Purpose::Copy).unwrap();
        let documents = node.engine.shard_documents(&copied, 0);
        refused(node, Purpose::Read, documents.map(drop));
    };
    check(&node);
    let copy = node.opened("copy", Purpose::Read).unwrap();
    let early = node.engine.pin(std::slice::from_ref(&copy)).unwrap();
    for shard in 0..2 {
        let documents = node.engine.shard_documents(&from, shard).unwrap();
        let filled = node.engine.fill_index(&everything(), &target, documents);
        filled.unwrap();
    }
    check(&node);
    check(&Node::open(&disk.crashed(1)).unwrap());
    let change = CatalogChange::Settings {
        index: "copy".to_string(),
        uuid: target.uuid().to_string(),
        change: SettingsChange::new(|_| Ok(IndexSettings::default())),
        blocks_alone: false,
    };
    let finished = node.engine.change_catalog(&everything(), vec![change]);
    finished.unwrap();
    let got = node.engine.get(&copy, "d3", None, Freshness::Latest);
    assert_eq!(json_of(&got.unwrap().unwrap()), source(3));
    // Who has looked at it before has a part of it.
    let found = node.run(SearchRequest::new(early, Query::match_all()));
    refused(&node, Purpose::Read, found.map(drop));
    let now = node.engine.pin(std::slice::from_ref(&copy)).unwrap();
    let request = SearchRequest {
        size: 100,
        ..SearchRequest::new(now, Query::match_all())
    };
    assert_eq!(node.run(request).unwrap().hits.len(), 20);
    let write = WriteOperation {
        index: "copy".into(),
        ..index("new", &source(1))
    };
    node.write_one(write).unwrap();
}
