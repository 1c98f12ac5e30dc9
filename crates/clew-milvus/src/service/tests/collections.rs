//! What is written to a collection that is gone.

use clew_engine::{Action, EngineError, Purpose, Written};

use super::*;

#[test]
fn what_is_written_late_goes_to_no_collection_that_has_the_name_since() {
    let node = Node::open(&SimDisk::new());
    node.make("c", Vec::new());
    node.insert("c", 0..3);
    let opened = node.service.open(&call(), ("", "c"), Purpose::Write);
    let opened = opened.unwrap();
    node.drop_collection("c").unwrap();
    let late = || {
        let rows = (0..3).map(|id: i64| (id.to_string(), None)).collect();
        let (call, action) = (call(), Action::Delete);
        node.done(node.service.change_rows(&call, &opened, action, rows))
    };
    let is_missing = |result: &Result<Written, EngineError>| {
        matches!(result, Err(EngineError::IndexNotFound { .. }))
    };
    assert!(late().results.iter().all(is_missing));
    node.make("c", Vec::new());
    node.insert("c", 0..3);
    assert!(late().results.iter().all(is_missing));
    assert_eq!(node.found("c").len(), 3);
}
