//! Scores of one query made comparable with those of others.

use super::bounds::{Bounds, described};

/// What the worst of several documents gets, so that it still counts.
const SCORE_MIN: f32 = 0.001;
/// What a document gets that is alone, or one of equals.
const SCORE_ALONE: f32 = 1.0;
/// Ranks become scores with so many decimal places.
const RANK_SCALE: f64 = 1e10;

/// How the scores of one query become comparable with those of another.
#[derive(Clone, Debug, PartialEq)]
pub enum Normalization {
    /// By where they lie between the lowest and the highest.
    MinMax(Bounds),
    /// By the length of the vector that they are together.
    L2,
    /// By how many standard deviations they lie above their mean.
    ZScore,
    /// By their rank alone: one divided by this number and the rank, which begins at 1.
    Rank(u32),
}

impl Normalization {
    /// The comparable scores of query number `query`, whose scores fall.
    pub(super) fn apply(&self, query: usize, scores: &[f32]) -> Vec<f32> {
        match self {
            Normalization::MinMax(bounds) => min_max(bounds, query, scores),
            Normalization::L2 => l2(scores),
            Normalization::ZScore => z_score(scores),
            Normalization::Rank(constant) => ranks(*constant, scores.len()),
        }
    }

    pub(super) fn described(&self) -> String {
        match self {
            Normalization::MinMax(bounds) => {
                let lower = described("lower", &bounds.lower);
                format!("min_max{lower}{}", described("upper", &bounds.upper))
            }
            Normalization::L2 => "l2".to_string(),
            Normalization::ZScore => "z_score".to_string(),
            Normalization::Rank(constant) => format!("rrf, rank_constant [{constant}]"),
        }
    }
}

#[allow(clippy::float_cmp, reason = "the very numbers are compared")]
fn min_max(bounds: &Bounds, query: usize, scores: &[f32]) -> Vec<f32> {
    let (Some(max), Some(min)) = (scores.first().copied(), scores.last().copied()) else {
        return Vec::new();
    };
    let (lower, upper) = (bounds.lower.get(query), bounds.upper.get(query));
    let one = |score: f32| {
        if min == max {
            return SCORE_ALONE;
        }
        let from = lower.map_or(min, |bound| bound.lowest(score, min, max));
        let to = upper.map_or(max, |bound| bound.highest(score, min, max));
        if lower.is_some_and(|bound| bound.clips()) && score < from {
            return SCORE_MIN;
        }
        if (upper.is_some_and(|bound| bound.clips()) && score > to) || from == to {
            return SCORE_ALONE;
        }
        let share = (score - from) / (to - from);
        if share == 0.0 { SCORE_MIN } else { share }
    };
    scores.iter().map(|score| one(*score)).collect()
}

fn l2(scores: &[f32]) -> Vec<f32> {
    let length = scores.iter().map(|score| score * score).sum::<f32>().sqrt();
    let one = |score: &f32| if length > 0.0 { score / length } else { 0.0 };
    scores.iter().map(one).collect()
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "counts are small and scores have 32 bits"
)]
#[allow(clippy::float_cmp, reason = "the very numbers are compared")]
fn z_score(scores: &[f32]) -> Vec<f32> {
    let (Some(max), Some(min)) = (scores.first().copied(), scores.last().copied()) else {
        return Vec::new();
    };
    let count = scores.len() as f64;
    let mean = scores.iter().map(|score| f64::from(*score)).sum::<f64>() / count;
    let squares = scores
        .iter()
        .map(|score| (f64::from(*score) - mean).powi(2));
    let deviation = (squares.sum::<f64>() / (count - 1.0).max(1.0)).sqrt() as f32;
    let mean = mean as f32;
    let one = |score: &f32| {
        if *score == mean {
            return max;
        }
        if deviation == 0.0 {
            return min;
        }
        let above = (score - mean) / deviation;
        if above <= 0.0 { SCORE_MIN } else { above }
    };
    scores.iter().map(one).collect()
}

#[allow(clippy::cast_possible_truncation, reason = "scores have 32 bits")]
fn ranks(constant: u32, count: usize) -> Vec<f32> {
    let ranks = (1_u32..).take(count);
    ranks
        .map(|rank| {
            let share = 1.0 / (f64::from(constant) + f64::from(rank));
            ((share * RANK_SCALE).round() / RANK_SCALE) as f32
        })
        .collect()
}
