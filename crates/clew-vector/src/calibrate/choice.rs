//! Which of two structures a column keeps, by what searches through each cost.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

use super::{EFFORTS, HITS, Point, RECALL_AIM, Tried, cost_of, missed, point};

/// A column that has grown by this factor since is measured again.
const RECHOOSE_RATIO: usize = 4;
/// Lists may take so many times what a graph takes: they are smaller, and a merge forms them several times as fast.
const LISTS_MARGIN: f32 = 1.1;
/// What is missed falls with effort at least as a power of this: recall that stays where it is has reached its limit.
const SLOPE_MAX: f64 = -0.2;

/// Why a column is searched through a graph or through lists: what a search for ten hits took that finds the share
/// `recall`, in nanoseconds of processor time on one thread, when both were there. A structure that does not find as
/// much has an infinite price.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable, Serialize, Deserialize)]
#[repr(C)]
pub struct Choice {
    /// Recall of ten hits at which the prices were found.
    pub recall: f32,
    /// Price of a walk.
    pub graph_ns: f32,
    /// Price of going through lists; of a column that shares its centres with others, as one of them.
    pub lists_ns: f32,
    /// Vectors that the column had then.
    pub rows: u32,
}

impl Choice {
    /// The recall that two structures are compared at, by the share that each finds with the efforts tried; `None` where
    /// nothing was tried.
    pub(crate) fn compared_at(first: &[Tried], second: &[Tried]) -> Option<f32> {
        let best = |tried: &[Tried]| {
            let few = tried.iter().rfind(|one| one.k == HITS[0]);
            few.map(|one| one.recall)
        };
        Some(RECALL_AIM.min(best(first)?.max(best(second)?)))
    }

    /// Compares what was tried; `None` where too few vectors are there to try anything.
    #[allow(clippy::cast_possible_truncation, reason = "rounds")]
    pub(crate) fn of(rows: usize, walks: &[Tried], lists: &[Tried]) -> Option<Self> {
        let of_few = |tried: &[Tried]| -> Vec<(f64, f32)> {
            let few = tried.iter().filter(|one| one.k == HITS[0]);
            few.map(|one| (one.ns, one.recall)).collect()
        };
        let recall = Self::compared_at(walks, lists)?;
        let (walks, lists) = (of_few(walks), of_few(lists));
        let price = |points: Vec<(f64, f32)>| {
            let price = cost_of(points.into_iter(), recall);
            price.unwrap_or(f64::INFINITY) as f32
        };
        Some(Choice {
            recall,
            graph_ns: price(walks),
            lists_ns: price(lists),
            rows: u32::try_from(rows).unwrap_or(u32::MAX),
        })
    }

    /// Whether lists are kept: they are faster than a graph, or hardly slower.
    pub fn is_for_lists(&self) -> bool {
        self.lists_ns < LISTS_MARGIN * self.graph_ns
    }

    /// Whether it still holds for so many vectors.
    pub(crate) fn holds_for(&self, rows: usize) -> bool {
        rows / RECHOOSE_RATIO < self.rows as usize
    }
}

/// What lists cost as one of so many columns with the same centres that are searched together: what the nearest list alone
/// takes is mostly what is done once for all of them.
pub(crate) fn as_one_of(tried: &[Tried], parts: usize) -> Vec<Tried> {
    let others = 1.0 - 1.0 / parts.max(1) as f64;
    let of_part = |one: &Tried| {
        let first = tried.iter().find(|first| first.k == one.k);
        let once = first.map_or(0.0, |first| first.ns.min(one.ns));
        Tried {
            ns: one.ns - others * once,
            ..*one
        }
    };
    tried.iter().map(of_part).collect()
}

/// Points of lists that stand in for a graph: at each, the effort with which a walk would find as much, by the points of
/// the graph, or of lists that stood in for it before. The greatest effort stands for the most that lists find, as whoever asks
/// for that wants what can be found; what they find beyond walks is spread over the efforts before it.
pub(crate) fn points_in_place_of(walks: &[Point], lists: &[Tried]) -> Vec<Point> {
    let stands_for = |one: &Tried| {
        let curve = walks.iter().filter(|point| point.k as usize == one.k);
        let mut curve: Vec<(f64, f32)> = curve
            .map(|point| (f64::from(point.ef), point.recall))
            .collect();
        let most = lists.iter().rfind(|other| other.k == one.k);
        if let (Some(last), Some(most)) = (curve.last_mut(), most) {
            last.1 = last.1.max(most.recall);
        }
        point(one.k, effort_for(&curve, one.recall), one.recall)
    };
    lists.iter().map(stands_for).collect()
}

