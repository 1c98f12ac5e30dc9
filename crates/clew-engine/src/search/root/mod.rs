//! The root of a search: which shards are asked, and what is made of their answers.

use std::borrow::Cow;
use std::time::Duration;

use clew_platform::MemoryPurpose;
use parking_lot::Mutex;

use crate::base::blocks::BlockLevel;
use crate::base::error::EngineError;
use crate::node::engine::Inner;
use crate::search::fetch::Lookup;
use crate::search::leaf::{Moment, ShardAnswer, ShardQuestion, millis};
use crate::search::pinned::{PinnedShard, weighed_together};
use crate::search::request::{SearchRequest, SearchResponse, ShardCounts};
use crate::search::scripts::telling_booked;
use crate::search::times::{Times, unless_cancelled, unless_late};

mod gathered;
mod groups;
mod hits;
mod profile;
mod ranking;
mod results;
mod shares;
mod skip;

use gathered::Gathered;
use hits::Fetched;
use shares::Shares;
use skip::skip;

/// Postings of a search that is done where it was asked for: a fraction of a millisecond of work, as the ten best are
/// ranked, so that others who wait for this thread hardly notice.
const SMALL_POSTINGS_MAX: u64 = 1 << 17;
/// Hits of such a search, each of which is a block of sources to unpack.
const SMALL_HITS_MAX: usize = 10;
/// Shards of such a search: each costs some ten microseconds before anything is read.
const SMALL_SHARDS_MAX: usize = 8;

/// Whether the way to another thread would cost more than the search. It asks few shards for some hits
/// by score, and the dictionaries tell that few documents are looked at.
pub(super) fn is_small(request: &SearchRequest) -> bool {
    let plain = asks_for_the_best_only(request)
        && request.from.saturating_add(request.size) <= SMALL_HITS_MAX
        && request.parts.values().all(|part| part.filter.is_none());
    let shards = request.pinned.shards();
    if !plain || shards.len() > SMALL_SHARDS_MAX {
        return false;
    }
    let mut left = SMALL_POSTINGS_MAX;
    shards.iter().all(|shard| {
        let snapshot = shard.snapshot().ok();
        let reads =
            snapshot.and_then(|snapshot| clew_search::postings_max(snapshot, &request.query));
        let rest = reads.and_then(|reads| left.checked_sub(reads));
        left = rest.unwrap_or(0);
        rest.is_some()
    })
}

/// Whether nothing is asked for but the best hits by score.
fn asks_for_the_best_only(request: &SearchRequest) -> bool {
    let control = &request.control;
    request.aggs.is_empty()
        && request.sort.is_empty()
        && request.inner_hits.is_empty()
        && request.post_filter.is_none()
        && control.slice.is_none()
        && control.collapse.is_none()
        && control.rescore.is_empty()
        && control.hybrid.is_none()
        && !control.explain
}

