//! How the requests of a protocol went, as metrics: how many of each class there were and how they ended, how long they took,
//! and where that time went, with examples of slow ones. To count a request takes no lock.

mod by_name;
mod exemplars;

use std::sync::Arc;
use std::time::Duration;

use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, Registry,
};

use self::by_name::ByName;
pub use self::exemplars::{Exemplar, ExemplarBook, Exemplars};
use crate::spent::SpentTimes;
use crate::trace::Trace;

/// From a tenth of a millisecond to ten seconds.
const LATENCY_BOUNDS_S: &[f64] = &[
    0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0,
    10.0,
];

/// From five microseconds on, as parts of requests are shorter.
const PART_BOUNDS_S: &[f64] = &[
    0.000_005, 0.000_02, 0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0,
    2.0, 5.0, 10.0,
];

/// The parts of a request's time.
const PARTS: [&str; 5] = ["cpu", "run_queue", "queue", "blocked", "wall"];

/// What the metrics of a protocol's requests are called.
#[derive(Clone, Copy, Debug)]
pub struct RequestNames {
    /// The counter of requests.
    pub total: &'static str,
    /// The histogram of how long they took.
    pub seconds: &'static str,
    /// The histogram of their parts.
    pub part_seconds: &'static str,
    /// The label that tells classes apart.
    pub class: &'static str,
}

/// A class of requests whose time is taken apart, and what kind they are within it; empty where there are no kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RequestKind {
    /// The class.
    pub class: &'static str,
    /// The kind.
    pub kind: &'static str,
}

/// How the requests of a protocol went.
pub struct RequestMetrics {
    names: RequestNames,
    counts: IntCounterVec,
    latency: HistogramVec,
    parts: HistogramVec,
    book: Arc<ExemplarBook>,
    counters: ByName<(&'static str, &'static str), IntCounter>,
    latencies: ByName<&'static str, Exemplified>,
    kinds: ByName<RequestKind, [Exemplified; PARTS.len()]>,
}

/// A series of a histogram, and its examples.
struct Exemplified {
    histogram: Histogram,
    exemplars: Arc<Exemplars>,
}

impl Exemplified {
    fn observe(&self, time: Duration, trace: Option<&Trace>) {
        let seconds = time.as_secs_f64();
        self.histogram.observe(seconds);
        if let Some(trace) = trace {
            self.exemplars.note(seconds, trace);
        }
    }
}

impl RequestMetrics {
    /// Nothing yet. The metrics are registered where there is a registry, and their examples are in the book.
    ///
    /// # Errors
    /// Names that cannot be, or are taken.
    pub fn new(
        names: RequestNames,
        registry: Option<&Registry>,
        book: Arc<ExemplarBook>,
    ) -> Result<Self, prometheus::Error> {
        let class = names.class;
        let counts = IntCounterVec::new(
            Opts::new(
                names.total,
                format!("Requests by {class} class and status class."),
            ),
            &[class, "status"],
        )?;
        let latency = HistogramVec::new(
            HistogramOpts::new(
                names.seconds,
                format!("Time from a request's head to its finished answer, by {class} class."),
            )
            .buckets(LATENCY_BOUNDS_S.to_vec()),
            &[class],
        )?;
        let parts = HistogramVec::new(
            HistogramOpts::new(
                names.part_seconds,
                format!(
                    "Where the time of sampled requests of each {class} class went: on processors (cpu), ready but without \
                     one (run_queue), before the pool of threads (queue), waiting for anything else (blocked); wall is \
                     their sum."
                ),
            )
            .buckets(PART_BOUNDS_S.to_vec()),
            &[class, "kind", "part"],
        )?;
        if let Some(registry) = registry {
            registry.register(Box::new(counts.clone()))?;
            registry.register(Box::new(latency.clone()))?;
            registry.register(Box::new(parts.clone()))?;
        }
        Ok(RequestMetrics {
            names,
            counts,
            latency,
            parts,
            book,
            counters: ByName::new(),
            latencies: ByName::new(),
            kinds: ByName::new(),
        })
    }

