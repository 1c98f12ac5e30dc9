//! Searches for some of a column's own vectors, with growing effort: what they find, and what they cost.

use std::thread;
use std::time::Duration;

use clew_platform::thread_cpu_time;

use crate::calibrate::{Choice, EFFORTS, HITS, PROBES, RECALL_AIM, RECALL_MAX, Tried};
use crate::column::View;
use crate::plan::Plan;
use crate::random::spread;
use crate::rank::Ranked;
use crate::{ColumnOptions, Scratch, SearchRequest, VectorError};

/// Vectors searched for: of a hundred, recall is known to within some .02 where some are much harder than others. Each costs
/// a scan of the codes, so that there are more where there is more to build.
const QUERIES_MIN: usize = 100;
const QUERIES_MAX: usize = 400;
const ROWS_PER_QUERY: usize = 500;

/// How often a search is done to find its price.
const TURNS: usize = 4;

const QUERY_SEED: u64 = 0x7175_6572_6965_7321;

/// What searches go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Structure {
    /// A graph, by walks for what is stored, which leads to its neighbours at once.
    Graph,
    /// A graph, by walks that do not see what they look for: as hard as those for what is not stored, or a little harder.
    GraphUnseen,
    Lists,
}

impl Structure {
    /// A search with so much effort: candidates that a walk keeps, or lists gone through.
    fn way(self, effort: usize) -> Way {
        match self {
            Structure::Graph => Way::Walk(effort),
            Structure::GraphUnseen => Way::UnseenWalk(effort),
            Structure::Lists => Way::Lists(effort),
        }
    }
}

/// Vectors to search for, and how far what is nearest to each lies.
pub(crate) struct Learning {
    /// The first [`QUERIES_MIN`] come from all over the column, as all do.
    queries: Vec<Query>,
    threads: usize,
}

impl Learning {
    /// Draws the vectors and scans for each, by whatever codes the view has, on several threads.
    pub(crate) fn begin(
        view: &View<'_>,
        options: &ColumnOptions,
        threads: usize,
    ) -> Result<Self, VectorError> {
        let count = view.rows.count();
        // Rows at equal distances may all be of one kind: whoever writes them may do so in turns.
        let wanted = (count / ROWS_PER_QUERY).clamp(QUERIES_MIN, QUERIES_MAX);
        let drawn = spread(count, wanted.min(count), QUERY_SEED);
        let hideable = drawn.iter().copied().filter(|&row| is_hideable(view, row));
        let hideable: Vec<u32> = hideable.collect();
        let mut rows = if hideable.is_empty() { drawn } else { hideable };
        evenly_first(&mut rows, QUERIES_MIN);
        let queries: Vec<Query> = rows.iter().map(|&row| Query::new(view, row)).collect();
        let mut learning = Learning {
            queries,
            threads: threads.max(1),
        };
        let scan = |query: &Query, scratch: &mut Scratch| query.scan(view, options, scratch);
        let truth = learning.for_each(&learning.queries, scan)?;
        for (query, (truth, can_hide)) in learning.queries.iter_mut().zip(truth.0) {
            (query.truth, query.can_hide) = (truth, can_hide);
        }
        Ok(learning)
    }

