//! Calls against a node on a simulated disk, with a clock that stands still until it is moved.

use std::path::Path;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use clew_access::{AccessControl, Initial};
use clew_engine::{
    CatalogChange, Engine, EngineError, EngineOptions, Purpose, SettingsChange, Written,
};
use clew_platform::{FixedClock, SimDisk};
use prost::Message;

use super::{Call, Service};
use crate::MilvusOptions;
use crate::collection::{DataType, pairs};
use crate::error::MilvusError;
use crate::proto::*;

struct Node {
    service: Service,
    clock: Arc<FixedClock>,
    runtime: tokio::runtime::Runtime,
}

fn pair(key: &str, value: &str) -> KeyValuePair {
    KeyValuePair {
        key: key.into(),
        value: value.into(),
    }
}

fn call() -> Call {
    Call::own()
}

/// A collection of keys and vectors of two numbers.
fn collection_of(name: &str) -> CreateCollectionRequest {
    let field = |name: &str, data_type: DataType, params: Vec<KeyValuePair>| FieldSchema {
        name: name.into(),
        data_type: data_type.number(),
        is_primary_key: name == "id",
        type_params: params,
        ..FieldSchema::default()
    };
    let schema = CollectionSchema {
        fields: vec![
            field("id", DataType::Int64, Vec::new()),
            field("v", DataType::FloatVector, vec![pair("dim", "2")]),
        ],
        ..CollectionSchema::default()
    };
    CreateCollectionRequest {
        collection_name: name.into(),
        schema: schema.encode_to_vec().into(),
        ..CreateCollectionRequest::default()
    }
}

impl Node {
    fn open(disk: &SimDisk) -> Node {
        let clock = Arc::new(FixedClock::at(Duration::from_secs(1_790_000_000)));
        let options = EngineOptions {
            search_threads: 1,
            ..EngineOptions::new("/data")
        };
        let engine = Engine::start(options, Arc::new(disk.clone()), clock.clone()).unwrap();
        let initial = Initial {
            root_password: "root-1".into(),
            public: Vec::new(),
        };
        let (users, path) = (Arc::new(disk.clone()), Path::new("/data/access.json"));
        let access = AccessControl::open(users, clock.clone(), path, &initial).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        Node {
            service: Service::new(engine, Arc::new(access), &MilvusOptions::default()),
            clock,
            runtime,
        }
    }

    fn done<T>(&self, call: impl Future<Output = Result<T, MilvusError>>) -> T {
        self.runtime.block_on(call).unwrap()
    }

    /// Makes a collection of keys and vectors of two numbers, and loads it.
    fn make(&self, name: &str, properties: Vec<KeyValuePair>) {
        let create = CreateCollectionRequest {
            properties,
            ..collection_of(name)
        };
        self.done(self.service.create_collection(call(), create));
        let index = CreateIndexRequest {
            collection_name: name.into(),
            field_name: "v".into(),
            extra_params: vec![pair("index_type", "FLAT"), pair("metric_type", "L2")],
            ..CreateIndexRequest::default()
        };
        self.done(self.service.create_index(call(), index));
        let load = LoadCollectionRequest {
            collection_name: name.into(),
            ..LoadCollectionRequest::default()
        };
        self.done(self.service.load_collection(call(), load));
    }

    fn insert(&self, name: &str, ids: std::ops::Range<i64>) {
        let count = ids.end - ids.start;
        let vectors: Vec<u8> = ids
            .clone()
            .flat_map(|_| [1.0_f32, 0.0])
            .flat_map(f32::to_le_bytes)
            .collect();
        let insert = InsertRequest {
            collection_name: name.into(),
            num_rows: u32::try_from(count).unwrap(),
            fields_data: vec![
                FieldData {
                    r#type: DataType::Int64.number(),
                    field_name: "id".into(),
                    field: Some(field_data::Field::Scalars(ScalarField {
                        data: Some(scalar_field::Data::LongData(LongArray {
                            data: ids.collect(),
                        })),
                    })),
                    ..FieldData::default()
                },
                FieldData {
                    r#type: DataType::FloatVector.number(),
                    field_name: "v".into(),
                    field: Some(field_data::Field::Vectors(VectorField {
                        dim: 2,
                        data: Some(vector_field::Data::FloatVector(PackedFloats {
                            data: vectors.into(),
                        })),
                    })),
                    ..FieldData::default()
                },
            ],
            ..InsertRequest::default()
        };
        self.done(self.service.insert(call(), insert));
    }