    /// Counts a request that is over: how it ended, how long it took, and which trace it was a part of.
    pub fn observe(
        &self,
        class: &'static str,
        status: &'static str,
        took: Duration,
        trace: Option<&Trace>,
    ) {
        let count = |(class, status): (&'static str, &'static str)| {
            self.counts.with_label_values(&[class, status])
        };
        self.counters.get((class, status), count).inc();
        let latency = |class| Exemplified {
            histogram: self.latency.with_label_values(&[class]),
            exemplars: self.book.open(
                self.names.seconds,
                vec![(self.names.class, class)],
                LATENCY_BOUNDS_S,
            ),
        };
        self.latencies.get(class, latency).observe(took, trace);
    }

    /// Tells where the time of a request went.
    pub fn observe_parts(&self, kind: RequestKind, times: &SpentTimes, trace: Option<&Trace>) {
        let SpentTimes {
            cpu,
            run_queue,
            queue,
            blocked,
        } = *times;
        let histograms = self.kinds.get(kind, |kind| self.histograms(kind));
        let times = [cpu, run_queue, queue, blocked, times.wall()];
        for (histogram, time) in histograms.iter().zip(times) {
            histogram.observe(time, trace);
        }
    }

    fn histograms(&self, RequestKind { class, kind }: RequestKind) -> [Exemplified; PARTS.len()] {
        PARTS.map(|part| Exemplified {
            histogram: self.parts.with_label_values(&[class, kind, part]),
            exemplars: self.book.open(
                self.names.part_seconds,
                vec![(self.names.class, class), ("kind", kind), ("part", part)],
                PART_BOUNDS_S,
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: RequestNames = RequestNames {
        total: "x_requests_total",
        seconds: "x_request_seconds",
        part_seconds: "x_request_part_seconds",
        class: "call",
    };

    #[test]
    fn requests_are_counted_by_class_and_outcome_with_examples() {
        let (registry, book) = (Registry::new(), Arc::<ExemplarBook>::default());
        let metrics = RequestMetrics::new(NAMES, Some(&registry), book.clone()).unwrap();
        let trace = Trace::begin(None, None);
        metrics.observe("search", "ok", Duration::from_millis(3), Some(&trace));
        metrics.observe("search", "4xx", Duration::from_millis(4), None);
        let counted = |status| metrics.counts.with_label_values(&["search", status]).get();
        assert_eq!((counted("ok"), counted("4xx")), (1, 1));
        let latency = metrics.latency.with_label_values(&["search"]);
        assert_eq!(latency.get_sample_count(), 2);
        let times = SpentTimes {
            blocked: Duration::from_millis(2),
            cpu: Duration::from_millis(1),
            ..SpentTimes::default()
        };
        let kind = RequestKind {
            class: "search",
            kind: "knn",
        };
        metrics.observe_parts(kind, &times, Some(&trace));
        let blocked = metrics
            .parts
            .with_label_values(&["search", "knn", "blocked"]);
        assert_eq!(blocked.get_sample_sum(), 0.002);
        let of = |name, labels: &[(&str, &str)], bound: f64, bounds: &[f64]| {
            let bucket = bounds.iter().position(|one| *one == bound).unwrap();
            book.of(name, labels).unwrap().of_bucket(bucket).unwrap()
        };
        let example = of(
            "x_request_seconds",
            &[("call", "search")],
            0.005,
            LATENCY_BOUNDS_S,
        );
        assert_eq!((example.value, example.trace), (0.003, trace.id()));
        let wall = [("call", "search"), ("kind", "knn"), ("part", "wall")];
        let example = of("x_request_part_seconds", &wall, 0.005, PART_BOUNDS_S);
        assert_eq!((example.value, example.span), (0.003, trace.span()));
        assert_eq!(registry.gather().len(), 3);
    }
}
