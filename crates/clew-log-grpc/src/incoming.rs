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
use tonic::transport::server::{Connected, TcpConnectInfo};

use crate::stop::Stop;

/// After an accept that failed, the next try waits twice as long, within these.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// How long a client may take nothing of what is sent to it once the server stops.
const STALLED_AT_STOP_MAX: Duration = Duration::from_secs(2);

/// A client must have said which protocol it speaks in this time: until then the transport waits for it without an end.
const OPENING_MAX: Duration = Duration::from_secs(10);

/// What says so: the beginning of every connection of HTTP/2. No request of HTTP/1.1 is shorter.
const OPENING_BYTES: usize = 24;

/// A connection, and its place among those that may be open.
pub(crate) struct Connection {
    stream: TcpStream,
    stop: Stop,
    /// Until the client has begun.
    opening: Option<Opening>,
    /// While the client takes nothing: ends when the server no longer waits for it.
    stalled: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    _place: OwnedSemaphorePermit,
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
    fn unless_stalled<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
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

/// Connections as they come, whose clients must take what is sent to them once the server stops. Where as many are open as may be, the next waits until one is closed.
pub(crate) fn incoming(
    listener: TcpListener,
    connections_max: usize,
    stop: Stop,
) -> impl Stream<Item = io::Result<Connection>> {
    let places = Arc::new(Semaphore::new(
        connections_max.clamp(1, Semaphore::MAX_PERMITS),
    ));
    stream::unfold((listener, places, stop), |(listener, places, stop)| async {
        let place = places.clone().acquire_owned().await.ok()?;
        let stream = accept(&listener).await;
        let connection = Connection {
            stream,
            stop: stop.clone(),
            opening: Some(Opening::within(OPENING_MAX)),
            stalled: None,
            _place: place,
        };
        Some((Ok(connection), (listener, places, stop)))
    })
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
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
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
        self.unless_silent((read, bytes), cx)
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
mod tests {
    use futures_util::{FutureExt, StreamExt};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::watch;

    use super::*;

    #[tokio::test]
    async fn a_connection_waits_for_the_place_of_another() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (_sender, stop) = watch::channel(false);
        let mut connections = std::pin::pin!(incoming(listener, 1, Stop::new(stop)));
        let _clients = (
            TcpStream::connect(address).await.unwrap(),
            TcpStream::connect(address).await.unwrap(),
        );
        let first = connections.next().await.unwrap().unwrap();
        assert!(connections.next().now_or_never().is_none());
        drop(first);
        assert!(connections.next().await.unwrap().is_ok());
    }

    #[tokio::test]
    async fn a_client_that_takes_nothing_does_not_hold_up_a_stop() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, stop) = watch::channel(false);
        let mut connections = std::pin::pin!(incoming(listener, 1, Stop::new(stop)));
        let _client = TcpStream::connect(address).await.unwrap();
        let mut connection = connections.next().await.unwrap().unwrap();
        let sent = tokio::spawn(async move {
            let all = vec![b'a'; 64 << 20];
            connection.write_all(&all).await
        });
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(!sent.is_finished());
        sender.send_replace(true);
        let ended = tokio::time::timeout(Duration::from_secs(20), sent).await;
        let error = ended.unwrap().unwrap().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_client_that_says_nothing_loses_its_place() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (_sender, stop) = watch::channel(false);
        let mut connections = std::pin::pin!(incoming(listener, 1, Stop::new(stop)));
        for (said, ends) in [(0, true), (OPENING_BYTES - 1, true), (OPENING_BYTES, false)] {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(&vec![b'a'; said]).await.unwrap();
            let mut connection = connections.next().await.unwrap().unwrap();
            connection.opening = Some(Opening::within(Duration::from_millis(100)));
            connection.read_exact(&mut vec![0; said]).await.unwrap();
            let next = async { connection.read(&mut [0]).await };
            let next = tokio::time::timeout(Duration::from_millis(500), next).await;
            let timed_out = |error: io::Error| error.kind() == io::ErrorKind::TimedOut;
            let ended = next.is_ok_and(|read| read.is_err_and(timed_out));
            assert_eq!(ended, ends, "{said}");
        }
    }
}
