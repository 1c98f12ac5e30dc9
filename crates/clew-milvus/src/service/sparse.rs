//! Searches of sparse vectors: found by features, whose weights are rounded, and ranked by the vectors themselves.

use clew_engine::{FieldValues, Pinned, SearchRequest as EngineSearch, WantedField};
use clew_query::{Query, SparseVector};
use clew_search::TrackTotal;
use clew_vector::SparseEntry;

use super::Service;
use super::asked::Asked;
use super::search::Found;
use crate::collections::WINDOW_MAX;
use crate::error::{MilvusError, Result};
use crate::expr::scored_within;
use crate::rows::sparse_entries;

/// Weights are found with eight bits, so that the order of hits whose scores differ by less than a part in 256 is not
/// that of their vectors: so many times more are looked at, and some.
const CANDIDATES: (usize, usize) = (2, 64);

impl Service {
    /// The rows of the greatest products with a sparse vector.
    pub(super) async fn by_weights(
        &self,
        pinned: &Pinned,
        asked: &Asked,
        probe: &[SparseEntry],
    ) -> Result<Vec<Found>> {
        if asked.group.is_some() {
            return Err(MilvusError::Unsupported(
                "grouping the hits of sparse vectors".into(),
            ));
        }
        let tokens = tokens(probe, asked.drop_ratio()?);
        if tokens.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = asked.limit + asked.offset;
        let field = &asked.field.name;
        let features = Query::SparseVector(SparseVector {
            field: field.clone(),
            tokens,
            boost: 1.0,
        });
        let request = EngineSearch {
            size: (wanted * CANDIDATES.0 + CANDIDATES.1).min(WINDOW_MAX),
            track_total: TrackTotal::No,
            ..EngineSearch::new(
                pinned.clone(),
                scored_within(features, asked.filter.clone()),
            )
        };
        let hits = self.found(request).await?.hits;
        let places: Vec<_> = hits.iter().map(|hit| hit.place).collect();
        let json = [WantedField::Json(field.clone())];
        let read = self.engine().columns(pinned, &places, &json).await?;
        let [FieldValues::Json(vectors)] = &read.fields[..] else {
            return Err(MilvusError::Internal("sparse vectors are no JSON".into()));
        };
        let range = asked.range()?;
        let mut found = Vec::with_capacity(hits.len());
        for (hit, vector) in hits.into_iter().zip(vectors) {
            let Some(vector) = vector else { continue };
            let score = product(probe, &sparse_entries(vector)?);
            let distance = asked.metric.distance(score);
            let lies_within = range.is_none_or(|range| {
                distance < range.below && range.from.is_none_or(|from| distance >= from)
            });
            if lies_within {
                found.push(Found {
                    id: hit.id,
                    place: hit.place,
                    score,
                    group: None,
                });
            }
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
        Ok(found
            .into_iter()
            .skip(asked.offset)
            .take(asked.limit)
            .collect())
    }
}

/// What is looked for: dimensions by name, without the smallest weights of so great a share.
fn tokens(probe: &[SparseEntry], drop_ratio: f64) -> Vec<(String, f32)> {
    let mut weights: Vec<&SparseEntry> = probe.iter().filter(|entry| entry.weight > 0.0).collect();
    weights.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a share of a small number"
    )]
    let dropped = (weights.len() as f64 * drop_ratio) as usize;
    weights.truncate(weights.len() - dropped);
    weights
        .iter()
        .map(|entry| (entry.dimension.to_string(), entry.weight))
        .collect()
}

/// The sum of the products of weights, of vectors by ascending dimension.
#[allow(clippy::cast_possible_truncation, reason = "rounds once, at the end")]
fn product(a: &[SparseEntry], b: &[SparseEntry]) -> f32 {
    let (mut sum, mut left, mut right) = (0.0, a.iter().peekable(), b.iter().peekable());
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        match one.dimension.cmp(&other.dimension) {
            std::cmp::Ordering::Less => {
                left.next();
            }
            std::cmp::Ordering::Greater => {
                right.next();
            }
            std::cmp::Ordering::Equal => {
                sum += f64::from(one.weight) * f64::from(other.weight);
                left.next();
                right.next();
            }
        }
    }
    sum as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(entries: &[(u32, f32)]) -> Vec<SparseEntry> {
        let entry = |(dimension, weight): &(u32, f32)| SparseEntry {
            dimension: *dimension,
            weight: *weight,
        };
        entries.iter().map(entry).collect()
    }

    #[test]
    fn weights_of_shared_dimensions_count() {
        let (a, b) = (
            vector(&[(1, 2.0), (5, 3.0), (9, 1.0)]),
            vector(&[(5, 0.5), (7, 9.0), (9, 4.0)]),
        );
        assert_eq!(product(&a, &b).to_bits(), 5.5_f32.to_bits());
        assert_eq!(product(&a, &[]).to_bits(), 0.0_f32.to_bits());
    }

    #[test]
    fn the_smallest_weights_are_dropped() {
        let probe = vector(&[(1, 2.0), (5, 3.0), (8, 0.0), (9, 1.0)]);
        let names = |ratio: f64| {
            tokens(&probe, ratio)
                .into_iter()
                .map(|(name, _)| name)
                .collect::<Vec<_>>()
        };
        assert_eq!(names(0.0), ["5", "1", "9"]);
        assert_eq!(names(0.4), ["5", "1"]);
    }
}
