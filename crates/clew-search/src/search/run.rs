//! One search over one shard. Which of four ways it takes depends on what is wanted:
//! only the number of matches; the first matches of a query whose matches all score the same;
//! the best by score, pruned; or a full scan, for sorting and for visitors.

use std::time::Duration;

use clew_platform::{CancellationToken, Pace, Stop, stopped};
use clew_query::{Bool, Order, Query, QueryError, SortKey, SortValue};
use tantivy::query::{EnableScoring, Weight};
use tantivy::{DocId, SegmentReader};

use super::count_only::count_only;
use super::first_matches::first_matches;
use super::nested_sort::{SortObjects, SortOrder};
use super::ranking::ranked;
use super::request::{ShardRequest, ShardResult};
use super::scan::scan;
use super::total::{Relation, Total, TrackTotal};
use crate::query::matching_plan;
use crate::query::{
    CollectorKind, CompileContext, Plan, QueryRecorder, VectorAnswers, plan_recorded,
};
use crate::search::top::hits_of;
use crate::segments::SegmentBits;
use crate::segments::TopScores;
use crate::snapshot::Snapshot;

/// What all ways need.
pub(super) struct Run<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) plan: Plan,
    /// Where hits must be too.
    pub(super) post: Option<Vec<SegmentBits>>,
    /// Their order.
    pub(super) sort: SortOrder<'a>,
    /// Notes what the search costs, if somebody asks.
    pub(super) recorder: Option<&'a QueryRecorder>,
}

impl Run<'_> {
    /// When something begins that is noted, if somebody asks.
    pub(super) fn since(&self) -> Option<Duration> {
        self.recorder.map(|recorder| recorder.watch().now())
    }

    /// So many matches were looked at and kept since then, by the visitor too.
    pub(super) fn collected(&self, since: Option<Duration>, matches: usize) {
        if let (Some(recorder), Some(since)) = (self.recorder, since) {
            recorder.collected(since, matches as u64);
        }
    }

    /// The visitor was at work since then.
    pub(super) fn visited(&self, since: Option<Duration>) {
        if let (Some(recorder), Some(since)) = (self.recorder, since) {
            recorder.visited(since);
        }
    }

    /// The postings of so many segments were read since then, without the query's own steps.
    pub(super) fn read_postings(&self, since: Option<Duration>, segments: u64) {
        if let (Some(recorder), Some(since), Some(steps)) = (self.recorder, since, &self.plan.steps)
        {
            steps.from_postings.add(recorder.watch(), since, segments);
        }
    }

    pub(super) fn passes(&self, segment: usize, doc: DocId) -> bool {
        self.post
            .as_ref()
            .is_none_or(|post| post[segment].contains(doc))
    }

    pub(super) fn scored_weight(&self) -> Result<Box<dyn Weight>, QueryError> {
        // Leaves bring their own statistics; the searcher is only there for its schema.
        Ok(self
            .plan
            .query
            .weight(EnableScoring::enabled_from_searcher(self.snapshot.stub()))?)
    }
}

/// Searches one shard. Where the time of the [`CancellationToken`] that this thread works under is up, the result is
/// what was found by then.
///
/// # Errors
/// When the query or the sort keys do not fit the mapping, or reading fails; [`QueryError::Stopped`] once nobody wants
/// the result any more.
pub fn search(
    snapshot: &Snapshot,
    request: ShardRequest<'_>,
    vectors: &VectorAnswers,
) -> Result<ShardResult, QueryError> {
    let track = request.track_total;
    let (found, is_late) = ended(search_in_time(snapshot, request, vectors))?;
    // What the visitor has seen stays.
    let mut found = found.unwrap_or_else(|| ShardResult::too_late(track));
    // What walks through documents breaks off by itself, and not all of it says so.
    found.timed_out |= is_late;
    Ok(found)
}

/// What is found before the time of the [`CancellationToken`] that this thread works under is up; `None` when
/// something that was needed for it was not there by then.
///
/// # Errors
/// Those of the work; [`QueryError::Stopped`] once nobody wants the result any more.
pub fn in_time<T>(work: impl FnOnce() -> Result<T, QueryError>) -> Result<Option<T>, QueryError> {
    ended(work()).map(|(found, _)| found)
}

