//! The way of a query: views of all shards, one search for each, merge, fetch.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::Duration;

use clew_aggregation::{AggCollector, AggSearcher, Intermediate};
use clew_platform::{CancellationToken, MemoryPurpose, Reservation};
use clew_query::{Bool, Query, QueryError};
use clew_search::{DocVisitor, KnnResolver, ShardHit, ShardRequest, ShardResult, merge_hits};
use parking_lot::Mutex;

use crate::base::blocks::BlockLevel;
use crate::base::error::EngineError;
use crate::node::engine::{Engine, Inner};
use crate::search::fetch::{Lookup, collected_bytes};
use crate::search::knn::{RememberedKnn, SegmentProfile, ViewKnn};
use crate::search::pinned::{PinnedShard, slice_of};
use crate::search::request::{IndexPart, SearchRequest, SearchResponse, ShardCounts};

mod aggs;
mod gathered;
mod groups;
mod hits;
mod hybrid;
mod inner;
mod profile;
mod skip;
mod times;

use aggs::collector_of;
use gathered::Gathered;
use hits::Fetched;
use skip::skip;
use times::{Times, unless_cancelled, unless_late};

pub(crate) use inner::{document_of, part_of};

/// Hits that take no more than this are not booked before they are fetched.
const FEW_HITS_BYTES: usize = 64 << 10;

struct ShardAnswer {
    result: ShardResult,
    /// The best of each of the queries that rank together.
    parts: Vec<Vec<ShardHit>>,
    aggs: Option<Intermediate>,
    knn: Vec<SegmentProfile>,
    took: Duration,
    /// What the hits are booked on.
    memory: Option<Reservation>,
}

impl ShardAnswer {
    /// Nothing was found in time.
    fn too_late(request: &SearchRequest) -> Self {
        let nothing = request.control.hybrid.as_ref();
        ShardAnswer {
            result: ShardResult::too_late(request.track_total),
            parts: vec![Vec::new(); nothing.map_or(0, |hybrid| hybrid.queries.len())],
            aggs: None,
            knn: Vec::new(),
            took: request.timeout.unwrap_or_default(),
            memory: None,
        }
    }
}

impl Engine {
    /// Changes how many buckets the aggregations of one search may have.
    pub fn set_buckets_max(&self, max: usize) {
        self.inner.buckets_max.store(max, Ordering::Relaxed);
    }

    /// Searches; runs on the engine's search threads.
    ///
    /// # Errors
    /// When the request is wrong, too many searches wait, or every shard failed. A part of the
    /// shards failing is told in the response.
    pub async fn search(&self, request: SearchRequest) -> Result<SearchResponse, EngineError> {
        let inner = self.inner.clone();
        if is_small(&request) {
            let work = || inner.search(&request);
            return inner.pool.run_here(work)?;
        }
        let work = move || inner.search(&request);
        self.inner.pool.run(work).await?
    }

    /// The token of whoever asks, that stops by itself after some time, too.
    pub fn stopping_after(&self, time: Duration) -> CancellationToken {
        let clock = &self.inner.clock;
        CancellationToken::current().until(clock.clone(), clock.monotonic() + time)
    }

    /// Runs something that may take long, or wait for the disk, on a thread where it may, under the token of whoever
    /// asks. Once it has taken a millisecond it yields to searches that come.
    ///
    /// # Errors
    /// [`EngineError::Panicked`], or when the system has no thread to give.
    pub async fn run_beside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        self.inner.pool.run_beside(work).await
    }
}

/// Postings of a search that is done where it was asked for: a fraction of a millisecond of work, as the ten best are
/// ranked, so that others who wait for this thread hardly notice.
const SMALL_POSTINGS_MAX: u64 = 1 << 17;
/// Hits of such a search, each of which is a block of sources to unpack.
const SMALL_HITS_MAX: usize = 10;

/// Whether the way to another thread would cost more than the search. It asks one shard for some hits
/// by score, and the dictionary tells that few documents are looked at.
fn is_small(request: &SearchRequest) -> bool {
    let control = &request.control;
    let plain = request.aggs.is_empty()
        && request.sort.is_empty()
        && request.inner_hits.is_empty()
        && request.post_filter.is_none()
        && control.slice.is_none()
        && control.collapse.is_none()
        && control.rescore.is_empty()
        && control.hybrid.is_none()
        && !control.explain
        && request.from.saturating_add(request.size) <= SMALL_HITS_MAX
        && request.parts.values().all(|part| part.filter.is_none());
    let [shard] = request.pinned.shards() else {
        return false;
    };
    let snapshot = shard.snapshot().ok();
    let reads = || clew_search::postings_max(snapshot?, &request.query);
    plain && reads().is_some_and(|postings| postings <= SMALL_POSTINGS_MAX)
}

