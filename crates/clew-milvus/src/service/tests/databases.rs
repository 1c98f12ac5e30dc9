//! Databases that change and go while others change them.

use super::*;

#[test]
fn a_database_is_dropped_or_gets_a_collection() {
    let node = Node::open(&SimDisk::new());
    let named = || "second".to_string();
    for _ in 0..20 {
        let database = CreateDatabaseRequest {
            db_name: named(),
            ..CreateDatabaseRequest::default()
        };
        node.done(node.service.create_database(call(), database));
        let make = || {
            let request = CreateCollectionRequest {
                db_name: named(),
                ..collection_of("a")
            };
            node.runtime
                .block_on(node.service.create_collection(call(), request))
        };
        let drop = || {
            let request = DropDatabaseRequest { db_name: named() };
            node.runtime
                .block_on(node.service.drop_database(call(), request))
        };
        let (made, dropped) = at_once(make, drop);
        // Whichever came first has the other one refused.
        assert_ne!(made.is_ok(), dropped.is_ok(), "{made:?} {dropped:?}");
        if made.is_ok() {
            let request = CollectionRequest {
                db_name: named(),
                collection_name: "a".into(),
            };
            node.done(node.service.drop_collection(call(), request));
            drop().unwrap();
        }
    }
}

#[test]
fn changes_of_a_database_at_once_are_all_kept_and_bring_none_back() {
    let node = Node::open(&SimDisk::new());
    let named = || "second".to_string();
    let alter = |key: &str| {
        let request = AlterDatabaseRequest {
            db_name: named(),
            properties: vec![pair(key, "1")],
            ..AlterDatabaseRequest::default()
        };
        node.runtime
            .block_on(node.service.alter_database(call(), request))
    };
    let describe = || {
        let request = DescribeDatabaseRequest { db_name: named() };
        node.runtime
            .block_on(node.service.describe_database(call(), request))
    };
    for _ in 0..20 {
        let database = CreateDatabaseRequest {
            db_name: named(),
            ..CreateDatabaseRequest::default()
        };
        node.done(node.service.create_database(call(), database));
        let (one, other) = at_once(|| alter("one"), || alter("other"));
        one.and(other).unwrap();
        let kept = describe().unwrap().properties;
        assert_eq!(kept.len(), 2, "{kept:?}");
        let drop = || {
            let request = DropDatabaseRequest { db_name: named() };
            node.runtime
                .block_on(node.service.drop_database(call(), request))
        };
        // Whichever came first, it is gone.
        let (altered, dropped) = at_once(|| alter("late"), drop);
        dropped.unwrap();
        assert!(describe().is_err(), "{altered:?}");
    }
}