/// What there is of a result at the end of the work, and whether the time was up by then.
fn ended<T>(found: Result<T, QueryError>) -> Result<(Option<T>, bool), QueryError> {
    match CancellationToken::current().stopped() {
        Some(Stop::Cancelled) => Err(QueryError::Stopped),
        Some(Stop::TimedOut) if found.as_ref().is_err_and(QueryError::is_of_stop) => {
            Ok((None, true))
        }
        Some(Stop::TimedOut) => found.map(|found| (Some(found), true)),
        None => found.map(|found| (Some(found), false)),
    }
}

fn search_in_time(
    snapshot: &Snapshot,
    request: ShardRequest<'_>,
    vectors: &VectorAnswers,
) -> Result<ShardResult, QueryError> {
    let context = CompileContext {
        snapshot,
        now_ms: request.now_ms,
        vectors,
    };
    let objects = SortObjects::find(request.sort, &context, None)?;
    let recorder = request.recorder;
    let plain = request.visitor.is_none()
        && request.min_score.is_none()
        && request.only.is_none()
        && request.collapse.is_none()
        && request.terminate_after.is_none();
    let ranks = plain && request.limit > 0 && by_score(request.sort);
    let of_plan = (ranks, recorder);
    let plan = match request.filter {
        Some(filter) => plan_recorded(&filtered(request.query, filter), &context, of_plan)?,
        None => plan_recorded(request.query, &context, of_plan)?,
    };
    if let (Some(recorder), Some(steps)) = (recorder, &plan.steps) {
        recorder.ran(steps.clone(), collector_of(&request));
    }
    let run = Run {
        snapshot,
        plan,
        post: hit_filter(&request, &context)?,
        sort: objects.of(request.sort),
        recorder,
    };
    if plain && request.limit == 0 {
        return count_only(&run, &request);
    }
    if ranks {
        return match run.plan.constant {
            Some(score) => first_matches(&run, &request, score),
            None => best(&run, &request, &context),
        };
    }
    scan(&run, request)
}

/// Where hits must be beside where the query matches.
fn hit_filter(
    request: &ShardRequest<'_>,
    context: &CompileContext<'_>,
) -> Result<Option<Vec<SegmentBits>>, QueryError> {
    let Some(filter) = request.post_filter else {
        return Ok(None);
    };
    let run = || matching_plan(context.snapshot, &crate::query::plan(filter, context)?);
    match request.recorder {
        Some(recorder) => recorder.filtering(run),
        None => run(),
    }
    .map(Some)
}

/// What keeps the hits of a search.
fn collector_of(request: &ShardRequest<'_>) -> CollectorKind {
    match request {
        ShardRequest { limit: 0, .. } => CollectorKind::Count,
        ShardRequest {
            collapse: Some(_), ..
        } => CollectorKind::Grouped,
        request if by_score(request.sort) => CollectorKind::Best,
        _ => CollectorKind::Sorted,
    }
}

fn filtered(query: &Query, filter: &Query) -> Query {
    Query::Bool(Bool {
        must: vec![query.clone()],
        filter: vec![filter.clone()],
        ..Bool::default()
    })
}

/// Whether hits come by falling score and nothing else.
pub(super) fn by_score(sort: &[SortKey]) -> bool {
    matches!(sort, [] | [SortKey::Score { order: Order::Desc }])
}

/// Only hits that score less, when a search goes on after a score.
pub(super) fn below(request: &ShardRequest<'_>) -> Result<Option<f32>, QueryError> {
    match request.search_after {
        None => Ok(None),
        Some([SortValue::Score(score)]) => Ok(Some(*score)),
        #[allow(
            clippy::cast_possible_truncation,
            reason = "scores are 32 bits wide: this was one before it was printed"
        )]
        Some([SortValue::F64(score)]) => Ok(Some(*score as f32)),
        #[allow(clippy::cast_precision_loss, reason = "scores are 32 bits wide")]
        Some([SortValue::I64(score)]) => Ok(Some(*score as f32)),
        Some(_) => Err(QueryError::illegal(
            "search_after does not have the values that sort has",
        )),
    }
}

/// The total when it is known without looking at documents, and whether it may be left there.
#[derive(Clone, Copy)]
pub(super) struct Counting {
    pub(super) known: Option<Total>,
    pub(super) limit: u64,
}

