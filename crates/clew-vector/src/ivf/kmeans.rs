//! Centres of lists by Lloyd's k-means over a sample (Lloyd, "Least squares quantization in PCM",
//! 1982). A list only has to be compact, not optimal: few rounds over few rows do.

use std::thread;

use clew_kernels::Kernels;

use crate::ivf::points::{Centres, Point, Points};
use crate::random::SplitMix;

/// Rounds of assigning and averaging, each by every so many-th point of the sample: roughly where centres lie, few points
/// tell as well (Newling and Fleuret, "Nested mini-batch k-means", 2016). More rounds, or all of the sample in each of them,
/// gain no recall that can be measured.
const ROUNDS: [usize; 5] = [4, 4, 2, 1, 1];
/// A centre is divided when it is the nearest of so many times as many points as there are on the mean.
const UNEVEN: usize = 4;

/// Every `step`-th of some points.
#[derive(Clone, Copy)]
struct Every<'a> {
    points: &'a Points,
    step: usize,
}

impl<'a> Every<'a> {
    fn one(points: &'a Points) -> Self {
        Every { points, step: 1 }
    }

    fn len(self) -> usize {
        self.points.len().div_ceil(self.step)
    }

    fn point(self, at: usize) -> Point<'a> {
        self.points.point(at * self.step)
    }
}

/// Forms `count` centres of `sample`, which has at least one point; fewer points than centres make
/// fewer centres. The same seed gives the same centres, whatever the number of threads. Cost:
/// [`ROUNDS`], three in all, times the product of both counts and the dimension, in byte products.
pub(super) fn train(
    sample: &Points,
    count: usize,
    (seed, threads): (u64, usize),
    kernels: &Kernels,
) -> Centres {
    let count = count.min(sample.len());
    let mut random = SplitMix::new(seed);
    let mut starts = Points::new(sample.dimension);
    for at in draw(sample.len(), count, &mut random) {
        starts.add(sample.point(at));
    }
    let mut centres = Centres::new(starts, kernels);
    for step in ROUNDS {
        // No fewer points than centres.
        let step = step.min(sample.len() / count.max(1)).max(1);
        let points = Every {
            points: sample,
            step,
        };
        let assigned = assign(points, &centres, threads, kernels);
        centres = Centres::new(
            average(points, (&assigned, count), &mut random, kernels),
            kernels,
        );
    }
    centres
}

/// Forms `count` centres as [`train`] does, and divides those that are the nearest of far more points than others: what
/// is like nothing else is nearest to whatever lies in the middle, and a list of all of that is gone through by every
/// search that comes near. There may be half as many centres again then.
pub(super) fn train_even(
    sample: &Points,
    count: usize,
    (seed, threads): (u64, usize),
    kernels: &Kernels,
) -> Centres {
    let centres = train(sample, count, (seed, threads), kernels);
    let assigned = assign(Every::one(sample), &centres, threads, kernels);
    let mut members = vec![0_usize; centres.points.len()];
    for &centre in &assigned {
        members[centre] += 1;
    }
    let even = sample.len().div_ceil(centres.points.len().max(1)).max(1);
    let mut divided = Points::new(sample.dimension);
    for (at, &members) in members.iter().enumerate() {
        if members < UNEVEN * even {
            divided.add(centres.points.point(at));
            continue;
        }
        let mut own = Points::with_room(sample.dimension, members);
        let all = assigned.iter().enumerate();
        for (point, _) in all.filter(|(_, centre)| **centre == at) {
            own.add(sample.point(point));
        }
        // Twice as large as the others, as they are no closer together for being divided.
        let parts = train(&own, members.div_ceil(2 * even), (seed, threads), kernels);
        for part in 0..parts.points.len() {
            divided.add(parts.points.point(part));
        }
    }
    Centres::new(divided, kernels)
}

/// `count` different numbers below `len`, in random order.
fn draw(len: usize, count: usize, random: &mut SplitMix) -> Vec<usize> {
    let mut all: Vec<usize> = (0..len).collect();
    for at in 0..count {
        let other = at + below(len - at, random);
        all.swap(at, other);
    }
    all.truncate(count);
    all
}

