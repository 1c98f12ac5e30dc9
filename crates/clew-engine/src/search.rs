//! The way of a query: views of all shards, one search for each, merge, fetch.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use clew_text::{
    AggCollector, AggContext, AggLimits, AggSearcher, Attached, Bool, DocVisitor, Intermediate,
    MergedHit, NamedResult, Query, QueryError, ShardHit, ShardRequest, ShardResult, merge_hits,
};
use rayon::prelude::*;
use tantivy::{DocId, SegmentReader};

use crate::blocks::BlockLevel;
use crate::engine::{Engine, Inner};
use crate::error::EngineError;
use crate::index::Index;
use crate::knn::{SegmentProfile, ViewKnn};
use crate::request::{Hit, KnnProfile, SearchRequest, SearchResponse, ShardCounts, ShardProfile};
use crate::shard::{Shard, View};

mod inner;

/// A shard as one search sees it.
struct Target {
    index: Arc<Index>,
    shard: Arc<Shard>,
    view: Arc<View>,
}

struct ShardAnswer {
    result: ShardResult,
    aggs: Option<Intermediate>,
    knn: Vec<SegmentProfile>,
    took: Duration,
}

impl Engine {
    /// Searches; runs on the engine's search threads.
    ///
    /// # Errors
    /// When the request is wrong, too many searches wait, or every shard failed. A part of the
    /// shards failing is told in the response.
    pub async fn search(&self, request: SearchRequest) -> Result<SearchResponse, EngineError> {
        let inner = self.inner.clone();
        let work = move || inner.search(&request);
        self.inner.pool.run(self.inner.clock.clone(), work).await?
    }
}

impl Inner {
    fn search(&self, request: &SearchRequest) -> Result<SearchResponse, EngineError> {
        check_window(request)?;
        let now = self.clock.since_epoch();
        let deadline = request
            .timeout
            .map(|timeout| self.clock.monotonic() + timeout);
        for index in &request.indices {
            index.check_block(BlockLevel::Read)?;
        }
        let wanted = |index: &Index, shard: &Shard| {
            let part = request.parts.get(&index.uuid);
            let shards = part.and_then(|part| part.shards.as_ref());
            shards.is_none_or(|shards| shards.contains(&shard.place.number))
        };
        let targets: Vec<Target> = request
            .indices
            .iter()
            .flat_map(|index| index.shards.iter().map(move |shard| (index, shard)))
            .filter(|(index, shard)| wanted(index, shard))
            .map(|(index, shard)| Target {
                index: index.clone(),
                shard: shard.clone(),
                view: shard.view(),
            })
            .collect();
        let times = (now, deadline);
        let search = |at: usize| self.search_shard((at, &targets[at]), request, times);
        let answers: Vec<Result<ShardAnswer, EngineError>> = match &targets[..] {
            // The way over the pool costs more than a small search.
            [_] => vec![search(0)],
            many => (0..many.len()).into_par_iter().map(search).collect(),
        };
        self.merge(request, &targets, answers)
    }

    fn search_shard(
        &self,
        (at, target): (usize, &Target),
        request: &SearchRequest,
        (now, deadline): (Duration, Option<Duration>),
    ) -> Result<ShardAnswer, EngineError> {
        target.shard.check_readable()?;
        let started = self.clock.monotonic();
        let snapshot = &target.view.snapshot;
        let now_ms = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
        let ef_search = target.index.settings().ef_search;
        let knn = ViewKnn {
            view: &target.view,
            ef_search,
            profiles: request.profile.then(RefCell::default),
        };
        let mut aggs = match &request.aggs[..] {
            [] => None,
            specs => {
                let context = AggContext {
                    mapping: &snapshot.mapping,
                    now_ms,
                    limits: AggLimits::default(),
                    snapshot: Some(snapshot),
                    scope: None,
                    shard: at,
                    searcher: Some(AggSearcher {
                        snapshot,
                        knn: &knn,
                    }),
                };
                Some(AggVisitor(
                    AggCollector::new(specs, context).map_err(QueryError::from)?,
                ))
            }
        };
        let expired = || deadline.is_some_and(|deadline| self.clock.monotonic() >= deadline);
        let part = request.parts.get(&target.index.uuid);
        let boosted = part.and_then(|part| part.boost).map(|boost| {
            let query = request.query.clone();
            Query::Bool(Bool {
                must: vec![query],
                should: Vec::new(),
                must_not: Vec::new(),
                filter: Vec::new(),
                minimum_should_match: None,
                boost,
            })
        });
        let shard_request = ShardRequest {
            query: boosted.as_ref().unwrap_or(&request.query),
            filter: part.and_then(|part| part.filter.as_ref()),
            post_filter: request.post_filter.as_ref(),
            sort: &request.sort,
            track_scores: request.track_scores,
            limit: request.from + request.size,
            track_total: request.track_total,
            search_after: request.search_after.as_deref(),
            min_score: request.min_score,
            visitor: aggs.as_mut().map(|visitor| visitor as &mut dyn DocVisitor),
            now_ms,
            expired: Some(&expired),
        };
        let result = clew_text::search(snapshot, shard_request, &knn)?;
        self.report_damage(target);
        let partial = aggs
            .map(|visitor| visitor.0.finish())
            .transpose()
            .map_err(QueryError::from)?;
        let took = self.clock.monotonic().saturating_sub(started);
        target.index.activity.queried(&request.groups, took);
        Ok(ShardAnswer {
            result,
            aggs: partial,
            knn: knn.profiles.map(RefCell::into_inner).unwrap_or_default(),
            took,
        })
    }

