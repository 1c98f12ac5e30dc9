//! The leaf of a search: what one shard answers. It takes the request as data and gives what can be joined with the
//! answers of other shards; nothing here sees another shard.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use clew_aggregation::{AggCollector, AggSearcher};
use clew_platform::{MemoryPurpose, Reservation};
use clew_profile::{Spent, SpentTimes};
use clew_query::{Bool, Query, QueryError};
use clew_search::{DocVisitor, QueryRecorder, SegmentBits, ShardRequest, Stopwatch};
use clew_vector::Horizon;

use crate::base::error::EngineError;
use crate::node::engine::Inner;
use crate::search::fetch::collected_bytes;
use crate::search::knn::{SharedClause, ViewKnn};
use crate::search::pinned::PinnedShard;
use crate::search::request::{IndexPart, ProfileDetail, SearchRequest};
use crate::search::together::FoundTogether;

mod aggs;
mod answer;
mod found;
mod neighbours;

use aggs::collector_of;
pub(super) use answer::{ShardAnswer, ShardFound};

/// Hits that take no more than this are not booked before they are fetched.
const FEW_HITS_BYTES: usize = 64 << 10;

/// How many hits a shard gives for the request's query.
fn limit_of(request: &SearchRequest) -> usize {
    if request.control.hybrid.is_some() {
        return 0;
    }
    let rounds = request.control.rescore.iter();
    rounds.fold(request.from + request.size, |limit, round| {
        limit.max(round.window)
    })
}

/// The documents of a shard that are looked at at all, where the request names a slice of them.
fn only_in(
    target: &PinnedShard,
    request: &SearchRequest,
) -> Result<Option<Arc<[SegmentBits]>>, EngineError> {
    let slice = request.control.slice;
    let only = slice.map(|slice| target.in_slice(slice));
    only.transpose()
        .map_err(|source| target.shard.tantivy_error(source))
}

/// What a shard is asked: the query of the request or the shard's share of it, what the shards before have found, and what was
/// found in all shards at once.
#[derive(Clone, Copy)]
pub(super) struct ShardQuestion<'a> {
    pub(super) query: &'a Query,
    pub(super) shared: Option<(&'a Horizon, &'a FoundTogether)>,
}

impl<'a> ShardQuestion<'a> {
    /// A query that the shard answers without regard to others.
    pub(super) fn alone(query: &'a Query) -> Self {
        ShardQuestion {
            query,
            shared: None,
        }
    }

    /// The clause that is the whole request, where all shards answer it together.
    fn shared(&self, target: &'a PinnedShard, request: &SearchRequest) -> Option<SharedClause<'a>> {
        let (Some((horizon, together)), Query::Knn(knn)) = (self.shared, &request.query) else {
            return None;
        };
        Some(SharedClause {
            horizon,
            together: (together, target),
            k: knn.k?,
            neighbours: Cell::default(),
        })
    }
}

/// When a search runs, and where a shard's documents begin in the order of all.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) now: Duration,
    pub(super) doc_base: u64,
    /// The shard's place among those that are searched.
    pub(super) place: usize,
    /// When its search was asked for, by the monotonic clock.
    pub(super) asked: Duration,
}

