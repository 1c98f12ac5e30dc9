//! One connection, from its acceptance to its end.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, header};
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{HttpService, Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::body::{AnswerBody, RequestBody};
use super::guard::Verdict;
use super::limits::HEAD_BYTES_MAX;
use super::metrics::HttpMetrics;
use super::phase::{Closed, ConnectionState, Expected, Order};
use super::refusal::{self, Refusal};
use super::socket::Socket;
use super::{HttpRules, framing};

/// What all connections of a server share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) app: TowerToHyperService<Router>,
    pub(super) rules: HttpRules,
    pub(super) metrics: HttpMetrics,
}

/// Serves a connection until it is closed, and tells why it was.
pub(super) async fn run(
    shared: Arc<Shared>,
    mut stream: TcpStream,
    state: Arc<ConnectionState>,
) -> Closed {
    // Answers go out at once: small ones must not wait for the client's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let mut unread = Bytes::new();
    loop {
        // Buffers come with the first byte: a connection that says nothing costs little more than its
        // file descriptor.
        if let Err(closed) = until_heard(&stream, &state).await {
            return closed;
        }
        let socket = Socket::new(stream, unread, state.clone());
        let service = service_fn(|request: Request<Incoming>| {
            // Not in the future: hyper reads on before it polls that.
            state.request_began(Expected::of(&request));
            answer(shared.clone(), request, state.clone())
        });
        let mut http = http1::Builder::new();
        // The sweep sees to that without a timer for each request.
        http.header_read_timeout(None);
        http.max_header_size(HEAD_BYTES_MAX);
        let mut connection = Box::new(http.serve_connection(TokioIo::new(socket), service));
        let left = drive(&mut connection, &state).await;
        let parts = connection.into_parts();
        stream = parts.io.into_inner().into_stream();
        match left {
            Left::Parked => {
                // A copy, because what was read is a piece of a buffer that is to go.
                unread = Bytes::copy_from_slice(&parts.read_buf);
                state.parked();
            }
            Left::Closed(closed) => {
                if closed == Closed::HeaderTimeout {
                    // As much as fits; a client that took so long may not be there.
                    let _ = stream.try_write(&refusal::header_timeout());
                }
                return closed;
            }
            Left::Unread(closed) => {
                linger(&mut stream, &state, shared.rules.limits.linger_bytes_max).await;
                return closed;
            }
        }
    }
}

/// Waits for the client's next byte and leaves it where it is. A look at it, because new connections
/// count as readable before anything came.
async fn until_heard(stream: &TcpStream, state: &ConnectionState) -> Result<(), Closed> {
    let mut next = [0];
    loop {
        tokio::select! {
            biased;
            heard = stream.peek(&mut next) => return match heard {
                Ok(0) => Err(Closed::Ended),
                Ok(_) => {
                    state.woke();
                    Ok(())
                }
                Err(_) => Err(Closed::Broken),
            },
            order = state.order() => match order {
                Order::Close(closed) => return Err(closed),
                Order::Stop => return Err(Closed::Stopped),
                Order::Park | Order::GiveUpBody => {}
            },
        }
    }
}

/// How hyper's part in a connection ended.
enum Left {
    /// Between two requests.
    Parked,
    Closed(Closed),
    /// The client may be sending still.
    Unread(Closed),
}

async fn drive<S>(
    connection: &mut http1::Connection<TokioIo<Socket>, S>,
    state: &ConnectionState,
) -> Left
where
    S: HttpService<Incoming, ResBody = AnswerBody, Error = Infallible> + Unpin,
{
    let mut stopping = false;
    loop {
        tokio::select! {
            biased;
            ended = &mut *connection => return ended_by(&ended, state, stopping),
            order = state.order() => match order {
                Order::Park => return Left::Parked,
                Order::Close(closed) => return Left::Closed(closed),
                Order::GiveUpBody => state.give_up_body(),
                Order::Stop if state.stand().phase().is_idle() => {
                    return Left::Closed(Closed::Stopped);
                }
                Order::Stop => {
                    stopping = true;
                    std::pin::Pin::new(&mut *connection).graceful_shutdown();
                }
            },
        }
    }
}

fn ended_by(ended: &hyper::Result<()>, state: &ConnectionState, stopping: bool) -> Left {
    let closed = match ended {
        _ if state.gave_up_body() => Closed::BodyTimeout,
        Ok(()) if stopping => Closed::Stopped,
        Ok(()) => Closed::Ended,
        Err(error) => {
            tracing::debug!(%error, "connection broke");
            Closed::Broken
        }
    };
    // To close on a client that is sending takes the answer away from it.
    let unread = match ended {
        Ok(()) => state.left_body(),
        Err(error) => error.is_parse(),
    };
    match unread {
        true => Left::Unread(closed),
        false => Left::Closed(closed),
    }
}

/// Answers one request.
async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
    state: Arc<ConnectionState>,
) -> Result<Response<AnswerBody>, Infallible> {
    let (head, body) = request.into_parts();
    let verdict = match framing::check(&head) {
        Ok(()) => shared.rules.guard.judge(&head),
        Err(refusal) => Verdict::Refused(refusal),
    };
    let mut response = match verdict {
        Verdict::Refused(refusal) => refused(&shared, &refusal),
        Verdict::Preflight(response) => response,
        Verdict::Pass(page) => {
            let body = RequestBody::new(body, state.clone());
            let handled = shared.app.call(Request::from_parts(head, body));
            let mut response = match unless_given_up(handled, &state).await {
                Some(Ok(response)) => response,
                None => refused(
                    &shared,
                    &Refusal::body_timeout(shared.rules.body_timeout_ms),
                ),
            };
            shared.rules.guard.mark(&page, response.headers_mut());
            response
        }
    };
    if state.left_body() {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    Ok(response.map(|body| AnswerBody::new(body, state)))
}

fn refused(shared: &Shared, refusal: &Refusal) -> Response<Body> {
    shared.metrics.refused(refusal.label);
    refusal.response()
}

/// `None` once the request's body has been given up. The task that looks is the one that is told.
async fn unless_given_up<F: Future>(handled: F, state: &ConnectionState) -> Option<F::Output> {
    let mut handled = pin!(handled);
    poll_fn(|cx| match handled.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if state.gave_up_body() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    })
    .await
}

/// Reads what a client that was answered early still sends, for as long as it gets on: the connection's closing with
/// bytes unread would tell the client's system to forget the answer.
pub(super) async fn linger(stream: &mut TcpStream, state: &ConnectionState, bytes_max: usize) {
    state.lingers();
    // A client that waits for the end of the answer has it, and closes.
    if stream.shutdown().await.is_err() {
        return;
    }
    let mut left = bytes_max;
    loop {
        tokio::select! {
            biased;
            _ = state.order() => return,
            readable = stream.readable() => {
                if readable.is_err() {
                    return;
                }
                match discard(stream) {
                    Ok(0) => return,
                    Ok(count) if count > left => return,
                    Ok(count) => {
                        left -= count;
                        state.sends_on(count);
                        // Who sends what nobody wants has its turn after everybody else.
                        tokio::task::yield_now().await;
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(_) => return,
                }
            }
        }
    }
}

/// Not async, so that the room it reads into is no part of every connection.
fn discard(stream: &TcpStream) -> io::Result<usize> {
    let mut room = [0; 16 << 10];
    stream.try_read(&mut room)
}
