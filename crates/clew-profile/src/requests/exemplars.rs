//! Examples of what a histogram counts: for each bucket a slow request of late, with the trace that it was a part of.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clew_platform::whole_ns;
use parking_lot::Mutex;

use crate::trace::{SpanId, Trace, TraceId};

/// An example that is older makes room for any other; before that, only for one that took longer.
const FRESH: Duration = Duration::from_secs(60);

/// One request that a bucket counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exemplar {
    /// The trace that it was a part of.
    pub trace: TraceId,
    /// Its span.
    pub span: SpanId,
    /// What was measured, in the unit of the histogram.
    pub value: f64,
    /// When that was, since the epoch.
    pub at: Duration,
}

/// One for each bucket of a histogram. To note one takes no lock and never waits.
pub struct Exemplars {
    /// The upper ends of the buckets but the last, ascending.
    bounds: &'static [f64],
    places: Box<[Place]>,
}

impl fmt::Debug for Exemplars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exemplars")
            .field("buckets", &self.places.len())
            .finish_non_exhaustive()
    }
}

/// Where an exemplar is kept, as numbers. The version is odd while they are written; who reads them looks at it before and
/// after.
#[derive(Default)]
struct Place {
    version: AtomicU64,
    trace: [AtomicU64; 2],
    span: AtomicU64,
    value: AtomicU64,
    at_ns: AtomicU64,
}

impl Place {
    fn read(&self) -> Option<Exemplar> {
        let before = self.version.load(Ordering::Acquire);
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let [high, low] = self.trace.each_ref().map(load);
        let exemplar = Exemplar {
            trace: TraceId::from_halves(high, low)?,
            span: SpanId::from_number(load(&self.span))?,
            value: f64::from_bits(load(&self.value)),
            at: Duration::from_nanos(load(&self.at_ns)),
        };
        fence(Ordering::Acquire);
        let is_whole = before.is_multiple_of(2) && load(&self.version) == before;
        is_whole.then_some(exemplar)
    }

    /// Whether it should hold what took so long instead of what it holds.
    fn wants(&self, value: f64, now: Duration) -> bool {
        let kept = Duration::from_nanos(self.at_ns.load(Ordering::Relaxed));
        value > f64::from_bits(self.value.load(Ordering::Relaxed))
            || now.saturating_sub(kept) > FRESH
    }

    /// Keeps it, unless another thread is just doing so.
    fn write(&self, exemplar: &Exemplar) {
        let version = self.version.load(Ordering::Relaxed);
        let begin = || {
            self.version.compare_exchange(
                version,
                version.wrapping_add(1),
                Ordering::Acquire,
                Ordering::Relaxed,
            )
        };
        if !version.is_multiple_of(2) || begin().is_err() {
            return;
        }
        fence(Ordering::Release);
        let [high, low] = exemplar.trace.halves();
        self.trace[0].store(high, Ordering::Relaxed);
        self.trace[1].store(low, Ordering::Relaxed);
        self.span.store(exemplar.span.number(), Ordering::Relaxed);
        let bits = exemplar.value.to_bits();
        self.value.store(bits, Ordering::Relaxed);
        let ns = whole_ns(exemplar.at);
        self.at_ns.store(ns, Ordering::Relaxed);
        self.version
            .store(version.wrapping_add(2), Ordering::Release);
    }
}

impl Exemplars {
    /// None yet, for a histogram whose buckets but the last end there.
    pub fn new(bounds: &'static [f64]) -> Self {
        Exemplars {
            bounds,
            places: (0..=bounds.len()).map(|_| Place::default()).collect(),
        }
    }

    /// Notes what was measured of a request, if its bucket has no better example.
    pub fn note(&self, value: f64, trace: &Trace) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default();
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        if let Some(place) = self
            .places
            .get(bucket)
            .filter(|place| place.wants(value, now))
        {
            place.write(&Exemplar {
                trace: trace.id(),
                span: trace.span(),
                value,
                at: now,
            });
        }
    }

    /// The example of a bucket; none while it is being changed.
    pub fn of_bucket(&self, bucket: usize) -> Option<Exemplar> {
        self.places.get(bucket)?.read()
    }
}