impl Inner {
    /// A shard that turns out to be damaged while its hits are read is left out by searching again, as it refuses
    /// then: what is left is what the others answer, with its failure.
    pub(super) fn search(&self, request: &SearchRequest) -> Result<SearchResponse, EngineError> {
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
        for index in request.pinned.each_index() {
            index.check_block(BlockLevel::Read)?;
        }
        let (targets, skipped) = skip(asked_shards(request), request, millis(now))?;
        let targets = match request.control.weighed_together && targets.len() > 1 {
            true => Cow::Owned(weighed_together(&targets)),
            false => targets,
        };
        let search = |(place, asked): (usize, Duration), question: ShardQuestion<'_>| {
            let moment = Moment {
                now,
                doc_base: (place as u64) << 32,
                place,
                asked,
            };
            let answer = unless_late(&times.to_find, || {
                self.search_shard(&targets[place], (request, question), moment)
            });
            answer.map(|found| found.unwrap_or_else(|| ShardAnswer::too_late(request, now)))
        };
        let answers = self.answers(request, (&targets, &times), search);
        unless_cancelled()?;
        let mut response = self.merge((request, &times), &targets, answers, millis(now))?;
        for target in &*targets {
            if target.view.snapshot.wants_impacts() {
                let view = target.view.clone();
                let read = move || view.snapshot.read_impacts();
                self.pool.spawn("reading impacts", read);
            }
        }
        response.shards.total += skipped;
        response.shards.successful += skipped;
        response.shards.skipped = skipped;
        Ok(response)
    }

    /// What each shard answers: to the request, or to its share of it and, where the nearest do not lie by chance, to more
    /// of it.
    fn answers(
        &self,
        request: &SearchRequest,
        (targets, times): (&[PinnedShard], &Times),
        search: impl Fn((usize, Duration), ShardQuestion<'_>) -> Result<ShardAnswer, EngineError> + Sync,
    ) -> Vec<Result<ShardAnswer, EngineError>> {
        let shares = Shares::of(request, targets);
        let together = shares.as_ref().map(|shares| {
            let _entered = times.to_find.enter();
            shares.found_together(targets, self)
        });
        let together = together.unwrap_or_default();
        let asked = self.clock.monotonic();
        let mut answers: Vec<Result<ShardAnswer, EngineError>> = match (targets.len(), &shares) {
            // The way over the pool costs more than a small search.
            (1, _) => vec![search((0, asked), ShardQuestion::alone(&request.query))],
            (many, None) => self.pool.each(many, |at| {
                search((at, asked), ShardQuestion::alone(&request.query))
            }),
            (many, Some(shares)) => {
                let search = |at| {
                    let query = shares.query(at);
                    let question = ShardQuestion {
                        query: &query,
                        shared: shares.horizon().map(|horizon| (horizon, &together)),
                    };
                    search((at, asked), question)
                };
                match shares.has_more(targets, &together) {
                    true => self.pool.each(many, search),
                    false => (0..many).map(search).collect(),
                }
            }
        };
        if let Some(shares) = shares {
            let again = shares.again(&answers);
            let asked = self.clock.monotonic();
            let search = |at: usize| {
                let (place, query) = &again[at];
                search((*place, asked), ShardQuestion::alone(query))
            };
            let deeper = self.pool.each(again.len(), search);
            for ((at, _), mut answer) in again.iter().zip(deeper) {
                if let (Ok(deeper), Ok(before)) = (&mut answer, &answers[*at]) {
                    deeper.found.result.total = before.found.result.total;
                }
                answers[*at] = answer;
            }
        }
        answers
    }

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
            mut shard_profiles,
            failures,
            memory: collected,
        } = Gathered::of(request, targets, answers)?;
        let (merged, ranking) = ranking::merged(request, results, &parts)?;
        unless_cancelled()?;
        let hybrid = request.control.hybrid.as_ref();
        let memory = Mutex::new(self.memory.open(MemoryPurpose::Searches));
        let aggs = match aggs {
            None => Some((Vec::new(), Vec::new())),
            Some(partial) => unless_late(&times.to_find, || {
                let made = || self.agg_results(partial, request, targets, (now_ms, &memory));
                telling_booked(&self.memory, made)
            })?,
        };
        let watch = self.stopwatch(request);
        let lookup = Lookup {
            memory: &memory,
            watch: watch.as_ref(),
            source: request.source,
            vectors: request.vectors,
            explained: (request.control.explain && hybrid.is_none()).then_some(request),
            now_ms,
        };
        let fetched = self.fetch_all(&merged.hits, &answered, (request, lookup), times)?;
        let Fetched {
            mut hits,
            is_whole,
            phases,
        } = fetched;
        for (profile, phase) in shard_profiles.iter_mut().zip(phases) {
            profile.fetch = phase;
        }
        if let Some(hybrid) = hybrid.filter(|_| request.control.explain) {
            let asked = (request, hybrid);
            ranking::explain_hits(asked, &ranking, &answered, now_ms, &mut hits)?;
        }
        drop(collected);
        let are_late = aggs.is_none();
        let (aggs, top_hits) = aggs.unwrap_or_default();
        let failed = u32::try_from(failures.len()).expect("shard counts are limited");
        Ok(SearchResponse {
            now_ms,
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

/// The shards that a request is for.
fn asked_shards(request: &SearchRequest) -> Cow<'_, [PinnedShard]> {
    let is_asked = |target: &&PinnedShard| {
        let part = request.parts.get(&target.index.uuid);
        let shards = part.and_then(|part| part.shards.as_ref());
        shards.is_none_or(|shards| shards.contains(&target.number()))
    };
    let all = request.pinned.shards();
    match all.iter().all(|target| is_asked(&target)) {
        true => Cow::Borrowed(all),
        false => all.iter().filter(is_asked).cloned().collect(),
    }
}

fn check_window(request: &SearchRequest) -> Result<(), EngineError> {
    let asked = request.from.saturating_add(request.size);
    let max = request
        .pinned
        .each_index()
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
