//! The RESTful API in both editions: JSON becomes the message of a call, and the call's answer becomes JSON. Nothing is done
//! here that the calls do not do, and the first edition (`first`) does it by the second.

mod access;
mod aliases;
mod analyzer;
mod answers;
mod body;
mod buckets;
mod collections;
mod databases;
mod entities;
mod fields;
mod first;
mod health;
mod indexes;
mod jobs;
mod keys;
mod parameters;
mod partitions;
mod quick;
mod ranking;
mod resource_groups;
mod segments;
mod structs;
mod wide;

use axum::body::Body as RawBody;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::header::ORIGIN;
use axum::http::{Extensions, HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{any, post};
use clew_access::Refused;
use clew_platform::Reservation;
use serde_json::{Value, json};

use crate::error::MilvusError;
use crate::incoming::{self, Incoming};
use crate::service::{Caller, Coming, Door};
use crate::watch::{Called, Outcome, Way};
use body::{Body, Refusal};
pub(crate) use health::is_health;

/// What the paths begin with.
const GROUPS: [&str; 13] = [
    "collections",
    "entities",
    "partitions",
    "indexes",
    "aliases",
    "users",
    "roles",
    "privilege_groups",
    "databases",
    "resource_groups",
    "segments",
    "common",
    "jobs",
];

/// Rows beyond this, which may have vectors, are written on a thread where that may take its time.
const WRITTEN_HERE_MAX: usize = 100;

/// The longest action of a group that is told by its name.
const ACTION_BYTES_MAX: usize = 40;

/// The paths of the API.
pub(crate) fn router(door: Door) -> axum::Router {
    axum::Router::new()
        .route("/v2/vectordb/{*path}", post(answer))
        .route("/v1/vector/{*path}", any(answer_first))
        // Their length is checked, and told, as they are read.
        .layer(DefaultBodyLimit::disable())
        .merge(health::router())
        .with_state(door)
}

/// Every answer has status 200, and says by its code how it went, but for those who are not let through.
async fn answer(
    State(door): State<Door>,
    Path(path): Path<String>,
    extensions: Extensions,
    headers: HeaderMap,
    body: RawBody,
) -> Response {
    let path = path.trim_end_matches('/');
    let called = Called {
        way: Way::Rest,
        name: is_known(path).then(|| path.to_string()),
    };
    let asked = Asked {
        edition: Edition::Second(path),
        headers: &headers,
        extensions: &extensions,
    };
    let answering = respond(&door, asked, body);
    door.watch().over(&headers, &called, answering).await
}

/// The same for the first edition.
async fn answer_first(State(door): State<Door>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = first::name_of(&parts.method, &parts.uri);
    let called = Called {
        way: Way::Rest,
        name: path.map(String::from),
    };
    let asked = Asked {
        edition: Edition::First(&parts.method, &parts.uri),
        headers: &parts.headers,
        extensions: &parts.extensions,
    };
    let answering = respond(&door, asked, body);
    door.watch().over(&parts.headers, &called, answering).await
}

/// A request, but for its body.
struct Asked<'r> {
    edition: Edition<'r>,
    headers: &'r HeaderMap,
    extensions: &'r Extensions,
}

/// Of which edition a request is, and what it asks for there.
#[derive(Clone, Copy)]
enum Edition<'r> {
    First(&'r Method, &'r Uri),
    Second(&'r str),
}

impl Edition<'_> {
    /// What is told where all went well.
    fn code(self) -> i32 {
        match self {
            Edition::First(..) => 200,
            Edition::Second(_) => 0,
        }
    }
}

async fn respond(door: &Door, asked: Asked<'_>, body: RawBody) -> Response {
    let (edition, headers) = (asked.edition, asked.headers);
    let done = match read(door, &asked, body).await {
        Ok((mut body, _room)) => {
            wide::note(headers, &mut body);
            match body.text_or("dbName", "") {
                Ok(named) => {
                    let database = match named.as_str() {
                        "" => database_of(headers),
                        named => named,
                    };
                    let caller = Caller::new(database, asked.extensions.get().cloned());
                    match edition {
                        Edition::First(method, uri) => {
                            Box::pin(first::run(door, (method, uri), caller, body)).await
                        }
                        Edition::Second(path) => run(door, (path, caller), body).await,
                    }
                }
                Err(refusal) => Err(refusal),
            }
        }
        Err(refusal) => Err(refusal),
    };
    let told = match done {
        Ok(answer) => told(door, answer, edition.code()).await,
        Err(refusal) => Err(refusal),
    };
    let code = told.as_ref().err().map_or(0, Refusal::code);
    let mut response = told.unwrap_or_else(|refusal| refused(&refusal));
    response.extensions_mut().insert(Outcome { code });
    response
}

