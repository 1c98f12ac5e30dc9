//! Collectors are only timed when somebody asks, as reading the clock costs more than a small block.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clew_query::AggError;

use crate::collect::{Block, Collect};
use crate::counted::Partial;
use crate::field::context::Stopwatch;
use crate::limits::Account;

/// What an aggregation costs, while it is counted.
#[derive(Debug)]
pub(crate) struct Figures {
    stopwatch: Stopwatch,
    pub(crate) opening_ns: AtomicU64,
    pub(crate) collecting_ns: AtomicU64,
    pub(crate) building_ns: AtomicU64,
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
            opening_ns: AtomicU64::default(),
            collecting_ns: AtomicU64::default(),
            building_ns: AtomicU64::default(),
            segments: AtomicU64::default(),
            docs: AtomicU64::default(),
            buckets: AtomicU64::default(),
        }
    }

    /// Does something and notes how long it took.
    fn timed<T>(&self, counter: &AtomicU64, work: impl FnOnce() -> T) -> T {
        let started = self.stopwatch.now();
        let done = work();
        let took = self.stopwatch.now().saturating_sub(started);
        add(counter, u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        done
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
