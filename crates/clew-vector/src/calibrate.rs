//! How much effort a recall takes, learnt when a graph is built: some of the column's own vectors are
//! searched for by walks of growing effort, and what the walks find is compared with a scan. Each
//! vector is left out of its own answer.

use std::thread;

use bytemuck::{Pod, Zeroable};

use crate::column::View;
use crate::plan::Plan;
use crate::rank::Ranked;
use crate::{ColumnOptions, Scratch, SearchRequest, VectorError};

/// Vectors searched for; each costs a scan of the codes.
const QUERIES: usize = 100;
/// Numbers of hits that recall is learnt for.
const HITS: [usize; 2] = [10, 100];
/// Efforts tried.
const EFFORTS: [usize; 9] = [10, 16, 24, 32, 48, 64, 96, 160, 320];
/// No more than this is worth trying: what is missed then is not found by more effort.
const RECALL_MAX: f32 = 0.998;

/// A walk that keeps `ef` candidates finds this share of the `k` nearest.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Point {
    pub(crate) k: u32,
    pub(crate) ef: u32,
    pub(crate) recall: f32,
}

/// Most points that an image holds.
pub(crate) const POINTS_MAX: usize = HITS.len() * EFFORTS.len();

/// What was learnt about a column: by hits, then by effort.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Calibration<'a> {
    pub(crate) points: &'a [Point],
}

impl Calibration<'_> {
    /// Candidates to keep so that a walk finds the share `target` of the `k` nearest; `None` when no
    /// walk does. Between the points, effort is taken to grow geometrically, with the hits as with
    /// what is missed.
    pub(crate) fn effort(&self, k: usize, target: f32) -> Option<usize> {
        let [few, many] = HITS;
        let of = |hits: usize| self.effort_of(hits, target);
        let effort = match k {
            _ if k <= few => of(few)?,
            _ if k >= many => of(many)? * k as f64 / many as f64,
            _ => {
                let (low, high) = (of(few)?.ln(), of(many)?.ln());
                let share = (k as f64 / few as f64).ln() / (many as f64 / few as f64).ln();
                (low + share * (high - low)).exp()
            }
        };
        Some(whole(effort).max(k))
    }

    /// The effort for as many hits as points are there for.
    fn effort_of(&self, k: usize, target: f32) -> Option<f64> {
        let points = || self.points.iter().filter(|point| point.k as usize == k);
        let above = points().find(|point| point.recall >= target)?;
        let below = points().take_while(|point| point.recall < target).last();
        let Some(below) = below else {
            return Some(f64::from(above.ef));
        };
        let missed = |recall: f32| f64::from(1.0 - recall).max(1e-4).ln();
        let span = missed(above.recall) - missed(below.recall);
        let share = if span < 0.0 {
            (missed(target) - missed(below.recall)) / span
        } else {
            1.0
        };
        let (low, high) = (f64::from(below.ef).ln(), f64::from(above.ef).ln());
        Some((low + share * (high - low)).exp())
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number; the cast saturates"
)]
fn whole(effort: f64) -> usize {
    effort.ceil() as usize
}

