//! One ranking out of several: the best documents of each of a few queries, over all shards, get
//! scores that can be compared, and of those each document gets one. What was found where is the
//! caller's business; here are only places and numbers.

mod bounds;
mod combine;
mod normalize;

use std::collections::BTreeMap;

pub use bounds::{Bound, BoundMode, Bounds};
pub use combine::Combination;
pub use normalize::Normalization;

/// Where a document is: its shard among those searched, its segment, its number there.
pub(crate) type FusedPlace = (usize, usize, u32);

/// How the rankings of several queries become one.
#[derive(Clone, Debug, PartialEq)]
pub struct Fusion {
    /// How the scores of one query become comparable with those of another.
    pub normalization: Normalization,
    /// How a document's scores become one.
    pub combination: Combination,
    /// What each query counts, in their order; none: all the same.
    pub weights: Vec<f32>,
}

/// A document of the fused ranking.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fused {
    pub(crate) place: FusedPlace,
    pub(crate) score: f32,
    /// Its comparable score in each query; `None` where it is not among the best.
    pub(crate) parts: Vec<Option<f32>>,
}

impl Fusion {
    /// The fused ranking of each query's best documents, the best first; ties by place.
    pub(crate) fn fuse(&self, rankings: &[Vec<(FusedPlace, f32)>]) -> Vec<Fused> {
        let mut parts: BTreeMap<FusedPlace, Vec<Option<f32>>> = BTreeMap::new();
        for (query, ranking) in rankings.iter().enumerate() {
            let mut ranking = ranking.clone();
            ranking.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let scores: Vec<f32> = ranking.iter().map(|(_, score)| *score).collect();
            let scores = self.normalization.apply(query, &scores);
            for ((place, _), score) in ranking.iter().zip(scores) {
                let slots = parts
                    .entry(*place)
                    .or_insert_with(|| vec![None; rankings.len()]);
                slots[query] = Some(score);
            }
        }
        let mut fused: Vec<Fused> = parts
            .into_iter()
            .map(|(place, parts)| Fused {
                place,
                score: self.combination.apply(&parts, &self.weights),
                parts,
            })
            .collect();
        fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
        fused
    }

    /// The step from a query's scores to comparable ones, in words.
    pub(crate) fn normalized(&self) -> String {
        format!("{} normalization of:", self.normalization.described())
    }

    /// The step from several scores to one, in words.
    pub(crate) fn combined(&self) -> String {
        let name = self.combination.name();
        if self.weights.is_empty() || self.combination == Combination::Sum {
            return format!("{name} combination of:");
        }
        format!("{name}, weights {:?} combination of:", self.weights)
    }
}

#[cfg(test)]
mod tests;
