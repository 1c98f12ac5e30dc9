//! Several searches whose rankings become one.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use clew_engine::{Pinned, Purpose};
use serde_json::Value;

use super::asked::Asked;
use super::decay::{DECAY, Decay, ranker_of};
use super::loading::check_loaded;
use super::ordered::HitOrder;
use super::query::window;
use super::read::Guarantee;
use super::search::Found;
use super::{Call, Service};
use crate::collection::{Collection, Metric, pairs};
use crate::error::{MilvusError, Result};
use crate::proto::*;
use crate::rows::Wanted;

/// Most searches of one request.
const SEARCHES_MAX: usize = 1_024;
/// How much a rank counts: 1 divided by this and the rank (Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion
/// outperforms Condorcet and individual Rank Learning Methods", 2009).
const RRF_K: f64 = 60.0;

/// What one search has found, for each query, and how its scores are to be read.
pub(super) type Ranking = (Metric, Vec<Vec<Found>>);

/// What makes one ranking of several.
enum Ranker {
    Fusion(Fusion),
    Decay(Box<Decay>),
}

impl Ranker {
    fn read(
        collection: &Collection,
        (params, score): (&BTreeMap<String, String>, Option<FunctionScore>),
        searches: usize,
    ) -> Result<Ranker> {
        let function = score.as_ref().and_then(|score| score.functions.first());
        match function {
            Some(function) if ranker_of(function) == DECAY => {
                let decay = Decay::read(collection, function)?;
                Ok(Ranker::Decay(Box::new(decay)))
            }
            _ => Ok(Ranker::Fusion(Fusion::read(params, score, searches)?)),
        }
    }
}

/// How rankings become one.
#[derive(Clone, Debug, PartialEq)]
enum Fusion {
    /// By rank alone.
    Ranks(f64),
    /// By scores, each with its weight; brought to one scale where that is asked for.
    Weighted(Vec<f64>, bool),
}

impl Service {
    pub(crate) async fn hybrid_search(
        &self,
        call: Call,
        request: HybridSearchRequest,
    ) -> Result<SearchResults> {
        let place = (request.db_name.as_str(), request.collection_name.as_str());
        let opened = self.open(&call, place, Purpose::Read)?;
        check_loaded(&opened)?;
        let collection = &opened.named.collection;
        let count = request.requests.len();
        if count == 0 || count > SEARCHES_MAX {
            return Err(MilvusError::expected(
                format!("1 to {SEARCHES_MAX} searches"),
                count,
            ));
        }
        let params = pairs(request.rank_params);
        let ranker = Ranker::read(collection, (&params, request.function_score), count)?;
        let (limit, offset) = window(&params)?;
        let limit = limit.unwrap_or(10);
        let wanted = Wanted::read(collection, &request.output_fields)?.told_by(&params)?;
        let guarantee = Guarantee {
            timestamp: request.guarantee_timestamp,
            level: request.consistency_level,
            by_default: request.use_default_consistency,
        };
        let mut all = Vec::with_capacity(count);
        for mut one in request.requests {
            if one.partition_names.is_empty() {
                one.partition_names.clone_from(&request.partition_names);
            }
            all.push(Asked::read(collection, one, self.engine().now())?);
        }
        self.see(&opened, guarantee).await?;
        let pinned = self.engine().pin(std::slice::from_ref(&opened.handle))?;
        let mut rankings = Vec::with_capacity(count);
        for asked in &mut all {
            // What is skipped is skipped of the whole ranking.
            asked.limit += std::mem::take(&mut asked.offset);
            rankings.push((
                asked.metric,
                self.nearest(&pinned, collection, asked).await?,
            ));
        }
        let queries = rankings[0].1.len();
        if rankings.iter().any(|(_, lists)| lists.len() != queries) {
            return Err(MilvusError::invalid(
                "all searches of a hybrid search must have as many vectors",
            ));
        }
        let mut fused = self.ranked(&pinned, &ranker, &rankings).await?;
        for list in &mut fused {
            list.truncate(limit + offset);
        }
        // Clients say an order with each of the searches.
        let order = all.iter_mut().find_map(|asked| asked.order.take());
        let fused = self
            .windowed(&pinned, (order, limit, offset), fused)
            .await?;
        all[0].limit = limit;
        all[0].ungroup();
        self.answer(&opened, &pinned, (fused, &all[0]), wanted)
            .await
    }

