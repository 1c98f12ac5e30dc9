//! Collectors are only timed when somebody asks, as reading the clock costs more than a small block.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clew_platform::whole_ns;
use clew_query::AggError;
use clew_search::Stopwatch;

use crate::collect::{Block, Collect};
use crate::counted::Partial;
use crate::limits::Account;

/// What an aggregation costs, while it is counted.
#[derive(Debug)]
pub(crate) struct Figures {
    stopwatch: Stopwatch,
    pub(crate) planning_ns: AtomicU64,
    pub(crate) opening_ns: AtomicU64,
    pub(crate) collecting_ns: AtomicU64,
    pub(crate) building_ns: AtomicU64,
    pub(crate) late_ns: AtomicU64,
    pub(crate) lates: AtomicU64,
    pub(crate) reducing_ns: AtomicU64,
    pub(crate) reductions: AtomicU64,
    pub(crate) segments: AtomicU64,
    pub(crate) docs: AtomicU64,
    pub(crate) buckets: AtomicU64,
}

pub(crate) fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

impl Figures {
    pub(crate) fn new(stopwatch: &Stopwatch) -> Self {
        Figures {
            stopwatch: stopwatch.clone(),
            planning_ns: AtomicU64::default(),
            opening_ns: AtomicU64::default(),
            collecting_ns: AtomicU64::default(),
            building_ns: AtomicU64::default(),
            late_ns: AtomicU64::default(),
            lates: AtomicU64::default(),
            reducing_ns: AtomicU64::default(),
            reductions: AtomicU64::default(),
            segments: AtomicU64::default(),
            docs: AtomicU64::default(),
            buckets: AtomicU64::default(),
        }
    }

    /// It was planned since then.
    pub(crate) fn planned(&self, since: Duration) {
        let took = self.stopwatch.now().saturating_sub(since);
        add(&self.planning_ns, whole_ns(took));
    }

    /// Does something and notes how long it took.
    fn timed<T>(&self, counter: &AtomicU64, work: impl FnOnce() -> T) -> T {
        let started = self.stopwatch.now();
        let done = work();
        let took = self.stopwatch.now().saturating_sub(started);
        add(counter, whole_ns(took));
        done
    }
}

/// Does what is done to what an aggregation counted once a shard's documents were all seen.
pub(crate) fn late<T>(figures: Option<&Arc<Figures>>, work: impl FnOnce() -> T) -> T {
    match figures {
        None => work(),
        Some(figures) => {
            figures.lates.store(1, Ordering::Relaxed);
            figures.timed(&figures.late_ns, work)
        }
    }
}

/// Joins what an aggregation counted in one segment with what it counted in others.
pub(crate) fn reduced<T>(figures: Option<&Arc<Figures>>, work: impl FnOnce() -> T) -> T {
    match figures {
        None => work(),
        Some(figures) => {
            add(&figures.reductions, 1);
            figures.timed(&figures.reducing_ns, work)
        }
    }
}

/// A collector that is timed.
struct Timed {
    inner: Box<dyn Collect>,
    figures: Arc<Figures>,
}

impl Collect for Timed {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let figures = self.figures.clone();
        add(&figures.docs, block.docs.len() as u64);
        figures.timed(&figures.collecting_ns, || {
            self.inner.collect(block, account)
        })
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        let Timed { inner, figures } = *self;
        figures.timed(&figures.building_ns, || inner.finish(account))
    }
}

/// Opens a collector, timed where somebody asks what it costs.
pub(crate) fn opened(
    figures: Option<&Arc<Figures>>,
    open: impl FnOnce() -> Result<Box<dyn Collect>, AggError>,
) -> Result<Box<dyn Collect>, AggError> {
    let Some(figures) = figures else {
        return open();
    };
    let inner = figures.timed(&figures.opening_ns, open)?;
    add(&figures.segments, 1);
    Ok(Box::new(Timed {
        inner,
        figures: figures.clone(),
    }))
}
