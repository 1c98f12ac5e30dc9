//! The calls by their paths: which of them is asked for, and what is answered where there is no such call.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Extensions, HeaderMap};
use axum::response::Response;
use axum::routing::post;
use tonic::Status;

use crate::proto;
use crate::refused::{Refusal, RefusedAs, refusal_of, refused_as};
use crate::service::{Caller, Door, Reply, Service, answer, is_call, reply};
use crate::watch::{Called, Way};

/// The paths of the calls.
pub(crate) fn router(door: Door) -> axum::Router {
    axum::Router::new()
        .route("/milvus.proto.milvus.MilvusService/{call}", post(run))
        .with_state(door)
}

async fn run(
    State(door): State<Door>,
    Path(name): Path<String>,
    extensions: Extensions,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let call = (Caller::of(&headers, &extensions), body);
    let function = function_name(&name);
    let called = Called {
        way: Way::Grpc,
        name: is_call(&function).then(|| name.clone()),
    };
    let answering = async {
        let reply = match answer(&door, &function, call) {
            Some(reply) => reply.await,
            None => not_served(door.service(), &name),
        };
        reply.unwrap_or_else(Status::into_http)
    };
    door.watch().over(&headers, &called, answering).await
}

/// The answer to a call that nobody serves: of those that Milvus has, one that its clients understand.
fn not_served(service: &Service, name: &str) -> Reply {
    let refused = || refusal_of(name);
    match refused_as(name) {
        Some(RefusedAs::Status) => reply::<proto::Status>(service, Err(refused())),
        Some(RefusedAs::WithStatus) => reply::<Refusal>(service, Err(refused())),
        None => Err(Status::unimplemented(format!("there is no call {name}"))),
    }
}

/// A call's name as functions have it: `GetFlushState` is `get_flush_state`.
pub(crate) fn function_name(call: &str) -> String {
    let mut name = String::with_capacity(call.len() + 4);
    for letter in call.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}
