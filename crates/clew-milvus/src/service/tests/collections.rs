//! What is written to a collection that is gone, what is deleted while others write, and keys that are made.

use clew_engine::{Action, EngineError, Purpose, Written};
use clew_query::Query;

use super::*;
use crate::service::first_id;

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

#[test]
fn rows_that_were_written_again_are_not_deleted_with_those_that_matched() {
    let node = Node::open(&SimDisk::new());
    node.make("c", Vec::new());
    node.insert("c", 0..5);
    let own = call();
    let opened = node.service.open(&own, ("", "c"), Purpose::Read).unwrap();
    node.done(node.service.see_all_writes(&opened));
    let engine = node.service.engine();
    let pinned = engine.pin(std::slice::from_ref(&opened.handle)).unwrap();
    // Acknowledged while the deletion is on its way through the rows that it has found.
    node.insert("c", 3..8);
    let found = (&pinned, &Query::match_all());
    assert_eq!(node.done(node.service.delete_seen(&own, &opened, found)), 3);
    assert_eq!(node.found("c"), [3, 4, 5, 6, 7]);
}

#[test]
fn runs_to_which_the_clock_shows_the_same_time_give_other_numbers() {
    let now_ms = 1_790_000_000_000;
    let (one, other) = (first_id(now_ms, 6), first_id(now_ms, 7));
    assert!(one > 0 && other - one >= 1 << 38);
    assert!(first_id(u64::MAX, u64::MAX) > 0);
}

#[test]
fn a_partition_that_is_made_anew_while_its_name_is_dropped_keeps_its_rows() {
    let node = Node::open(&SimDisk::new());
    node.done(node.service.create_collection(call(), collection_of("c")));
    let request = || PartitionRequest {
        collection_name: "c".into(),
        partition_name: "p".into(),
        ..PartitionRequest::default()
    };
    for _ in 0..5 {
        node.done(node.service.create_partition(call(), request()));
        node.insert_into(("c", "p"), 0..50);
        let drop = || node.done(node.service.drop_partition(call(), request()));
        let make_anew = || {
            let is_there = || node.done(node.service.has_partition(call(), request()));
            while is_there().value {
                std::thread::yield_now();
            }
            node.done(node.service.create_partition(call(), request()));
            node.insert_into(("c", "p"), 50..60);
        };
        at_once(drop, make_anew);
        let told = node.done(node.service.get_partition_statistics(call(), request()));
        assert_eq!(told.stats[0].value, "10");
        node.done(node.service.drop_partition(call(), request()));
    }
}
