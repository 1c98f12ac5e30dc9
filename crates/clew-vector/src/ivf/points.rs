//! Vectors in bytes, and the nearest of them: what lists are formed by. A byte per dimension errs far
//! less than the codes in the lists do, and costs a quarter of the memory and time of `f32`.

use clew_kernels::Kernels;

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
}

impl Centres {
    pub(super) fn new(points: Points, kernels: &Kernels) -> Self {
        let square = |at| {
            let Point { numbers, step } = points.point(at);
            step * step * kernels.i8().dot(numbers, numbers)
        };
        Centres {
            squares: (0..points.len()).map(square).collect(),
            points,
        }
    }

    /// The nearest centre and how much nearer or farther it lies than the origin, by squared distance;
    /// the first of equals. `scores` is memory for one number per centre. Cost: one byte product per
    /// centre and dimension, about 4 ns per centre of 384 dimensions.
    pub(super) fn nearest(
        &self,
        point: Point<'_>,
        scores: &mut Vec<f32>,
        kernels: &Kernels,
    ) -> (usize, f32) {
        scores.resize(self.points.len(), 0.0);
        kernels
            .i8()
            .dot_rows(point.numbers, &self.points.rows, scores);
        let twice = 2.0 * point.step;
        let facts = self.squares.iter().zip(&self.points.steps);
        for (score, (square, step)) in scores.iter_mut().zip(facts) {
            *score = square - twice * step * *score;
        }
        least(scores)
    }
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
