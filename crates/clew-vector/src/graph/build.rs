//! Builds the graph by inserting one row after the other, on one thread or several. One thread and
//! one seed: the same rows in the same order give the same graph on CPUs with the same instruction
//! set. Several threads give graphs of the same quality, but not the same graph.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clew_platform::give_way;

use crate::VectorError;
use crate::graph::grow::Growing;
use crate::graph::insert::Inserter;
use crate::graph::metric::Metric;
use crate::graph::reuse::{LINKS_MIN, Reuse};
use crate::graph::savepoint::{Fingerprint, load, save};
use crate::graph::twins::Twins;
use crate::graph::{EntryPoint, Graph, NONE, base_slots, upper_slots};
use crate::watch::{BuildPhase, BuildProgress, Savepoint, Steps};

/// A list on level 0 grows by this many slots before it is chosen anew: choosing among many at once
/// costs less than after every link.
const SLACK_SLOTS: usize = 16;
/// Rows inserted by one thread before others join: they need a graph to walk.
const FIRST_ROWS: usize = 1_024;
/// Rows that a thread takes at once.
const SHARE_ROWS: usize = 64;

/// How to build.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BuildOptions {
    pub(crate) base_slots: usize,
    pub(crate) upper_slots: usize,
    pub(crate) ef: usize,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
}

/// A graph that owns its numbers; the fields are those of [`Graph`].
#[derive(Debug)]
pub(crate) struct OwnedGraph {
    pub(crate) links: Vec<u32>,
    pub(crate) base_slots: usize,
    pub(crate) upper_rows: Vec<u32>,
    pub(crate) upper_starts: Vec<u32>,
    pub(crate) upper_links: Vec<u32>,
    pub(crate) entry: EntryPoint,
}

impl OwnedGraph {
    /// The graph as a reader sees it; `m` is the setting that it was built with.
    pub(crate) fn view(&self, row_count: usize, m: u16) -> Graph<'_> {
        Graph {
            row_count,
            links: &self.links,
            base_slots: self.base_slots,
            upper_rows: &self.upper_rows,
            upper_starts: &self.upper_starts,
            upper_links: &self.upper_links,
            upper_slots: upper_slots(m),
            entry: self.entry,
        }
    }

    /// Rows that whoever goes on from this graph need not insert.
    pub(crate) fn linked_rows(&self) -> usize {
        let lists = self.links.chunks_exact(self.base_slots);
        let is_linked = |list: &&[u32]| list.get(LINKS_MIN - 1).is_some_and(|&row| row != NONE);
        lists.filter(is_linked).count()
    }

    /// Memory held.
    pub(crate) fn mem_bytes(&self) -> usize {
        let all = [
            &self.links,
            &self.upper_rows,
            &self.upper_starts,
            &self.upper_links,
        ];
        all.map(|numbers| numbers.capacity() * size_of::<u32>())
            .iter()
            .sum()
    }
}

/// A build that came to no end, and the graph as it was then: of the rows that were through by then.
#[derive(Debug)]
pub(crate) struct CutShort {
    pub(crate) error: VectorError,
    pub(crate) graph: OwnedGraph,
}

impl CutShort {
    fn of(error: VectorError, growing: Growing) -> Box<Self> {
        let graph = growing.into_owned();
        Box::new(CutShort { error, graph })
    }
}

/// Slots of a list on level 0 while it grows, for the setting `m`.
pub(crate) fn growing_base_slots(m: u16) -> usize {
    base_slots(m) + SLACK_SLOTS
}

/// Who watches, and what is built.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched<'a> {
    pub(crate) progress: &'a BuildProgress,
    pub(crate) savepoint: Option<(&'a dyn Savepoint, Fingerprint)>,
}

/// Builds the graph over all rows, of which there is at least one, starting from a graph of some of
/// them if there is one, and going on from a savepoint if there is one. One that is cut short tells what it has so far.
pub(crate) fn build<M: Metric>(
    metric: &M,
    twins: &Twins,
    reuse: Option<&Reuse<'_>>,
    options: &BuildOptions,
    watched: Watched<'_>,
) -> Result<OwnedGraph, Box<CutShort>> {
    let slots = (options.base_slots + SLACK_SLOTS, options.upper_slots);
    let row_count = metric.row_count();
    let kept: HashMap<u32, u32> = reuse.into_iter().flat_map(Reuse::levels).collect();
    let levels = |row: u32, drawn: u32| match kept.get(&row) {
        _ if twins.contains(row) => 0,
        Some(&level) => level,
        None => drawn,
    };
    let growing = Growing::new(row_count, slots, options.seed, levels);
    let mut linked = match reuse {
        Some(reuse) => reuse.fill(&growing, slots.0),
        None => vec![false; row_count],
    };
    if linked.iter().all(|&linked| !linked) {
        // The first row needs no links: the others find it.
        linked[0] = true;
    }
    let to_insert = |row: u32| !linked[row as usize] && !twins.contains(row);
    let job = Job {
        metric,
        growing: &growing,
        options,
        watched,
    };
    if let Err(error) = job.link(to_insert) {
        return Err(CutShort::of(error, growing));
    }
    watched.progress.begin(BuildPhase::Finish, (0, row_count));
    let mut links = job.finish_lists();
    if let Err(error) = watched.progress.check() {
        return Err(CutShort::of(error, growing));
    }
    twins.attach(&mut links, options.base_slots);
    let (upper_rows, upper_starts, upper_links, entry) = growing.into_upper();
    Ok(OwnedGraph {
        links,
        base_slots: options.base_slots,
        upper_rows,
        upper_starts,
        upper_links,
        entry,
    })
}