    fn search(&self, name: &str, params: &[(&str, &str)]) -> Result<SearchResultData, MilvusError> {
        let group = PlaceholderGroup {
            placeholders: vec![PlaceholderValue {
                tag: "$0".into(),
                r#type: DataType::FloatVector.number(),
                values: vec![[0_f32.to_le_bytes(), 0_f32.to_le_bytes()].concat().into()],
            }],
        };
        let request = SearchRequest {
            collection_name: name.into(),
            nq: 1,
            search_params: params.iter().map(|(key, value)| pair(key, value)).collect(),
            search_input: Some(search_request::SearchInput::PlaceholderGroup(
                group.encode_to_vec().into(),
            )),
            ..SearchRequest::default()
        };
        let found = self
            .runtime
            .block_on(self.service.search(call(), request))?;
        Ok(found.results.unwrap())
    }

    fn found(&self, name: &str) -> Vec<i64> {
        ids(&self.search(name, &[("topk", "100")]).unwrap())
    }

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

    fn page(&self, name: &str, more: &[(&str, &str)]) -> Result<SearchResultData, MilvusError> {
        let own = [
            ("topk", "4"),
            ("search_iter_v2", "True"),
            ("search_iter_batch_size", "4"),
        ];
        self.search(name, &[&own, more].concat())
    }

    fn after(
        &self,
        name: &str,
        told: &SearchIteratorV2Results,
    ) -> Result<SearchResultData, MilvusError> {
        let bound = f64::from(told.last_bound).to_string();
        self.page(
            name,
            &[
                ("search_iter_id", &told.token),
                ("search_iter_last_bound", &bound),
            ],
        )
    }
}

fn ids(found: &SearchResultData) -> Vec<i64> {
    match found.ids.as_ref().and_then(|ids| ids.id_field.as_ref()) {
        Some(i_ds::IdField::IntId(ids)) => {
            let mut ids = ids.data.clone();
            ids.sort_unstable();
            ids
        }
        _ => Vec::new(),
    }
}

fn told(page: &SearchResultData) -> SearchIteratorV2Results {
    page.search_iterator_v2_results.clone().unwrap()
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

#[test]
fn a_page_whose_answer_was_lost_is_given_again() {
    let node = Node::open(&SimDisk::new());
    node.make("c", Vec::new());
    node.make("other", Vec::new());
    // All equally near.
    node.insert("c", 0..10);
    let first = node.page("c", &[]).unwrap();
    let second = node.after("c", &told(&first)).unwrap();
    let again = node.after("c", &told(&first)).unwrap();
    assert_eq!(ids(&second), ids(&again));
    assert_eq!(told(&second), told(&again));
    let third = node.after("c", &told(&second)).unwrap();
    let all = [ids(&first), ids(&second), ids(&third)].concat();
    let distinct: std::collections::BTreeSet<i64> = all.iter().copied().collect();
    assert_eq!((all.len(), distinct.len(), ids(&third).len()), (10, 10, 2));
    for _ in 0..2 {
        let end = node.after("c", &told(&third)).unwrap();
        assert_eq!(ids(&end), Vec::<i64>::new());
    }
    let refused = |name: &str, told: &SearchIteratorV2Results| {
        node.after(name, told).unwrap_err().to_string()
    };
    assert!(refused("c", &told(&first)).contains("last page"));
    assert!(refused("other", &told(&third)).contains("another collection"));
    let unknown = SearchIteratorV2Results {
        token: "nobody's".into(),
        ..told(&third)
    };
    assert!(refused("c", &unknown).contains("is not there"));
    // That somebody sets the wall clock is no waiting.
    for year in [40, 1, 20] {
        node.clock.set(Duration::from_secs(year * 365 * 86_400));
        node.page("c", &[]).unwrap();
        node.after("c", &told(&third)).unwrap();
    }
    // Nobody asks for it any more.
    node.clock.advance(Duration::from_secs(601));
    node.page("c", &[]).unwrap();
    assert!(refused("c", &told(&third)).contains("is not there"));
    for wrong in [
        ("offset", "1"),
        ("search_iter_last_bound", "NaN"),
        ("search_iter_batch_size", "0"),
    ] {
        assert!(node.page("c", &[wrong]).is_err(), "{wrong:?}");
    }
}

/// The alias `x` of a collection.
fn alias_of(collection: &str) -> CreateAliasRequest {
    CreateAliasRequest {
        collection_name: collection.into(),
        alias: "x".into(),
        ..CreateAliasRequest::default()
    }
}

impl Node {
    /// Lets `x` mean another collection.
    fn move_alias(&self, collection: &str) -> Result<Status, MilvusError> {
        let moving = self.service.alter_alias(call(), alias_of(collection));
        self.runtime.block_on(moving)
    }

    fn drop_collection(&self, name: &str) -> Result<Status, MilvusError> {
        let request = CollectionRequest {
            collection_name: name.into(),
            ..CollectionRequest::default()
        };
        self.runtime
            .block_on(self.service.drop_collection(call(), request))
    }

    /// The collection that `x` means.
    fn aliased(&self) -> String {
        let request = DescribeAliasRequest {
            alias: "x".into(),
            ..DescribeAliasRequest::default()
        };
        self.done(self.service.describe_alias(call(), request))
            .collection
    }
}

/// What comes of two calls that begin at once.
fn at_once<A: Send, B>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    let both = Barrier::new(2);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            both.wait();
            first()
        });
        both.wait();
        let second = second();
        (first.join().unwrap(), second)
    })
}