    /// Tells of graphs that the search found damaged, and has them built anew.
    fn report_damage(&self, target: &Target) {
        for segment in &target.view.segments {
            for (field, damage) in segment.vectors().take_graph_damage() {
                let (index, shard) = (target.index.name(), target.shard.place.number);
                tracing::error!(index, shard, field = field.get(), %damage, "the graph of a vector field is damaged; its vectors are scanned until it is built anew");
                self.wake_upkeep();
            }
        }
    }

    fn merge(
        &self,
        request: &SearchRequest,
        targets: &[Target],
        answers: Vec<Result<ShardAnswer, EngineError>>,
    ) -> Result<SearchResponse, EngineError> {
        let total = u32::try_from(targets.len()).expect("shard counts are limited");
        let mut failures = Vec::new();
        let (mut results, mut answered) = (Vec::new(), Vec::new());
        let (mut knn, mut shard_profiles) = (Vec::new(), Vec::new());
        let mut aggs: Option<Intermediate> = None;
        let mut first_failure = None;
        for (target, answer) in targets.iter().zip(answers) {
            match answer {
                Err(error) => {
                    let place = &target.shard.place;
                    failures.push((place.index.clone(), place.number, error.to_string()));
                    first_failure.get_or_insert(error);
                }
                Ok(answer) => {
                    if request.profile {
                        shard_profiles.push(shard_profile(target, answer.took));
                    }
                    results.push(answer.result);
                    answered.push(target);
                    knn.extend(answer.knn.into_iter().map(|one| knn_profile(target, one)));
                    aggs = match (aggs, answer.aggs) {
                        (Some(mut all), Some(more)) => {
                            all.merge(more).map_err(QueryError::from)?;
                            Some(all)
                        }
                        (all, more) => all.or(more),
                    };
                }
            }
        }
        if let (true, Some(error)) = (answered.is_empty(), first_failure) {
            return Err(error);
        }
        let window = request.from..request.from + request.size;
        let merged = merge_hits(results, &request.sort, window, request.track_total);
        let aggs = match aggs {
            None => Vec::new(),
            Some(partial) => self.agg_results(partial, request, targets)?,
        };
        let started = self.clock.monotonic();
        let fetch = |hit: &MergedHit| fetch(answered[hit.shard], &hit.hit, wanted_of(request));
        let mut hits: Vec<Hit> = merged.hits.iter().map(fetch).collect::<Result<_, _>>()?;
        if !request.inner_hits.is_empty() {
            let places: Vec<(usize, usize, DocId)> = merged
                .hits
                .iter()
                .map(|hit| (hit.shard, hit.hit.segment, hit.hit.doc))
                .collect();
            let now_ms = i64::try_from(self.clock.since_epoch().as_millis()).unwrap_or(i64::MAX);
            inner::fill(&answered, &request.inner_hits, &places, &mut hits, now_ms)?;
        }
        if let Some(hit) = hits.first() {
            let took = self.clock.monotonic().saturating_sub(started);
            hit.index.activity.fetched(&request.groups, took);
        }
        let failed = u32::try_from(failures.len()).expect("shard counts are limited");
        Ok(SearchResponse {
            total: (request.track_total != clew_text::TrackTotal::No).then_some(merged.total),
            max_score: merged.max_score,
            hits,
            aggs,
            shards: ShardCounts {
                total,
                successful: total - failed,
                failed,
            },
            failures,
            timed_out: merged.timed_out,
            knn,
            shard_profiles,
        })
    }
}

