//! How much effort a recall takes, learnt when a graph or lists are built: some of the column's own vectors are
//! searched for with growing effort, and what is found is compared with a scan (`measure`). Each vector is left out of its own
//! answer. Where both were built, what the searches cost decides which of them is kept ([`choice`]); parts of a whole keep the
//! same ([`agreed`]).

mod agreed;
mod choice;

use bytemuck::{Pod, Zeroable};

pub(crate) use agreed::Agreed;
pub use choice::Choice;
pub(crate) use choice::{as_one_of, points_in_place_of, usual_walks};

/// Numbers of hits that recall is learnt for.
pub(crate) const HITS: [usize; 2] = [10, 100];
/// Efforts that walks are tried with.
pub(crate) const EFFORTS: [usize; 11] = [10, 16, 24, 32, 48, 64, 96, 160, 320, 640, 1280];
/// Lists that are gone through for a try, as far as there are so many.
pub(crate) const PROBES: [usize; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
/// The recall that columns are chosen at.
pub(crate) const RECALL_AIM: f32 = 0.95;
/// No more than this is worth trying: what is missed then is not found by more effort.
pub(crate) const RECALL_MAX: f32 = 0.998;

/// A search with the effort `ef` finds this share of the `k` nearest.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Point {
    pub(crate) k: u32,
    /// Candidates that a walk keeps; for lists, what asks for the number of lists that was tried.
    pub(crate) ef: u32,
    pub(crate) recall: f32,
}

/// One effort for one number of hits: candidates that a walk kept, or lists gone through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tried {
    pub(crate) k: usize,
    pub(crate) effort: usize,
    /// No less than with less effort: but for chance, more never finds less.
    pub(crate) recall: f32,
    /// Processor time of a search, in nanoseconds.
    pub(crate) ns: f64,
}

impl Tried {
    /// As the point of a graph.
    pub(crate) fn point(&self) -> Point {
        point(self.k, self.effort as f64, self.recall)
    }
}

/// A point, its effort rounded up.
fn point(k: usize, ef: f64, recall: f32) -> Point {
    let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Point {
        k: narrow(k),
        ef: narrow(whole(ef).max(1)),
        recall,
    }
}

/// Most points that an image holds.
pub(crate) const POINTS_MAX: usize = HITS.len() * EFFORTS.len();
const _: () = assert!(PROBES.len() <= EFFORTS.len());

/// What was learnt about a column: by hits, then by effort.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Calibration<'a> {
    pub(crate) points: &'a [Point],
    /// Lists gone through at each point; none where there is a graph.
    pub(crate) probes: &'a [f32],
}

impl Calibration<'_> {
    /// Effort with which a search finds the share `target` of the `k` nearest; `None` when none does. Between the
    /// points, effort is taken to grow geometrically, with the hits as with what is missed.
    pub(crate) fn effort(&self, k: usize, target: f32) -> Option<usize> {
        let effort = between(k, |hits| self.effort_of(hits, target))?;
        Some(whole(effort).max(k))
    }

    /// Lists to go through for `k` hits with the effort `ef`; `None` where no lists were tried. Grows with the effort
    /// beyond what was tried.
    pub(crate) fn probes(&self, k: usize, ef: usize) -> Option<usize> {
        let ef = (ef as f64).max(1.0);
        let few = self.probes_of(HITS[0], ef)?;
        // Small columns have no points for many hits.
        let many = self.probes_of(HITS[1], ef).unwrap_or(few);
        let probes = few.ln() + share_of(k).clamp(0.0, 1.0) * (many / few).ln();
        Some(whole(probes.exp()))
    }

    fn probes_of(&self, k: usize, ef: f64) -> Option<f64> {
        let pairs = self.points.iter().zip(self.probes);
        let pairs = pairs.filter(|(point, _)| point.k as usize == k);
        let pairs = pairs.map(|(point, &probes)| (f64::from(point.ef), f64::from(probes)));
        let (mut below, mut above) = (None, None);
        for (at, probes) in pairs {
            if at <= ef {
                below = Some((at, probes));
            } else if above.is_none() {
                above = Some((at, probes));
            }
        }
        match (below, above) {
            (None, None) => None,
            (None, Some((_, probes))) => Some(probes),
            (Some((at, probes)), None) => Some(probes * ef / at),
            (Some((low, few)), Some((high, many))) => {
                let share = (ef / low).ln() / (high / low).ln();
                Some((few.ln() + share * (many / few).ln()).exp())
            }
        }
    }

    /// The effort for as many hits as points are there for.
    fn effort_of(&self, k: usize, target: f32) -> Option<f64> {
        let points = self.points.iter().filter(|point| point.k as usize == k);
        let points = points.map(|point| (f64::from(point.ef), point.recall));
        cost_of(points, target)
    }
}

/// Something that is known for each of [`HITS`], for `k` hits: as many times as much for more of them.
fn between(k: usize, of: impl Fn(usize) -> Option<f64>) -> Option<f64> {
    let [few, many] = HITS;
    match k {
        _ if k <= few => of(few),
        _ if k >= many => Some(of(many)? * k as f64 / many as f64),
        _ => {
            let (low, high) = (of(few)?.ln(), of(many)?.ln());
            Some((low + share_of(k) * (high - low)).exp())
        }
    }
}

/// How far a number of hits lies between [`HITS`], as they grow geometrically.
fn share_of(k: usize) -> f64 {
    let [few, many] = HITS.map(|hits| hits as f64);
    (k as f64 / few).ln() / (many / few).ln()
}

/// What a recall costs by ascending pairs of cost and recall, where cost grows geometrically with what is missed;
/// `None` where none of them is as good.
fn cost_of(points: impl Iterator<Item = (f64, f32)>, target: f32) -> Option<f64> {
    let mut below: Option<(f64, f32)> = None;
    for (cost, recall) in points {
        if recall < target {
            below = Some((cost, recall));
            continue;
        }
        let Some((low, worse)) = below else {
            return Some(cost);
        };
        let span = missed(recall) - missed(worse);
        let share = if span < 0.0 {
            (missed(target) - missed(worse)) / span
        } else {
            1.0
        };
        return Some((low.ln() + share * (cost / low).ln()).exp());
    }
    None
}

/// The logarithm of what a recall leaves out, of which one in ten thousand counts as nothing.
fn missed(recall: f32) -> f64 {
    f64::from(1.0 - recall).max(1e-4).ln()
}

/// An effort as a whole number; what computing it has added does not raise it.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number; the cast saturates"
)]
fn whole(effort: f64) -> usize {
    const ROUNDING: f64 = 1e-6;
    (effort - ROUNDING).ceil() as usize
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
        let calibration = Calibration {
            points: &points,
            probes: &[],
        };
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
        let empty = Calibration {
            points: &[],
            probes: &[],
        };
        assert_eq!(empty.effort(10, 0.5), None);
    }
}
