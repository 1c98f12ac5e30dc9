//! Metrics of the API: how requests of each class went, and standing queries.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use clew_profile::{ExemplarBook, RequestKind, RequestMetrics, RequestNames, Spent, Trace};
use prometheus::{IntCounter, IntGauge, Registry};

const NAMES: RequestNames = RequestNames {
    total: "rest_requests_total",
    seconds: "rest_request_seconds",
    part_seconds: "rest_request_part_seconds",
    class: "endpoint",
};

/// Tails that may be open at once: each holds a connection and a few events.
const TAILS_MAX: i64 = 64;

pub(crate) struct RestMetrics {
    requests: RequestMetrics,
    tails: TailMetrics,
}

/// Figures of standing queries.
#[derive(Clone)]
struct TailMetrics {
    open: IntGauge,
    events: IntCounter,
    lagged: IntCounter,
}

/// A tail that is open, for as long as this is held.
pub(crate) struct OpenTail(TailMetrics);

impl OpenTail {
    pub(crate) fn sent(&self) {
        self.0.events.inc();
    }

    pub(crate) fn lagged(&self) {
        self.0.lagged.inc();
    }
}

impl Drop for OpenTail {
    fn drop(&mut self) {
        self.0.open.dec();
    }
}

impl TailMetrics {
    fn new() -> Self {
        let counter = |name, help| IntCounter::new(name, help).expect("the name is valid");
        TailMetrics {
            open: IntGauge::new("rest_tails_open", "Standing queries that are open.")
                .expect("the name is valid"),
            events: counter(
                "rest_tail_events_total",
                "Documents sent to standing queries.",
            ),
            lagged: counter(
                "rest_tail_lagged_total",
                "Times that the log had given up the place of a standing query.",
            ),
        }
    }
}

impl RestMetrics {
    /// Registered where there is a registry, with examples in the book.
    pub(crate) fn new(registry: Option<&Registry>, book: &Arc<ExemplarBook>) -> Self {
        // A second router on one registry keeps counting, only unseen; that is no reason to
        // refuse to start.
        let requests = RequestMetrics::new(NAMES, registry, book.clone());
        let requests = requests.or_else(|error| {
            tracing::warn!(%error, "REST metrics are not exported");
            RequestMetrics::new(NAMES, None, Arc::default())
        });
        let tails = TailMetrics::new();
        if let Some(registry) = registry {
            let registered = registry
                .register(Box::new(tails.open.clone()))
                .and_then(|()| registry.register(Box::new(tails.events.clone())))
                .and_then(|()| registry.register(Box::new(tails.lagged.clone())));
            if let Err(error) = registered {
                tracing::warn!(%error, "metrics of standing queries are not exported");
            }
        }
        RestMetrics {
            requests: requests.expect("the names and the labels are valid"),
            tails,
        }
    }

    /// Counts one more tail; `None` when there are as many as may be.
    pub(crate) fn open_tail(&self) -> Option<OpenTail> {
        self.tails.open.inc();
        let open = OpenTail(self.tails.clone());
        (self.tails.open.get() <= TAILS_MAX).then_some(open)
    }

    /// Tells where the time of a request went.
    pub(crate) fn observe_parts(&self, class: &'static str, spent: &Spent, took: Duration) {
        let kind = RequestKind {
            class,
            kind: spent.kind(),
        };
        let trace = spent.trace().map(|trace| &**trace);
        self.requests.observe_parts(kind, &spent.times(took), trace);
    }

    /// Counts a request that is over.
    pub(crate) fn observe(
        &self,
        class: &'static str,
        status: StatusCode,
        took: Duration,
        trace: Option<&Trace>,
    ) {
        let status = match status.as_u16() {
            429 => "429",
            200..=399 => "ok",
            400..=499 => "4xx",
            _ => "5xx",
        };
        self.requests.observe(class, status, took, trace);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_endpoint_and_outcome() {
        let (registry, book) = (Registry::new(), Arc::default());
        let metrics = RestMetrics::new(Some(&registry), &book);
        let took = Duration::from_millis(3);
        metrics.observe("search", StatusCode::OK, took, None);
        metrics.observe("search", StatusCode::NOT_FOUND, took, None);
        metrics.observe("search", StatusCode::TOO_MANY_REQUESTS, took, None);
        metrics.observe_parts("search", &Spent::default(), took);
        let families = registry.gather();
        let of = |name: &str| {
            let found = families.iter().find(|family| family.name() == name);
            found.unwrap().get_metric()
        };
        let statuses = of("rest_requests_total").iter();
        let statuses: Vec<&str> = statuses
            .flat_map(|metric| metric.get_label())
            .filter(|label| label.name() == "status")
            .map(|label| label.value())
            .collect();
        assert_eq!(statuses, ["429", "4xx", "ok"]);
        assert_eq!(of("rest_request_part_seconds").len(), 5);
        assert_eq!(families.len(), 6);
        // A second one counts unseen.
        let unseen = RestMetrics::new(Some(&registry), &book);
        unseen.observe("search", StatusCode::OK, took, None);
    }

    #[test]
    fn tails_are_limited_and_make_room_when_they_end() {
        let metrics = RestMetrics::new(None, &Arc::default());
        let mut open: Vec<_> = (0..TAILS_MAX).map(|_| metrics.open_tail()).collect();
        assert!(open.iter().all(Option::is_some));
        assert!(metrics.open_tail().is_none());
        open.pop();
        assert!(metrics.open_tail().is_some());
    }
}
