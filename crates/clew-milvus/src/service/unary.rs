//! One call over HTTP/2: a message comes, one goes, each behind a head of its length, and the status of the call behind that.

use std::any::Any;
use std::convert::Infallible;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use bytes::{BufMut, Bytes};
use clew_platform::{MemoryPurpose, Reservation};
use http_body_util::BodyExt;
use prost::{DecodeError, EncodeError, Message};
use tonic::Status;
use tonic::codegen::tokio_stream;

use super::Service;
use super::calls::{Answer, Coming, answered};
use crate::error::MilvusError;
use crate::error::Result;
use crate::held;
use crate::incoming::{self, Incoming, Refused};
use crate::watch::Outcome;

/// Messages above this are read, and written, where work may take long.
const INLINE_BYTES_MAX: usize = 64 << 10;

/// Answers up to this are not booked.
const FREE_BYTES: usize = 16 << 10;
/// An answer is there as it was made and once more as it is sent.
const COPIES: usize = 2;
const HEAD_BYTES: usize = 5;
/// The longest frame that the transport writes together with those behind it.
const FRAME_BYTES: usize = 255;
/// The longest answer that is cut into such frames.
const CUT_BYTES_MAX: usize = 8 * FRAME_BYTES;

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

/// What answers a call, from the message that came.
type Running<'a> =
    dyn FnOnce(Box<dyn Any + Send>) -> Coming<'a, Result<Box<dyn Encoded>>> + Send + 'a;

/// What a call takes and gives, with its kinds of messages known no more: what serves the calls is compiled once, not for
/// each of a hundred.
struct Erased<'a> {
    /// The name of the message that comes.
    name: &'static str,
    decode: fn(Bytes) -> std::result::Result<Box<dyn Any + Send>, DecodeError>,
    /// Takes what was decoded.
    run: Box<Running<'a>>,
    refuse: fn(MilvusError) -> Box<dyn Encoded>,
}

/// Reads the message of a call, of this name, runs the call, and says how it went.
///
/// # Errors
/// When what came is not one message, or is too long. What finds no room is an answer, too: clients try it again later.
pub(crate) fn unary<'a, Q, A>(
    service: &'a Service,
    (name, body): (&'static str, Body),
    run: impl FnOnce(Q) -> Coming<'a, Result<A>> + Send + 'a,
) -> Coming<'a, Reply>
where
    Q: Message + Default + 'static,
    A: Answer + Message + 'static,
{
    let run = move |message: Box<dyn Any + Send>| {
        let request = message.downcast::<Q>();
        let coming = run(*request.expect("what was decoded is what the call takes"));
        let encoded = async { Ok(Box::new(answered(Ok(coming.await?))) as Box<dyn Encoded>) };
        Box::pin(encoded) as Coming<'a, Result<Box<dyn Encoded>>>
    };
    let call = Erased {
        name,
        decode: |bytes| Ok(Box::new(Q::decode(bytes)?)),
        run: Box::new(run),
        refuse: |error| Box::new(answered::<A>(Err(error))),
    };
    Box::pin(serve(service, body, call))
}

