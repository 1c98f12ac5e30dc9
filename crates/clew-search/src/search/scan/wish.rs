//! What a scan is to find, the same for every thread that takes part.

use clew_query::{Order, QueryError, SortKey, SortValue};

use super::Scoring;
use super::sink::Sink;
use crate::query::unscored;
use crate::search::grouped::{GroupedTop, HitsWanted};
use crate::search::nested_sort::SortOrder;
use crate::search::request::ShardRequest;
use crate::search::run::{Counting, Run, below, by_score, counting};
use crate::search::sorted::{Kept, SortedTop};
use crate::search::total::TrackTotal;
use crate::segments::SegmentBits;
use crate::segments::TopScores;
use crate::snapshot::Snapshot;

/// What is wanted of a scan.
#[derive(Clone, Copy)]
pub(super) struct Wish<'a> {
    pub(super) sort: SortOrder<'a>,
    pub(super) limit: usize,
    pub(super) collapse: Option<&'a str>,
    after: Option<&'a [SortValue]>,
    below: Option<f32>,
    kept: Kept,
    pub(super) min_score: Option<f32>,
    pub(super) only: Option<&'a [SegmentBits]>,
    pub(super) terminate_after: Option<u64>,
    /// The scores of the living are wanted by the visitor.
    pub(super) visitor_scores: bool,
    /// Nobody asks how many more there are: in the order of the index, the first are enough.
    pub(super) uncounted: bool,
    /// How far matches are counted, where nothing else needs to see every one.
    pub(super) counting: Option<Counting>,
}

impl<'a> Wish<'a> {
    pub(super) fn of<'r: 'a>(
        run: &Run<'a>,
        request: &ShardRequest<'r>,
    ) -> Result<Self, QueryError> {
        let visitor = request.visitor.as_ref();
        let by_score = by_score(request.sort);
        let scores_shown = request.track_scores
            || (by_score && request.limit > 0)
            || request
                .sort
                .iter()
                .any(|key| matches!(key, SortKey::Score { .. }));
        let needs_first = visitor.is_none()
            && request.min_score.is_none()
            && request.only.is_none()
            && request.terminate_after.is_none()
            && !request.track_scores;
        let ranks = by_score && request.limit > 0 && request.collapse.is_none();
        Ok(Wish {
            sort: run.sort,
            limit: request.limit,
            collapse: request.collapse,
            after: request.search_after,
            below: if ranks { below(request)? } else { None },
            kept: Kept {
                scores: scores_shown,
                doc_base: request.doc_base,
            },
            min_score: request.min_score,
            only: request.only,
            terminate_after: request.terminate_after,
            visitor_scores: visitor.is_some_and(|visitor| visitor.wants_scores()),
            uncounted: request.track_total == TrackTotal::No && visitor.is_none(),
            counting: needs_first.then(|| counting(run, request.track_total)),
        })
    }

    /// Whether the order is that of the index.
    pub(super) fn by_place(&self) -> bool {
        matches!(&*self.sort, [SortKey::Doc { order: Order::Asc }, ..])
    }

    pub(super) fn scoring(&self, run: &Run<'_>) -> Result<Scoring, QueryError> {
        let mut keys = self.sort.iter();
        let wanted = self.kept.scores
            || self.min_score.is_some()
            || self.visitor_scores
            || keys.any(|key| matches!(key, SortKey::Script(_)));
        Ok(match run.plan.constant {
            Some(score) => Scoring::Same(unscored(run.snapshot, &run.plan)?, score),
            None if wanted => Scoring::Each(run.scored_weight()?),
            None => Scoring::Same(unscored(run.snapshot, &run.plan)?, 0.0),
        })
    }

    pub(super) fn sink(&self, snapshot: &Snapshot) -> Result<Sink<'a>, QueryError> {
        Ok(if self.limit == 0 {
            Sink::Nothing
        } else if let Some(path) = self.collapse {
            let wanted = HitsWanted {
                sort: self.sort,
                limit: self.limit,
                after: self.after,
                kept: self.kept,
            };
            let top = GroupedTop::new(path, &snapshot.mapping, wanted)?;
            Sink::Grouped(Box::new(top))
        } else if by_score(&self.sort) {
            Sink::Score(TopScores::new(self.limit, self.below))
        } else {
            let top = SortedTop::new(self.sort, self.limit, self.after, self.kept)?;
            Sink::Sorted(top)
        })
    }
}
