//! The number of matches and nothing else.

use std::ops::ControlFlow;

use clew_platform::{Pace, stopped};
use clew_query::QueryError;
use tantivy::SegmentReader;
use tantivy::query::Weight;

use super::helpers::helpers;
use super::request::{ShardRequest, ShardResult};
use super::run::{Run, counting};
use super::threads::share;
use super::total::Total;
use crate::query::{each_block, unscored};

pub(super) fn count_only(
    run: &Run<'_>,
    request: &ShardRequest<'_>,
) -> Result<ShardResult, QueryError> {
    let counting = counting(run, request.track_total);
    let mut result = ShardResult {
        total: Total::of(0, true, request.track_total),
        max_score: None,
        hits: Vec::new(),
        timed_out: false,
        terminated_early: false,
    };
    if let Some(total) = counting.known {
        result.total = total;
        return Ok(result);
    }
    let weight = unscored(run.snapshot, &run.plan)?;
    let (seen, timed_out) = match helpers(run, request).filter(|_| counting.limit == u64::MAX) {
        Some(threads) => {
            let parts = share(threads, run.snapshot.readers.len(), |left| {
                counted((run, &*weight), left, u64::MAX)
            });
            let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
            let sum = parts.iter().map(|(seen, _)| seen).sum();
            (sum, parts.iter().any(|(_, timed_out)| *timed_out))
        }
        None => {
            let all = &mut (0..run.snapshot.readers.len());
            counted((run, &*weight), all, counting.limit)?
        }
    };
    result.timed_out = timed_out;
    result.total = Total::of(seen, !timed_out, request.track_total);
    Ok(result)
}

/// How many documents of some segments match, as far as there is time and they are not more than so many, and whether
/// the time was up.
fn counted(
    (run, weight): (&Run<'_>, &dyn Weight),
    segments: &mut dyn Iterator<Item = usize>,
    limit: u64,
) -> Result<(u64, bool), QueryError> {
    let mut seen = 0;
    for segment in segments {
        if seen > limit {
            break;
        }
        if stopped() {
            return Ok((seen, true));
        }
        let reader = &run.snapshot.readers[segment];
        seen += if run.post.is_some() {
            count_passing(run, weight, segment, reader)?
        } else {
            u64::from(weight.count(reader)?)
        };
    }
    Ok((seen, stopped()))
}

fn count_passing(
    run: &Run<'_>,
    weight: &dyn Weight,
    segment: usize,
    reader: &SegmentReader,
) -> Result<u64, QueryError> {
    let alive = reader.alive_bitset();
    let mut seen = 0;
    let mut pace = Pace::of_blocks();
    each_block(weight, reader, |docs| {
        for doc in docs {
            let living = alive.is_none_or(|alive| alive.is_alive(*doc));
            seen += u64::from(living && run.passes(segment, *doc));
        }
        Ok(match pace.is_over() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    })?;
    Ok(seen)
}