impl Inner {
    /// The results of aggregations; documents that are top hits are read.
    fn agg_results(
        &self,
        partial: Intermediate,
        request: &SearchRequest,
        targets: &[Target],
    ) -> Result<Vec<NamedResult>, EngineError> {
        let failed: RefCell<Option<EngineError>> = RefCell::default();
        let now_ms = i64::try_from(self.clock.since_epoch().as_millis()).unwrap_or(i64::MAX);
        let read = |merged: &MergedHit| -> Result<Hit, EngineError> {
            let target = &targets[merged.shard];
            let wanted = Wanted {
                source: true,
                vectors: true,
            };
            let mut hits = [fetch(target, &merged.hit, wanted)?];
            if hits[0].nested.is_empty() && !request.inner_hits.is_empty() {
                let places = [(0, merged.hit.segment, merged.hit.doc)];
                inner::fill(&[target], &request.inner_hits, &places, &mut hits, now_ms)?;
            }
            let [hit] = hits;
            Ok(hit)
        };
        let attach = |merged: &MergedHit| match read(merged) {
            Ok(hit) => Some(Attached(Arc::new(hit))),
            Err(error) => {
                failed.borrow_mut().get_or_insert(error);
                None
            }
        };
        let results = partial
            .into_result_with(&attach)
            .map_err(QueryError::from)?;
        match failed.into_inner() {
            None => Ok(results),
            Some(error) => Err(error),
        }
    }
}

fn shard_profile(target: &Target, took: Duration) -> ShardProfile {
    let place = &target.shard.place;
    ShardProfile {
        index: place.index.clone(),
        shard: place.number,
        took,
    }
}

fn knn_profile(target: &Target, one: SegmentProfile) -> KnnProfile {
    let place = &target.shard.place;
    KnnProfile {
        index: place.index.clone(),
        shard: place.number,
        segment: one.segment,
        field: one.field,
        strategy: one.strategy,
        hits: one.hits,
        distances: one.distances,
        profile: one.profile,
    }
}

fn check_window(request: &SearchRequest) -> Result<(), EngineError> {
    let asked = request.from.saturating_add(request.size);
    let max = request
        .indices
        .iter()
        .map(|index| index.settings().max_result_window)
        .min();
    match max {
        Some(max) if asked > max => Err(EngineError::InvalidRequest {
            reason: format!(
                "Result window is too large, from + size must be less than or equal to: [{max}] \
                 but was [{asked}]. See the scroll api for a more efficient way to request large \
                 data sets. This limit can be set by changing the [index.max_result_window] index \
                 level setting."
            ),
        }),
        _ => Ok(()),
    }
}

/// What is read of each hit.
#[derive(Clone, Copy)]
struct Wanted {
    source: bool,
    vectors: bool,
}

fn wanted_of(request: &SearchRequest) -> Wanted {
    Wanted {
        source: request.source,
        vectors: request.vectors,
    }
}

/// Reads what a hit's document holds; of a nested object, what the document holds there.
fn fetch(target: &Target, hit: &ShardHit, wanted: Wanted) -> Result<Hit, EngineError> {
    let segment = &target.view.segments[hit.segment];
    let mapping = &target.view.snapshot.mapping;
    let (doc, nested) = inner::document_of(segment, mapping, hit.doc);
    let row = segment.row(doc);
    let source = if wanted.source {
        let source = segment.source(doc, mapping, wanted.vectors);
        let source = source.map_err(|source| target.shard.tantivy_error(source))?;
        inner::part_of(Bytes::from(source), &nested)
    } else {
        None
    };
    Ok(Hit {
        index: target.index.clone(),
        id: row.id.to_string(),
        score: hit.score,
        sort: hit.sort.clone(),
        version: row.version,
        seq_no: row.seq_no,
        routing: row.routing.map(str::to_string),
        source,
        nested,
        inner: Vec::new(),
    })
}

/// Feeds an aggregation with the documents of a search.
struct AggVisitor(AggCollector);

impl DocVisitor for AggVisitor {
    fn segment(&mut self, ord: usize, reader: &SegmentReader) -> Result<(), QueryError> {
        Ok(self.0.segment(ord, reader)?)
    }
    fn wants_scores(&self) -> bool {
        self.0.wants_scores()
    }
    fn scores(&mut self, docs: &[DocId], scores: &[f32]) {
        self.0.scores(docs, scores);
    }
    fn collect(&mut self, docs: &[DocId]) -> Result<(), QueryError> {
        Ok(self.0.collect(docs)?)
    }
}