impl Inner {
    /// A shard that turns out to be damaged while its hits are read is left out by searching again, as it refuses
    /// then: what is left is what the others answer, with its failure.
    fn search(&self, request: &SearchRequest) -> Result<SearchResponse, EngineError> {
        let shards = &request.pinned.shards;
        let count = || {
            shards
                .iter()
                .filter(|pinned| pinned.shard.is_damaged())
                .count()
        };
        let mut before = count();
        loop {
            let answer = self.search_once(request);
            let after = count();
            if after == before {
                return answer;
            }
            before = after;
        }
    }

    fn search_once(&self, request: &SearchRequest) -> Result<SearchResponse, EngineError> {
        check_window(request)?;
        let now = self.clock.since_epoch();
        let times = Times::of(request, &self.clock);
        for index in request.pinned.indices() {
            index.check_block(BlockLevel::Read)?;
        }
        let mut targets: Vec<PinnedShard> = request.pinned.shards.to_vec();
        targets.retain(|target| {
            let part = request.parts.get(&target.index.uuid);
            let shards = part.and_then(|part| part.shards.as_ref());
            shards.is_none_or(|shards| shards.contains(&target.number()))
        });
        let (targets, skipped) = skip(targets, request, millis(now))?;
        let targets: Vec<(u64, PinnedShard)> = (0..).zip(targets).collect();
        let search = |(place, target): &(u64, PinnedShard)| {
            let doc_base = place << 32;
            let moment = Moment {
                now,
                doc_base,
                place: usize::try_from(*place).unwrap_or(usize::MAX),
            };
            let answer = unless_late(&times.to_find, || {
                self.search_shard(target, request, moment)
            });
            answer.map(|found| found.unwrap_or_else(|| ShardAnswer::too_late(request)))
        };
        let answers: Vec<Result<ShardAnswer, EngineError>> = match &targets[..] {
            // The way over the pool costs more than a small search.
            [only] => vec![search(only)],
            many => self.pool.each(many.len(), |at| search(&many[at])),
        };
        let targets: Vec<PinnedShard> = targets.into_iter().map(|(_, target)| target).collect();
        unless_cancelled()?;
        let mut response = self.merge((request, &times), &targets, answers, millis(now))?;
        for target in targets {
            if target.view.snapshot.wants_impacts() {
                let view = target.view;
                let read = move || view.snapshot.read_impacts();
                self.pool.spawn("reading impacts", read);
            }
        }
        response.shards.total += skipped;
        response.shards.successful += skipped;
        response.shards.skipped = skipped;
        Ok(response)
    }

    /// One shard's answer, which counts only if its files are sound, as far as they were read.
    fn search_shard(
        &self,
        target: &PinnedShard,
        request: &SearchRequest,
        moment: Moment,
    ) -> Result<ShardAnswer, EngineError> {
        target.shard.check_readable()?;
        // As in the pool: what the work held is dropped. Caught here, it is one shard's failure.
        let answer = AssertUnwindSafe(|| self.search_sound(target, request, moment));
        let answer = catch_unwind(answer).unwrap_or_else(|_| {
            let (index, shard) = (target.index.name(), target.number());
            tracing::error!(index, shard, "a search of a shard has panicked");
            Err(EngineError::Panicked)
        });
        target.shard.check_readable()?;
        answer
    }

