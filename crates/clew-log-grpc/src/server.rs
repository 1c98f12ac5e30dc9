//! The gRPC server: the log service, health and reflection on one port.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use clew_log::Log;
use clew_platform::MemoryAccount;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tonic::service::Routes;
use tonic::transport::Server;

use crate::admission::Admission;
use crate::booked::{Booked, CALL_WINDOW_BYTES};
use crate::calls::CallsAtWork;
use crate::incoming::incoming;
use crate::oversize::Oversize;
use crate::present::SILENT_MIN;
use crate::proto;
use crate::proto::log_server::LogServer;
use crate::service::LogService;
use crate::stop::Stop;

/// A client that does not answer a ping for [`PONG_AFTER`] is gone, and its calls end. Nothing is
/// sent when no client is connected.
const PING_EVERY: Duration = Duration::from_secs(60);
const PONG_AFTER: Duration = Duration::from_secs(20);

/// Calls that a connection may have open at once; each takes some KB that are booked nowhere.
const CALLS_PER_CONNECTION_MAX: u32 = 1_000;

/// What a client may send ahead into all calls of a connection, as [`CALL_WINDOW_BYTES`] into one.
/// The transport also cuts off whoever has sent too many short frames that are not read yet, and
/// measures that by this window: it lets a frame of 10 bytes, the shortest append there is, weigh as
/// much as 492 bytes of it. At this size a call may fill its window with those, so that a pipeline
/// that waits for the disk is held back, not cut.
const CONNECTION_WINDOW_BYTES: u32 = 64 << 20;
const _: () = assert!(CALL_WINDOW_BYTES / 10 <= CONNECTION_WINDOW_BYTES / 492);

/// Limits of the server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Longest request message; longer ones are answered RESOURCE_EXHAUSTED.
    pub message_bytes_max: usize,
    /// Connections that may be open at once; beyond them the one gives way that has been silent longest, or more wait.
    pub connections_max: usize,
    /// Who says whether there is room for an append.
    pub admission: Admission,
    /// What stands before all calls of the port.
    pub guard: Guard,
    /// The calls that the server is at work for, as whoever stands before them counts: a stop waits for these, and
    /// not for clients that neither send nor take anything.
    pub at_work: CallsAtWork,
    /// What messages are booked on, both ways; what does not fit is answered RESOURCE_EXHAUSTED.
    pub memory: Arc<MemoryAccount>,
}

/// Stands before all calls of the port, the log's and others': who may make them is for whoever serves them to say.
#[derive(Clone, Default)]
pub struct Guard(Option<Arc<Around>>);

type Around = dyn Fn(Routes) -> Routes + Send + Sync;

impl Guard {
    /// Puts something around the routes.
    pub fn by(around: impl Fn(Routes) -> Routes + Send + Sync + 'static) -> Self {
        Guard(Some(Arc::new(around)))
    }

    /// Puts something more around the routes, and around what stands before them already.
    #[must_use]
    pub fn within(self, around: impl Fn(Routes) -> Routes + Send + Sync + 'static) -> Self {
        Guard::by(move |routes| around(self.before(routes)))
    }

    fn before(&self, routes: Routes) -> Routes {
        match &self.0 {
            Some(around) => around(routes),
            None => routes,
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stands = if self.0.is_some() { "stands" } else { "none" };
        write!(f, "Guard({stands})")
    }
}

/// The server could not be put together, or ended by itself.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The description of the service cannot be served.
    #[error("cannot describe the gRPC service")]
    Reflection(#[source] tonic_reflection::server::Error),
    /// The transport failed.
    #[error("gRPC server failed")]
    Transport(#[source] tonic::transport::Error),
}

/// Serves the log until `stop` becomes true or its sender goes away. Then subscriptions and
/// streams of appends are told to come back, and the other calls are answered. `others` are services and HTTP/1.1 paths
/// that share the port.
///
/// # Errors
/// When the transport fails; the log itself is not touched by that.
pub async fn serve(
    log: Log,
    listener: TcpListener,
    options: ServerOptions,
    others: Option<Routes>,
    stop: watch::Receiver<bool>,
) -> Result<(), ServeError> {
    let stop = Stop::new(stop);
    let memory = options.memory;
    let service = LogServer::new(LogService::new(log, options.admission, stop.clone()))
        .max_decoding_message_size(options.message_bytes_max);
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<LogServer<LogService>>().await;
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(proto::DESCRIPTOR)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let ends = (stop.clone(), options.at_work);
    let incoming = incoming(listener, options.connections_max, ends, SILENT_MIN);
    let mut stopped = stop.clone();
    let own = others
        .unwrap_or_default()
        .add_service(Booked {
            service: Oversize(service),
            memory,
        })
        .add_service(health_service)
        .add_service(reflection().build_v1().map_err(ServeError::Reflection)?)
        .add_service(
            reflection()
                .build_v1alpha()
                .map_err(ServeError::Reflection)?,
        );
    Server::builder()
        .accept_http1(true)
        .max_concurrent_streams(CALLS_PER_CONNECTION_MAX)
        .initial_stream_window_size(CALL_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .http2_keepalive_interval(Some(PING_EVERY))
        .http2_keepalive_timeout(Some(PONG_AFTER))
        .add_routes(options.guard.before(own))
        .serve_with_incoming_shutdown(incoming, async move {
            stopped.requested().await;
            health.set_not_serving::<LogServer<LogService>>().await;
        })
        .await
        .map_err(ServeError::Transport)
}
