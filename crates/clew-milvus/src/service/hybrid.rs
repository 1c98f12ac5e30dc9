//! Several searches whose rankings become one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use clew_engine::{GroupBy, Pinned, Purpose};
use serde_json::Value;

use super::aggregate::check_fields_alone;
use super::asked::{Asked, check_queries, is_set, rounded_to};
use super::boost::BOOST;
use super::collapse::{Collapse, collapses};
use super::decay::{DECAY, Decay, ranker_of};
use super::fusion::{Fusion, Ranking};
use super::hit_groups::group_by;
use super::ordered::HitOrder;
use super::query::window;
use super::read::Guarantee;
use super::regroup::{GroupScorer, regrouped};
use super::search::{Found, are_many, check_known};
use super::{Call, Service, check_namespace};
use crate::collection::{Collection, pairs};
use crate::collections::Opened;
use crate::error::{MilvusError, Result};
use crate::proto::*;
use crate::rows::Wanted;

/// Most searches of one request.
const SEARCHES_MAX: usize = 1_024;

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
                if !function.input_field_names.is_empty() {
                    return Err(MilvusError::invalid(format!(
                        "the {name} function does not support input parameters, but got [{}]",
                        function.input_field_names.join(" ")
                    )));
                }
                let fusion = match name.as_str() {
                    "rrf" => Fusion::ranks(&inner),
                    _ => Fusion::weighted(&inner, searches),
                };
                fusion.map(Ranker::Fusion)
            }
            "model" => Err(MilvusError::Unsupported("the ranker model".into())),
            other => Err(MilvusError::Invalid(format!(
                "unsupported rerank function: [{other}] , list of supported [decay,model,rrf,weighted,boost]"
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
        Some(_) => Err(MilvusError::invalid("currently only supports one rerank")),
    }
}

impl Service {
    pub(crate) async fn hybrid_search(
        &self,
        call: Call,
        mut request: HybridSearchRequest,
    ) -> Result<SearchResults> {
        let opened = self.open_named(&call, &request, Purpose::Read)?;
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
                    let collapse = *collapse;
                    let rows = move |structs| collapse.rows(metric, structs);
                    Box::pin(self.each_ranking(found, rows)).await?
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
        let groups = move |list| regrouped(list, size, scorer);
        let groups = Box::pin(self.each_ranking(rankings, groups)).await?;
        let groups = groups.into_iter();
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
            Ranker::Decay(decay) => return self.decayed(pinned, decay, rankings).await,
            Ranker::Fusion(fusion) => fusion.clone(),
        };
        let are_many = rankings.iter().any(|(_, lists)| are_many(lists));
        Box::pin(self.with_hits(are_many, move || fusion.of_all(&rankings))).await
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
