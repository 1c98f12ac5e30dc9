//! Metrics of the API: how many requests of each class, how they ended, how long they took.

use std::time::Duration;

use axum::http::StatusCode;
use clew_profile::{Spent, SpentTimes};
use prometheus::{
    HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, Opts, Registry,
};

/// From a tenth of a millisecond to ten seconds.
const LATENCY_BUCKETS_S: &[f64] = &[
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0,
    10.0,
];

/// From five microseconds on, as parts of requests are shorter.
const PART_BUCKETS_S: &[f64] = &[
    0.000_005, 0.000_02, 0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0,
    2.0, 5.0, 10.0,
];

/// Tails that may be open at once: each holds a connection and a few events.
const TAILS_MAX: i64 = 64;

pub(crate) struct RestMetrics {
    requests: IntCounterVec,
    latency: HistogramVec,
    parts: HistogramVec,
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
    pub(crate) fn new(registry: Option<&Registry>) -> Self {
        let requests = IntCounterVec::new(
            Opts::new(
                "rest_requests_total",
                "Requests by endpoint class and status class.",
            ),
            &["endpoint", "status"],
        )
        .expect("the name and the labels are valid");
        let latency = HistogramVec::new(
            HistogramOpts::new(
                "rest_request_seconds",
                "Time from a request's head to its finished answer.",
            )
            .buckets(LATENCY_BUCKETS_S.to_vec()),
            &["endpoint"],
        )
        .expect("the name and the labels are valid");
        let parts = HistogramVec::new(
            HistogramOpts::new(
                "rest_request_part_seconds",
                "Where the time of sampled requests went: on processors (cpu), ready but without one (run_queue), before \
                 the pool of threads (queue), waiting for anything else (blocked); wall is their sum.",
            )
            .buckets(PART_BUCKETS_S.to_vec()),
            &["endpoint", "part"],
        )
        .expect("the name and the labels are valid");
        let tails = TailMetrics::new();
        if let Some(registry) = registry {
            // A second router on one registry keeps counting, only unseen; that is no reason to
            // refuse to start.
            let registered = registry
                .register(Box::new(requests.clone()))
                .and_then(|()| registry.register(Box::new(latency.clone())))
                .and_then(|()| registry.register(Box::new(parts.clone())))
                .and_then(|()| registry.register(Box::new(tails.open.clone())))
                .and_then(|()| registry.register(Box::new(tails.events.clone())))
                .and_then(|()| registry.register(Box::new(tails.lagged.clone())));
            if let Err(error) = registered {
                tracing::warn!(%error, "REST metrics are not exported");
            }
        }
        RestMetrics {
            requests,
            latency,
            parts,
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
    pub(crate) fn observe_parts(&self, endpoint: &str, spent: &Spent, took: Duration) {
        let SpentTimes {
            cpu,
            run_queue,
            queue,
            blocked,
        } = spent.times(took);
        let parts = [
            ("cpu", cpu),
            ("run_queue", run_queue),
            ("queue", queue),
            ("blocked", blocked),
            ("wall", took),
        ];
        for (part, time) in parts {
            let histogram = self.parts.with_label_values(&[endpoint, part]);
            histogram.observe(time.as_secs_f64());
        }
    }

    pub(crate) fn observe(&self, endpoint: &str, status: StatusCode, took: Duration) {
        let class = match status.as_u16() {
            429 => "429",
            200..=399 => "ok",
            400..=499 => "4xx",
            _ => "5xx",
        };
        self.requests.with_label_values(&[endpoint, class]).inc();
        self.latency
            .with_label_values(&[endpoint])
            .observe(took.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_endpoint_and_outcome() {
        let registry = Registry::new();
        let metrics = RestMetrics::new(Some(&registry));
        metrics.observe("search", StatusCode::OK, Duration::from_millis(3));
        metrics.observe("search", StatusCode::NOT_FOUND, Duration::from_millis(3));
        let counted = metrics.requests.with_label_values(&["search", "4xx"]).get();
        assert_eq!(counted, 1);
        let spent = Spent::default();
        metrics.observe_parts("search", &spent, Duration::from_millis(3));
        let blocked = metrics.parts.with_label_values(&["search", "blocked"]);
        assert_eq!(blocked.get_sample_sum(), 0.003);
        assert_eq!(registry.gather().len(), 6);
    }

    #[test]
    fn tails_are_limited_and_make_room_when_they_end() {
        let metrics = RestMetrics::new(None);
        let mut open: Vec<_> = (0..TAILS_MAX).map(|_| metrics.open_tail()).collect();
        assert!(open.iter().all(Option::is_some));
        assert!(metrics.open_tail().is_none());
        open.pop();
        assert!(metrics.open_tail().is_some());
    }
}