impl Counting {
    /// The best by score, after so many matches were counted, all of them unless the time was up.
    pub(super) fn result(
        &self,
        request: &ShardRequest<'_>,
        top: TopScores,
        (seen, timed_out): (u64, bool),
    ) -> ShardResult {
        let hits = hits_of(top, !request.sort.is_empty());
        let counted = || Total::of(seen, !timed_out, request.track_total);
        ShardResult {
            total: self.known.unwrap_or_else(counted),
            max_score: hits.first().and_then(|hit| hit.score),
            hits,
            timed_out,
            terminated_early: false,
        }
    }
}

pub(super) fn counting(run: &Run<'_>, track: TrackTotal) -> Counting {
    let limit = match track {
        TrackTotal::Exact => u64::MAX,
        TrackTotal::UpTo(limit) => limit,
        TrackTotal::No => 0,
    };
    let known = if track == TrackTotal::No {
        Some(Total {
            value: 0,
            relation: Relation::Gte,
        })
    } else if run.post.is_some() {
        None
    } else if let Some(exact) = run.plan.matches_exactly() {
        Some(Total::of(exact, true, track))
    } else if run.plan.at_least > limit {
        Some(Total::of(run.plan.at_least, false, track))
    } else {
        None
    };
    Counting { known, limit }
}

fn best(
    run: &Run<'_>,
    request: &ShardRequest<'_>,
    context: &CompileContext<'_>,
) -> Result<ShardResult, QueryError> {
    let since = run.since();
    if let Some(query) = &run.plan.ranked
        && let Some(result) = ranked(run, request, query, context)?
    {
        run.read_postings(since, run.snapshot.readers.len() as u64);
        return Ok(result);
    }
    best_by_score(run, request)
}

/// The best by score. Matches are counted as far as wanted; from then on only documents that may
/// still enter the top are looked at, under one threshold for all segments.
fn best_by_score(run: &Run<'_>, request: &ShardRequest<'_>) -> Result<ShardResult, QueryError> {
    let counting = counting(run, request.track_total);
    let weight = run.scored_weight()?;
    let mut top = TopScores::new(request.limit, below(request)?);
    let (mut seen, mut timed_out) = (0, false);
    for (segment, reader) in run.snapshot.readers.iter().enumerate() {
        if stopped() {
            timed_out = true;
            break;
        }
        let slack = slack(run, reader)?;
        let threshold = |seen: u64, top: &TopScores| {
            if counting.known.is_none() && seen <= counting.limit {
                return f32::MIN;
            }
            top.threshold().map_or(f32::MIN, |score| score * slack)
        };
        let alive = reader.alive_bitset();
        let mut pace = Pace::default();
        weight.for_each_pruning(threshold(seen, &top), reader, &mut |doc, score| {
            if pace.is_over() {
                return f32::MAX;
            }
            let since = run.since();
            if alive.is_none_or(|alive| alive.is_alive(doc)) && run.passes(segment, doc) {
                seen += 1;
                top.offer(segment, doc, score);
            }
            run.collected(since, 1);
            threshold(seen, &top)
        })?;
        timed_out |= pace.is_stopped();
    }
    Ok(counting.result(request, top, (seen, timed_out)))
}

/// Rounding of sums in another order.
const ROUNDING: f32 = 0.999;

/// The factor that makes a threshold safe: tantivy chose each block's best document under the
/// segment's own average length, so under the shard's average a block may hold a better one, by at
/// most the ratio of the two.
fn slack(run: &Run<'_>, reader: &SegmentReader) -> Result<f32, QueryError> {
    let mut slack = 1.0_f32;
    for field in &run.plan.scored_fields {
        let tokens = reader.inverted_index(*field)?.total_num_tokens();
        let Some(mapped) = run
            .snapshot
            .mapping
            .fields()
            .iter()
            .find(|mapped| mapped.field == Some(*field))
        else {
            continue;
        };
        let shard = run.snapshot.statistics(mapped)?;
        if tokens == 0 || shard.tokens == 0 || shard.docs == 0 {
            continue;
        }
        let ratio = ratio(tokens, reader.max_doc().into()) / ratio(shard.tokens, shard.docs);
        slack = slack.min(ratio.min(1.0 / ratio));
    }
    Ok(slack * ROUNDING)
}

#[allow(
    clippy::cast_precision_loss,
    reason = "the factor for rounding covers far more"
)]
fn ratio(a: u64, b: u64) -> f32 {
    a as f32 / b as f32
}
