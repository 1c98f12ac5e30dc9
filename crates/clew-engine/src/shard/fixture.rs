//! An engine with an index `docs` of one shard that nothing refreshes by itself, for tests.

use std::sync::Arc;
use std::time::Duration;

use clew_platform::{FixedClock, SimDisk};
use serde_json::{Value, json};

use crate::base::access::Access;
use crate::base::error::EngineError;
use crate::base::settings::IndexSettings;
use crate::base::write_request::{Action, OpType, WriteOperation};
use crate::index::handle::Index;
use crate::node::engine::Engine;
use crate::node::options::EngineOptions;

pub(super) fn engine(disk: &SimDisk) -> (Engine, Arc<Index>) {
    engine_with(disk, EngineOptions::new("/data"))
}

pub(super) fn engine_with(disk: &SimDisk, options: EngineOptions) -> (Engine, Arc<Index>) {
    let clock = Arc::new(FixedClock::at(Duration::from_secs(1_790_000_000)));
    let engine = Engine::start(options, Arc::new(disk.clone()), clock);
    let engine = engine.unwrap();
    let settings = IndexSettings {
        refresh_interval: None,
        ..IndexSettings::default()
    };
    let mapping = clew_opensearch_mapping::mapping(json!({"properties": {"n": {"type": "long"}}}));
    let (index, _) = engine
        .create_index(&Access::everything(), "docs", settings, mapping)
        .unwrap();
    (engine, index)
}

pub(super) fn put(engine: &Engine, id: &str) -> Result<(), EngineError> {
    put_source(engine, id, &json!({"n": 1}))
}

pub(super) fn put_source(engine: &Engine, id: &str, source: &Value) -> Result<(), EngineError> {
    write(engine, id, Action::index(source.to_string(), OpType::Index))
}

pub(super) fn delete(engine: &Engine, id: &str) -> Result<(), EngineError> {
    write(engine, id, Action::Delete)
}

/// In one request.
pub(super) fn put_all(
    engine: &Engine,
    ids: impl Iterator<Item = String>,
) -> Result<(), EngineError> {
    let action = || Action::index(json!({"n": 1}).to_string(), OpType::Index);
    let operations = ids.map(|id| operation(&id, action())).collect();
    let outcome = engine.write(&Access::everything(), operations);
    outcome
        .results
        .into_iter()
        .try_for_each(|result| result.map(|_| ()))
}

fn write(engine: &Engine, id: &str, action: Action) -> Result<(), EngineError> {
    let mut outcome = engine.write(&Access::everything(), vec![operation(id, action)]);
    outcome.results.pop().unwrap().map(|_| ())
}

fn operation(id: &str, action: Action) -> WriteOperation {
    WriteOperation {
        index: "docs".into(),
        require_alias: false,
        id: Some(id.into()),
        routing: None,
        action,
        condition: None,
    }
}