/// Which series of which histogram has which examples.
#[derive(Debug, Default)]
pub struct ExemplarBook {
    series: Mutex<Vec<Series>>,
}

/// The series of one histogram with certain labels, in the order of their names.
#[derive(Clone, Debug)]
struct Series {
    name: &'static str,
    labels: Vec<(&'static str, &'static str)>,
    exemplars: Arc<Exemplars>,
}

impl ExemplarBook {
    /// Opens the page of a series. Whoever notes examples keeps what is given; the book is looked into only to show them.
    pub fn open(
        &self,
        name: &'static str,
        mut labels: Vec<(&'static str, &'static str)>,
        bounds: &'static [f64],
    ) -> Arc<Exemplars> {
        labels.sort_unstable();
        let exemplars = Arc::new(Exemplars::new(bounds));
        self.series.lock().push(Series {
            name,
            labels,
            exemplars: exemplars.clone(),
        });
        exemplars
    }

    /// The examples of a series; its labels in any order.
    pub fn of(&self, name: &str, labels: &[(&str, &str)]) -> Option<Arc<Exemplars>> {
        let series = self.series.lock();
        let found = series.iter().find(|one| {
            one.name == name
                && one.labels.len() == labels.len()
                && labels.iter().all(|label| one.labels.contains(label))
        });
        found.map(|one| one.exemplars.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: &[f64] = &[0.1, 1.0];

    #[test]
    fn a_bucket_keeps_the_slowest_of_late() {
        let exemplars = Exemplars::new(BOUNDS);
        let traces: Vec<Trace> = (0..4).map(|_| Trace::begin(None, None)).collect();
        for (value, trace) in [0.05, 0.1, 0.07, 7.0].into_iter().zip(&traces) {
            exemplars.note(value, trace);
        }
        let kept = exemplars.of_bucket(0).unwrap();
        assert_eq!((kept.value, kept.trace), (0.1, traces[1].id()));
        assert_eq!(exemplars.of_bucket(1), None);
        let last = exemplars.of_bucket(2).unwrap();
        assert_eq!((last.value, last.span), (7.0, traces[3].span()));
        assert_eq!(exemplars.of_bucket(3), None);
        // What is old makes room for what took less.
        let place = &exemplars.places[0];
        let now = kept.at + FRESH;
        assert!(!place.wants(0.02, now));
        assert!(place.wants(0.02, now + Duration::from_millis(1)));
    }

    #[test]
    fn what_is_read_was_noted_together_however_many_note() {
        let exemplars = Exemplars::new(&[]);
        let traces: Vec<Trace> = (0..4).map(|_| Trace::begin(None, None)).collect();
        std::thread::scope(|scope| {
            for (at, trace) in traces.iter().enumerate() {
                let exemplars = &exemplars;
                scope.spawn(move || {
                    for step in 0..20_000_u32 {
                        // The last digit tells whose it is.
                        let value = f64::from(step * 10) + at as f64;
                        exemplars.note(value, trace);
                    }
                });
            }
            let mut seen = 0;
            while seen < 10_000 {
                let Some(read) = exemplars.of_bucket(0) else {
                    std::hint::spin_loop();
                    continue;
                };
                let whose = traces.iter().position(|trace| trace.id() == read.trace);
                let whose = whose.unwrap();
                assert_eq!(read.value % 10.0, whose as f64);
                assert_eq!(read.span, traces[whose].span());
                seen += 1;
            }
        });
    }

    #[test]
    fn a_series_is_found_by_its_labels_in_any_order() {
        let book = ExemplarBook::default();
        let opened = book.open(
            "x_seconds",
            vec![("part", "cpu"), ("endpoint", "a")],
            BOUNDS,
        );
        let found = book.of("x_seconds", &[("part", "cpu"), ("endpoint", "a")]);
        assert!(Arc::ptr_eq(&found.unwrap(), &opened));
        assert!(book.of("x_seconds", &[("endpoint", "a")]).is_none());
        assert!(
            book.of("y_seconds", &[("part", "cpu"), ("endpoint", "a")])
                .is_none()
        );
    }
}
