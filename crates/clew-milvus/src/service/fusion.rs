//! How several rankings of hits become one, and the order of hits that score alike.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use clew_query::unless_stopped;
use clew_schema::text_of;
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
    ///
    /// # Errors
    /// In Milvus' words, which are others for what is wrong with a function.
    pub(super) fn by_params(params: &BTreeMap<String, String>, searches: usize) -> Result<Fusion> {
        let Some(strategy) = params.get("strategy") else {
            return Ok(Fusion::Ranks(RRF_K));
        };
        let json = params
            .get("params")
            .ok_or_else(|| MilvusError::invalid("params not found in rank_params"))?;
        let inner: Option<HashMap<String, Value>> =
            serde_json::from_str(json).map_err(|error| {
                MilvusError::invalid(format!("parse rerank params failed, err: {error}"))
            })?;
        let inner = inner.unwrap_or_default();
        match strategy.as_str() {
            "rrf" if inner.get("k").is_some_and(|k| !k.is_number()) => Err(MilvusError::invalid(
                "the type of rank param k should be float",
            )),
            "rrf" => Fusion::ranks(&inner),
            "weighted" => match inner.get(NORMALIZED) {
                Some(said) if !said.is_boolean() => Err(MilvusError::invalid(format!(
                    "weighted rerank err, {NORMALIZED} should been bool type, but [{NORMALIZED}:{}] is none",
                    text_of(said)
                ))),
                _ => Fusion::weighted(&inner, searches),
            },
            other => Err(MilvusError::invalid(format!(
                "unsupported rank type {other}"
            ))),
        }
    }

    /// The fusion by ranks that says how much a rank counts.
    pub(super) fn ranks(inner: &HashMap<String, Value>) -> Result<Fusion> {
        let number = |said: &Value| {
            said.as_f64().ok_or_else(|| {
                MilvusError::invalid(format!("param k:{} is not a number", text_of(said)))
            })
        };
        let k = inner.get("k").map_or(Ok(RRF_K), number)?;
        match k > 0.0 && k < 16_384.0 {
            true => Ok(Fusion::Ranks(k)),
            false => Err(MilvusError::invalid(
                "the rank params k should be in range (0, 16384)",
            )),
        }
    }

    /// The fusion of so many searches by scores that says what each weighs.
    pub(super) fn weighted(inner: &HashMap<String, Value>, searches: usize) -> Result<Fusion> {
        const NAME: &str = "weights";
        let numbers = |said: &Value| {
            let all = said.as_array();
            let all: Option<Vec<f64>> = all.and_then(|all| all.iter().map(Value::as_f64).collect());
            // The typing error is Milvus' own.
            all.ok_or_else(|| {
                MilvusError::invalid(format!(
                    "parse {NAME} param failed, weight should be []float, bug got: {}",
                    text_of(said)
                ))
            })
        };
        let weights = inner.get(NAME).map_or(Ok(Vec::new()), numbers)?;
        if weights.iter().any(|weight| !(0.0..=1.0).contains(weight)) {
            return Err(MilvusError::invalid(
                "rank param weight should be in range [0, 1]",
            ));
        }
        if weights.is_empty() {
            return Err(MilvusError::invalid(format!("{NAME} not found")));
        }
        if weights.len() != searches {
            return Err(MilvusError::mismatch(
                "the length of weights param mismatch with ann search requests",
                searches,
                weights.len(),
            ));
        }
        let said = inner.get(NORMALIZED).map(text_of);
        let normalized = is_normalized(said.as_deref())?;
        Ok(Fusion::Weighted(weights, normalized))
    }

    /// One ranking for each query, as long as somebody wants them.
    pub(super) fn of_all(&self, rankings: &[Ranking]) -> Result<Vec<Vec<Found>>> {
        let queries = rankings.first().map_or(0, |(_, lists)| lists.len());
        let fused = |at| -> Result<Vec<Found>> {
            unless_stopped()?;
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
    fn what_is_wrong_with_a_ranking_is_told_in_milvus_words() {
        let asked = |strategy: &str, json: &str| {
            let pairs = [("strategy", strategy), ("params", json)];
            let params = pairs.map(|(name, value)| (name.to_string(), value.to_string()));
            Fusion::by_params(&BTreeMap::from(params), 2)
        };
        assert_eq!(asked("rrf", "null"), Ok(Fusion::Ranks(RRF_K)));
        let weights = r#"{"weights": [0.5, 1], "norm_score": true}"#;
        let weighted = Fusion::Weighted(vec![0.5, 1.0], true);
        assert_eq!(asked("weighted", weights), Ok(weighted));
        for (strategy, json, said) in [
            ("RRF", "{}", "unsupported rank type RRF"),
            ("rrf", "", "parse rerank params failed"),
            (
                "rrf",
                r#"{"k": "x"}"#,
                "the type of rank param k should be float",
            ),
            (
                "rrf",
                r#"{"k": 0}"#,
                "the rank params k should be in range (0, 16384)",
            ),
            ("weighted", "{}", "weights not found"),
            (
                "weighted",
                r#"{"weights": "x"}"#,
                "parse weights param failed",
            ),
            (
                "weighted",
                r#"{"weights": [2, 1]}"#,
                "rank param weight should be in range [0, 1]",
            ),
            (
                "weighted",
                r#"{"weights": [1]}"#,
                "the length of weights param mismatch",
            ),
            (
                "weighted",
                r#"{"norm_score": 1}"#,
                "weighted rerank err, norm_score should been bool",
            ),
        ] {
            let refused = asked(strategy, json).unwrap_err();
            assert_eq!(refused.code(), 1100, "{refused}");
            assert!(refused.to_string().starts_with(said), "{refused}");
        }
    }

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
