//! Events over HTTP: JSON lines, lines of text, Elasticsearch's `_bulk` and OpenTelemetry's logs, all at one address.
//!
//! A request is answered when its events are delivered, which is the rule of every input. Everything is bounded: connections,
//! a body as it comes and as it is uncompressed, all bodies together, and the time of a request. Who comes while there is no
//! room is told so, and when to come again.

mod answer;
mod body;
mod bulk;
mod credentials;
mod documents;
mod elastic;
mod grpc;
mod otlp;
mod service;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use super::Sender;
use super::secure::{HANDSHAKE_MAX, late, reason};
use crate::tls::ServerTls;
use body::Budget;
use service::Service;

pub use credentials::Credentials;
pub(crate) use credentials::Scheme;

/// Bytes of all bodies at once, and of what was made of them.
const BODIES_BYTES_MAX: usize = 128 << 20;
/// Requests at once in one connection.
const STREAMS_MAX: u32 = 100;
/// The longest head of a request.
const HEAD_BYTES_MAX: usize = 32 << 10;
/// How long connections may take to end after the last answer.
const END_MAX: Duration = Duration::from_secs(2);
/// What a client that secures its connection may choose from.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];
/// Threads that uncompress and take bodies apart.
const THREADS_MAX: usize = 2;

/// An address that events are posted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpFeed {
    /// Where it listens.
    pub address: SocketAddr,
    /// Bytes of a body at most, before and after it is uncompressed.
    pub body_bytes_max: usize,
    /// Connections at once; the next ones are closed.
    pub connections_max: usize,
    /// How long a request may take to come, and then to be delivered.
    pub timeout: Duration,
    /// Who may post.
    pub credentials: Credentials,
}

/// Binds the address and starts the thread that serves it.
pub(super) fn start(
    feed: &HttpFeed,
    tls: Option<&ServerTls>,
    sender: Sender,
) -> io::Result<(JoinHandle<()>, Option<SocketAddr>)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS_MAX)
        .thread_name("collect-http")
        .build()?;
    let listener = std::net::TcpListener::bind(feed.address)?;
    listener.set_nonblocking(true)?;
    let bound = listener.local_addr()?;
    let listener = {
        let _entered = runtime.enter();
        TcpListener::from_std(listener)?
    };
    let service = Arc::new(Service {
        feed: feed.clone(),
        budget: Arc::new(Budget::new(BODIES_BYTES_MAX)),
        sender,
    });
    let tls = tls.map(|tls| TlsAcceptor::from(tls.config_for(&PROTOCOLS)));
    let serve = move || {
        runtime.block_on(serve(listener, tls, &service));
        runtime.shutdown_timeout(END_MAX);
    };
    let thread = std::thread::Builder::new()
        .name("collect-http".to_owned())
        .spawn(serve)?;
    Ok((thread, Some(bound)))
}

/// Serves until the inputs have to end, and then until what was asked before is answered.
async fn serve(listener: TcpListener, tls: Option<TlsAcceptor>, service: &Arc<Service>) {
    let mut ending = service.sender.ending.clone();
    let places = Arc::new(Semaphore::new(service.feed.connections_max));
    let connections = GracefulShutdown::new();
    let mut server = auto::Builder::new(TokioExecutor::new());
    server
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(service.feed.timeout)
        .max_buf_size(HEAD_BYTES_MAX);
    server
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(u32::try_from(HEAD_BYTES_MAX).unwrap_or(u32::MAX))
        .keep_alive_interval(service.feed.timeout)
        .keep_alive_timeout(service.feed.timeout);
    let server = Arc::new(server);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // That nobody is there to tell is an end, too.
            _ = ending.wait_for(|ending| *ending) => break,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Whoever connected has gone again, or there are no more descriptors, which takes a while to change.
                tracing::debug!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            tracing::warn!(%from, "too many connections, one was closed");
            continue;
        };
        // Small answers must not wait for the client's acknowledgement.
        let _ = stream.set_nodelay(true);
        let peer = Peer {
            from: from.ip().to_string().into(),
            server: Arc::clone(&server),
            service: Arc::clone(service),
            watcher: connections.watcher(),
        };
        let (tls, ending) = (tls.clone(), ending.clone());
        tokio::spawn(async move {
            match tls {
                None => peer.serve(stream).await,
                Some(tls) => peer.serve_secured(tls, stream, ending).await,
            }
            drop(place);
        });
    }
    drop(listener);
    // Requests end by themselves: their events are delivered now, or their time is over.
    let longest = service.feed.timeout * 2 + END_MAX;
    if tokio::time::timeout(longest, connections.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("connections were closed before they were answered");
    }
}

/// Who connected, and what is done for it.
struct Peer {
    from: Arc<str>,
    server: Arc<auto::Builder<TokioExecutor>>,
    service: Arc<Service>,
    watcher: Watcher,
}

impl Peer {
    /// Serves after a handshake, which must end in time and before the inputs do.
    async fn serve_secured(
        self,
        tls: TlsAcceptor,
        stream: TcpStream,
        mut ending: watch::Receiver<bool>,
    ) {
        let accepted = tokio::select! {
            accepted = tokio::time::timeout(HANDSHAKE_MAX, tls.accept(stream)) => accepted,
            _ = ending.wait_for(|ending| *ending) => return,
        };
        let failed = match accepted {
            Ok(Ok(stream)) => return self.serve(stream).await,
            Ok(Err(error)) => reason(&error),
            Err(_) => late(),
        };
        self.service.sender.handshake_failed(&self.from, &failed);
    }

    /// Serves a connection, of HTTP/1.1 or, as gRPC wants it, of HTTP/2.
    async fn serve(self, stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        let (service, from) = (self.service, Arc::clone(&self.from));
        let answer = service_fn(move |request| {
            let (service, from) = (Arc::clone(&service), Arc::clone(&from));
            async move { Ok::<_, std::convert::Infallible>(service.answer(request, from).await) }
        });
        let connection = self.server.serve_connection(TokioIo::new(stream), answer);
        if let Err(error) = self.watcher.watch(connection.into_owned()).await {
            tracing::debug!(%error, from = &*self.from, "a connection broke off");
        }
    }
}

#[cfg(test)]
mod tests;