/// A number below `end`, which is not 0.
#[allow(
    clippy::cast_possible_truncation,
    reason = "less than a length in memory"
)]
fn below(end: usize, random: &mut SplitMix) -> usize {
    (random.draw() % end as u64) as usize
}

/// The nearest centre of each point.
fn assign(sample: Every<'_>, centres: &Centres, threads: usize, kernels: &Kernels) -> Vec<usize> {
    let mut assigned = vec![0; sample.len()];
    let share = sample.len().div_ceil(threads.max(1)).max(1);
    thread::scope(|scope| {
        for (at, part) in assigned.chunks_mut(share).enumerate() {
            let mut work = move || {
                let mut scores = Vec::new();
                for (offset, slot) in part.iter_mut().enumerate() {
                    let point = sample.point(at * share + offset);
                    (*slot, _) = centres.nearest(point, &mut scores, kernels);
                }
            };
            if threads > 1 {
                scope.spawn(work);
            } else {
                work();
            }
        }
    });
    assigned
}

/// The means of the points of each centre. One without points starts again from a random point.
fn average(
    sample: Every<'_>,
    (assigned, count): (&[usize], usize),
    random: &mut SplitMix,
    kernels: &Kernels,
) -> Points {
    let dimension = sample.points.dimension;
    let mut sums = vec![0.0_f32; count * dimension];
    let mut members = vec![0_usize; count];
    for (at, &centre) in assigned.iter().enumerate() {
        members[centre] += 1;
        let sums = &mut sums[centre * dimension..][..dimension];
        for (sum, value) in sums.iter_mut().zip(sample.point(at).floats()) {
            *sum += value;
        }
    }
    let mut means = Points::new(dimension);
    for (sums, &members) in sums.chunks_mut(dimension).zip(&members) {
        if members == 0 {
            means.add(sample.point(below(sample.len(), random)));
            continue;
        }
        for sum in sums.iter_mut() {
            *sum /= members as f32;
        }
        means.push(sums, kernels);
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;
    use clew_kernels::kernels;

    /// Points around `clusters` corners far from each other.
    fn clustered(clusters: usize, each: usize) -> Points {
        let mut random = SplitMix::new(5);
        let mut points = Points::new(8);
        for at in 0..clusters * each {
            let corner = at % clusters;
            let vector: Vec<f32> = (0..8)
                .map(|axis| {
                    let here = if corner >> axis & 1 == 1 { 10.0 } else { -10.0 };
                    here + (random.draw() >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
                })
                .collect();
            points.push(&vector, kernels());
        }
        points
    }

    #[test]
    fn clusters_far_apart_get_a_centre_each_or_share_one() {
        let sample = clustered(4, 50);
        let centres = train(&sample, 32, (7, 1), kernels());
        let assigned = assign(Every::one(&sample), &centres, 1, kernels());
        for (at, &centre) in assigned.iter().enumerate() {
            for (other, &its) in assigned.iter().enumerate() {
                let same_cluster = at % 4 == other % 4;
                assert!(
                    centre != its || same_cluster,
                    "{at} and {other} share a list"
                );
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_centres_on_any_number_of_threads() {
        let sample = clustered(16, 20);
        let one = train(&sample, 10, (3, 1), kernels());
        let three = train(&sample, 10, (3, 3), kernels());
        assert_eq!(one.points.rows, three.points.rows);
        let other = train(&sample, 10, (4, 1), kernels());
        assert_ne!(one.points.rows, other.points.rows);
    }

    #[test]
    fn fewer_points_than_centres_and_equal_points_are_no_problem() {
        let mut sample = Points::new(3);
        for _ in 0..5 {
            sample.push(&[1.0, 2.0, 3.0], kernels());
        }
        let centres = train(&sample, 9, (1, 1), kernels());
        assert_eq!(centres.points.len(), 5);
        let (at, _) = centres.nearest(sample.point(4), &mut Vec::new(), kernels());
        assert_eq!(at, 0, "the first of equals");
    }
}
