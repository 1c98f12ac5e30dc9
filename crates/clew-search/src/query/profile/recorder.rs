//! What the searches of one shard cost, as they go on and when they are done.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::steps::{QueryProfile, Steps, Timing};
use super::stopwatch::{Stopwatch, Timer};

/// Notes what the queries of a shard's search cost. Several threads may search under one.
#[derive(Debug)]
pub struct QueryRecorder {
    watch: Stopwatch,
    rewriting: Timer,
    collecting: Timer,
    visiting: Timer,
    filtering: Timer,
    /// The queries that were run, and what collected their matches.
    run: Mutex<Vec<(Arc<Steps>, CollectorKind)>>,
    /// The rounds in which hits were scored again: their queries, windows and times.
    rescored: Mutex<Vec<(Arc<Steps>, usize, Duration)>>,
}

/// What is kept of matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CollectorKind {
    /// Their number.
    Count,
    /// The best by score.
    Best,
    /// The first by other keys.
    Sorted,
    /// The best of each group.
    Grouped,
}

impl CollectorKind {
    fn name(self) -> &'static str {
        match self {
            CollectorKind::Count => "TotalHitCountCollector",
            CollectorKind::Best => "SimpleTopScoreDocCollector",
            CollectorKind::Sorted => "SimpleFieldCollector",
            CollectorKind::Grouped => "CollapsingTopDocsCollector",
        }
    }
}

/// What the queries of a shard's search cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueriesProfile {
    /// Each query that was run: that of the request, or those that rank together too.
    pub queries: Vec<QueryProfile>,
    /// Answering what needs vectors, before anything else is asked.
    pub rewriting: Duration,
    /// Keeping what was found.
    pub collecting: Collecting,
    /// The rounds in which the best hits were scored again, in order.
    pub rescoring: Vec<RescoreProfile>,
}

/// What it cost to score the best hits of a shard again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RescoreProfile {
    /// How many hits were looked at, at most.
    pub window: usize,
    /// All of the round, with putting the hits in their new order.
    pub took: Duration,
    /// The steps of its query, which is opened once for each hit.
    pub query: QueryProfile,
}

/// What it cost to keep what was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Collecting {
    /// What OpenSearch calls that which keeps the hits of the request's query.
    pub name: String,
    /// Looking at matches and keeping hits, without aggregations. Nothing where the postings are read directly, which keep hits
    /// as they find them.
    pub hits: Duration,
    /// What aggregations took of matches; none without any.
    pub aggregations: Option<Duration>,
    /// Running the filter of hits; none without one.
    pub post_filter: Option<Duration>,
}

impl QueryRecorder {
    /// Nothing yet.
    pub fn new(watch: Stopwatch) -> Self {
        QueryRecorder {
            watch,
            rewriting: Timer::default(),
            collecting: Timer::default(),
            visiting: Timer::default(),
            filtering: Timer::default(),
            run: Mutex::new(Vec::new()),
            rescored: Mutex::new(Vec::new()),
        }
    }

    /// Notes how long it takes to answer what queries need before they are run.
    pub fn rewriting<T>(&self, work: impl FnOnce() -> T) -> T {
        self.timed(&self.rewriting, work)
    }

    pub(crate) fn filtering<T>(&self, work: impl FnOnce() -> T) -> T {
        self.timed(&self.filtering, work)
    }

    pub(crate) fn watch(&self) -> &Stopwatch {
        &self.watch
    }

    pub(crate) fn ran(&self, steps: Arc<Steps>, collector: CollectorKind) {
        self.run.lock().push((steps, collector));
    }

    /// A round of scoring hits again, which began at a moment, is over.
    pub(crate) fn rescored(&self, steps: Arc<Steps>, window: usize, since: Duration) {
        let took = self.watch.now().saturating_sub(since);
        self.rescored.lock().push((steps, window, took));
    }

    pub(crate) fn collected(&self, since: Duration, matches: u64) {
        self.collecting.add(&self.watch, since, matches);
    }

    pub(crate) fn visited(&self, since: Duration) {
        self.visiting.add(&self.watch, since, 1);
    }

    fn timed<T>(&self, timer: &Timer, work: impl FnOnce() -> T) -> T {
        let since = self.watch.now();
        let done = work();
        timer.add(&self.watch, since, 1);
        done
    }

    /// What was noted.
    pub fn finish(self) -> QueriesProfile {
        let run = self.run.into_inner();
        let rounds = self.rescored.into_inner();
        let rounds = rounds
            .into_iter()
            .map(|(steps, window, took)| RescoreProfile {
                window,
                took,
                query: steps.read(),
            });
        let name = run.first().map_or("", |(_, collector)| collector.name());
        let asked = |timer: &Timer| {
            let Timing { took, count } = timer.read();
            (count > 0).then_some(took)
        };
        let aggregations = asked(&self.visiting);
        let both = self.collecting.read().took;
        QueriesProfile {
            queries: run.iter().map(|(steps, _)| steps.read()).collect(),
            rewriting: self.rewriting.read().took,
            collecting: Collecting {
                name: name.to_string(),
                hits: both.saturating_sub(aggregations.unwrap_or_default()),
                aggregations,
                post_filter: asked(&self.filtering),
            },
            rescoring: rounds.collect(),
        }
    }
}
