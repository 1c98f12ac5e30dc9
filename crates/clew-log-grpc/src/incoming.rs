//! The connections of the server: as many as may be, taken one by one, and a failed accept is no end. The
//! transport's own loop takes any number and ends the server when file descriptors run out.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Stream, stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::transport::server::{Connected, TcpConnectInfo};

/// After an accept that failed, the next try waits twice as long, within these.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// A connection, and its place among those that may be open.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    _place: OwnedSemaphorePermit,
}

/// Connections as they come. Where as many are open as may be, the next waits until one is closed.
pub(crate) fn incoming(
    listener: TcpListener,
    connections_max: usize,
) -> impl Stream<Item = io::Result<Connection>> {
    let places = Arc::new(Semaphore::new(
        connections_max.clamp(1, Semaphore::MAX_PERMITS),
    ));
    stream::unfold((listener, places), |(listener, places)| async {
        let place = places.clone().acquire_owned().await.ok()?;
        let stream = accept(&listener).await;
        let connection = Connection {
            stream,
            _place: place,
        };
        Some((Ok(connection), (listener, places)))
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
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
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

    use super::*;

    #[tokio::test]
    async fn a_connection_waits_for_the_place_of_another() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut connections = std::pin::pin!(incoming(listener, 1));
        let _clients = (
            TcpStream::connect(address).await.unwrap(),
            TcpStream::connect(address).await.unwrap(),
        );
        let first = connections.next().await.unwrap().unwrap();
        assert!(connections.next().now_or_never().is_none());
        drop(first);
        assert!(connections.next().await.unwrap().is_ok());
    }
}
