//! The HTTP door: takes connections, keeps them within limits of time and number, and lets no web page in
//! that was not asked. Whatever is answered behind it is the router's.
//!
//! A connection is a task ([`connection`]) that hyper speaks HTTP on. Around it:
//! - its state ([`phase`]) says what it waits for and since when; socket and bodies keep it up to date;
//! - one sweep over all of them ([`connections`]) ends what takes too long ([`limits`]), so that no request
//!   costs a timer, and finds the connection that has to make room for another;
//! - every request passes the guard ([`guard`]), which knows browsers.
//!
//! Deliberately absent: routes, TLS, users, HTTP/2.

mod body;
mod config;
mod connection;
mod connections;
mod framing;
mod guard;
mod limits;
mod metrics;
mod phase;
mod refusal;
mod socket;

#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use clew_opensearch::HttpFigures;
use hyper_util::service::TowerToHyperService;
use prometheus::Registry;
use tokio::net::{TcpListener, TcpStream};

use self::connection::Shared;
use self::connections::Connections;
use self::guard::Guard;
use self::limits::ConnectionLimits;
use self::metrics::HttpMetrics;

pub(crate) use self::config::{HttpConfig, listed};
pub(crate) use self::refusal::Refusal;

/// After an accept that failed, the next try waits twice as long, within these.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Connections that are taken in a row before others have their turn. Each is a task that is due at once: of as many as the system
/// has kept ready, requests on connections that are there already would come behind all.
const TAKEN_IN_A_ROW: u32 = 4;

/// What a server does with connections and requests, as its configuration says. It is read apart from the
/// rest, because a mistake should be told before anything else is begun.
#[derive(Debug)]
pub(crate) struct HttpRules {
    guard: Guard,
    limits: ConnectionLimits,
    body_timeout_ms: u64,
}

impl HttpRules {
    /// # Errors
    /// When the configuration cannot be kept on a machine of this name by a process that may open so many
    /// files; it names the key.
    pub(crate) fn new(
        config: &HttpConfig,
        open_files_max: usize,
        machine: &str,
    ) -> anyhow::Result<Self> {
        Ok(HttpRules {
            guard: Guard::new(config, machine)?,
            limits: ConnectionLimits::new(config, open_files_max)?,
            body_timeout_ms: config.body_timeout_ms,
        })
    }
}

/// A server that is ready to take connections.
#[derive(Debug)]
pub(crate) struct HttpServer(Arc<Shared>);

impl HttpServer {
    /// # Errors
    /// When the names of its metrics are taken.
    pub(crate) fn new(
        rules: HttpRules,
        app: Router,
        registry: &Registry,
        figures: Arc<HttpFigures>,
    ) -> anyhow::Result<Self> {
        Ok(HttpServer(Arc::new(Shared {
            app: TowerToHyperService::new(app),
            rules,
            metrics: HttpMetrics::new(registry, figures)?,
        })))
    }

    /// Takes connections until `stop` comes, then closes those that are idle and waits for the others.
    pub(crate) async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let mut connections = Connections::new(self.0.clone());
        let unparked = connections.unparked();
        let mut sweep_at: Option<Instant> = None;
        let (mut pause, mut paused_until) = (Duration::ZERO, None);
        let mut taken: u32 = 0;
        loop {
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = until(sweep_at), if sweep_at.is_some() => sweep_at = connections.sweep(),
                () = unparked.notified() => sweep_at = sooner(sweep_at, connections.soonest()),
                () = connections.ended(), if !connections.is_empty() => {}
                accepted = accept(&listener, paused_until) => match accepted {
                    Ok(stream) => {
                        (pause, paused_until) = (Duration::ZERO, None);
                        connections.take(stream).await;
                        sweep_at = sooner(sweep_at, connections.soonest());
                        taken = (taken + 1) % TAKEN_IN_A_ROW;
                        if taken == 0 {
                            tokio::task::yield_now().await;
                        }
                    }
                    Err(error) if is_of_the_client(&error) => {}
                    Err(error) => {
                        // Without free file descriptors nothing helps but closing something.
                        let closing = connections.close_oldest_idle();
                        pause = (pause * 2).clamp(PAUSE_MIN, PAUSE_MAX);
                        paused_until = Some(Instant::now() + pause);
                        self.0.metrics.accept_failed();
                        tracing::warn!(%error, closing, pause_ms = pause.as_millis(), "cannot accept a connection");
                    }
                },
            }
        }
        drop(listener);
        connections.stop().await;
    }
}

async fn accept(listener: &TcpListener, not_before: Option<Instant>) -> io::Result<TcpStream> {
    until(not_before).await;
    Ok(listener.accept().await?.0)
}

/// The connection was gone before it was taken.
fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

async fn until(at: Option<Instant>) {
    if let Some(at) = at {
        tokio::time::sleep_until(at.into()).await;
    }
}

fn sooner(at: Option<Instant>, other: Instant) -> Option<Instant> {
    Some(at.map_or(other, |at| at.min(other)))
}
