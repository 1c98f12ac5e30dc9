//! What clients send is booked on the node's account of memory as it comes, before a message is put together of it,
//! and what they are sent, until they take it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use clew_platform::{MemoryAccount, MemoryExceeded, MemoryPurpose, Reservation};
use futures_util::{Stream, StreamExt, stream};
use http_body::{Body as _, Frame};
use http_body_util::{BodyExt, StreamBody};
use parking_lot::Mutex;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Bytes, Service, http};
use tonic::server::NamedService;
use tonic::{Code, Status};

use crate::status::worded;

/// The call whose requests have no end: what it has sent is given back message by message.
const STREAM_OF_REQUESTS: &str = "/clew.log.v1.Log/AppendStream";
/// What a client may send into one call ahead of the server's reading.
pub(crate) const CALL_WINDOW_BYTES: u32 = 1 << 20;
/// A message is there as it came and once more as the log takes it.
const COPIES: usize = 2;
/// What a record or a header takes when it is read, however short it is.
const PART_BYTES: usize = 128;
/// The byte that each of them begins with, in its two spellings.
const PART_TAGS: (u8, u8) = (0x12, 0x92);
/// A client that has begun a message must go on with it in this time: what it has sent is memory that others want.
const STALLED_AFTER: Duration = Duration::from_secs(30);
/// Answers up to this are not booked.
const SHORT_REPLY_BYTES: usize = 4 << 10;

/// A service whose messages are booked.
#[derive(Clone, Debug)]
pub(crate) struct Booked<S> {
    pub(crate) service: S,
    pub(crate) memory: Arc<MemoryAccount>,
}

impl<S: NamedService> NamedService for Booked<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<Body>> for Booked<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let replies = self.memory.open(MemoryPurpose::Searches);
        let incoming = match Incoming::of(&self.memory, request.uri().path()) {
            Ok(incoming) => incoming,
            Err(exceeded) => {
                let refused = refusal(&exceeded).into_http();
                return Box::pin(async { Ok(refused) });
            }
        };
        // What a single request has sent is there until it is answered, though its body has gone.
        let held = (incoming.window_bytes == 0).then(|| incoming.memory.clone());
        let request = request.map(|body| Body::new(StreamBody::new(received(body, incoming))));
        let reply = self.service.call(request);
        Box::pin(async move {
            let reply = reply.await?;
            drop(held);
            // An error alone has no body, and must stay without one.
            Ok(reply.map(|body| match body.is_end_stream() {
                true => body,
                false => Body::new(StreamBody::new(sent(body, replies))),
            }))
        })
    }
}

/// What a call's client has sent.
struct Incoming {
    memory: Arc<Mutex<Reservation>>,
    /// What the client of an endless call may send before it is read; 0 for other calls.
    window_bytes: usize,
    messages: Messages,
    stalled_after: Duration,
}

impl Incoming {
    fn of(account: &Arc<MemoryAccount>, path: &str) -> Result<Self, MemoryExceeded> {
        let window_bytes = match path {
            STREAM_OF_REQUESTS => CALL_WINDOW_BYTES as usize,
            _ => 0,
        };
        let memory = account.reserve(MemoryPurpose::Bodies, window_bytes)?;
        Ok(Incoming {
            memory: Arc::new(Mutex::new(memory)),
            window_bytes,
            messages: Messages::default(),
            stalled_after: STALLED_AFTER,
        })
    }

    /// More is asked for: of an endless call, whole messages have been taken to the log by now, but for less than its
    /// window.
    fn wanted(&self) {
        if self.window_bytes > 0 {
            let bytes = self.window_bytes + self.messages.unfinished_bytes;
            self.memory.lock().shrink_to(bytes);
        }
    }

    fn came(&mut self, data: &[u8]) -> Result<(), Status> {
        let booked = self.memory.lock().grow(message_bytes(data));
        self.messages.cut(data);
        booked.map_err(|exceeded| refusal(&exceeded))
    }
}

