//! A node in memory that is asked as by HTTP: for the tests of this crate and of the parts that stand by themselves.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use clew_engine::{Engine, EngineError, EngineOptions};
use clew_platform::{Disk, FixedClock, SimDisk};
use http_body_util::BodyExt;
use serde_json::Value;

use crate::routes::Wing;
use crate::server::dispatch::dispatch;
use crate::server::start::{Server, start};
use crate::state::api::{Api, RestOptions};

/// A node that is asked over its REST API.
pub struct Node {
    /// What its endpoints share.
    pub api: Arc<Api>,
    server: Arc<Server>,
    runtime: tokio::runtime::Runtime,
}

impl Node {
    /// A node over the files of a disk, some day in 2026, with these parts beside the endpoints of this crate.
    ///
    /// # Errors
    /// As the engine's start: the disk may fail, or have lost what was written.
    pub fn open(disk: &SimDisk, wings: &'static [Wing]) -> Result<Node, EngineError> {
        let clock = FixedClock::at(Duration::from_secs(1_790_000_000));
        Self::open_at(disk, Arc::new(clock), wings)
    }

    /// The same by a clock that moves when told to.
    ///
    /// # Errors
    /// As [`Node::open`].
    pub fn open_at(
        disk: &SimDisk,
        clock: Arc<FixedClock>,
        wings: &'static [Wing],
    ) -> Result<Node, EngineError> {
        let options = EngineOptions {
            search_threads: 1,
            retry_every: Duration::from_millis(1),
            query_reader: Some(crate::dsl::query_reader()),
            settings_reader: Some(crate::read_untyped_settings),
            mapping_reader: Some(clew_opensearch_mapping::reader()),
            ..EngineOptions::new("/data")
        };
        let engine = Engine::start(options, Arc::new(disk.clone()), clock)?;
        let options = RestOptions {
            data: "/data".into(),
            repository_roots: vec!["/repo".into()],
            ..RestOptions::default()
        };
        let server = Arc::new(start(engine, options, wings));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime takes a few files only");
        let api = server.api.clone();
        Ok(Node {
            api,
            server,
            runtime,
        })
    }

    /// The status and the body: JSON, or lines of text. `request` is the method and the path; no body is `null`.
    ///
    /// # Panics
    /// When `request` is none.
    pub fn ask(&self, request: &str, body: impl Into<Value>) -> (u16, Value) {
        let (method, path) = request.split_once(' ').expect("`GET /path`");
        let body = match body.into() {
            Value::Null => String::new(),
            Value::String(lines) => lines,
            body => body.to_string(),
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json")
            .body(Body::from(body))
            .expect("`GET /path`");
        self.runtime.block_on(async {
            // What goes on beside requests gets on only while one is asked: it has its turn first.
            tokio::task::yield_now().await;
            let response = dispatch(State(self.server.clone()), request).await;
            let status = response.status().as_u16();
            let body = response
                .into_body()
                .collect()
                .await
                .expect("a whole body")
                .to_bytes();
            let text = String::from_utf8_lossy(&body).into_owned();
            (
                status,
                serde_json::from_slice(&body).unwrap_or(Value::String(text)),
            )
        })
    }

    /// Asks, and goes away while the answer is made. `request` is the method and the path.
    ///
    /// # Panics
    /// When `request` is none, or is answered at once.
    pub fn ask_and_leave(&self, request: &str) {
        let (method, path) = request.split_once(' ').expect("`GET /path`");
        let request = Request::builder().method(method).uri(path);
        let request = request.body(Body::empty()).expect("`GET /path`");
        self.runtime.block_on(async {
            let turns = async {
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                biased;
                _ = dispatch(State(self.server.clone()), request) => panic!("it was answered"),
                () = turns => {}
            }
        });
    }

    /// How many tasks go on beside requests.
    pub fn tasks(&self) -> usize {
        self.runtime.metrics().num_alive_tasks()
    }

    /// The same, for what must succeed.
    ///
    /// # Panics
    /// When it does not.
    pub fn done(&self, request: &str, body: impl Into<Value>) -> Value {
        let (status, answer) = self.ask(request, body);
        assert!(status < 300, "{request}: {status} {answer}");
        answer
    }
}

/// A file of a shard of an index: one whose name ends so.
///
/// # Panics
/// When there is none.
pub fn segment_file(disk: &SimDisk, uuid: &str, (shard, suffix): (u32, &str)) -> PathBuf {
    let dir = Path::new("/data/indices").join(uuid);
    let files = disk
        .list(&dir.join(shard.to_string()))
        .expect("a shard's folder");
    let mut files = files.into_iter();
    let found = files.find(|path| path.to_str().is_some_and(|path| path.ends_with(suffix)));
    found.expect("a file of that kind")
}