async fn serve(service: &Service, body: Body, call: Erased<'_>) -> Reply {
    let refuse = |error: MilvusError| {
        let code = error.code();
        told(service, code, (call.refuse)(error), call.refuse)
    };
    let Incoming { bytes, room } = match incoming::message(body, service.limits(), call.name).await
    {
        Ok(incoming) => incoming,
        Err(refused @ Refused::NoRoom(_)) => return refuse(refused.into()),
        Err(refused) => return Err(status_of(&refused)),
    };
    let decode = call.decode;
    let read = match bytes.len() > INLINE_BYTES_MAX {
        false => Ok(decode(bytes)),
        true => service.beside(move |_| Ok(decode(bytes))).await,
    };
    let outcome = match read {
        Ok(Ok(request)) => (call.run)(request).await,
        Ok(Err(error)) => {
            let name = call.name;
            let told = format!("failed to decode {name}: {error}");
            return Err(Status::internal(told));
        }
        Err(error) => Err(error),
    };
    drop(room);
    match outcome {
        // As Milvus does it: an error of the transport, of those that clients do not try again.
        Err(MilvusError::Denied(told)) => Err(Status::permission_denied(told)),
        Err(MilvusError::NotLetIn(refused)) => Err(not_let_in(&refused)),
        Err(error) => refuse(error),
        Ok(answer) if answer.length() <= INLINE_BYTES_MAX => told(service, 0, answer, call.refuse),
        Ok(answer) => {
            // What the answer was made of is in it, and booked with it; on another thread nobody knows of the call.
            held::give_back();
            let refuse_on = call.refuse;
            let telling = move |service: &Service| Ok(told(service, 0, answer, refuse_on));
            match service.beside(telling).await {
                Ok(reply) => reply,
                Err(error) => refuse(error),
            }
        }
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

/// The body of an answer, and behind it that the call has ended well.
///
/// The transport puts short frames behind each other and writes them at once. A longer one it writes together with what is
/// before it, so that what comes behind, as the status does, is another write, and wakes the client once more. So what is
/// somewhat longer is cut; with every piece that costs a fraction of a microsecond, which must not be more than a write.
fn with_status(bytes: Bytes) -> Body {
    let body = match bytes.len() {
        length if length > FRAME_BYTES && length <= CUT_BYTES_MAX => {
            let pieces = (0..length).step_by(FRAME_BYTES).map(move |from| {
                let to = length.min(from + FRAME_BYTES);
                Ok::<_, Infallible>(bytes.slice(from..to))
            });
            Body::from_stream(tokio_stream::iter(pieces))
        }
        _ => Body::from(bytes),
    };
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    Body::new(body.with_trailers(std::future::ready(Some(Ok(trailers)))))
}

/// A message that goes out, whatever its kind: what is done with all of them is compiled once.
trait Encoded: Send {
    /// Bytes.
    fn length(&self) -> usize;

    /// Appends them.
    fn append_to(&self, bytes: &mut Vec<u8>) -> std::result::Result<(), EncodeError>;
}

impl<M: Message> Encoded for M {
    fn length(&self) -> usize {
        self.encoded_len()
    }

    fn append_to(&self, bytes: &mut Vec<u8>) -> std::result::Result<(), EncodeError> {
        self.encode(bytes)
    }
}

/// The answer to a call that went well, or what a client gets of its error.
pub(crate) fn reply<A: Answer + Message + 'static>(service: &Service, outcome: Result<A>) -> Reply {
    let code = outcome.as_ref().err().map_or(0, MilvusError::code);
    let refuse = |error| Box::new(answered::<A>(Err(error))) as Box<dyn Encoded>;
    told(service, code, Box::new(answered(outcome)), refuse)
}

/// An answer, with this code in its status; one that finds no room is `refuse`d. Its memory is booked until the client has
/// taken it.
fn told(
    service: &Service,
    code: i32,
    answer: Box<dyn Encoded>,
    refuse: fn(MilvusError) -> Box<dyn Encoded>,
) -> Reply {
    let length = answer.length();
    let length_told = u32::try_from(length)
        .map_err(|_| Status::resource_exhausted(format!("the answer is {length} bytes long")))?;
    // What the answer was made of is in it, and booked with it.
    held::give_back();
    let mut memory = service.limits().memory.open(MemoryPurpose::Searches);
    if length > FREE_BYTES
        && let Err(exceeded) = memory.grow(length * COPIES)
    {
        let error = MilvusError::from(Refused::NoRoom(exceeded));
        return told(service, error.code(), refuse(error), refuse);
    }
    let mut bytes = Vec::with_capacity(length + HEAD_BYTES);
    bytes.put_u8(0);
    bytes.put_u32(length_told);
    answer
        .append_to(&mut bytes)
        .map_err(|error| Status::internal(error.to_string()))?;
    drop(answer);
    memory.shrink_to(length);
    let bytes = Bytes::from_owner(Held {
        bytes,
        _memory: memory,
    });
    let mut response = Response::new(with_status(bytes));
    let kind = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response.extensions_mut().insert(Outcome { code });
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn answers_that_are_not_long_come_in_short_frames_and_the_status_behind_them() {
        for length in [
            0,
            5,
            255,
            256,
            1_000,
            CUT_BYTES_MAX,
            CUT_BYTES_MAX + 1,
            100_000,
        ] {
            let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(length).collect();
            let mut body = with_status(bytes.clone().into());
            let (mut read, mut longest, mut status) = (Vec::new(), 0, None);
            while let Some(frame) = body.frame().await {
                match frame.unwrap().into_data() {
                    Ok(data) => {
                        longest = longest.max(data.len());
                        read.extend_from_slice(&data);
                    }
                    Err(other) => status = other.into_trailers().ok(),
                }
            }
            assert_eq!(read, bytes);
            assert_eq!(longest <= FRAME_BYTES, length <= CUT_BYTES_MAX, "{length}");
            assert_eq!(status.unwrap().get("grpc-status").unwrap(), "0");
        }
    }
}