impl Inner {
    /// One shard's answer to a query, that of the request or the shard's share of it, which counts only if its files are sound, as far as they were read.
    pub(super) fn search_shard(
        &self,
        target: &PinnedShard,
        (request, question): (&SearchRequest, ShardQuestion<'_>),
        moment: Moment,
    ) -> Result<ShardAnswer, EngineError> {
        target.check_readable()?;
        // As in the pool: what the work held is dropped. Caught here, it is one shard's failure.
        let answer = AssertUnwindSafe(|| self.search_sound(target, (request, question), moment));
        let answer = catch_unwind(answer).unwrap_or_else(|_| {
            let (index, shard) = (target.index.name(), target.number());
            tracing::error!(index, shard, "a search of a shard has panicked");
            Err(EngineError::Panicked)
        });
        target.check_readable()?;
        answer
    }

    fn search_sound(
        &self,
        target: &PinnedShard,
        (request, question): (&SearchRequest, ShardQuestion<'_>),
        moment: Moment,
    ) -> Result<ShardAnswer, EngineError> {
        let started = self.clock.monotonic();
        let is_profiled = request.profile == ProfileDetail::Everything;
        let spent: Option<Arc<Spent>> = is_profiled.then(Arc::default);
        let at_work = spent.as_ref().map(Spent::enter);
        let mut answer = target.telling(|| match question.only_clause(target, request) {
            Some(clause) => self.neighbours(target, (request, question, clause), moment),
            None => self.collect(target, (request, question), moment),
        })?;
        let took = self.clock.monotonic().saturating_sub(started);
        drop(at_work);
        let before = question.shared.map(|(_, together)| together.took(target));
        let whole = took + before.unwrap_or_default();
        target.index.activity.queried(&request.groups, whole);
        answer.found.took = whole;
        answer.spent = spent.map(|spent| SpentTimes {
            queue: started.saturating_sub(moment.asked),
            ..spent.times(took)
        });
        if request.profile != ProfileDetail::Nothing {
            answer.began = self.clock.since_epoch().saturating_sub(took);
        }
        Ok(answer)
    }

    /// What the shard finds and its aggregations collect, not yet with how long it took.
    fn collect(
        &self,
        target: &PinnedShard,
        (request, question): (&SearchRequest, ShardQuestion<'_>),
        moment: Moment,
    ) -> Result<ShardAnswer, EngineError> {
        let (now, now_ms) = (moment.now, millis(moment.now));
        let watch = self.stopwatch(request);
        let snapshot = &target.view.snapshot;
        let knn = ViewKnn {
            profiles: (request.profile == ProfileDetail::Everything).then(RefCell::default),
            shared: question.shared(target, request),
            ..target.knn()
        };
        let part = request.parts.get(&target.index.uuid);
        let searcher = AggSearcher {
            snapshot,
            knn: &knn,
            visible: part.and_then(|part| part.filter.as_ref()),
        };
        let context = self.agg_context(target, now_ms, (moment.place, searcher));
        let mut aggs = collector_of(request, context, watch.as_ref())?;
        let recorder = watch.map(QueryRecorder::new);
        let memory = self.hits_memory(target, request)?;
        let boosted = part.and_then(|part| boosted(part, question.query));
        let control = &request.control;
        let only = only_in(target, request)?;
        let alone = control.hybrid.is_none();
        let shard_request = ShardRequest {
            query: boosted.as_ref().unwrap_or(question.query),
            filter: part.and_then(|part| part.filter.as_ref()),
            post_filter: request.post_filter.as_ref(),
            sort: &request.sort,
            collapse: control.collapse_field(),
            track_scores: request.track_scores,
            limit: limit_of(request),
            track_total: request.track_total,
            search_after: request.search_after.as_deref().filter(|_| alone),
            min_score: request.min_score.filter(|_| alone),
            only: only.as_deref(),
            terminate_after: control.terminate_after,
            doc_base: moment.doc_base,
            visitor: aggs.as_mut().map(|visitor| visitor as &mut dyn DocVisitor),
            now_ms,
            threads: Some(&self.pool),
            recorder: recorder.as_ref(),
        };
        let whole = found::ShardQueries {
            target,
            request,
            stage: knn.stage(now_ms),
            only: only.as_deref(),
            recorder: recorder.as_ref(),
        };
        let (mut result, parts) = whole.found(shard_request)?;
        knn.shared
            .iter()
            .for_each(|shared| shared.count(&mut result));
        self.report_damage(target);
        let partial = aggs
            .map(AggCollector::finish)
            .transpose()
            .map_err(QueryError::from)?;
        Ok(ShardAnswer {
            found: ShardFound {
                result,
                parts,
                knn: knn.profiles.map(RefCell::into_inner).unwrap_or_default(),
                took: Duration::ZERO,
                queries: recorder.map(QueryRecorder::finish),
            },
            aggs: partial,
            memory,
            spent: None,
            began: now,
        })
    }

    /// What the steps of a shard's search are measured by, where somebody asks.
    pub(in crate::search) fn stopwatch(&self, request: &SearchRequest) -> Option<Stopwatch> {
        let watch = || {
            let clock = self.clock.clone();
            Stopwatch::new(move || clock.monotonic())
        };
        (request.profile == ProfileDetail::Everything).then(watch)
    }

    /// Takes memory for the hits of a shard before they are collected. That of few is too little to be counted.
    fn hits_memory(
        &self,
        target: &PinnedShard,
        request: &SearchRequest,
    ) -> Result<Option<Reservation>, EngineError> {
        let (limit, each) = (limit_of(request), collected_bytes(request.sort.len()));
        if limit.saturating_mul(each) <= FEW_HITS_BYTES {
            return Ok(None);
        }
        let documents = usize::try_from(target.view.snapshot.live_docs()).unwrap_or(usize::MAX);
        let bytes = limit.min(documents).saturating_mul(each);
        let memory = self.memory.reserve(MemoryPurpose::Searches, bytes);
        Ok(Some(memory?))
    }

    /// Tells of graphs that the search found damaged, and has them built anew.
    pub(in crate::search) fn report_damage(&self, target: &PinnedShard) {
        for segment in &target.view.segments {
            for (field, damage) in segment.vectors().take_graph_damage() {
                let (index, shard) = (target.index.name(), target.shard.place.number);
                tracing::error!(index, shard, field = field.get(), %damage, "the graph of a vector field is damaged; its vectors are scanned until it is built anew");
                self.wake_upkeep();
            }
        }
    }
}

/// The query with an index's factor on its scores; `None` where there is no factor.
fn boosted(part: &IndexPart, query: &Query) -> Option<Query> {
    let boost = part.boost?;
    Some(Query::Bool(Bool {
        must: vec![query.clone()],
        should: Vec::new(),
        must_not: Vec::new(),
        filter: Vec::new(),
        minimum_should_match: None,
        boost,
    }))
}

pub(super) fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
