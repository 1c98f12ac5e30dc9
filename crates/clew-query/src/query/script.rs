//! Exact scores by the distance of a vector: what a protocol asks for, and what scripts over nothing but one vector become.

use super::tree::Query;
use serde::{Deserialize, Serialize};

/// A query's documents, scored by how near a vector of theirs is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VectorScore {
    /// What must match.
    pub query: Box<Query>,
    /// The path of the field with the vectors.
    pub field: String,
    /// The vector that they are measured against.
    pub vector: Vec<f32>,
    /// The measure.
    pub measure: VectorMeasure,
    /// What is made of it.
    pub formula: ScoreFormula,
    /// Documents that score less do not match.
    pub min_score: Option<f32>,
    /// Factor on the score.
    pub boost: f32,
}

/// How near two vectors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VectorMeasure {
    /// The cosine of their angle.
    Cosine,
    /// Their inner product.
    InnerProduct,
    /// The square of their distance.
    L2Squared,
    /// The sum of the distances along the axes.
    L1,
    /// The longest distance along an axis.
    LInf,
    /// The number of bits that differ.
    Hamming,
}

impl VectorMeasure {
    /// Measures two vectors of the same length.
    pub fn between(self, a: &[f32], b: &[f32]) -> f32 {
        let pairs = || a.iter().zip(b).map(|(a, b)| (f64::from(*a), f64::from(*b)));
        let dot = |pairs: &mut dyn Iterator<Item = (f64, f64)>| -> f64 {
            pairs.map(|(a, b)| a * b).sum()
        };
        let measured: f64 = match self {
            VectorMeasure::InnerProduct => dot(&mut pairs()),
            VectorMeasure::Cosine => {
                let of = |vector: &[f32]| -> f64 {
                    vector.iter().map(|v| f64::from(*v) * f64::from(*v)).sum()
                };
                let lengths = (of(a) * of(b)).sqrt();
                if lengths > 0.0 {
                    dot(&mut pairs()) / lengths
                } else {
                    0.0
                }
            }
            VectorMeasure::L2Squared => pairs().map(|(a, b)| (a - b) * (a - b)).sum(),
            VectorMeasure::L1 => pairs().map(|(a, b)| (a - b).abs()).sum(),
            VectorMeasure::LInf => pairs().map(|(a, b)| (a - b).abs()).fold(0.0, f64::max),
            VectorMeasure::Hamming => {
                let differing = pairs().map(|(a, b)| (byte(a) ^ byte(b)).count_ones());
                f64::from(differing.sum::<u32>())
            }
        };
        narrow(measured)
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "scores are 32 bits wide, sums of them are not"
)]
fn narrow(measured: f64) -> f32 {
    measured as f32
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "bits are written as bytes with a sign; the conversion saturates"
)]
fn byte(value: f64) -> i8 {
    value as i8
}

/// What is made of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ScoreFormula {
    /// The measure and a number.
    Plus(f32),
    /// Half of the measure and one.
    HalfOfOneMore,
    /// One divided by the measure and a number.
    Inverse(f32),
    /// As OpenSearch scores an inner product: never negative.
    InnerProduct,
}

impl ScoreFormula {
    /// The score that a measure becomes.
    #[inline]
    pub fn apply(self, measure: f32) -> f32 {
        match self {
            ScoreFormula::Plus(number) => measure + number,
            ScoreFormula::HalfOfOneMore => f32::midpoint(1.0, measure),
            ScoreFormula::Inverse(number) => 1.0 / (measure + number),
            ScoreFormula::InnerProduct if measure >= 0.0 => measure + 1.0,
            ScoreFormula::InnerProduct => 1.0 / (1.0 - measure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_those_of_the_textbooks() {
        let (a, b) = ([1.0, -2.0, 3.0], [4.0, 2.0, 3.0]);
        let check = |measure: VectorMeasure, expected: f32| {
            let found = measure.between(&a, &b);
            assert!((found - expected).abs() < 1e-6, "{measure:?}: {found}");
        };
        check(VectorMeasure::InnerProduct, 9.0);
        check(VectorMeasure::L2Squared, 25.0);
        check(VectorMeasure::L1, 7.0);
        check(VectorMeasure::LInf, 4.0);
        check(VectorMeasure::Cosine, 9.0 / (14.0_f32 * 29.0).sqrt());
        let bits = VectorMeasure::Hamming.between(&[-1.0, 0.0], &[0.0, 3.0]);
        assert!((bits - 10.0).abs() < f32::EPSILON);
        assert!(VectorMeasure::Cosine.between(&[0.0], &[1.0]).abs() < f32::EPSILON);
    }
}