/// A build at work.
struct Job<'a, M: Metric> {
    metric: &'a M,
    growing: &'a Growing,
    options: &'a BuildOptions,
    watched: Watched<'a>,
}

impl<M: Metric> Job<'_, M> {
    /// Inserts every row that is to be inserted.
    fn link(&self, to_insert: impl Fn(u32) -> bool + Sync) -> Result<(), VectorError> {
        let (row_count, progress) = (self.growing.row_count, self.watched.progress);
        let resumed = self.resume();
        progress.begin(BuildPhase::Link, (resumed, row_count));
        let next = AtomicUsize::new(resumed);
        let insert = |end: usize, share: usize| {
            let mut inserter = Inserter::new(self.metric, self.growing, self.options);
            let mut steps = Steps::new(progress);
            loop {
                let start = next.fetch_add(share, Ordering::Relaxed);
                if start >= end {
                    return;
                }
                for row in (0_u32..).take(end.min(start + share)).skip(start) {
                    if to_insert(row) {
                        inserter.insert(row);
                    }
                    if !steps.row_done() {
                        return;
                    }
                }
                // After a share, not before: a build gets on even if it is always time to save.
                if self
                    .watched
                    .savepoint
                    .is_some_and(|(point, _)| point.is_due())
                {
                    return;
                }
            }
        };
        let first = FIRST_ROWS.min(row_count);
        if resumed < first {
            insert(first, first - resumed);
            next.store(first, Ordering::Relaxed);
        }
        loop {
            progress.check()?;
            run_on(self.options.threads, || insert(row_count, SHARE_ROWS));
            progress.check()?;
            // Threads that found nothing more to do have moved it past the end.
            let done = next.load(Ordering::Relaxed).min(row_count);
            if done == row_count {
                return Ok(());
            }
            // Every share that was taken is done: the threads are back.
            if let Some((savepoint, fingerprint)) = self.watched.savepoint {
                savepoint.store(&|out| save(self.growing, (done, fingerprint), out));
            }
        }
    }

    /// Takes over what an interrupted build has done; the number of rows that are through.
    fn resume(&self) -> usize {
        let Some((savepoint, fingerprint)) = self.watched.savepoint else {
            return 0;
        };
        let Some(bytes) = savepoint.load() else {
            return 0;
        };
        match load(self.growing, &bytes, fingerprint) {
            Ok(rows) => {
                savepoint.resumed(rows);
                rows
            }
            Err(reason) => {
                savepoint.refuse(reason);
                0
            }
        }
    }

    /// Cuts every list of level 0 down to the slots that an image has.
    fn finish_lists(&self) -> Vec<u32> {
        let Job {
            metric,
            growing,
            options,
            watched,
        } = *self;
        let slots = options.base_slots;
        let mut links = vec![NONE; metric.row_count() * slots];
        let share = metric.row_count().div_ceil(options.threads).max(1);
        thread::scope(|scope| {
            for (at, part) in links.chunks_mut(share * slots).enumerate() {
                let mut work = move || {
                    let mut inserter = Inserter::new(metric, growing, options);
                    let mut steps = Steps::new(watched.progress);
                    for (offset, list) in part.chunks_exact_mut(slots).enumerate() {
                        inserter.finish_list(at * share + offset, list);
                        if !steps.row_done() {
                            return;
                        }
                    }
                };
                if at + 1 == options.threads {
                    work();
                } else {
                    scope.spawn(work);
                }
            }
        });
        links
    }
}

/// Runs the same work on several threads, this one among them. The others give way: whoever uses the machine beside a build
/// that somebody waits for goes before more than one thread of it.
fn run_on(threads: usize, work: impl Fn() + Sync) {
    let work = &work;
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(move || {
                give_way();
                work();
            });
        }
        work();
    });
}
