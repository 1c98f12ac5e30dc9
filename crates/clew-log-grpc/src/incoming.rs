//! The connections of the server: as many as may be, taken one by one, and a failed accept is no end. The
//! transport's own loop takes any number and ends the server when file descriptors run out.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::{Stream, stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;
use tonic::transport::server::Connected;

use crate::calls::{CallsAtWork, ConnectionCalls};
use crate::present::{Clients, Presence};
use crate::stop::Stop;

/// After an accept that failed, the next try waits twice as long, within these.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// How long a client may take nothing of what is sent to it, or move next to nothing, once the server stops.
const STALLED_AT_STOP_MAX: Duration = Duration::from_secs(2);

/// What a client has to move in that time if it is to count as one that goes on: pings do not.
const MOVED_BYTES_MIN: usize = 16 << 10;

/// While a connection waits for a place, it is looked for one that has become silent this often.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A client must have said which protocol it speaks in this time: until then the transport waits for it without an end.
const OPENING_MAX: Duration = Duration::from_secs(10);

/// What says so: the beginning of every connection of HTTP/2. No request of HTTP/1.1 is shorter.
const OPENING_BYTES: usize = 24;

/// A connection, and its place among those that may be open.
pub(crate) struct Connection {
    stream: TcpStream,
    stop: Stop,
    at_work: CallsAtWork,
    /// Its own calls.
    calls: ConnectionCalls,
    client: Arc<Presence>,
    /// Until the client has begun.
    opening: Option<Opening>,
    /// While the client takes nothing: ends when the server no longer waits for it.
    stalled: Option<Waited>,
    leaving: Leaving,
    _place: OwnedSemaphorePermit,
}

type Waited = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What becomes of a connection once the server stops.
struct Leaving {
    /// Ends with the stop, then with each span of time in which the client has to move something.
    next_look: Waited,
    is_stopping: bool,
    /// Bytes that were sent and taken since the last look.
    moved_bytes: usize,
}

impl Leaving {
    fn after(stop: &Stop) -> Self {
        let mut stop = stop.clone();
        Leaving {
            next_look: Box::pin(async move { stop.requested().await }),
            is_stopping: false,
            moved_bytes: 0,
        }
    }

    fn moved(&mut self, bytes: usize) {
        self.moved_bytes = self.moved_bytes.saturating_add(bytes);
    }

    /// Ends when nobody but the client holds up the stop, and it does not go on: it has opened no window for its answer,
    /// say, or has begun a call and left it there.
    fn poll(&mut self, at_work: &CallsAtWork, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.next_look.as_mut().poll(cx));
            self.next_look = Box::pin(tokio::time::sleep(STALLED_AT_STOP_MAX));
            let moved_bytes = std::mem::take(&mut self.moved_bytes);
            let was_stopping = std::mem::replace(&mut self.is_stopping, true);
            if was_stopping && moved_bytes < MOVED_BYTES_MIN && !at_work.any() {
                return Poll::Ready(());
            }
        }
    }
}

/// The beginning of what a client sends.
struct Opening {
    bytes_left: usize,
    end: Pin<Box<Sleep>>,
}

impl Opening {
    fn within(time: Duration) -> Self {
        Opening {
            bytes_left: OPENING_BYTES,
            end: Box::pin(tokio::time::sleep(time)),
        }
    }
}

impl Connection {
    /// Counts what was read; fails where the client has not begun in time.
    fn unless_silent(
        &mut self,
        (read, bytes): (Poll<io::Result<()>>, usize),
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let Some(opening) = &mut self.opening else {
            return read;
        };
        if bytes >= opening.bytes_left {
            self.opening = None;
            return read;
        }
        opening.bytes_left -= bytes;
        if read.is_pending() {
            ready!(opening.end.as_mut().poll(cx));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }

    /// What became of a write, which fails once the server stops and the client has taken nothing for a while.
    fn unless_stalled(
        &mut self,
        written: Poll<io::Result<usize>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(written) = written {
            self.stalled = None;
            let bytes = *written.as_ref().unwrap_or(&0);
            self.leaving.moved(bytes);
            self.client.moved(bytes);
            return Poll::Ready(written);
        }
        if self.client.gives_way(cx) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let stop = &self.stop;
        let stalled = self.stalled.get_or_insert_with(|| {
            let mut stop = stop.clone();
            Box::pin(async move {
                stop.requested().await;
                tokio::time::sleep(STALLED_AT_STOP_MAX).await;
            })
        });
        ready!(stalled.as_mut().poll(cx));
        // It is over: who writes once more must not ask it again.
        self.stalled = None;
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

/// Connections as they come, whose clients must take what is sent to them, and go on with what they have begun, once the server
/// stops. Where as many are open as may be, the one gives its place to the next that has been silent longest, if that
/// was so long at least; else the next waits until one is closed.
pub(crate) fn incoming(
    listener: TcpListener,
    connections_max: usize,
    (stop, at_work): (Stop, CallsAtWork),
    silent_min: Duration,
) -> impl Stream<Item = io::Result<Connection>> {
    let accepting = Accepting {
        listener,
        places: Arc::new(Semaphore::new(
            connections_max.clamp(1, Semaphore::MAX_PERMITS),
        )),
        clients: Clients::new(silent_min),
        stop,
        at_work,
    };
    stream::unfold(accepting, |accepting| async move {
        // Calls on connections that are there do not wait for all that connect at once.
        tokio::task::yield_now().await;
        let connection = accepting.next().await?;
        Some((Ok(connection), accepting))
    })
}

/// What connections are made with.
struct Accepting {
    listener: TcpListener,
    places: Arc<Semaphore>,
    clients: Clients,
    stop: Stop,
    at_work: CallsAtWork,
}

impl Accepting {
    async fn next(&self) -> Option<Connection> {
        let stream = accept(&self.listener).await;
        let place = self.place().await?;
        let calls = ConnectionCalls::default();
        Some(Connection {
            stream,
            stop: self.stop.clone(),
            at_work: self.at_work.clone(),
            client: self.clients.enter(calls.0.clone()),
            calls,
            opening: Some(Opening::within(OPENING_MAX)),
            stalled: None,
            leaving: Leaving::after(&self.stop),
            _place: place,
        })
    }

    /// A place for a connection that is there already: nobody gives way for one that never comes.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            if let Ok(free) = self.places.clone().try_acquire_owned() {
                return Some(free);
            }
            self.clients.make_room();
            let freed = self.places.clone().acquire_owned();
            if let Ok(freed) = tokio::time::timeout(LOOK_EVERY, freed).await {
                return freed.ok();
            }
        }
    }
}

async fn accept(listener: &TcpListener) -> TcpStream {
    let mut pause = Duration::ZERO;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "cannot set TCP_NODELAY");
                }
                return stream;
            }
            Err(error) => {
                pause = (pause * 2).clamp(PAUSE_MIN, PAUSE_MAX);
                tracing::warn!(%error, pause_ms = pause.as_millis(), "cannot accept a gRPC connection");
                tokio::time::sleep(pause).await;
            }
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = ConnectionCalls;

    fn connect_info(&self) -> ConnectionCalls {
        self.calls.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let bytes = buffer.filled().len() - before;
        let read = self.unless_silent((read, bytes), cx);
        let this = &mut *self;
        this.leaving.moved(bytes);
        this.client.moved(bytes);
        if read.is_pending() {
            if this.client.gives_way(cx) {
                return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
            }
            ready!(this.leaving.poll(&this.at_work, cx));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.unless_stalled(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.unless_stalled(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