    fn search_sound(
        &self,
        target: &PinnedShard,
        request: &SearchRequest,
        moment: Moment,
    ) -> Result<ShardAnswer, EngineError> {
        let now = moment.now;
        let started = self.clock.monotonic();
        let snapshot = &target.view.snapshot;
        let now_ms = millis(now);
        let knn = ViewKnn {
            view: &target.view,
            ef_search: target.index.settings().ef_search,
            profiles: request.profile.then(RefCell::default),
        };
        let part = request.parts.get(&target.index.uuid);
        let searcher = AggSearcher {
            snapshot,
            knn: &knn,
            visible: part.and_then(|part| part.filter.as_ref()),
        };
        let context = self.agg_context(target, now_ms, (moment.place, searcher));
        let mut aggs = collector_of(request, context, &self.clock)?;
        let memory = self.hits_memory(target, request)?;
        let boosted = part.and_then(|part| boosted(part, &request.query));
        let control = &request.control;
        let only = control.slice.map(|slice| slice_of(&target.view, slice));
        let only = only.transpose();
        let only = only.map_err(|source| target.shard.tantivy_error(source))?;
        let alone = control.hybrid.is_none();
        let remembered = RememberedKnn::new(&knn);
        let resolver: &dyn KnnResolver = match control.hybrid {
            Some(_) => &remembered,
            None => &knn,
        };
        let shard_request = ShardRequest {
            query: boosted.as_ref().unwrap_or(&request.query),
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
        };
        let whole = hybrid::Part {
            target,
            request,
            knn: resolver,
            now_ms,
            only: only.as_deref(),
        };
        let (result, parts) = whole.found(shard_request)?;
        self.report_damage(target);
        let partial = aggs
            .map(AggCollector::finish)
            .transpose()
            .map_err(QueryError::from)?;
        let took = self.clock.monotonic().saturating_sub(started);
        target.index.activity.queried(&request.groups, took);
        Ok(ShardAnswer {
            result,
            parts,
            aggs: partial,
            knn: knn.profiles.map(RefCell::into_inner).unwrap_or_default(),
            took,
            memory,
        })
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
    fn report_damage(&self, target: &PinnedShard) {
        for segment in &target.view.segments {
            for (field, damage) in segment.vectors().take_graph_damage() {
                let (index, shard) = (target.index.name(), target.shard.place.number);
                tracing::error!(index, shard, field = field.get(), %damage, "the graph of a vector field is damaged; its vectors are scanned until it is built anew");
                self.wake_upkeep();
            }
        }
    }

    #[allow(
        clippy::too_many_lines,
        reason = "what shards found is taken apart once"
    )]
    fn merge(
        &self,
        (request, times): (&SearchRequest, &Times),
        targets: &[PinnedShard],
        answers: Vec<Result<ShardAnswer, EngineError>>,
        now_ms: i64,
    ) -> Result<SearchResponse, EngineError> {
        let total = u32::try_from(targets.len()).expect("shard counts are limited");
        let Gathered {
            results,
            parts,
            aggs,
            answered,
            knn,
            shard_profiles,
            failures,
            memory: collected,
        } = Gathered::of(request, targets, answers)?;
        let window = request.from..request.from + request.size;
        let mut merged = merge_hits(results, &request.sort, window, request.track_total);
        let hybrid = request.control.hybrid.as_ref();
        let ranking = match hybrid.filter(|_| request.size > 0) {
            Some(hybrid) => hybrid::ranking(request, hybrid, &parts)?,
            None => Vec::new(),
        };
        if hybrid.is_some() {
            merged.hits = hybrid::hits(request, &ranking);
            merged.max_score = ranking.iter().map(|one| one.score).max_by(f32::total_cmp);
        }
        let memory = Mutex::new(self.memory.open(MemoryPurpose::Searches));
        let aggs = match aggs {
            None => Some((Vec::new(), Vec::new())),
            Some(partial) => unless_late(&times.to_find, || {
                self.agg_results(partial, request, targets, (now_ms, &memory))
            })?,
        };
        let lookup = Lookup {
            memory: &memory,
            source: request.source,
            vectors: request.vectors,
            explained: (request.control.explain && hybrid.is_none()).then_some(request),
            now_ms,
        };
        let fetched = self.fetch_all(&merged.hits, &answered, (request, lookup), times)?;
        let Fetched { mut hits, is_whole } = fetched;
        if let Some(hybrid) = hybrid.filter(|_| request.control.explain) {
            let asked = (request, hybrid);
            hybrid::explain_hits(asked, &ranking, &answered, now_ms, &mut hits)?;
        }
        drop(collected);
        let are_late = aggs.is_none();
        let (aggs, top_hits) = aggs.unwrap_or_default();
        let failed = u32::try_from(failures.len()).expect("shard counts are limited");
        Ok(SearchResponse {
            total: (request.track_total != clew_search::TrackTotal::No).then_some(merged.total),
            max_score: merged.max_score,
            hits,
            timed_out: merged.timed_out || are_late || !is_whole,
            aggs,
            top_hits,
            shards: ShardCounts {
                total,
                successful: total - failed,
                failed,
                skipped: 0,
            },
            failures,
            terminated_early: merged.terminated_early,
            knn,
            shard_profiles,
            memory: memory.into_inner(),
        })
    }
}

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

/// When a search runs, and where a shard's documents begin in the order of all.
#[derive(Clone, Copy)]
struct Moment {
    now: Duration,
    doc_base: u64,
    /// The shard's place among those that are searched.
    place: usize,
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
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

fn check_window(request: &SearchRequest) -> Result<(), EngineError> {
    let asked = request.from.saturating_add(request.size);
    let max = request
        .pinned
        .indices()
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
pub(crate) mod completions;
pub(crate) mod fetch;
pub(crate) mod fusion;
pub(crate) mod get;
pub(crate) mod inspect;
pub(crate) mod knn;
pub(crate) mod named;
pub(crate) mod pinned;
pub(crate) mod recall;
pub(crate) mod request;
pub(crate) mod segment_stats;
