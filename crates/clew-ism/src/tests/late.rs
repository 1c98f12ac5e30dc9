//! Steps beside deletions: one that has looked its index up goes on when another one has the name, and leaves that alone.

use std::sync::Barrier;

use clew_engine::{CatalogChange, IndexSettings, SettingsChange};
use clew_schema::Mapping;

use super::super::machine::advance;
use super::super::managed::ManagedIndex;
use super::rollover::rolling;
use super::*;

/// Deletes an index when a step has looked it up already, and makes it anew before that goes on, which may have recorded
/// the name of a new index.
fn late(node: &Node, name: &str, again: Value, intent: Option<&str>) -> Option<ManagedIndex> {
    let old = node.index(name);
    let managed = node
        .engine()
        .with_definitions(|all| ManagedIndex::of(all, old.uuid()));
    let managed = ManagedIndex {
        intent: intent.map(String::from),
        ..managed.unwrap()
    };
    node.done(&format!("DELETE /{name}"), Value::Null);
    node.create(name, again);
    advance(&node.served.api, old.index(), managed).unwrap()
}

#[test]
fn what_has_the_name_of_an_index_since_is_left_alone() {
    let node = Node::open(&SimDisk::new()).unwrap();
    let more = json!({"actions": [{"add": {"alias": "more"}}]});
    for (number, action) in [
        json!({"delete": {}}),
        json!({"close": {}}),
        json!({"read_only": {}}),
        json!({"index_priority": {"priority": 7}}),
        json!({"alias": more}),
    ]
    .into_iter()
    .enumerate()
    {
        let (name, policy) = (format!("book-{number}"), format!("policy-{number}"));
        node.put_policy(&policy, only(json!([action]))).unwrap();
        node.create(&name, Value::Null);
        node.add(&name, &policy);
        node.run();
        let after = late(&node, &name, Value::Null, None);
        assert!(!after.unwrap().is_step_done(), "{action}");
        let now = node.index(&name);
        assert!(now.is_open() && now.aliases().is_empty(), "{action}");
        let settings = now.settings();
        assert!(settings.blocks.is_empty(), "{action}");
        assert!(!settings.given.contains_key("index.priority"), "{action}");
    }
}

#[test]
fn a_rollover_that_comes_late_makes_no_index() {
    let node = Node::open(&SimDisk::new()).unwrap();
    rolling(&node);
    node.run();
    let again = json!({"aliases": {"logs": {"is_write_index": true}}});
    let after = late(&node, "logs-000001", again, Some("logs-000002"));
    assert!(!after.unwrap().is_step_done());
    assert_eq!(node.names(), ["logs-000001"]);
    node.write("logs", 1);
    assert_eq!(node.index("logs-000001").stats().docs, 1);
}

#[test]
fn an_index_that_is_made_anew_while_the_one_before_is_deleted_stays() {
    let node = Node::open(&SimDisk::new()).unwrap();
    node.put_policy("end", only(json!([{"delete": {}}])))
        .unwrap();
    for _ in 0..20 {
        node.create("book", Value::Null);
        node.add("book", "end");
        node.run();
        node.clock.advance(5 * MINUTE);
        let both = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                both.wait();
                run_once(&node.served.api);
            });
            both.wait();
            // The job may be faster.
            node.served.ask("DELETE /book", Value::Null);
            node.create("book", Value::Null);
        });
        assert_eq!(node.names(), ["book"]);
        node.done("DELETE /book", Value::Null);
    }
}

#[test]
fn an_index_that_is_being_filled_takes_no_step() {
    let node = Node::open(&SimDisk::new()).unwrap();
    node.put_policy("end", only(json!([{"delete": {}}])))
        .unwrap();
    let settings = IndexSettings {
        unfinished: true,
        ..IndexSettings::default()
    };
    let everything = Access::everything();
    let made = node
        .engine()
        .create_index(&everything, "half", settings, Mapping::new());
    node.add("half", "end");
    for _ in 0..3 {
        node.run();
    }
    assert_eq!(node.names(), ["half"]);
    let (half, _) = made.unwrap();
    let change = CatalogChange::Settings {
        index: "half".to_string(),
        uuid: half.uuid().to_string(),
        change: SettingsChange::new(|settings| {
            let mut whole = settings.clone();
            whole.unfinished = false;
            Ok(whole)
        }),
        blocks_alone: false,
    };
    let finished = node.engine().change_catalog(&everything, vec![change]);
    finished.unwrap();
    for _ in 0..3 {
        node.run();
    }
    assert!(node.names().is_empty());
}
