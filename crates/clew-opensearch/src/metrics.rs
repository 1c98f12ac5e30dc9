//! Metrics of the API: how many requests of each class, how they ended, how long they took.

use std::time::Duration;

use axum::http::StatusCode;
use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};

/// From a tenth of a millisecond to ten seconds.
const LATENCY_BUCKETS_S: &[f64] = &[
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0,
    10.0,
];

pub(crate) struct RestMetrics {
    requests: IntCounterVec,
    latency: HistogramVec,
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
        if let Some(registry) = registry {
            // A second router on one registry keeps counting, only unseen; that is no reason to
            // refuse to start.
            let registered = registry
                .register(Box::new(requests.clone()))
                .and_then(|()| registry.register(Box::new(latency.clone())));
            if let Err(error) = registered {
                tracing::warn!(%error, "REST metrics are not exported");
            }
        }
        RestMetrics { requests, latency }
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
        assert_eq!(registry.gather().len(), 2);
    }
}