    /// One ranking for each query.
    async fn ranked(
        &self,
        pinned: &Pinned,
        ranker: &Ranker,
        rankings: &[Ranking],
    ) -> Result<Vec<Vec<Found>>> {
        let fusion = match ranker {
            Ranker::Decay(decay) => return self.decayed(pinned, decay, rankings).await,
            Ranker::Fusion(fusion) => fusion,
        };
        let queries = rankings.first().map_or(0, |(_, lists)| lists.len());
        let fused = |at| fusion.fused(&of_query(rankings, at));
        Ok((0..queries).map(fused).collect())
    }

    /// What a window shows of rankings, in the order that was asked for.
    pub(super) async fn windowed(
        &self,
        pinned: &Pinned,
        (order, limit, offset): (Option<HitOrder>, usize, usize),
        mut rankings: Vec<Vec<Found>>,
    ) -> Result<Vec<Vec<Found>>> {
        if let Some(order) = order {
            return self
                .ordered(pinned, (&order, limit, offset), rankings)
                .await;
        }
        for list in &mut rankings {
            list.drain(..offset.min(list.len()));
        }
        Ok(rankings)
    }
}

impl Fusion {
    fn read(
        params: &BTreeMap<String, String>,
        function: Option<FunctionScore>,
        searches: usize,
    ) -> Result<Fusion> {
        let function = function.and_then(|score| score.functions.into_iter().next());
        let (strategy, inner) = match function {
            Some(function) => {
                let params = pairs(function.params);
                let strategy = params.get("reranker").cloned().unwrap_or_default();
                let inner = params.into_iter().map(|(key, value)| {
                    let json = serde_json::from_str(&value).unwrap_or(Value::String(value));
                    (key, json)
                });
                (strategy, inner.collect())
            }
            None => {
                let strategy = params
                    .get("strategy")
                    .cloned()
                    .unwrap_or_else(|| "rrf".to_string());
                let inner: HashMap<String, Value> = match params.get("params").map(String::as_str) {
                    None | Some("") => HashMap::new(),
                    Some(json) => serde_json::from_str(json).map_err(|error| {
                        MilvusError::invalid(format!("the rank params are no JSON object: {error}"))
                    })?,
                };
                (strategy, inner)
            }
        };
        match strategy.to_ascii_lowercase().as_str() {
            "rrf" => {
                let k = inner.get("k").map_or(Some(RRF_K), Value::as_f64);
                let k = k.filter(|k| (0.0..16_384.0).contains(k));
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
                let normalized = inner
                    .get("norm_score")
                    .and_then(Value::as_bool)
                    .unwrap_or(false);
                Ok(Fusion::Weighted(weights, normalized))
            }
            other => Err(MilvusError::Unsupported(format!(
                "the rank strategy {other}"
            ))),
        }
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
        let mut all: HashMap<&str, (f64, &Found)> = HashMap::new();
        for (at, (metric, list)) in lists.iter().enumerate() {
            // Of rows whose structs are hits by themselves the nearest counts.
            let mut seen = std::collections::HashSet::new();
            let rows = list.iter().filter(|found| seen.insert(&found.id));
            for (rank, found) in rows.enumerate() {
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
                all.entry(&found.id).or_insert((0.0, found)).0 += part;
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
            best_first.then_with(|| key_order(&a.1.id, &b.1.id))
        });
        let told = |(score, found): (f64, &Found)| Found {
            score: score as f32,
            group: None,
            element: None,
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

/// The order of keys: of numbers as such.
pub(super) fn key_order(a: &str, b: &str) -> Ordering {
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
        Metric::InnerProduct | Metric::MaxSimInnerProduct | Metric::MaxSimCosine => {
            0.5 + score.atan() / PI
        }
        Metric::Bm25 => 2.0 * score.atan() / PI,
        Metric::L2 | Metric::Hamming | Metric::Jaccard | Metric::MaxSimL2 => {
            1.0 - 2.0 * score.atan() / PI
        }
    }
}
