//! Several searches whose rankings become one.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use clew_engine::{EngineError, GroupBy, Pinned, Purpose};
use clew_query::unless_stopped;
use serde_json::Value;

use super::aggregate::check_fields_alone;
use super::asked::{Asked, check_queries, is_set, rounded_to};
use super::boost::BOOST;
use super::collapse::{Collapse, collapses};
use super::decay::{DECAY, Decay, ranker_of};
use super::hit_groups::group_by;
use super::ordered::HitOrder;
use super::query::window;
use super::read::Guarantee;
use super::regroup::{GroupScorer, regrouped};
use super::search::{Found, are_many, check_known};
use super::{Call, Service, check_namespace};
use crate::collection::{Collection, Metric, pairs};
use crate::collections::Opened;
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

/// What makes one ranking of several, or another of one.
pub(super) enum Ranker {
    Fusion(Fusion),
    Decay(Box<Decay>),
}

impl Ranker {
    /// The ranker of a single search, where it has one.
    ///
    /// # Errors
    /// For one that is none of these, and what is no number where one is needed.
    pub(super) fn of_one(
        collection: &Collection,
        score: Option<&FunctionScore>,
    ) -> Result<Option<Ranker>> {
        let function = the_one(score)?;
        let read = function.map(|function| Ranker::of_function(collection, function, 1));
        read.transpose()
    }

    fn read(
        collection: &Collection,
        (params, score): (&BTreeMap<String, String>, Option<&FunctionScore>),
        searches: usize,
    ) -> Result<Ranker> {
        let mut functions = score.into_iter().flat_map(|score| &score.functions);
        if functions.any(|function| ranker_of(function).eq_ignore_ascii_case(BOOST)) {
            return Err(MilvusError::invalid(
                "a boost ranker cannot rank a hybrid search, only the searches that it consists of",
            ));
        }
        match the_one(score)? {
            Some(function) => Ranker::of_function(collection, function, searches),
            None => Fusion::by_params(params, searches).map(Ranker::Fusion),
        }
    }

    fn of_function(
        collection: &Collection,
        function: &FunctionSchema,
        searches: usize,
    ) -> Result<Ranker> {
        let name = ranker_of(function).to_ascii_lowercase();
        match name.as_str() {
            DECAY => {
                let decay = Decay::read(collection, function)?;
                Ok(Ranker::Decay(Box::new(decay)))
            }
            "rrf" | "weighted" => {
                let params = pairs(function.params.clone());
                let inner = params.into_iter().map(|(key, value)| {
                    let json = serde_json::from_str(&value).unwrap_or(Value::String(value));
                    (key, json)
                });
                let inner: HashMap<String, Value> = inner.collect();
                Fusion::read(&name, &inner, searches).map(Ranker::Fusion)
            }
            "model" => Err(MilvusError::Unsupported("the ranker model".into())),
            other => Err(MilvusError::Unexpected(format!(
                "Unsupported rerank function: [{other}] , list of supported [decay,model,rrf,weighted,boost]"
            ))),
        }
    }
}

/// Refuses what would change the answer and is done by nobody here, of the whole and of its searches.
fn check_parts(request: &HybridSearchRequest) -> Result<()> {
    check_namespace(&request.namespace)?;
    if !request.function_chains.is_empty() {
        return Err(MilvusError::Unsupported("a chain of functions".into()));
    }
    request.requests.iter().try_for_each(check_known)
}

/// Says how many hits a search finds that does not: as many as the whole shows and skips. Clients write `None` where they were
/// told none.
fn limit_as_whole(params: &mut Vec<KeyValuePair>, whole: usize) {
    let is_limit = |pair: &KeyValuePair| matches!(pair.key.as_str(), "topk" | "limit");
    let is_number = |pair: &KeyValuePair| pair.value.parse::<i64>().is_ok();
    if !params.iter().any(|pair| is_limit(pair) && is_number(pair)) {
        params.retain(|pair| !is_limit(pair));
        params.push(KeyValuePair {
            key: "topk".to_string(),
            value: whole.to_string(),
        });
    }
}

