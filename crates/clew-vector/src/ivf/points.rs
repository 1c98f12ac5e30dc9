//! Vectors in bytes, and the nearest of them: what lists are formed by. A byte per dimension errs far
//! less than the codes in the lists do, and costs a quarter of the memory and time of `f32`.

use clew_kernels::Kernels;

/// Dimensions that far more than so many are compared by first. Points are turned at random, so that any of them tell
/// how far two lie apart: with an error of a twelfth here.
const FIRST_DIMENSIONS: usize = 256;
/// The worst of the nearest centres of so many parts of them is how far a centre may seem to lie to be compared fully: some
/// twenty do, of which the nearest is one all but always.
const FIRST_PARTS: usize = 8;

/// Rows of signed bytes, each with the size of its steps.
#[derive(Debug, Default)]
pub(super) struct Points {
    pub(super) dimension: usize,
    pub(super) rows: Vec<i8>,
    pub(super) steps: Vec<f32>,
}

impl Points {
    pub(super) fn new(dimension: usize) -> Self {
        Points {
            dimension,
            ..Points::default()
        }
    }

    /// Room for so many rows.
    pub(super) fn with_room(dimension: usize, count: usize) -> Self {
        Points {
            dimension,
            rows: Vec::with_capacity(count * dimension),
            steps: Vec::with_capacity(count),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Adds a vector, rounded.
    pub(super) fn push(&mut self, vector: &[f32], kernels: &Kernels) {
        let start = self.rows.len();
        self.rows.resize(start + self.dimension, 0);
        let (step, _) = kernels.quantize_i8(vector, &mut self.rows[start..]);
        self.steps.push(step);
    }

    /// Adds a point of another set.
    pub(super) fn add(&mut self, point: Point<'_>) {
        self.rows.extend_from_slice(point.numbers);
        self.steps.push(point.step);
    }

    pub(super) fn point(&self, at: usize) -> Point<'_> {
        Point {
            numbers: &self.rows[at * self.dimension..][..self.dimension],
            step: self.steps[at],
        }
    }
}

/// One vector in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point<'a> {
    pub(super) numbers: &'a [i8],
    pub(super) step: f32,
}

impl Point<'_> {
    /// The first of its dimensions.
    fn first(&self) -> Self {
        Point {
            numbers: &self.numbers[..FIRST_DIMENSIONS],
            step: self.step,
        }
    }

    /// The vector that the bytes stand for.
    pub(super) fn floats(&self) -> impl Iterator<Item = f32> {
        let step = self.step;
        self.numbers
            .iter()
            .map(move |&value| step * f32::from(value))
    }
}

/// Points that others are assigned to.
#[derive(Debug, Default)]
pub(super) struct Centres {
    pub(super) points: Points,
    /// Squared length of each.
    pub(super) squares: Vec<f32>,
    /// The same by their first dimensions, where points have at least twice as many.
    first: Option<Box<Centres>>,
}

impl Centres {
    pub(super) fn new(points: Points, kernels: &Kernels) -> Self {
        let square = |at| {
            let Point { numbers, step } = points.point(at);
            step * step * kernels.i8().dot(numbers, numbers)
        };
        let first = (points.dimension >= 2 * FIRST_DIMENSIONS).then(|| {
            let mut first = Points::with_room(FIRST_DIMENSIONS, points.len());
            for at in 0..points.len() {
                first.add(points.point(at).first());
            }
            Box::new(Centres::new(first, kernels))
        });
        Centres {
            squares: (0..points.len()).map(square).collect(),
            points,
            first,
        }
    }

    /// The nearest centre and how much nearer or farther it lies than the origin, by squared distance;
    /// the first of equals. `scores` is memory for one number per centre. Cost: one byte product per
    /// centre and dimension, about 4 ns per centre of 384 dimensions. From 512 dimensions on, all are compared by 256 of
    /// them, and fully only those that seem near.
    pub(super) fn nearest(
        &self,
        point: Point<'_>,
        scores: &mut Vec<f32>,
        kernels: &Kernels,
    ) -> (usize, f32) {
        let Some(first) = &self.first else {
            self.score(point, scores, kernels);
            return least(scores);
        };
        first.score(point.first(), scores, kernels);
        let limit = near(scores);
        let near = scores
            .iter()
            .enumerate()
            .filter(|(_, score)| **score <= limit);
        let fully = near.map(|(at, _)| {
            let centre = self.points.point(at);
            let product = kernels.i8().dot(point.numbers, centre.numbers);
            let score = self.squares[at] - 2.0 * point.step * centre.step * product;
            (at, score)
        });
        let nearest = fully.min_by(|(_, a), (_, b)| a.total_cmp(b));
        nearest.unwrap_or((0, f32::INFINITY))
    }

