//! Rows whose time is over.

use clew_engine::{CatalogChange, SettingsChange};

use super::*;
use crate::collection::pairs;

impl Node {
    /// What the statistics count, and what the index holds.
    fn counts(&self, name: &str) -> (String, u64) {
        let request = CollectionRequest {
            collection_name: name.into(),
            ..CollectionRequest::default()
        };
        let told = self.done(self.service.get_collection_statistics(call(), request));
        let all = self.service.engine().indices(&call().access);
        let index = all.iter().find(|index| index.name() == name).unwrap();
        (pairs(told.stats)["row_count"].clone(), index.stats().docs)
    }
}

#[test]
fn rows_go_when_their_time_is_over_and_not_before() {
    let disk = SimDisk::new();
    let node = Node::open(&disk);
    node.make("c", vec![pair("collection.ttl.seconds", "100")]);
    node.make("other", Vec::new());
    node.insert("other", 0..3);
    node.insert("c", 0..5);
    node.clock.advance(Duration::from_secs(60));
    // Written again, a row has a new time.
    node.insert("c", 3..8);
    assert_eq!(node.found("c"), [0, 1, 2, 3, 4, 5, 6, 7]);
    node.clock.advance(Duration::from_secs(40));
    assert_eq!(node.found("c").len(), 8, "not older than that");
    node.clock.advance(Duration::from_secs(1));
    assert_eq!(node.found("c"), [3, 4, 5, 6, 7]);
    assert_eq!(node.counts("c"), ("5".into(), 8));
    assert_eq!(node.runtime.block_on(node.service.expire_once()), 3);
    assert_eq!(node.runtime.block_on(node.service.expire_once()), 0);
    assert_eq!(node.found("c"), [3, 4, 5, 6, 7]);
    assert_eq!(node.counts("c"), ("5".into(), 5));
    node.service.engine().close().unwrap();
    let again = Node::open(&disk);
    again.clock.advance(Duration::from_secs(161));
    assert_eq!(again.found("c"), Vec::<i64>::new());
    assert_eq!(again.runtime.block_on(again.service.expire_once()), 5);
    assert_eq!(again.found("other"), [0, 1, 2]);
}

#[test]
fn rows_of_a_collection_that_is_being_filled_stay_until_it_is_whole() {
    let node = Node::open(&SimDisk::new());
    node.make("c", vec![pair("collection.ttl.seconds", "100")]);
    node.insert("c", 0..5);
    assert_eq!(node.found("c"), [0, 1, 2, 3, 4]);
    node.clock.advance(Duration::from_secs(101));
    let engine = node.service.engine();
    let index = engine.indices(&call().access).pop().unwrap();
    let set = |unfinished: bool| {
        let change = CatalogChange::Settings {
            index: index.name().to_string(),
            uuid: index.uuid().to_string(),
            change: SettingsChange::new(move |settings| {
                let mut settings = settings.clone();
                settings.unfinished = unfinished;
                Ok(settings)
            }),
            blocks_alone: false,
        };
        engine.change_catalog(&call().access, vec![change]).unwrap();
    };
    set(true);
    let named = node.service.collections().all(&call().access).pop();
    let named = named.unwrap();
    let own = call();
    let expired = node.service.expire_rows(&own, &named);
    assert_eq!(node.done(expired), 0);
    set(false);
    assert_eq!(node.runtime.block_on(node.service.expire_once()), 5);
}

#[test]
fn a_time_that_is_said_late_counts_from_the_writing() {
    let node = Node::open(&SimDisk::new());
    node.make("c", Vec::new());
    node.insert("c", 0..5);
    node.clock.advance(Duration::from_secs(50));
    node.insert("c", 5..7);
    let alter = |properties: Vec<KeyValuePair>, delete_keys: Vec<String>| {
        let request = AlterCollectionRequest {
            collection_name: "c".into(),
            properties,
            delete_keys,
            ..AlterCollectionRequest::default()
        };
        node.runtime
            .block_on(node.service.alter_collection(call(), request))
    };
    let ttl = "collection.ttl.seconds";
    alter(vec![pair(ttl, "20")], Vec::new()).unwrap();
    assert_eq!(node.found("c"), [5, 6]);
    for never in ["0", "-1"] {
        alter(vec![pair(ttl, never)], Vec::new()).unwrap();
        assert_eq!(node.found("c").len(), 7);
    }
    alter(vec![pair(ttl, "20")], Vec::new()).unwrap();
    alter(Vec::new(), vec![ttl.into()]).unwrap();
    assert_eq!(node.found("c").len(), 7, "nothing was deleted yet");
    for wrong in [pair(ttl, "x"), pair(ttl, "-2"), pair("ttl_field", "t")] {
        assert!(alter(vec![wrong], Vec::new()).is_err());
    }
}
