//! The REST API over a simulated disk that loses power, fails, fills up or has lost bytes: what a request changes is
//! done whole or not at all, and an answer is right or says what is missing.

mod acknowledged;
mod changes;
mod failed_shard;
mod filling;
mod meanwhile;

use std::time::Duration;

use clew_engine::EngineError;
use clew_platform::{CancellationToken, Clock, RealClock, SimDisk};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::fixture::{Node, segment_file};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::routes::{Group, Wing, endpoint};
use crate::state::call::Call;

/// Within this time a node has mended what can be mended.
const PATIENCE: Duration = Duration::from_secs(60);

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

/// A node with the endpoints of this crate alone.
fn open(disk: &SimDisk) -> Result<Node, EngineError> {
    Node::open(disk, &[])
}

/// The clock of the engine says what time it is, wherever a client is told.
#[test]
fn what_time_it_is_comes_from_the_clock_that_the_engine_has() {
    const NOW_MS: u64 = 1_790_000_000_000;
    let node = open(&SimDisk::new()).unwrap();
    let script = json!({"script": {"source": "ctx._source.at = ctx._now"}, "upsert": {"at": 0}});
    node.done("PUT /i/_doc/1", json!({"at": 0}));
    node.done("POST /i/_update/1", script.clone());
    let lines = format!("{}\n{script}\n", json!({"update": {"_id": "1"}}));
    node.done("POST /i/_bulk", lines);
    let written = node.done("GET /i/_doc/1", Value::Null);
    assert_eq!(written["_source"]["at"], NOW_MS);
    let pipeline = json!({
        "pipeline": {"processors": [{"set": {"field": "at", "value": "{{_ingest.timestamp}}"}}]},
        "docs": [{"_source": {}}],
    });
    let simulated = node.done("POST /_ingest/pipeline/_simulate", pipeline);
    let at = &simulated["docs"][0]["doc"]["_source"]["at"];
    assert!(at.to_string().contains("2026-09-21T"), "{at}");
    let pit = node.done("POST /i/_search/point_in_time?keep_alive=1m", Value::Null);
    assert_eq!(pit["creation_time"], NOW_MS);
    let now = json!({"query": {"range": {"at": {"gte": "now", "lte": "now"}}}});
    node.done(
        "PUT /d",
        json!({"mappings": {"properties": {"at": {"type": "date"}}}}),
    );
    node.done("PUT /d/_doc/1?refresh=true", json!({"at": NOW_MS}));
    let explained = node.done("POST /d/_explain/1", now);
    assert_eq!(explained["matched"], true);
}

/// What goes on beside requests does not grow with them while one of many contexts stays open.
#[test]
fn one_task_ends_all_scrolls_and_points_in_time() {
    let node = open(&SimDisk::new()).unwrap();
    node.done("PUT /i/_doc/1?refresh=true", json!({"n": 1}));
    let open_pit = |keep_alive: &str| {
        let request = format!("POST /i/_search/point_in_time?keep_alive={keep_alive}");
        node.done(&request, Value::Null)["pit_id"].clone()
    };
    let stays = open_pit("1h");
    let tasks = node.tasks();
    for _ in 0..5 {
        let id = open_pit("1h");
        node.done("DELETE /_search/point_in_time", json!({ "pit_id": [id] }));
        let scrolled = node.done(
            "POST /i/_search?scroll=1h",
            json!({"query": {"match_all": {}}}),
        );
        let id = &scrolled["_scroll_id"];
        node.done("DELETE /_search/scroll", json!({ "scroll_id": id }));
    }
    assert!(node.tasks() <= tasks);
    // It wakes for one whose time is over sooner.
    open_pit("1ms");
    eventually("a point in time outlives its time", || {
        // Tasks go on while something is waited for.
        node.done("POST /i/_refresh", Value::Null);
        let all = node.done("GET /_search/point_in_time/_all", Value::Null);
        (all["pits"].as_array().map(Vec::len) == Some(1)).then_some(())
    });
    node.done(
        "DELETE /_search/point_in_time",
        json!({ "pit_id": [stays] }),
    );
}

async fn break_down(_: Call) -> Result<Reply, ApiError> {
    tokio::task::yield_now().await;
    panic!("as it must")
}

/// The token of the request that was asked last and is never answered.
static UNANSWERED: Mutex<Option<CancellationToken>> = Mutex::new(None);

async fn never_answer(_: Call) -> Result<Reply, ApiError> {
    *UNANSWERED.lock() = Some(CancellationToken::current());
    std::future::pending().await
}

const BROKEN: &[Wing] = &[Wing {
    groups: &[Group {
        class: "broken",
        params: &[],
        endpoints: &[
            endpoint!("GET", ["/_broken"], break_down),
            endpoint!("GET POST", ["/_broken/never"], never_answer),
            endpoint!("GET", ["/_broken/long"], break_down).takes_long("cluster:monitor/broken"),
        ],
    }],
    schemas: "{}",
    check_settings: None,
    background: None,
}];

/// What reads ends with its client, be it a task or not; what may write goes on.
#[test]
fn what_only_reads_ends_when_its_client_goes() {
    let node = Node::open(&SimDisk::new(), BROKEN).unwrap();
    for (method, ends) in [("GET", true), ("POST", false)] {
        node.ask_and_leave(&format!("{method} /_broken/never"));
        let token = UNANSWERED.lock().take().expect("it was asked");
        assert_eq!(token.stopped().is_some(), ends, "{method}");
    }
}

/// A defect of an endpoint is answered, and what the request held is given back.
#[test]
fn a_request_that_breaks_down_is_answered_and_forgotten() {
    let node = Node::open(&SimDisk::new(), BROKEN).unwrap();
    for path in ["/_broken", "/_broken/long"] {
        let (status, answer) = node.ask(&format!("GET {path}"), Value::Null);
        assert_eq!(status, 500, "{answer}");
        let reason = answer["error"]["reason"].to_string();
        assert!(reason.contains("a defect of the program"), "{reason}");
    }
    assert!(node.api.tasks.running().is_empty());
}
