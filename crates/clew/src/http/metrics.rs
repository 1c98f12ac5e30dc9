//! Figures of the connections: for Prometheus here, for `_nodes/stats` in the API's own counters.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use clew_opensearch::HttpFigures;
use prometheus::{IntCounter, IntCounterVec, IntGauge, Opts, Registry};

use super::phase::Closed;

#[derive(Debug)]
pub(super) struct HttpMetrics {
    open: IntGauge,
    accepted: IntCounter,
    closed: IntCounterVec,
    no_room: IntCounter,
    accept_errors: IntCounter,
    refused: IntCounterVec,
    figures: Arc<HttpFigures>,
}

impl HttpMetrics {
    /// # Errors
    /// When the names are taken.
    pub(super) fn new(registry: &Registry, figures: Arc<HttpFigures>) -> anyhow::Result<Self> {
        let labelled = |name: &str, help: &str| {
            let counter = IntCounterVec::new(Opts::new(name, help), &["reason"])?;
            registry.register(Box::new(counter.clone()))?;
            anyhow::Ok(counter)
        };
        let counter = |name: &str, help: &str| {
            let counter = IntCounter::new(name, help)?;
            registry.register(Box::new(counter.clone()))?;
            anyhow::Ok(counter)
        };
        let open = IntGauge::new("http_connections_open", "Connections that are open.")?;
        registry.register(Box::new(open.clone()))?;
        Ok(HttpMetrics {
            open,
            accepted: counter("http_connections_accepted_total", "Connections taken.")?,
            closed: labelled(
                "http_connections_closed_total",
                "Connections closed, by reason.",
            )?,
            no_room: counter(
                "http_connections_refused_total",
                "Connections answered 503: as many as may be were in use.",
            )?,
            accept_errors: counter(
                "http_accept_errors_total",
                "Times that the system gave no connection, as without free file descriptors.",
            )?,
            refused: labelled(
                "http_requests_refused_total",
                "Requests not let in, by what was wrong with them.",
            )?,
            figures,
        })
    }

    pub(super) fn opened(&self) {
        self.accepted.inc();
        self.open.inc();
        self.figures.opened.fetch_add(1, Ordering::Relaxed);
        self.figures.open.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn closed(&self, reason: Closed) {
        self.closed.with_label_values(&[reason.name()]).inc();
        self.open.dec();
        self.figures.open.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn no_room(&self) {
        self.no_room.inc();
    }

    pub(super) fn accept_failed(&self) {
        self.accept_errors.inc();
    }

    pub(super) fn refused(&self, reason: &str) {
        self.refused.with_label_values(&[reason]).inc();
    }
}
