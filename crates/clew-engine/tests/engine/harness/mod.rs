//! A node on a simulated disk, and short words for what tests do with it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use clew_engine::{
    Access, Action, CatalogChange, Document, Engine, EngineError, EngineOptions, Freshness, Hit,
    IndexHandle, IndexSettings, OpType, Purpose, ResolveOptions, SearchRequest, SearchResponse,
    SettingsChange, UpdateSpec, WriteOperation, Written,
};
use clew_platform::{Clock, FixedClock, RealClock, SimDisk};
use clew_query::{KnnQuery, Query};
use clew_schema::{FieldKind, FieldSpec, IntegerKind, Mapping, MappingSpec};
use clew_search::TrackTotal;
use serde_json::{Value, json};

pub(crate) const DIMENSION: usize = 8;

pub(crate) struct Node {
    pub(crate) engine: Engine,
    runtime: tokio::runtime::Runtime,
}

pub(crate) fn mapping() -> Mapping {
    clew_opensearch_mapping::mapping(json!({"properties": {
        "n": {"type": "long"},
        "tag": {"type": "keyword"},
        "text": {"type": "text"},
        "v": {"type": "knn_vector", "dimension": DIMENSION, "space_type": "l2"},
    }}))
}

/// A vector that no other number has; its values are the same in f32, f64 and decimal.
pub(crate) fn vector(n: u64) -> Vec<f32> {
    let spread = |i: usize| {
        n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(8 * i as u32)
            % 1000
    };
    (0..DIMENSION).map(|i| spread(i) as f32 / 4.0).collect()
}

pub(crate) fn source(n: u64) -> Value {
    json!({"n": n, "tag": format!("t{}", n % 5), "text": format!("common word{n}"), "v": vector(n)})
}

pub(crate) fn index(id: &str, source: &Value) -> WriteOperation {
    let source = Bytes::from(source.to_string());
    operation(Some(id), Action::index(source, OpType::Index))
}

pub(crate) fn delete(id: &str) -> WriteOperation {
    operation(Some(id), Action::Delete)
}

pub(crate) fn update(id: &str, doc: &Value) -> WriteOperation {
    let doc = Some(Bytes::from(doc.to_string()));
    let spec = UpdateSpec {
        doc,
        doc_as_upsert: true,
        detect_noop: true,
        ..UpdateSpec::default()
    };
    operation(Some(id), Action::Update(spec))
}

pub(crate) fn operation(id: Option<&str>, action: Action) -> WriteOperation {
    let id = id.map(str::to_string);
    WriteOperation {
        index: "docs".into(),
        require_alias: false,
        id,
        routing: None,
        action,
        condition: None,
    }
}

/// A field that [`mapping`] lacks.
pub(crate) fn one_more_field() -> MappingSpec {
    MappingSpec::default().with(FieldSpec::new("x", FieldKind::Integer(IntegerKind::Long)))
}

/// A change of all settings of the index `docs`.
pub(crate) fn settings_change(node: &Node, settings: IndexSettings) -> Vec<CatalogChange> {
    vec![CatalogChange::Settings {
        index: "docs".to_string(),
        uuid: node.index().uuid().to_string(),
        change: SettingsChange::new(move |_| Ok(settings.clone())),
        blocks_alone: false,
    }]
}

/// The right to everything.
pub(crate) fn everything() -> Access {
    Access::everything()
}

impl Node {
    pub(crate) fn open(disk: &SimDisk) -> Result<Node, EngineError> {
        let options = EngineOptions {
            search_threads: 1,
            ..EngineOptions::new("/data")
        };
        Node::open_with(disk, options)
    }

    pub(crate) fn open_with(disk: &SimDisk, options: EngineOptions) -> Result<Node, EngineError> {
        let clock = FixedClock::at(Duration::from_secs(1_790_000_000));
        Node::open_at(disk, options, Arc::new(clock))
    }