#[test]
fn an_alias_that_is_moved_twice_at_once_means_one_collection() {
    let node = Node::open(&SimDisk::new());
    for name in ["a", "b", "c"] {
        node.make(name, Vec::new());
    }
    node.done(node.service.create_alias(call(), alias_of("a")));
    for _ in 0..30 {
        let (b, c) = at_once(|| node.move_alias("b"), || node.move_alias("c"));
        b.and(c).unwrap();
        let aliases = node.service.engine().aliases();
        let holders: Vec<usize> = aliases.values().map(Vec::len).collect();
        assert_eq!(holders, [1]);
        assert!(["b", "c"].contains(&&*node.aliased()));
    }
}

#[test]
fn an_alias_is_not_moved_to_a_collection_that_is_dropped_at_the_same_time() {
    let node = Node::open(&SimDisk::new());
    node.make("a", Vec::new());
    node.done(node.service.create_alias(call(), alias_of("a")));
    for _ in 0..20 {
        node.make("b", Vec::new());
        let (moved, dropped) = at_once(|| node.move_alias("b"), || node.drop_collection("b"));
        // Whichever came first has the other one refused.
        assert_ne!(moved.is_ok(), dropped.is_ok(), "{moved:?} {dropped:?}");
        let means = if moved.is_ok() { "b" } else { "a" };
        assert_eq!(node.aliased(), means);
        if moved.is_ok() {
            node.move_alias("a").unwrap();
            node.drop_collection("b").unwrap();
        }
    }
}

#[test]
fn a_collection_that_is_made_anew_while_an_alias_moves_to_the_one_before_has_it_or_not() {
    let node = Node::open(&SimDisk::new());
    for name in ["a", "b"] {
        node.make(name, Vec::new());
    }
    node.done(node.service.create_alias(call(), alias_of("a")));
    for _ in 0..20 {
        let again = || {
            let dropped = node.drop_collection("b");
            if dropped.is_ok() {
                node.make("b", Vec::new());
            }
        };
        let (moved, ()) = at_once(|| node.move_alias("b"), again);
        let means = if moved.is_ok() { "b" } else { "a" };
        assert_eq!(node.aliased(), means, "{moved:?}");
        node.move_alias("a").unwrap();
    }
}

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

#[test]
fn what_is_written_late_goes_to_no_collection_that_has_the_name_since() {
    let node = Node::open(&SimDisk::new());
    node.make("c", Vec::new());
    node.insert("c", 0..3);
    let opened = node.service.open(&call(), ("", "c"), Purpose::Write);
    let opened = opened.unwrap();
    node.drop_collection("c").unwrap();
    let late = || {
        let deletions = (0..3).map(|id: i64| (id.to_string(), None)).collect();
        node.done(node.service.delete_if(&call(), &opened, deletions))
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
