//! Queries that rank documents by the features they have: one feature through a curve, or many at
//! once, as sparse vectors are compared.

use serde::{Deserialize, Serialize};

/// A score by the value of one feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankFeature {
    /// Path of a `rank_feature` field, or of a `rank_features` field with a feature behind it.
    pub field: String,
    /// What becomes of the value.
    pub curve: FeatureCurve,
    /// Factor on the score.
    pub boost: f32,
}

/// What becomes of a feature's value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum FeatureCurve {
    /// `value / (value + pivot)`; without a pivot that of the mean value.
    Saturation {
        /// The value that scores half.
        pivot: Option<f32>,
    },
    /// The logarithm of the value and this number.
    Log {
        /// The number.
        scaling_factor: f32,
    },
    /// The same as a saturation, with both to the power of a number.
    Sigmoid {
        /// The value that scores half.
        pivot: f32,
        /// The number.
        exponent: f32,
    },
    /// The value itself.
    Linear,
}

impl FeatureCurve {
    /// The score of a value, before boosts; a saturation without a pivot has it at 1.
    #[inline]
    pub fn at(self, value: f64) -> f64 {
        match self {
            FeatureCurve::Saturation { pivot } => value / (value + f64::from(pivot.unwrap_or(1.0))),
            FeatureCurve::Log { scaling_factor } => (f64::from(scaling_factor) + value).ln(),
            FeatureCurve::Sigmoid { pivot, exponent } => {
                let exponent = f64::from(exponent);
                let raised = value.powf(exponent);
                raised / (raised + f64::from(pivot).powf(exponent))
            }
            FeatureCurve::Linear => value,
        }
    }
}

/// Documents by how much of what is wanted they have: the sum of the products of weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SparseVector {
    /// Path of a field of features, or of sparse vectors, whose dimensions are features by number.
    pub field: String,
    /// Features and how much of each is wanted.
    pub tokens: Vec<(String, f32)>,
    /// Factor on the score.
    pub boost: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_half_at_their_pivot() {
        let saturation = FeatureCurve::Saturation { pivot: Some(8.0) };
        let sigmoid = FeatureCurve::Sigmoid {
            pivot: 8.0,
            exponent: 0.5,
        };
        for curve in [saturation, sigmoid] {
            assert!((curve.at(8.0) - 0.5).abs() < 1e-9, "{curve:?}");
            assert!(curve.at(9.0) > curve.at(8.0), "{curve:?}");
        }
        let log = FeatureCurve::Log {
            scaling_factor: 4.0,
        };
        assert!((log.at(5.0) - 9.0_f64.ln()).abs() < 1e-9);
        assert!((FeatureCurve::Linear.at(5.0) - 5.0).abs() < 1e-9);
    }
}
