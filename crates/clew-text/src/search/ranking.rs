//! The best by score where the postings can be read directly: which documents filters leave, what is counted,
//! and the segments one after the other under one threshold.

use std::sync::Arc;

use super::bits::SegmentBits;
use super::helpers::helpers_with;
use super::matching::segment_answer;
use super::request::{ShardRequest, ShardResult};
use super::run::{Run, below, counting, expired};
use super::threads::share;
use super::top::TopScores;
use crate::query::{CompileContext, QueryError, plan};
use crate::ranked::{Admission, Beside, Filter, Hits, Ranked};

/// What filters leave, segment by segment.
type Left = Vec<Vec<Arc<SegmentBits>>>;

/// The best by score; `None` when a filter's answer is not at hand, and not worth computing.
pub(super) fn ranked(
    run: &Run<'_>,
    request: &ShardRequest<'_>,
    ranked: &Ranked,
    context: &CompileContext<'_>,
) -> Result<Option<ShardResult>, QueryError> {
    let (Some(within), Some(without)) = (
        answers(&ranked.within, context)?,
        answers(&ranked.without, context)?,
    ) else {
        return Ok(None);
    };
    let counting = counting(run, request.track_total);
    let count_to = counting.known.is_none().then_some(counting.limit);
    let (limit, below) = (request.limit, below(request)?);
    let hits = || Hits::new(TopScores::new(limit, below), count_to);
    let readers = run.snapshot.readers.iter().enumerate();
    let segments: Vec<Admission<'_>> = readers
        .map(|(segment, reader)| {
            let post = run.post.as_ref().map(|post| &post[segment]);
            Admission {
                alive: reader.alive_bitset(),
                within: in_segment(&within, segment).chain(post).collect(),
                without: in_segment(&without, segment).collect(),
            }
        })
        .collect();
    let order = ranked.order(segments.len());
    let documents = ranked.documents(count_to);
    let Some(threads) = helpers_with(documents, run.snapshot, request) else {
        let mut hits = hits();
        let order = order.into_iter();
        let timed_out = !ranked.run(&segments, order, &mut hits, &|| expired(request));
        let (top, seen) = hits.finish();
        return Ok(Some(counting.result(request, top, (seen, timed_out))));
    };
    let (beside, time_is_up) = (Beside::default(), request.expired);
    let parts = share(threads, order.len(), |left| {
        let mut hits = hits().beside(&beside);
        let expired = || time_is_up.is_some_and(|expired| expired());
        let in_time = ranked.run(&segments, left.map(|at| order[at]), &mut hits, &expired);
        (hits.finish(), in_time)
    });
    let mut all = TopScores::new(limit, below);
    let (mut all_seen, mut timed_out) = (0, false);
    for ((top, seen), in_time) in parts {
        all.absorb(top);
        all_seen += seen;
        timed_out |= !in_time;
    }
    Ok(Some(counting.result(request, all, (all_seen, timed_out))))
}

fn in_segment(left: &Left, segment: usize) -> impl Iterator<Item = &SegmentBits> {
    left.iter().map(move |one| &*one[segment])
}

/// The answers of filters that are in use; `None` when one is not.
fn answers(filters: &[Filter], context: &CompileContext<'_>) -> Result<Option<Left>, QueryError> {
    let cache = context.snapshot.filters();
    // All are told, so that all are in use the next time.
    let unused = filters
        .iter()
        .filter(|filter| !cache.is_in_use(&filter.name))
        .count();
    if unused > 0 {
        return Ok(None);
    }
    let answers = filters.iter().map(|filter| answer(filter, context));
    answers.collect::<Result<_, _>>().map(Some)
}

fn answer(
    filter: &Filter,
    context: &CompileContext<'_>,
) -> Result<Vec<Arc<SegmentBits>>, QueryError> {
    let snapshot = context.snapshot;
    let cache = snapshot.filters();
    let mut weight = None;
    let mut answers = Vec::with_capacity(snapshot.readers.len());
    for reader in &snapshot.readers {
        let segment = reader.segment_id();
        if let Some(known) = cache.get(segment, &filter.name) {
            answers.push(known);
            continue;
        }
        let weight = match &weight {
            Some(weight) => weight,
            None => weight.insert(super::matching::unscored(
                snapshot,
                &plan(&filter.query, context)?,
            )?),
        };
        let found = Arc::new(segment_answer(&**weight, reader)?);
        cache.put(segment, filter.name.clone(), found.clone());
        answers.push(found);
    }
    Ok(answers)
}
