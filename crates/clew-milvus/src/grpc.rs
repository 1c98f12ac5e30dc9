//! Calls over HTTP/2: one message comes, one goes, each behind a head of its length, and the status of the call behind
//! that.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Extensions, HeaderMap, HeaderValue};
use axum::response::Response;
use axum::routing::post;
use bytes::{BufMut, Bytes};
use clew_platform::{MemoryPurpose, Reservation};
use http_body_util::{BodyExt, Full};
use prost::Message;
use tonic::Status;

use crate::error::MilvusError;
use crate::error::Result;
use crate::held;
use crate::incoming::{self, Incoming, Refused};
use crate::proto;
use crate::refused::{Refusal, RefusedAs, refused_as};
use crate::service::{Answer, Caller, Door, Service, answer, answered, is_call};
use crate::watch::{Called, Outcome, Way};

/// Messages above this are read where work may take long.
const INLINE_BYTES_MAX: usize = 64 << 10;

/// Answers up to this are not booked.
const FREE_BYTES: usize = 16 << 10;
/// An answer is there as it was made and once more as it is sent.
const COPIES: usize = 2;
const HEAD_BYTES: usize = 5;

/// Bytes, and their memory for as long as a part of them is there.
struct Held {
    bytes: Vec<u8>,
    _memory: Reservation,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The answer to a call; an error of the transport where the call itself is none.
pub(crate) type Reply = std::result::Result<Response, Status>;

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
        let reply = answer(&door, &function, call).await;
        reply
            .unwrap_or_else(|| not_served(door.service(), &name))
            .unwrap_or_else(Status::into_http)
    };
    door.watch().over(&headers, &called, answering).await
}

/// The answer to a call that nobody serves: of those that Milvus has, one that its clients understand.
fn not_served(service: &Service, name: &str) -> Reply {
    let refused = || MilvusError::Unsupported(format!("the call {name}"));
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

/// Reads the message of a call, of this name, runs the call, and says how it went.
///
/// # Errors
/// When what came is not one message, or is too long. What finds no room is an answer, too: clients try it again later.
pub(crate) async fn unary<Q, A, F>(
    service: &Service,
    (name, body): (&str, Body),
    run: impl FnOnce(Q) -> F,
) -> Reply
where
    Q: Message + Default + 'static,
    A: Answer + Message,
    F: Future<Output = Result<A>>,
{
    let Incoming { bytes, room } = match incoming::message(body, service.limits(), name).await {
        Ok(incoming) => incoming,
        Err(refused @ Refused::NoRoom(_)) => {
            return reply::<A>(service, Err(refused.into()));
        }
        Err(refused) => return Err(status_of(&refused)),
    };
    let read = match bytes.len() > INLINE_BYTES_MAX {
        false => Ok(Q::decode(bytes)),
        true => service.beside(move |_| Ok(Q::decode(bytes))).await,
    };
    let outcome = match read {
        Ok(Ok(request)) => run(request).await,
        Ok(Err(error)) => {
            return Err(Status::internal(format!(
                "failed to decode {name}: {error}"
            )));
        }
        Err(error) => Err(error),
    };
    drop(room);
    match outcome {
        // As Milvus does it: an error of the transport, of those that clients do not try again.
        Err(MilvusError::Denied(told)) => Err(Status::permission_denied(told)),
        Err(MilvusError::NotLetIn(refused)) => Err(not_let_in(&refused)),
        told => reply(service, told),
    }
}

/// Who is not let in, in Milvus' words where it has some.
pub(crate) fn not_let_in(refused: &clew_access::Refused) -> Status {
    use clew_access::Refused;
    match refused {
        Refused::Missing => Status::unauthenticated("missing authorization in header"),
        Refused::Malformed => Status::unauthenticated("invalid token format"),
        Refused::Wrong => Status::unauthenticated(
            "auth check failure, please check username and password are correct",
        ),
        Refused::TooManyAttempts { .. } | Refused::Busy => {
            Status::resource_exhausted(refused.to_string())
        }
    }
}

fn status_of(refused: &Refused) -> Status {
    let told = refused.to_string();
    match refused {
        Refused::TooLong { .. } | Refused::NoRoom(_) => Status::resource_exhausted(told),
        Refused::Stalled => Status::deadline_exceeded(told),
        Refused::Compressed => Status::unimplemented(told),
        Refused::Broken(_) => Status::internal(told),
    }
}

/// An answer; its memory is booked until the client has taken it.
fn reply<A: Answer + Message>(service: &Service, outcome: Result<A>) -> Reply {
    let code = outcome.as_ref().err().map_or(0, MilvusError::code);
    let answer = answered(outcome);
    let length = answer.encoded_len();
    let told = u32::try_from(length)
        .map_err(|_| Status::resource_exhausted(format!("the answer is {length} bytes long")))?;
    // What the answer was made of is in it, and booked with it.
    held::give_back();
    let mut memory = service.limits().memory.open(MemoryPurpose::Searches);
    if length > FREE_BYTES
        && let Err(exceeded) = memory.grow(length * COPIES)
    {
        let refused = Refused::NoRoom(exceeded);
        return reply::<A>(service, Err(refused.into()));
    }
    let mut bytes = Vec::with_capacity(length + HEAD_BYTES);
    bytes.put_u8(0);
    bytes.put_u32(told);
    answer
        .encode(&mut bytes)
        .map_err(|error| Status::internal(error.to_string()))?;
    drop(answer);
    memory.shrink_to(length);
    let bytes = Bytes::from_owner(Held {
        bytes,
        _memory: memory,
    });
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let body = Full::new(bytes).with_trailers(std::future::ready(Some(Ok(trailers))));
    let mut response = Response::new(Body::new(body));
    let kind = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response.extensions_mut().insert(Outcome { code });
    Ok(response)
}