/// Points of a graph as it is usually, for lists of columns that are too small to be given one, and that others like them are
/// searched with: ten hits are found but for a hundredth with an effort of 100, more of them and with less effort worse (recall@10
/// .95 at `ef` 32, .98 at 64; recall@100 .98 at 128: sentence embeddings and clustered vectors of 128 to 1,024 dimensions).
pub(crate) fn usual_walks() -> Vec<Point> {
    let missed = |k: usize, ef: usize| {
        let by_hits = (k as f64 / 10.0).powf(0.45);
        0.01 * by_hits * (100.0 / ef as f64).powf(1.35)
    };
    let points = HITS.iter().flat_map(|&k| {
        let efforts = EFFORTS.iter().filter(move |&&ef| ef >= k);
        efforts.map(move |&ef| point(k, ef as f64, recall_without(missed(k, ef))))
    });
    points.collect()
}

#[allow(clippy::cast_possible_truncation, reason = "rounds")]
fn recall_without(missed: f64) -> f32 {
    (1.0 - missed) as f32
}

/// The effort of a recall on a curve of ascending efforts, which goes on at its lower end as it goes there.
fn effort_for(curve: &[(f64, f32)], recall: f32) -> f64 {
    let (Some(&first), Some(&last)) = (curve.first(), curve.last()) else {
        return 1.0;
    };
    if recall >= first.1 {
        return cost_of(curve.iter().copied(), recall).unwrap_or(last.0);
    }
    let slope = slope(first, curve.get(1).copied().unwrap_or(last));
    first.0 * ((missed(recall) - missed(first.1)) / slope).exp()
}

/// By which power of effort what is missed falls between two points.
fn slope((low, worse): (f64, f32), (high, better): (f64, f32)) -> f64 {
    let steps = (high / low).ln();
    if steps <= 0.0 {
        return -1.0;
    }
    ((missed(better) - missed(worse)) / steps).min(SLOPE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(rows: &[(usize, f32, f64)]) -> Vec<Tried> {
        let one = |&(effort, recall, ns): &(usize, f32, f64)| Tried {
            k: 10,
            effort,
            recall,
            ns,
        };
        rows.iter().map(one).collect()
    }

    #[test]
    fn the_cheaper_one_at_the_aim_is_chosen() {
        let walks = tried(&[(10, 0.8, 10.0), (40, 0.98, 40.0)]);
        let lists = tried(&[(1, 0.5, 5.0), (8, 0.96, 30.0)]);
        let choice = Choice::of(1_000, &walks, &lists).unwrap();
        assert!((choice.recall - 0.95).abs() < 1e-6);
        assert!(
            choice.lists_ns > choice.graph_ns && !choice.is_for_lists(),
            "{choice:?}"
        );
        let cheap = tried(&[(1, 0.5, 5.0), (8, 0.96, 15.0)]);
        assert!(Choice::of(1_000, &walks, &cheap).unwrap().is_for_lists());
        // What is hardly slower is kept for being smaller.
        let near = tried(&[(1, 0.5, 5.0), (8, 0.96, 27.0)]);
        let near = Choice::of(1_000, &walks, &near).unwrap();
        assert!(
            near.lists_ns > near.graph_ns && near.is_for_lists(),
            "{near:?}"
        );
        assert!(choice.holds_for(3_999) && !choice.holds_for(4_000));
    }

    #[test]
    fn what_lists_prepare_is_paid_for_by_all_that_share_it() {
        let lists = tried(&[(1, 0.5, 40.0), (2, 0.9, 50.0), (4, 0.96, 80.0)]);
        assert_eq!(as_one_of(&lists, 1), lists);
        let prices: Vec<f64> = as_one_of(&lists, 4).iter().map(|one| one.ns).collect();
        assert_eq!(prices, [10.0, 20.0, 50.0]);
        assert!(as_one_of(&[], 4).is_empty());
    }

    #[test]
    fn where_neither_reaches_the_aim_the_better_one_is_chosen() {
        let walks = tried(&[(10, 0.6, 10.0), (40, 0.7, 40.0)]);
        let lists = tried(&[(1, 0.5, 5.0), (8, 0.9, 500.0)]);
        let choice = Choice::of(1_000, &walks, &lists).unwrap();
        assert_eq!((choice.recall, choice.graph_ns), (0.9, f32::INFINITY));
        assert!(choice.is_for_lists());
        assert_eq!(Choice::of(5, &[], &[]), None);
    }

    #[test]
    fn lists_stand_in_for_walks_that_find_as_much() {
        let walks = tried(&[(10, 0.8, 0.0), (40, 0.95, 0.0), (80, 0.951, 0.0)]);
        let walks: Vec<Point> = walks.iter().map(Tried::point).collect();
        let lists = tried(&[
            (1, 0.6, 0.0),
            (2, 0.8, 0.0),
            (4, 0.9, 0.0),
            (8, 0.95, 0.0),
            (16, 0.98, 0.0),
            (32, 0.99, 0.0),
        ]);
        let points = points_in_place_of(&walks, &lists);
        let efforts: Vec<u32> = points.iter().map(|point| point.ef).collect();
        // What is missed halves with each doubling of effort, below what was tried as well; what no walk finds is spread up to
        // the greatest one.
        assert_eq!(efforts, [5, 10, 20, 40, 60, 80]);
        assert_eq!(points[5].recall, 0.99);
    }
}
