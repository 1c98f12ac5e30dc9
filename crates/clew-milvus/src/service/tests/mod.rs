//! Calls against a node on a simulated disk, with a clock that stands still until it is moved.

mod aliases;
mod collections;
mod databases;
mod expiry;
mod iterators;

use std::path::Path;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use clew_access::{AccessControl, Initial};
use clew_engine::{Engine, EngineOptions};
use clew_platform::{FixedClock, SimDisk};
use prost::Message;

use super::{Call, Service};
use crate::MilvusOptions;
use crate::collection::DataType;
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
        self.insert_into((name, ""), ids);
    }

    /// Inserts rows into a partition; the usual one where it has no name.
    fn insert_into(&self, (name, partition): (&str, &str), ids: std::ops::Range<i64>) {
        let count = ids.end - ids.start;
        let vectors: Vec<u8> = ids
            .clone()
            .flat_map(|_| [1.0_f32, 0.0])
            .flat_map(f32::to_le_bytes)
            .collect();
        let insert = InsertRequest {
            collection_name: name.into(),
            partition_name: partition.into(),
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

    fn drop_collection(&self, name: &str) -> Result<Status, MilvusError> {
        let request = CollectionRequest {
            collection_name: name.into(),
            ..CollectionRequest::default()
        };
        self.runtime
            .block_on(self.service.drop_collection(call(), request))
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