/// The function that ranks, beside those that only boost.
fn the_one(score: Option<&FunctionScore>) -> Result<Option<&FunctionSchema>> {
    let all = score.into_iter().flat_map(|score| &score.functions);
    let mut ranking = all.filter(|function| !ranker_of(function).eq_ignore_ascii_case(BOOST));
    let first = ranking.next();
    match ranking.next() {
        None => Ok(first),
        Some(_) => Err(MilvusError::Unexpected(
            "Currently only supports one rerank".into(),
        )),
    }
}

/// How rankings become one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fusion {
    /// By rank alone.
    Ranks(f64),
    /// By scores, each with its weight; brought to one scale where that is asked for.
    Weighted(Vec<f64>, bool),
}

impl Service {
    pub(crate) async fn hybrid_search(
        &self,
        call: Call,
        mut request: HybridSearchRequest,
    ) -> Result<SearchResults> {
        let place = (request.db_name.as_str(), request.collection_name.as_str());
        let opened = self.open(&call, place, Purpose::Read)?;
        check_parts(&request)?;
        let collection = &opened.named.collection;
        let count = request.requests.len();
        if count > SEARCHES_MAX {
            return Err(MilvusError::invalid(format!(
                "maximum of ann search requests is {SEARCHES_MAX}"
            )));
        }
        // Without any there is nothing that is searched for, which Milvus says of it.
        check_queries(count)?;
        let guarantee = Guarantee::from(&request);
        let params = pairs(std::mem::take(&mut request.rank_params));
        let ranker = Ranker::read(
            collection,
            (&params, request.function_score.as_ref()),
            count,
        )?;
        let (limit, offset) = window(&params)?;
        let limit = limit.unwrap_or(10);
        check_fields_alone(&request.output_fields)?;
        let wanted = Wanted::read(collection, &request.output_fields)?.told_by(&params)?;
        let round = rounded_to(&params)?;
        let whole = limit + offset;
        let mut all = self.parts(collection, &mut request, whole).await?;
        let group = self
            .groups_of(&opened, (&params, &ranker), &mut all)
            .await?;
        let collapses = collapses(collection, &all, group.is_some())?;
        self.see(&opened, guarantee).await?;
        let pinned = self.engine().pin(std::slice::from_ref(&opened.handle))?;
        let parts = (&mut all[..], &collapses[..]);
        let rankings = self.rankings(&pinned, collection, parts).await?;
        let fused = self.ranked(&pinned, &ranker, rankings).await?;
        // Clients say an order with each of the searches.
        let order = all.iter_mut().find_map(|asked| asked.order.take());
        let window = (order, limit, offset);
        let fused = match &group {
            None => {
                let first = |mut list: Vec<Found>| {
                    list.truncate(whole);
                    list
                };
                let fused = fused.into_iter().map(first).collect();
                self.windowed(&pinned, window, fused).await?
            }
            Some((group, scorer)) => {
                self.grouped_window(&pinned, window, (fused, group.size, *scorer))
                    .await?
            }
        };
        let mut first = all.swap_remove(0);
        (first.limit, first.round) = (limit, round);
        match are_many(&fused) {
            true => Box::pin(self.told((opened, pinned), (fused, first), wanted)).await,
            false => self.answer(&opened, &pinned, (fused, &first), wanted).await,
        }
    }

    /// What the searches of a request ask for: those that say no partitions look into the whole's, and those that say no number of
    /// hits find as many as the whole shows and skips.
    async fn parts(
        &self,
        collection: &Arc<Collection>,
        request: &mut HybridSearchRequest,
        whole: usize,
    ) -> Result<Vec<Asked>> {
        let requests = std::mem::take(&mut request.requests);
        let mut all: Vec<Asked> = Vec::with_capacity(requests.len());
        for mut one in requests {
            one.collection_name.clone_from(&request.collection_name);
            if one.partition_names.is_empty() {
                one.partition_names.clone_from(&request.partition_names);
            }
            limit_as_whole(&mut one.search_params, whole);
            let asked = self.asked(collection, one).await?;
            if is_set(&asked.params, "search_iter_v2") {
                return Err(MilvusError::invalid(
                    "search iterator v2 is not supported for hybrid search",
                ));
            }
            let queries = asked.probes.count();
            match all.first().map(|first| first.probes.count()) {
                Some(before) if before != queries => {
                    let said = "sub search request nq should be the same";
                    return Err(MilvusError::mismatch(said, before, queries));
                }
                _ => all.push(asked),
            }
        }
        Ok(all)
    }

