//! Whether the server is well, for whoever starts and watches it, by the paths that Milvus has. Nobody has to log in for
//! that, and nothing more is told.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::get;
use serde_json::json;

use crate::service::Door;

/// Where containers are watched.
const WATCHED: &str = "/healthz";
/// Where clients of the first RESTful API ask.
const ASKED: &str = "/api/v1/health";

/// Whether a path is one of these.
pub(crate) fn is_health(path: &str) -> bool {
    path == WATCHED || path == ASKED
}

/// The paths.
pub(super) fn router() -> axum::Router<Door> {
    axum::Router::new()
        .route(WATCHED, get(watched))
        .route(ASKED, get(asked))
}

/// `OK`, or what is wrong, as a text or as JSON.
async fn watched(State(door): State<Door>, headers: HeaderMap) -> Response {
    let (status, said) = state(&door);
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    match kind {
        Some(b"application/json") => (status, Json(json!({"state": said}))).into_response(),
        _ => (status, said).into_response(),
    }
}

async fn asked(State(door): State<Door>) -> Response {
    let (status, said) = state(&door);
    (status, Json(json!({"status": said.to_lowercase()}))).into_response()
}

/// How the server is, as a status and in words. A disk that is full is told elsewhere: to start again helps nothing.
fn state(door: &Door) -> (StatusCode, String) {
    let health = door.service().engine().health();
    let mut wrong = Vec::new();
    if health.log.is_some() {
        wrong.push("the log refuses writes");
    }
    if !health.shards.is_empty() {
        wrong.push("a shard is refused");
    }
    match wrong.is_empty() {
        true => (StatusCode::OK, "OK".to_string()),
        false => (StatusCode::INTERNAL_SERVER_ERROR, wrong.join(", ")),
    }
}