/// What a request says, and the room that it has until it is answered. Of the first edition some say it all in the path.
async fn read(
    door: &Door,
    asked: &Asked<'_>,
    body: RawBody,
) -> Result<(Body, Option<Reservation>), Refusal> {
    if asked.headers.contains_key(ORIGIN) {
        return Err(Refusal::WebPage);
    }
    if let Edition::First(method, uri) = asked.edition
        && method == Method::GET
    {
        return Ok((first::of_query(uri), None));
    }
    let service = door.service();
    let Incoming { bytes, room } = incoming::json(body, service.limits())
        .await
        .map_err(MilvusError::from)?;
    if bytes.is_empty() && matches!(asked.edition, Edition::First(..)) {
        return Err(Refusal::NoJson("the request has no body".to_string()));
    }
    let parsed = service.beside(move |_| Ok(Body::read(&bytes))).await??;
    Ok((parsed, Some(room)))
}

/// The database that headers name: as Milvus' RESTful API has it, or as its calls over gRPC do.
fn database_of(headers: &HeaderMap) -> &str {
    let mut named = ["db-name", "dbname"].into_iter().filter_map(|name| {
        let value = headers.get(name)?;
        value.to_str().ok().filter(|database| !database.is_empty())
    });
    named.next().unwrap_or_default()
}

/// What a call comes to, as it goes; many rows are written where that may take its time.
async fn told(door: &Door, answer: Answer, code: i32) -> Result<Response, Refusal> {
    let whole = match answer {
        // Moved, not copied as `json!` does it.
        Answer::Data(data) => {
            let mut whole = serde_json::Map::new();
            whole.insert("code".to_string(), code.into());
            whole.insert("data".to_string(), data);
            whole
        }
        Answer::Whole(mut whole) => {
            whole.insert("code".to_string(), code.into());
            whole
        }
    };
    let rows = whole
        .get("data")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    let write = move || Json(Value::Object(whole)).into_response();
    match rows > WRITTEN_HERE_MAX {
        true => Ok(door.service().beside(move |_| Ok(write())).await?),
        false => Ok(write()),
    }
}

/// Whether a path may be one of the API's: of its groups, and short enough to be told. What it is not is told with its answer.
fn is_known(path: &str) -> bool {
    let (group, action) = path.split_once('/').unwrap_or((path, ""));
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'/');
    GROUPS.contains(&group) && action.len() <= ACTION_BYTES_MAX && action.bytes().all(is_plain)
}

fn refused(refusal: &Refusal) -> Response {
    let status = match refusal {
        Refusal::Call(MilvusError::Denied(_)) => StatusCode::FORBIDDEN,
        Refusal::Call(MilvusError::NotLetIn(_)) => StatusCode::UNAUTHORIZED,
        _ => StatusCode::OK,
    };
    let told = json!({"code": refusal.code(), "message": refusal.to_string()});
    (status, Json(told)).into_response()
}

/// The answer to who is not let in.
pub(crate) fn not_let_in(refused: &Refused) -> Response {
    match refused {
        Refused::Missing | Refused::Malformed | Refused::Wrong => {
            let told = json!({"code": 1800, "message": "user hasn't authenticated"});
            (StatusCode::UNAUTHORIZED, Json(told)).into_response()
        }
        Refused::TooManyAttempts { .. } | Refused::Busy => {
            let told = json!({"code": 8, "message": refused.to_string()});
            (StatusCode::TOO_MANY_REQUESTS, Json(told)).into_response()
        }
    }
}

/// What a call comes to.
enum Answer {
    /// The member `data`.
    Data(Value),
    /// Members beside it, too.
    Whole(serde_json::Map<String, Value>),
}

/// Nothing is told but that it was done.
fn done() -> Answer {
    Answer::Data(json!({}))
}

fn run<'a>(
    door: &'a Door,
    (path, caller): (&'a str, Caller),
    body: Body,
) -> Coming<'a, Result<Answer, Refusal>> {
    let (group, action) = path.split_once('/').unwrap_or((path, ""));
    let call = (action, caller);
    match group {
        "collections" => Box::pin(collections::run(door, call, body)),
        "entities" => Box::pin(entities::run(door, call, body)),
        "partitions" => Box::pin(partitions::run(door, call, body)),
        "indexes" => Box::pin(indexes::run(door, call, body)),
        "aliases" => Box::pin(aliases::run(door, call, body)),
        "users" => Box::pin(access::users(door, call, body)),
        "roles" => Box::pin(access::roles(door, call, body)),
        "privilege_groups" => Box::pin(access::privilege_groups(door, call, body)),
        "databases" => Box::pin(databases::run(door, call, body)),
        "resource_groups" => Box::pin(resource_groups::run(door, call, body)),
        "segments" => Box::pin(segments::run(door, call, body)),
        "common" => Box::pin(analyzer::run(door, call, body)),
        "jobs" => Box::pin(jobs::run(door, call, body)),
        _ => Box::pin(std::future::ready(Err(unknown(path)))),
    }
}

fn unknown(path: &str) -> Refusal {
    MilvusError::Unsupported(format!("/v2/vectordb/{path}")).into()
}
