//! The RESTful API v2: JSON becomes the message of a call, and the call's answer becomes JSON. Nothing is done here that
//! the calls do not do.

mod answers;
mod body;
mod collections;
mod entities;
mod others;
mod rows;

use axum::body::Body as RawBody;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::HeaderMap;
use axum::http::header::ORIGIN;
use axum::response::Json;
use axum::routing::post;
use serde_json::{Value, json};

use crate::error::MilvusError;
use crate::incoming::{self, Incoming};
use crate::service::{Call, Service};
use body::{Body, Refusal};

/// The paths of the API.
pub(crate) fn router(service: Service) -> axum::Router {
    axum::Router::new()
        .route("/v2/vectordb/{*path}", post(answer))
        // Their length is checked, and told, as they are read.
        .layer(DefaultBodyLimit::disable())
        .with_state(service)
}

/// Every answer has status 200, and says by its code how it went.
async fn answer(
    State(service): State<Service>,
    Path(path): Path<String>,
    headers: HeaderMap,
    body: RawBody,
) -> Json<Value> {
    let read = async {
        if headers.contains_key(ORIGIN) {
            return Err(Refusal::WebPage);
        }
        let Incoming { bytes, room } = incoming::json(body, service.limits())
            .await
            .map_err(MilvusError::from)?;
        let parsed = service.beside(move |_| Ok(Body::read(&bytes))).await??;
        Ok((parsed, room))
    };
    let done = match read.await {
        Ok((body, _room)) => {
            let database = headers.get("dbname").and_then(|name| name.to_str().ok());
            let named = body.text_or("dbName", database.unwrap_or_default());
            match named {
                Ok(named) => {
                    let call = Call::in_database(&named);
                    run(&service, (path.trim_end_matches('/'), call), body).await
                }
                Err(refusal) => Err(refusal),
            }
        }
        Err(refusal) => Err(refusal),
    };
    Json(match done {
        Ok(Answer::Data(data)) => json!({"code": 0, "data": data}),
        Ok(Answer::Whole(mut answer)) => {
            answer.insert("code".to_string(), 0.into());
            Value::Object(answer)
        }
        Err(refusal) => json!({"code": refusal.code(), "message": refusal.to_string()}),
    })
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

async fn run(service: &Service, (path, call): (&str, Call), body: Body) -> Result<Answer, Refusal> {
    let (group, action) = path.split_once('/').unwrap_or((path, ""));
    match group {
        "collections" => collections::run(service, (action, call), body).await,
        "entities" => entities::run(service, (action, call), body).await,
        "partitions" => others::partitions(service, (action, call), body).await,
        "indexes" => others::indexes(service, (action, call), body).await,
        "aliases" => others::aliases(service, (action, call), body).await,
        "databases" => others::databases(service, (action, call), body).await,
        _ => Err(unknown(path)),
    }
}

fn unknown(path: &str) -> Refusal {
    MilvusError::Unsupported(format!("/v2/vectordb/{path}")).into()
}
