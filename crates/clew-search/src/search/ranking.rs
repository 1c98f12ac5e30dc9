//! The best by score where the postings can be read directly: which documents filters leave, what is counted,
//! and the segments one after the other under one threshold.

use std::sync::Arc;

use clew_query::QueryError;

use super::helpers::helpers_with;
use super::request::{ShardRequest, ShardResult};
use super::run::{Run, below, counting};
use super::threads::{Threads, share};
use crate::query::segment_answer;
use crate::query::{CompileContext, plan};
use crate::ranked::{Admission, Beside, Filter, Hits, Ranked};
use crate::segments::SegmentBits;
use crate::segments::TopScores;

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
    let documents = ranked.documents(count_to);
    let threads = helpers_with(documents, run.snapshot, request);
    let counted = |most| count(ranked, &segments, (most, threads));
    let mut champions = Hits::new(TopScores::new(limit, below), None);
    if ranked.take_champions(&segments, &mut champions) {
        let (seen, in_time) = count_to.map_or((0, true), counted);
        let (top, _) = champions.finish();
        return Ok(Some(counting.result(request, top, (seen, !in_time))));
    }
    let order = ranked.order(segments.len());
    let apart = count_to.filter(|_| ranked.counts_apart());
    let counted = apart.map(counted);
    let hits = || {
        let count_to = count_to.filter(|_| counted.is_none());
        Hits::new(TopScores::new(limit, below), count_to)
    };
    let (top, seen, in_time) = match threads {
        None => {
            let mut hits = hits();
            let order = ranked.ahead(order.into_iter(), |(_, segment)| *segment);
            let in_time = ranked.run(&segments, order, &mut hits);
            let (top, seen) = hits.finish();
            (top, seen, in_time)
        }
        Some(threads) => {
            let beside = Beside::default();
            let parts = share(threads, order.len(), |left| {
                let mut hits = hits().beside(&beside);
                let in_time = ranked.run(&segments, left.map(|at| order[at]), &mut hits);
                (hits.finish(), in_time)
            });
            let mut best = TopScores::new(limit, below);
            let (mut all_seen, mut all_in_time) = (0, true);
            for ((top, seen), in_time) in parts {
                best.absorb(top);
                all_seen += seen;
                all_in_time &= in_time;
            }
            (best, all_seen, all_in_time)
        }
    };
    let (seen, counted_in_time) = counted.unwrap_or((seen, true));
    let timed_out = !(in_time && counted_in_time);
    Ok(Some(counting.result(request, top, (seen, timed_out))))
}

/// How many documents match, until they are more than `most`, and whether there was time to count them.
fn count(
    ranked: &Ranked,
    segments: &[Admission<'_>],
    (most, threads): (u64, Option<&dyn Threads>),
) -> (u64, bool) {
    let Some(threads) = threads else {
        let all = ranked.ahead(0..segments.len(), |segment| *segment);
        return ranked.count(segments, all, most);
    };
    let parts = share(threads, segments.len(), |left| {
        ranked.count(segments, left, most)
    });
    let parts = parts.into_iter();
    parts.fold((0, true), |(sum, all), (seen, in_time)| {
        (sum + seen, all && in_time)
    })
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
            None => weight.insert(crate::query::unscored(
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
