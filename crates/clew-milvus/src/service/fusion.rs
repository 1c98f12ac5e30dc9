//! How several rankings of hits become one, and the order of hits that score alike.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use clew_engine::EngineError;
use clew_query::unless_stopped;
use serde_json::Value;

use super::decay::{NORMALIZED, is_normalized};
use super::search::Found;
use crate::collection::Metric;
use crate::error::{MilvusError, Result};

/// How much a rank counts: 1 divided by this and the rank (Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion
/// outperforms Condorcet and individual Rank Learning Methods", 2009).
const RRF_K: f64 = 60.0;

/// What one search has found, for each query, and how its scores are to be read.
pub(super) type Ranking = (Metric, Vec<Vec<Found>>);

/// How rankings become one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fusion {
    /// By rank alone.
    Ranks(f64),
    /// By scores, each with its weight; brought to one scale where that is asked for.
    Weighted(Vec<f64>, bool),
}

impl Fusion {
    /// The fusion that parameters of a ranking say; by ranks where they say none.
    pub(super) fn by_params(params: &BTreeMap<String, String>, searches: usize) -> Result<Fusion> {
        let strategy = params.get("strategy").map_or("rrf", String::as_str);
        let inner: HashMap<String, Value> = match params.get("params").map(String::as_str) {
            None | Some("") => HashMap::new(),
            Some(json) => serde_json::from_str(json).map_err(|error| {
                MilvusError::invalid(format!("the rank params are no JSON object: {error}"))
            })?,
        };
        Fusion::read(strategy, &inner, searches)
    }

    pub(super) fn read(
        strategy: &str,
        inner: &HashMap<String, Value>,
        searches: usize,
    ) -> Result<Fusion> {
        match strategy.to_ascii_lowercase().as_str() {
            "rrf" => {
                let k = inner.get("k").map_or(Some(RRF_K), Value::as_f64);
                let k = k.filter(|k| *k > 0.0 && *k < 16_384.0);
                let k = k.ok_or_else(|| {
                    MilvusError::invalid("The rank params k should be in range (0, 16384)")
                })?;
                Ok(Fusion::Ranks(k))
            }
            "weighted" => {
                let weights = inner.get("weights").and_then(Value::as_array);
                let weights: Option<Vec<f64>> =
                    weights.and_then(|all| all.iter().map(Value::as_f64).collect());
                let weights = weights.ok_or_else(|| {
                    MilvusError::invalid("the weights param is missing or no list of numbers")
                })?;
                if weights.iter().any(|weight| !(0.0..=1.0).contains(weight)) {
                    return Err(MilvusError::invalid(
                        "rank param weight should be in range [0, 1]",
                    ));
                }
                if weights.len() != searches {
                    return Err(MilvusError::invalid(format!(
                        "the length of weights param mismatch with ann search requests: invalid parameter[expected={searches}][actual={}]",
                        weights.len()
                    )));
                }
                let said = inner.get(NORMALIZED);
                let said = said.map(|said| {
                    said.as_str()
                        .map_or_else(|| said.to_string(), str::to_string)
                });
                let normalized = is_normalized(said.as_deref())?;
                Ok(Fusion::Weighted(weights, normalized))
            }
            other => Err(MilvusError::Unsupported(format!(
                "the rank strategy {other}"
            ))),
        }
    }

    /// One ranking for each query, as long as somebody wants them.
    pub(super) fn of_all(&self, rankings: &[Ranking]) -> Result<Vec<Vec<Found>>> {
        let queries = rankings.first().map_or(0, |(_, lists)| lists.len());
        let fused = |at| -> Result<Vec<Found>> {
            unless_stopped().map_err(EngineError::from)?;
            Ok(self.fused(&of_query(rankings, at)))
        };
        (0..queries).map(fused).collect()
    }

    /// One ranking of several, best first; equal ones by their keys.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "ranks are small, and scores are told in single precision"
    )]
    fn fused(&self, lists: &[(Metric, &[Found])]) -> Vec<Found> {
        // Scores of which the least is best are added up as they are, unless others are among them.
        let are_distances = lists.iter().all(|(metric, _)| !metric.is_similarity());
        let are_mixed = !are_distances && lists.iter().any(|(metric, _)| !metric.is_similarity());
        // Where structs are hits, each is one by itself.
        let mut all: HashMap<(&str, Option<usize>), (f64, &Found)> = HashMap::new();
        for (at, (metric, list)) in lists.iter().enumerate() {
            for (rank, found) in list.iter().enumerate() {
                let part = match self {
                    Fusion::Ranks(k) => 1.0 / (k + rank as f64 + 1.0),
                    Fusion::Weighted(weights, normalized) => {
                        let weight = weights.get(at).copied().unwrap_or_default();
                        let score = f64::from(found.score);
                        let is_turned = are_mixed && !metric.is_similarity();
                        weight
                            * match *normalized || is_turned {
                                true => scaled(*metric, score),
                                false => score,
                            }
                    }
                };
                let hit = (found.id.as_str(), found.element);
                all.entry(hit).or_insert((0.0, found)).0 += part;
            }
        }
        let mut ranking: Vec<(f64, &Found)> = all.into_values().collect();
        let least_first = are_distances && matches!(self, Fusion::Weighted(_, false));
        ranking.sort_by(|a, b| {
            let greatest_first = b.0.total_cmp(&a.0);
            let best_first = match least_first {
                true => greatest_first.reverse(),
                false => greatest_first,
            };
            best_first.then_with(|| hit_order(a.1, b.1))
        });
        let told = |(score, found): (f64, &Found)| Found {
            score: score as f32,
            ..found.clone()
        };
        ranking.into_iter().map(told).collect()
    }
}

/// The rankings of one query.
pub(super) fn of_query(rankings: &[Ranking], at: usize) -> Vec<(Metric, &[Found])> {
    rankings
        .iter()
        .map(|(metric, lists)| (*metric, &lists[at][..]))
        .collect()
}

/// The order of hits that score alike: by their keys, and of structs of one row by their places in it.
pub(super) fn hit_order(a: &Found, b: &Found) -> Ordering {
    key_order(&a.id, &b.id).then(a.element.cmp(&b.element))
}

/// The order of keys: of numbers as such.
fn key_order(a: &str, b: &str) -> Ordering {
    match (a.parse::<i64>(), b.parse::<i64>()) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        _ => a.cmp(b),
    }
}

/// A score between 0 and 1, greater for what is nearer.
pub(super) fn scaled(metric: Metric, score: f64) -> f64 {
    use std::f64::consts::PI;
    match metric {
        Metric::Cosine => f64::midpoint(1.0, score),
        Metric::MinHash => score,
        Metric::InnerProduct | Metric::MaxSimInnerProduct | Metric::MaxSimCosine => {
            0.5 + score.atan() / PI
        }
        Metric::Bm25 => 2.0 * score.atan() / PI,
        Metric::L2 | Metric::Hamming | Metric::Jaccard | Metric::MaxSimL2 => {
            1.0 - 2.0 * score.atan() / PI
        }
    }
}

#[cfg(test)]
mod tests {
    use clew_platform::CancellationToken;

    use super::*;

    #[test]
    fn rankings_are_put_together_only_for_somebody() {
        let fusion = Fusion::Ranks(RRF_K);
        let rankings = vec![(Metric::L2, vec![Vec::new(); 3]); 2];
        assert_eq!(fusion.of_all(&rankings).unwrap().len(), 3);
        let token = CancellationToken::new();
        token.cancel("the client has gone");
        let _entered = token.enter();
        assert!(fusion.of_all(&rankings).is_err());
    }
}