    /// What the hits of all searches are grouped by, where they are: each search brings its own best of each group.
    async fn groups_of(
        &self,
        opened: &Opened,
        (params, ranker): (&BTreeMap<String, String>, &Ranker),
        all: &mut [Asked],
    ) -> Result<Option<(GroupBy, GroupScorer)>> {
        let collection = &opened.named.collection;
        let said = group_by(collection, params)?;
        let said = said.or_else(|| all.iter().find_map(|asked| asked.group.clone()));
        let Some(group) = said else { return Ok(None) };
        if matches!(ranker, Ranker::Decay(_)) {
            return Err(MilvusError::invalid(
                "Current rerank does not support grouping search",
            ));
        }
        let scorer = GroupScorer::read(params)?;
        self.check_groups(opened, &group).await?;
        for asked in all {
            asked.group = Some(group.clone());
        }
        Ok(Some((group, scorer)))
    }

    /// What each of the searches finds, as the hits that are put together.
    async fn rankings(
        &self,
        pinned: &Pinned,
        collection: &Collection,
        (all, collapses): (&mut [Asked], &[Option<Collapse>]),
    ) -> Result<Vec<Ranking>> {
        let mut rankings: Vec<Ranking> = Vec::with_capacity(all.len());
        for (asked, collapse) in all.iter_mut().zip(collapses) {
            // What is skipped is skipped of the whole ranking.
            asked.limit += std::mem::take(&mut asked.offset);
            let metric = asked.metric;
            let found = self.nearest(pinned, collection, asked).await?;
            let found = match collapse {
                None => found,
                Some(collapse) => {
                    let rows = |structs| collapse.rows(metric, structs);
                    found.into_iter().map(rows).collect()
                }
            };
            rankings.push((metric, found));
        }
        Ok(rankings)
    }

    /// What a window shows of rankings in groups: so many groups, in the order that was asked for.
    async fn grouped_window(
        &self,
        pinned: &Pinned,
        (order, limit, offset): (Option<HitOrder>, usize, usize),
        (rankings, size, scorer): (Vec<Vec<Found>>, usize, GroupScorer),
    ) -> Result<Vec<Vec<Found>>> {
        let groups = rankings
            .into_iter()
            .map(|list| regrouped(list, size, scorer));
        if order.is_some() {
            let lists = groups.map(|groups| groups.into_iter().flatten().collect());
            let lists: Vec<Vec<Found>> = lists.collect();
            return self.windowed(pinned, (order, limit, offset), lists).await;
        }
        let shown = groups.map(|groups| {
            let shown = groups.into_iter().skip(offset).take(limit);
            shown.flatten().collect()
        });
        Ok(shown.collect())
    }

    /// One ranking for each query.
    pub(super) async fn ranked(
        &self,
        pinned: &Pinned,
        ranker: &Ranker,
        rankings: Vec<Ranking>,
    ) -> Result<Vec<Vec<Found>>> {
        let fusion = match ranker {
            Ranker::Decay(decay) => return self.decayed(pinned, decay, &rankings).await,
            Ranker::Fusion(fusion) => fusion.clone(),
        };
        match rankings.iter().any(|(_, lists)| are_many(lists)) {
            true => Box::pin(self.beside(move |_| fusion.of_all(&rankings))).await,
            false => fusion.of_all(&rankings),
        }
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
    /// The fusion that parameters of a ranking say; by ranks where they say none.
    fn by_params(params: &BTreeMap<String, String>, searches: usize) -> Result<Fusion> {
        let strategy = params.get("strategy").map_or("rrf", String::as_str);
        let inner: HashMap<String, Value> = match params.get("params").map(String::as_str) {
            None | Some("") => HashMap::new(),
            Some(json) => serde_json::from_str(json).map_err(|error| {
                MilvusError::invalid(format!("the rank params are no JSON object: {error}"))
            })?,
        };
        Fusion::read(strategy, &inner, searches)
    }

    fn read(strategy: &str, inner: &HashMap<String, Value>, searches: usize) -> Result<Fusion> {
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

    /// One ranking for each query, as long as somebody wants them.
    fn of_all(&self, rankings: &[Ranking]) -> Result<Vec<Vec<Found>>> {
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