/// Memory of a part of a message, as it came and as it is read.
fn message_bytes(data: &[u8]) -> usize {
    let parts = memchr::memchr2_iter(PART_TAGS.0, PART_TAGS.1, data).count();
    data.len() * COPIES + parts * PART_BYTES
}

/// Where the messages of a call begin and end: each has a head of a mark and its length.
#[derive(Debug, Default)]
struct Messages {
    head: [u8; 5],
    head_bytes: usize,
    left: usize,
    /// Memory of the message that is not whole yet.
    unfinished_bytes: usize,
}

impl Messages {
    /// Whether a message has begun and is not whole.
    fn is_begun(&self) -> bool {
        self.left > 0 || self.head_bytes > 0
    }

    fn cut(&mut self, mut data: &[u8]) {
        while !data.is_empty() {
            if self.left > 0 {
                let (part, rest) = data.split_at(self.left.min(data.len()));
                self.left -= part.len();
                self.unfinished_bytes += message_bytes(part);
                data = rest;
            } else {
                let missing = self.head.len() - self.head_bytes;
                let (part, rest) = data.split_at(missing.min(data.len()));
                self.head[self.head_bytes..][..part.len()].copy_from_slice(part);
                self.head_bytes += part.len();
                data = rest;
                if self.head_bytes < self.head.len() {
                    return;
                }
                let [_, length @ ..] = self.head;
                self.left = u32::from_be_bytes(length) as usize;
                self.head_bytes = 0;
            }
            if self.left == 0 {
                self.unfinished_bytes = 0;
            }
        }
    }
}

type Frames = Result<Frame<Bytes>, Status>;

/// Whoever reads it may ask again behind its end, as a body of the transport allows, and as who looks for what has arrived does.
fn received(body: Body, incoming: Incoming) -> impl Stream<Item = Frames> + Send {
    let frames = stream::unfold((body, incoming), |(mut body, mut incoming)| async move {
        incoming.wanted();
        let next = body.frame();
        let frame = match incoming.messages.is_begun() {
            true => tokio::time::timeout(incoming.stalled_after, next)
                .await
                .unwrap_or_else(|_| Some(Err(stalled())))?,
            false => next.await?,
        };
        let frame = frame.and_then(|frame| {
            frame
                .data_ref()
                .map_or(Ok(()), |data| incoming.came(data))?;
            Ok(frame)
        });
        Some((frame, (body, incoming)))
    });
    frames.fuse()
}

/// What is sent is booked until the transport asks for more, which it does once the client has taken it. What does not fit
/// ends the call.
fn sent(body: Body, memory: Reservation) -> impl Stream<Item = Frames> + Send {
    let begun = Some((Pin::new(Box::new(body)), memory));
    let frames = stream::unfold(begun, |state| async move {
        let (mut body, mut memory) = state?;
        memory.shrink_to(0);
        let frame = body.frame().await?;
        let bytes = frame.as_ref().ok().and_then(|frame| frame.data_ref());
        let bytes = bytes.map_or(0, Bytes::len);
        if bytes <= SHORT_REPLY_BYTES {
            return Some((frame, Some((body, memory))));
        }
        match memory.grow(bytes) {
            Ok(()) => Some((frame, Some((body, memory)))),
            Err(exceeded) => {
                let mut trailers = http::HeaderMap::new();
                let told = refusal(&exceeded).add_header(&mut trailers);
                Some((told.map(|()| Frame::trailers(trailers)), None))
            }
        }
    });
    frames.fuse()
}

fn stalled() -> Status {
    let said = format!("no byte of the message came for {STALLED_AFTER:?}");
    worded(Code::DeadlineExceeded, "message-stalled", said)
}

/// A refusal for want of memory. What can never fit is not worth repeating.
fn refusal(exceeded: &MemoryExceeded) -> Status {
    let word = match exceeded.can_never_fit() {
        true => "message-too-large",
        false => "memory",
    };
    let MemoryExceeded { wanted, used, .. } = exceeded;
    let said = format!("{exceeded}: {wanted} bytes are wanted and {used} are taken");
    worded(Code::ResourceExhausted, word, said)
}

#[cfg(test)]
mod tests;