    /// How much nearer or farther each centre lies than the origin.
    fn score(&self, point: Point<'_>, scores: &mut Vec<f32>, kernels: &Kernels) {
        scores.resize(self.points.len(), 0.0);
        kernels
            .i8()
            .dot_rows(point.numbers, &self.points.rows, scores);
        let twice = 2.0 * point.step;
        let facts = self.squares.iter().zip(&self.points.steps);
        for (score, (square, step)) in scores.iter_mut().zip(facts) {
            *score = square - twice * step * *score;
        }
    }
}

/// A number that few of many are no greater than: the greatest of the least of each of [`FIRST_PARTS`] parts.
fn near(scores: &[f32]) -> f32 {
    let mut mins = [f32::INFINITY; FIRST_PARTS];
    for block in scores.as_chunks::<FIRST_PARTS>().0 {
        for (min, &score) in mins.iter_mut().zip(block) {
            *min = if score < *min { score } else { *min };
        }
    }
    mins.into_iter().fold(f32::NEG_INFINITY, f32::max)
}

/// The least number and its place, the first of equals: first by blocks, which the compiler widens.
fn least(scores: &[f32]) -> (usize, f32) {
    const LANES: usize = 16;
    let mut mins = [f32::INFINITY; LANES];
    let (blocks, tail) = scores.as_chunks::<LANES>();
    for block in blocks {
        for (min, &score) in mins.iter_mut().zip(block) {
            *min = if score < *min { score } else { *min };
        }
    }
    let all = mins.iter().chain(tail);
    let min = all.fold(f32::INFINITY, |min, &score| min.min(score));
    let at = scores.iter().position(|&score| score <= min);
    (at.unwrap_or(0), min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix;
    use clew_kernels::kernels;

    /// Random points of many dimensions around random corners.
    fn scattered(dimension: usize, (corners, each): (usize, usize)) -> Points {
        let mut random = SplitMix::new(11);
        let mut draw = |scale: f32| -> Vec<f32> {
            let unit = || scale * ((random.draw() >> 40) as f32 / (1_u64 << 24) as f32 - 0.5);
            std::iter::repeat_with(unit).take(dimension).collect()
        };
        let corners: Vec<Vec<f32>> = (0..corners).map(|_| draw(1.0)).collect();
        let mut points = Points::new(dimension);
        for at in 0..corners.len() * each {
            let around = draw(1.5);
            let corner = &corners[at % corners.len()];
            let vector: Vec<f32> = corner.iter().zip(&around).map(|(a, b)| a + b).collect();
            points.push(&vector, kernels());
        }
        points
    }

    #[test]
    fn what_is_nearest_by_all_dimensions_is_found_by_a_few_of_them_first() {
        let points = scattered(1_024, (200, 4));
        let mut centres = Points::new(1_024);
        for at in 0..200 {
            centres.add(points.point(at));
        }
        let by_few = Centres::new(centres, kernels());
        assert!(by_few.first.is_some());
        let mut scores = Vec::new();
        let (mut missed, mut compared) = (0, 0);
        for at in 0..points.len() {
            let point = points.point(at);
            let found = by_few.nearest(point, &mut scores, kernels());
            compared += scores
                .iter()
                .filter(|&&score| score <= near(&scores))
                .count();
            by_few.score(point, &mut scores, kernels());
            let nearest = least(&scores);
            missed += usize::from(found.0 != nearest.0);
        }
        assert!(missed <= points.len() / 100, "{missed} of {}", points.len());
        assert!(compared < 40 * points.len(), "{compared}");
    }

    #[test]
    fn few_centres_are_all_compared() {
        let points = scattered(512, (3, 1));
        let mut centres = Points::new(512);
        for at in 0..3 {
            centres.add(points.point(at));
        }
        let centres = Centres::new(centres, kernels());
        for at in 0..3 {
            let found = centres.nearest(points.point(at), &mut Vec::new(), kernels());
            assert_eq!(found.0, at);
        }
    }
}
