//! One scan on several threads: each takes segments, and has a sink and a visitor of its own. Which thread reads which
//! segment makes no difference: hits have an order of their own, and what visitors saw is joined segment by segment.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use clew_query::QueryError;
use parking_lot::Mutex;

use super::sink::Sink;
use super::wish::Wish;
use super::{Begin, Scan, ScanFound, Scoring};
use crate::search::cursor::Slot;
use crate::search::request::DocVisitor;
use crate::search::run::Run;
use crate::search::threads::{Threads, share};

/// What the threads of a scan know of each other.
#[derive(Default)]
pub(super) struct Together {
    seen: AtomicU64,
    /// What sorted hits must not exceed.
    ceiling: Mutex<Option<Slot>>,
}

impl Together {
    /// Counts matches.
    pub(super) fn count(&self, more: u64) {
        self.seen.fetch_add(more, Ordering::Relaxed);
    }

    /// Matches so far; there may be more by now.
    pub(super) fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// Between segments the bounds of hits are compared.
    pub(super) fn meet(&self, sink: &mut Sink<'_>) {
        if let Sink::Sorted(top) = sink {
            let mut ceiling = self.ceiling.lock();
            *ceiling = top.lower_ceiling(*ceiling);
        }
    }
}

/// Whether segments may be read in any order: not when the first matches end the search, and not for groups, which
/// are joined as their segments come.
pub(super) fn fits(wish: &Wish<'_>) -> bool {
    let first_ones = wish.uncounted && wish.by_place();
    wish.terminate_after.is_none() && wish.collapse.is_none() && !first_ones
}

/// What all segments hold; `None` when this failed or the visitor must see them in order, so that one thread is to
/// begin anew. Memory that is short for several threads may do for one, and if not, that one tells why.
pub(super) fn found<'a>(
    (run, wish): (&Run<'_>, Wish<'a>),
    (scoring, segments): (&Scoring, &[(Begin, usize)]),
    (threads, visitor): (&dyn Threads, &mut Option<&mut dyn DocVisitor>),
) -> Option<ScanFound<'a>> {
    let mut forks = Vec::new();
    if let Some(visitor) = visitor {
        for _ in segments {
            forks.push(visitor.fork()?);
        }
    }
    let (forks, visits) = (Mutex::new(forks), visitor.is_some());
    let (together, failed) = (Together::default(), AtomicBool::new(false));
    let parts = share(threads, segments.len(), |left| {
        let mut part = || -> Result<ScanFound<'a>, QueryError> {
            let mut fork = if visits { forks.lock().pop() } else { None };
            let own = fork.as_deref_mut().map(|fork| fork as &mut dyn DocVisitor);
            let scan = Scan::new((run, &together), wish, own)?;
            let own = left.take_while(|_| !failed.load(Ordering::Relaxed));
            let found = scan.segments(scoring, own.map(|task| segments[task]))?;
            fork.map_or(Ok(()), |mut fork| fork.end())?;
            Ok(found)
        };
        let found = part();
        failed.fetch_or(found.is_err(), Ordering::Relaxed);
        found.ok()
    });
    let mut all = parts
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .into_iter()
        .flatten();
    let first = all.next().filter(|_| !failed.load(Ordering::Relaxed));
    let order: Vec<usize> = match &first {
        Some(_) => segments.iter().map(|(_, segment)| *segment).collect(),
        None => Vec::new(),
    };
    let joined = match visitor {
        Some(visitor) => visitor.join(&order),
        None => Ok(()),
    };
    let mut found = first.filter(|_| joined.is_ok())?;
    for more in all {
        found.absorb(more);
    }
    Some(found)
}