/// Measures the column that `view` shows, on several threads. Costs 100 scans of its codes, and some
/// 1,800 walks.
pub(crate) fn calibrate(
    view: &View<'_>,
    options: &ColumnOptions,
    threads: usize,
) -> Result<Vec<Point>, VectorError> {
    let count = view.rows.count();
    let rows = (0_u32..).take(count);
    let rows: Vec<u32> = rows.step_by(count.div_ceil(QUERIES).max(1)).collect();
    let share = rows.len().div_ceil(threads.max(1)).max(1);
    let parts: Vec<Result<Vec<Found>, VectorError>> = thread::scope(|scope| {
        let work = |rows| scope.spawn(move || measure(view, options, rows));
        let running: Vec<_> = rows.chunks(share).map(work).collect();
        let joined = running.into_iter().map(thread::ScopedJoinHandle::join);
        joined
            .map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut total = vec![Found::default(); tried(count).count()];
    for part in parts {
        for (sum, found) in total.iter_mut().zip(part?) {
            sum.found += found.found;
            sum.wanted += found.wanted;
        }
    }
    Ok(points(count, &total))
}

/// What is tried on a column of so many vectors: hits and efforts.
fn tried(count: usize) -> impl Iterator<Item = (usize, usize)> {
    let hits = HITS.into_iter().filter(move |&k| k < count);
    hits.flat_map(move |k| {
        let efforts = EFFORTS.into_iter();
        efforts
            .filter(move |&ef| ef >= k && ef < count)
            .map(move |ef| (k, ef))
    })
}

/// Of the hits that were wanted, how many were found.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    found: usize,
    wanted: usize,
}

/// Searches for some of the rows, in every way that is tried.
fn measure(
    view: &View<'_>,
    options: &ColumnOptions,
    rows: &[u32],
) -> Result<Vec<Found>, VectorError> {
    let mut scratch = Scratch::default();
    let mut total = vec![Found::default(); tried(view.rows.count()).count()];
    for &row in rows {
        let query = Query::new(view, row);
        let truth = query.nearest(view, options, Way::Scan, &mut scratch)?;
        for ((k, ef), sum) in tried(view.rows.count()).zip(&mut total) {
            let truth = &truth[..k.min(truth.len())];
            let Some(&worst) = truth.last() else { continue };
            let hits = query.nearest(view, options, Way::Walk { k, ef }, &mut scratch)?;
            sum.found += hits.iter().filter(|&&hit| hit <= worst).count();
            sum.wanted += truth.len();
        }
    }
    Ok(total)
}

/// What was found, as points; no more for a number of hits than it takes to find nearly all.
fn points(count: usize, total: &[Found]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for ((k, ef), sum) in tried(count).zip(total) {
        let recall = sum.found as f32 / sum.wanted.max(1) as f32;
        let best = points.last().filter(|last| last.k as usize == k);
        let best = best.map_or(0.0, |last| last.recall);
        if best < RECALL_MAX {
            // More effort never finds less, but for chance.
            points.push(point(k, ef, recall.max(best)));
        }
    }
    points
}

fn point(k: usize, ef: usize, recall: f32) -> Point {
    let narrow = |number: usize| u32::try_from(number).expect("efforts are small");
    Point {
        k: narrow(k),
        ef: narrow(ef),
        recall,
    }
}

/// A stored vector that is searched for.
struct Query {
    row: u32,
    vector: Vec<f32>,
}

/// How the nearest are found.
#[derive(Clone, Copy)]
enum Way {
    Scan,
    Walk { k: usize, ef: usize },
}

impl Query {
    fn new(view: &View<'_>, row: u32) -> Self {
        let mut vector = vec![0.0; view.rows.numbers];
        let stored = view.rows.floats(row, &mut vector).to_vec();
        Query {
            row,
            vector: stored,
        }
    }

    /// Distances of the nearest but for the vector itself, in order.
    fn nearest(
        &self,
        view: &View<'_>,
        options: &ColumnOptions,
        way: Way,
        scratch: &mut Scratch,
    ) -> Result<Vec<f32>, VectorError> {
        let (k, ef, plan) = match way {
            Way::Scan if view.codes.is_some() => (HITS[1], HITS[1], Plan::ScanCodes),
            Way::Scan => (HITS[1], HITS[1], Plan::Scan),
            Way::Walk { k, ef } => (k, ef, Plan::Walk),
        };
        let request = SearchRequest {
            ef_search: ef + 1,
            ..SearchRequest::new(&self.vector, k + 1)
        };
        let ranked = crate::search::ranked_by(view, options, (&request, plan), scratch)?;
        let others = ranked.into_iter().filter(|one| one.row() != self.row);
        Ok(others.take(k).map(Ranked::distance).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(rows: &[(u32, u32, f32)]) -> Vec<Point> {
        let point = |&(k, ef, recall)| Point { k, ef, recall };
        rows.iter().map(point).collect()
    }

    #[test]
    fn effort_follows_what_was_measured_and_grows_with_target_and_hits() {
        let points = listed(&[
            (10, 10, 0.8),
            (10, 40, 0.95),
            (10, 160, 0.99),
            (100, 160, 0.9),
            (100, 320, 0.98),
        ]);
        let calibration = Calibration { points: &points };
        assert_eq!(calibration.effort(10, 0.5), Some(10));
        assert_eq!(calibration.effort(10, 0.95), Some(40));
        assert_eq!(calibration.effort(1, 0.95), Some(40));
        // Half way in what is missed is half way in effort: 0.1 of 0.2 and 0.05.
        assert_eq!(calibration.effort(10, 0.9), Some(20));
        assert_eq!(calibration.effort(10, 0.999), None);
        assert_eq!(calibration.effort(200, 0.98), Some(640));
        let efforts: Vec<_> = [1, 10, 20, 50, 99, 100, 150]
            .into_iter()
            .map(|k| calibration.effort(k, 0.95).unwrap())
            .collect();
        assert!(efforts.is_sorted(), "{efforts:?}");
        let empty = Calibration { points: &[] };
        assert_eq!(empty.effort(10, 0.5), None);
    }
}