    /// Tries every effort that is less than a scan, until nearly all is found; goes on where [`Learning::prices`] ended.
    /// Costs some 1,800 walks, or some 3,000 searches of a few lists.
    pub(crate) fn try_all(
        &self,
        (view, options): (&View<'_>, &ColumnOptions),
        structure: Structure,
        mut tried: Vec<Tried>,
    ) -> Result<Vec<Tried>, VectorError> {
        for k in HITS {
            // A hundred hits tell of each query what ten tell of several. Lists stand in for walks by what both find of the
            // same ones.
            let queries = match k {
                _ if k < HITS[1] => QUERIES_MAX,
                _ => QUERIES_MIN,
            };
            let aim = (k, RECALL_MAX);
            self.try_until((view, options), (structure, queries), aim, &mut tried)?;
        }
        Ok(tried)
    }

    /// Tries each of two structures as far as tells what a search for a few hits costs that finds what a choice asks for, and
    /// what these searches cost beside each other.
    pub(crate) fn prices(
        &self,
        options: &ColumnOptions,
        structures: [(&View<'_>, Structure); 2],
    ) -> Result<[Vec<Tried>; 2], VectorError> {
        let [(view, structure), (other_view, other)] = structures;
        let mut tried = [
            self.try_for_choice((view, options), structure)?,
            self.try_for_choice((other_view, options), other)?,
        ];
        self.price_in_turns(options, structures, &mut tried)?;
        Ok(tried)
    }

    /// Measures anew what those of the tried efforts cost that a choice is made by: all of them in turns, so that what else
    /// the machine does hits both structures alike, and some times over.
    fn price_in_turns(
        &self,
        options: &ColumnOptions,
        structures: [(&View<'_>, Structure); 2],
        tried: &mut [Vec<Tried>; 2],
    ) -> Result<(), VectorError> {
        let [few, _] = HITS;
        let Some(recall) = Choice::compared_at(&tried[0], &tried[1]) else {
            return Ok(());
        };
        let mut priced: Vec<((usize, usize), Least)> = Vec::new();
        for (which, tried) in tried.iter().enumerate() {
            let places = deciding(tried, recall).into_iter();
            priced.extend(places.map(|at| ((which, at), Least::default())));
        }
        let queries = &self.queries[..self.queries.len().min(QUERIES_MIN)];
        let last = priced.len().saturating_sub(1);
        for turn in 0..TURNS {
            for step in 0..priced.len() {
                let one = if turn % 2 == 0 { step } else { last - step };
                let ((which, at), least) = &mut priced[one];
                let (view, structure) = structures[*which];
                let way = structure.way(tried[*which][*at].effort);
                let (took, _) = self.for_each(queries, |query, scratch| {
                    let before = thread_cpu_time();
                    query.nearest(view, options, (few, way), scratch)?;
                    Ok(thread_cpu_time().saturating_sub(before))
                })?;
                least.take(&took);
            }
        }
        for ((which, at), least) in priced {
            tried[which][at].ns = least.mean_ns();
        }
        Ok(())
    }

    /// Tries a few hits until as much is found as a choice asks for. What is read for the first time takes longer: one search
    /// for each vector comes before.
    fn try_for_choice(
        &self,
        (view, options): (&View<'_>, &ColumnOptions),
        structure: Structure,
    ) -> Result<Vec<Tried>, VectorError> {
        let [few, _] = HITS;
        let way = structure.way(match structure {
            Structure::Lists => PROBES[0],
            Structure::Graph | Structure::GraphUnseen => few,
        });
        self.for_each(&self.queries, |query, scratch| {
            query.nearest(view, options, (few, way), scratch)
        })?;
        let mut tried = Vec::new();
        let aim = (few, RECALL_AIM);
        self.try_until((view, options), (structure, QUERIES_MAX), aim, &mut tried)?;
        Ok(tried)
    }

    /// Tries efforts for `k` hits with so many of the vectors, beyond those that were tried before, until the share `aim` is
    /// found. Answers in `tried`, whose last ones are for `k` if any are.
    fn try_until(
        &self,
        (view, options): (&View<'_>, &ColumnOptions),
        (structure, queries): (Structure, usize),
        (k, aim): (usize, f32),
        tried: &mut Vec<Tried>,
    ) -> Result<(), VectorError> {
        let count = view.rows.count();
        let (efforts, most) = match structure {
            Structure::Graph | Structure::GraphUnseen => (&EFFORTS[..], count),
            Structure::Lists => {
                let lists = view.lists.as_ref().map_or(0, |lists| lists.heads.len());
                (&PROBES[..], lists + 1)
            }
        };
        let least = match structure {
            Structure::Graph | Structure::GraphUnseen => k,
            Structure::Lists => 0,
        };
        let last = tried.iter().rfind(|one| one.k == k);
        let (before, mut best) = last.map_or((0, 0.0), |last| (last.effort, last.recall));
        let queries = &self.queries[..self.queries.len().min(queries)];
        let wanted = queries.iter().map(|query| k.min(query.truth.len()));
        let wanted = wanted.sum::<usize>().max(1);
        let efforts = efforts
            .iter()
            .copied()
            .filter(|&effort| k < count && effort >= least && effort > before && effort < most);
        for effort in efforts {
            if best >= aim {
                break;
            }
            let (found, ns) = self.for_each(queries, |query, scratch| {
                let hits = query.nearest(view, options, (k, structure.way(effort)), scratch)?;
                Ok(query.found(&hits, k))
            })?;
            best = best.max(found.iter().sum::<usize>() as f32 / wanted as f32);
            tried.push(Tried {
                k,
                effort,
                recall: best,
                ns: ns / queries.len().max(1) as f64,
            });
        }
        Ok(())
    }

    /// What `work` makes of each query, and the processor time of all of them in nanoseconds.
    fn for_each<T: Send>(
        &self,
        queries: &[Query],
        work: impl Fn(&Query, &mut Scratch) -> Result<T, VectorError> + Sync,
    ) -> Result<(Vec<T>, f64), VectorError> {
        let run = |queries: &[Query]| {
            let mut scratch = Scratch::default();
            let before = thread_cpu_time();
            let made: Result<Vec<T>, VectorError> = queries
                .iter()
                .map(|query| work(query, &mut scratch))
                .collect();
            let took = thread_cpu_time().saturating_sub(before);
            Ok((made?, took.as_secs_f64() * 1e9))
        };
        let share = queries.len().div_ceil(self.threads).max(1);
        let parts: Vec<Result<(Vec<T>, f64), VectorError>> = thread::scope(|scope| {
            let run = &run;
            let shares = queries.chunks(share);
            let running: Vec<_> = shares
                .map(|queries| scope.spawn(move || run(queries)))
                .collect();
            let joined = running.into_iter().map(thread::ScopedJoinHandle::join);
            joined
                .map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        let (mut all, mut total) = (Vec::with_capacity(queries.len()), 0.0);
        for part in parts {
            let (made, ns) = part?;
            all.extend(made);
            total += ns;
        }
        Ok((all, total))
    }
}

/// The efforts that a choice at a recall is made by: the least, which tells what is done once, and those around the recall.
fn deciding(tried: &[Tried], recall: f32) -> Vec<usize> {
    let reached = tried.iter().position(|one| one.recall >= recall);
    let around = reached.map(|at| at.saturating_sub(1)..at + 1);
    let mut places: Vec<usize> = around.into_iter().flatten().collect();
    if !tried.is_empty() && places.first() != Some(&0) {
        places.insert(0, 0);
    }
    places
}

/// Processor time of searches that are done several times over: the least of each counts. What else a machine does takes caches
/// away from a search and interrupts it, which only ever makes it longer.
#[derive(Debug, Default)]
struct Least {
    ns: Vec<f64>,
}

impl Least {
    /// Takes what each of the searches took this time.
    fn take(&mut self, took: &[Duration]) {
        self.ns.resize(took.len(), f64::INFINITY);
        for (least, took) in self.ns.iter_mut().zip(took) {
            *least = least.min(took.as_secs_f64() * 1e9);
        }
    }

    /// Nanoseconds of a search, on the mean.
    fn mean_ns(&self) -> f64 {
        self.ns.iter().sum::<f64>() / self.ns.len().max(1) as f64
    }
}

/// Brings `count` of what is in order to the front, from all over it.
fn evenly_first(rows: &mut Vec<u32>, count: usize) {
    let step = (rows.len() / count).max(1);
    let (first, rest): (Vec<_>, Vec<_>) = (0..)
        .zip(&*rows)
        .partition(|(at, _): &(usize, _)| at % step == 0);
    *rows = first.into_iter().chain(rest).map(|(_, &row)| row).collect();
}

/// A stored vector that is searched for.
struct Query {
    row: u32,
    vector: Vec<f32>,
    /// Distances of what is nearest, in order.
    truth: Vec<f32>,
    /// Whether walks can do without it.
    can_hide: bool,
}

/// Whether walks neither begin at a row nor come by it on upper levels.
fn is_hideable(view: &View<'_>, row: u32) -> bool {
    view.graph
        .as_ref()
        .is_none_or(|graph| row != graph.entry.row && graph.upper_rows.binary_search(&row).is_err())
}

/// How the nearest are found.
#[derive(Clone, Copy)]
enum Way {
    Scan,
    Walk(usize),
    UnseenWalk(usize),
    Lists(usize),
}

impl Query {
    fn new(view: &View<'_>, row: u32) -> Self {
        let mut vector = vec![0.0; view.rows.numbers];
        let stored = view.rows.floats(row, &mut vector).to_vec();
        Query {
            row,
            vector: stored,
            truth: Vec::new(),
            can_hide: false,
        }
    }

    /// How many of `hits` are among the `k` nearest.
    fn found(&self, hits: &[f32], k: usize) -> usize {
        let Some(worst) = self.truth[..k.min(self.truth.len())].last() else {
            return 0;
        };
        hits.iter().filter(|&hit| hit <= worst).count()
    }

    /// Distances of the nearest of all but for the vector itself, in order; and whether walks can do without it. Of equal
    /// vectors the first leads to the others.
    fn scan(
        &self,
        view: &View<'_>,
        options: &ColumnOptions,
        scratch: &mut Scratch,
    ) -> Result<(Vec<f32>, bool), VectorError> {
        let found = self.ranked(view, options, (HITS[1], Way::Scan), scratch)?;
        let own = found.iter().find(|one| one.row() == self.row);
        let equal = |one: &&Ranked| own.is_some_and(|own| own.distance() == one.distance());
        let is_alone = found.iter().filter(equal).count() == 1;
        let can_hide = is_alone && is_hideable(view, self.row);
        Ok((self.others(&found, HITS[1]), can_hide))
    }

    /// Distances of the nearest but for the vector itself, in order.
    fn nearest(
        &self,
        view: &View<'_>,
        options: &ColumnOptions,
        (k, way): (usize, Way),
        scratch: &mut Scratch,
    ) -> Result<Vec<f32>, VectorError> {
        let found = self.ranked(view, options, (k, way), scratch)?;
        Ok(self.others(&found, k))
    }

    fn others(&self, found: &[Ranked], k: usize) -> Vec<f32> {
        let others = found.iter().filter(|one| one.row() != self.row);
        others.take(k).map(|one| one.distance()).collect()
    }

    /// The nearest, in order, the vector itself among them unless it is hidden.
    fn ranked(
        &self,
        view: &View<'_>,
        options: &ColumnOptions,
        (k, way): (usize, Way),
        scratch: &mut Scratch,
    ) -> Result<Vec<Ranked>, VectorError> {
        let is_hidden = self.can_hide && matches!(way, Way::UnseenWalk(_));
        let hidden = is_hidden.then_some(self.row);
        let seen = usize::from(!is_hidden);
        let mut request = SearchRequest::new(&self.vector, k + seen);
        let plan = match way {
            Way::Walk(ef) | Way::UnseenWalk(ef) => {
                request.ef_search = ef + seen;
                Plan::Walk
            }
            Way::Lists(probes) => {
                request.probes = Some(probes);
                Plan::ScanLists
            }
            // Scans of blocks of codes cost a third of those of codes one by one.
            Way::Scan if view.lists.is_some() => {
                request.probes = Some(usize::MAX);
                Plan::ScanLists
            }
            Way::Scan if view.codes.is_some() => Plan::ScanCodes,
            Way::Scan => Plan::Scan,
        };
        crate::search::ranked_by(view, options, (&request, plan, hidden), scratch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_disturbs_a_search_once_is_not_in_its_price() {
        let us = |each: &[u64]| -> Vec<Duration> {
            each.iter().copied().map(Duration::from_micros).collect()
        };
        let mut least = Least::default();
        for round in [[10, 900, 30], [700, 20, 31], [11, 21, 800]] {
            least.take(&us(&round));
        }
        assert!((least.mean_ns() - 20_000.0).abs() < 1.0, "{least:?}");
        assert!(Least::default().mean_ns().abs() < f64::EPSILON);
    }

    #[test]
    fn a_choice_is_made_by_the_least_effort_and_those_around_the_recall() {
        let tried = |recalls: &[f32]| -> Vec<Tried> {
            let one = |(at, &recall): (usize, &f32)| Tried {
                k: HITS[0],
                effort: at + 1,
                recall,
                ns: 0.0,
            };
            recalls.iter().enumerate().map(one).collect()
        };
        let check = |recalls: &[f32], recall, places: &[usize]| {
            assert_eq!(deciding(&tried(recalls), recall), places, "{recalls:?}");
        };
        check(&[0.5, 0.8, 0.9, 0.96], 0.95, &[0, 2, 3]);
        check(&[0.5, 0.96], 0.95, &[0, 1]);
        check(&[0.96], 0.95, &[0]);
        // It stays behind the other one, which finds that much.
        check(&[0.5, 0.8], 0.9, &[0]);
        check(&[0.5, 0.8, 0.9, 0.9], 0.9, &[0, 1, 2]);
        check(&[], 0.9, &[]);
    }
}
