//! The REST API over a simulated disk that loses power, fails, fills up or has lost bytes: what a request changes is
//! done whole or not at all, and an answer is right or says what is missing.

mod changes;
mod failed_shard;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use clew_engine::{Engine, EngineError, EngineOptions};
use clew_platform::{Clock, Disk, FixedClock, RealClock, SimDisk};
use http_body_util::BodyExt;
use serde_json::Value;

use crate::server::dispatch::dispatch;
use crate::server::start::{Server, WINGS, start};
use crate::state::api::RestOptions;

/// Within this time a node has mended what can be mended.
const PATIENCE: Duration = Duration::from_secs(20);

/// A node that is asked over its REST API.
struct Node {
    server: Arc<Server>,
    runtime: tokio::runtime::Runtime,
}

impl Node {
    fn open(disk: &SimDisk) -> Result<Node, EngineError> {
        let clock = FixedClock::at(Duration::from_secs(1_790_000_000));
        let options = EngineOptions {
            search_threads: 1,
            retry_every: Duration::from_millis(1),
            query_reader: Some(crate::dsl::query_reader()),
            ..EngineOptions::new("/data")
        };
        let engine = Engine::open(options, Arc::new(disk.clone()), Arc::new(clock))?;
        let options = RestOptions {
            data: "/data".into(),
            repository_roots: vec!["/repo".into()],
            ..RestOptions::default()
        };
        let server = Arc::new(start(engine, options, WINGS));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        Ok(Node { server, runtime })
    }

    /// The status and the body: JSON, or lines of text. `request` is the method and the path.
    fn ask(&self, request: &str, body: impl Into<Value>) -> (u16, Value) {
        let (method, path) = request.split_once(' ').unwrap();
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
            .unwrap();
        self.runtime.block_on(async {
            let response = dispatch(State(self.server.clone()), request).await;
            let status = response.status().as_u16();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let text = String::from_utf8_lossy(&body).into_owned();
            (
                status,
                serde_json::from_slice(&body).unwrap_or(Value::String(text)),
            )
        })
    }

    /// The same, for what must succeed.
    fn done(&self, request: &str, body: impl Into<Value>) -> Value {
        let (status, answer) = self.ask(request, body);
        assert!(status < 300, "{request}: {status} {answer}");
        answer
    }
}

/// What something gives as soon as it gives anything.
fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
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

/// A file of a shard of an index.
fn segment_file(disk: &SimDisk, uuid: &str, (shard, suffix): (u32, &str)) -> PathBuf {
    let dir = Path::new("/data/indices").join(uuid);
    let files = disk.list(&dir.join(shard.to_string())).unwrap();
    let mut files = files.into_iter();
    let found = files.find(|path| path.to_str().is_some_and(|path| path.ends_with(suffix)));
    found.unwrap()
}