    pub(crate) fn open_at(
        disk: &SimDisk,
        options: EngineOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Node, EngineError> {
        let engine = Engine::start(options, Arc::new(disk.clone()), clock)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        Ok(Node { engine, runtime })
    }

    /// A node on a new disk with an index `docs` of so many shards.
    pub(crate) fn with_index(disk: &SimDisk, shards: u32) -> Node {
        Node::with_mapping(disk, shards, mapping())
    }

    /// The same with an index of another mapping.
    pub(crate) fn with_mapping(disk: &SimDisk, shards: u32, mapping: Mapping) -> Node {
        let node = Node::open(disk).unwrap();
        node.create_mapped(shards, mapping);
        node
    }

    pub(crate) fn create_index(&self, shards: u32) {
        self.create_mapped(shards, mapping());
    }

    fn create_mapped(&self, shards: u32, mapping: Mapping) {
        let settings = IndexSettings {
            shards,
            refresh_interval: None,
            ..IndexSettings::default()
        };
        self.engine
            .create_index(&everything(), "docs", settings, mapping)
            .unwrap();
    }

    /// The index `docs`, opened to be read.
    pub(crate) fn index(&self) -> IndexHandle {
        self.opened("docs", Purpose::Read).unwrap()
    }

    /// The same, opened to be copied.
    pub(crate) fn copied(&self) -> IndexHandle {
        self.opened("docs", Purpose::Copy).unwrap()
    }

    pub(crate) fn opened(&self, name: &str, purpose: Purpose) -> Result<IndexHandle, EngineError> {
        self.engine.open_exactly(name, &everything(), purpose)
    }

    pub(crate) fn named(
        &self,
        expression: &str,
        options: ResolveOptions,
    ) -> Result<Vec<IndexHandle>, EngineError> {
        let everything = Access::everything();
        self.engine
            .open((expression, options), &everything, Purpose::Watch)
    }

    pub(crate) fn named_one(
        &self,
        name: &str,
        routing: Option<&str>,
    ) -> Result<(IndexHandle, Option<String>), EngineError> {
        let everything = Access::everything();
        self.engine
            .open_one((name, routing), &everything, Purpose::Read)
    }

    /// Writes and waits until the writes may be acknowledged.
    pub(crate) fn write(
        &self,
        operations: Vec<WriteOperation>,
    ) -> Result<Vec<Result<Written, EngineError>>, EngineError> {
        let outcome = self.engine.write(&Access::everything(), operations);
        self.runtime.block_on(self.engine.durable(&outcome))?;
        Ok(outcome.results)
    }

    pub(crate) fn write_one(&self, operation: WriteOperation) -> Result<Written, EngineError> {
        self.write(vec![operation])?.pop().unwrap()
    }

    pub(crate) fn put(&self, id: &str, source: &Value) -> Written {
        self.write_one(index(id, source)).unwrap()
    }

    pub(crate) fn refresh(&self) {
        self.engine.refresh(&self.index()).unwrap();
    }

    pub(crate) fn get(&self, id: &str) -> Option<Document> {
        self.engine
            .get(&self.index(), id, None, Freshness::Latest)
            .unwrap()
    }

    /// Waits until no shard has failed.
    pub(crate) fn mended(&self) {
        let failed = || self.index().stats().failed_shards;
        eventually("shards stay failed", || (failed() == 0).then_some(()));
    }

    pub(crate) fn search_request(&self, query: Query, size: usize) -> SearchRequest {
        SearchRequest {
            size,
            track_total: TrackTotal::Exact,
            source: true,
            vectors: true,
            ..SearchRequest::new(self.engine.pin(&[self.index()]).unwrap(), query)
        }
    }

    pub(crate) fn run(&self, request: SearchRequest) -> Result<SearchResponse, EngineError> {
        self.runtime.block_on(self.engine.search(request))
    }

    /// Every document.
    pub(crate) fn run_all(&self) -> Result<SearchResponse, EngineError> {
        self.run(self.search_request(Query::match_all(), 10_000))
    }

    pub(crate) fn hits(&self, query: Query, size: usize) -> Vec<Hit> {
        self.run(self.search_request(query, size)).unwrap().hits
    }

    pub(crate) fn ids(&self, query: Query) -> Vec<String> {
        let mut ids: Vec<String> = self
            .hits(query, 10_000)
            .into_iter()
            .map(|hit| hit.id)
            .collect();
        ids.sort();
        ids
    }

    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }
}

/// Within this time a node has mended what can be mended.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What something gives as soon as it gives anything.
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let clock = RealClock::new();
    let began = clock.monotonic();
    loop {
        if let Some(found) = look() {
            return found;
        }
        let waited = clock.monotonic().saturating_sub(began);
        assert!(waited < PATIENCE, "{what}");
        std::thread::yield_now();
    }
}

pub(crate) fn knn(vector: Vec<f32>, k: usize, filter: Option<Query>) -> Query {
    Query::Knn(KnnQuery {
        field: "v".into(),
        vector,
        k: Some(k),
        ef_search: None,
        probes: None,
        target_recall: None,
        oversample: None,
        expand_nested: false,
        ignore_unmapped: false,
        filter: filter.map(Box::new),
        min_score: None,
        max_distance: None,
        boost: 1.0,
    })
}

pub(crate) fn json_of(document: &Document) -> Value {
    serde_json::from_slice(&document.source).unwrap()
}
