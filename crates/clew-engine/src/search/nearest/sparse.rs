//! The sparse vectors of one shard that are nearest: segment by segment through their inverted indexes, each told what
//! the ones before have found already.

use clew_query::unless_stopped;
use clew_schema::FieldId;
use clew_vector::{ScoreRange, SparseEntry, SparseSearchRequest};

use super::leaf::Bounds;
use super::{DistanceRange, Found};
use crate::base::error::EngineError;
use crate::node::engine::Inner;
use crate::search::knn::{filter_of, search_error};
use crate::search::pinned::PinnedShard;
use crate::search::place::DocPlace;

impl Inner {
    /// The nearest of one shard for each probe; several probes are shared out among threads.
    pub(super) fn sparse(
        &self,
        target: &PinnedShard,
        field: FieldId,
        probes: &[Vec<SparseEntry>],
        bounds: Bounds<'_>,
    ) -> Result<Vec<Vec<Found>>, EngineError> {
        let search = |at: usize| nearest_to(&probes[at], target, field, bounds);
        let found = match probes.len() {
            1 => vec![search(0)],
            many => self.pool.each(many, search),
        };
        found.into_iter().collect()
    }
}

fn nearest_to(
    probe: &[SparseEntry],
    target: &PinnedShard,
    field: FieldId,
    bounds: Bounds<'_>,
) -> Result<Vec<Found>, EngineError> {
    let Bounds {
        request, wanted, ..
    } = bounds;
    let mut best: Vec<Found> = Vec::new();
    for (at, segment) in target.view.segments.iter().enumerate() {
        let Some(column) = segment.vectors().sparse_column(field) else {
            continue;
        };
        let bits = bounds.bits(at);
        let asked = SparseSearchRequest {
            filter: filter_of(segment, bits),
            drop_ratio: request.effort.drop_ratio,
            range: scores(request.range, &best, wanted),
            ..SparseSearchRequest::new(probe, wanted)
        };
        let found = column.search(&asked);
        let found = found.map_err(|error| search_error(segment.vectors(), error))?;
        best.extend(found.hits.iter().map(|hit| Found {
            distance: -hit.score,
            place: DocPlace::new(target.at, at, hit.doc),
            object: None,
        }));
        best.sort_unstable_by(Found::order);
        best.truncate(wanted);
        // What was left half done has not seen the nearest.
        unless_stopped()?;
    }
    Ok(best)
}

/// The scores that hits of the next segment have to have: those of the range asked for, and more than that of the last
/// hit once there are enough, as of equal ones that of the earlier segment counts.
fn scores(range: Option<DistanceRange>, best: &[Found], wanted: usize) -> Option<ScoreRange> {
    let last = best.get(wanted - 1).map(|last| -last.distance);
    let above = match (range.map(|range| -range.below), last) {
        (Some(above), Some(last)) => above.max(last),
        (above, last) => above.or(last)?,
    };
    let from = range.and_then(|range| range.from);
    Some(ScoreRange {
        above,
        up_to: from.map(|from| -from),
    })
}
