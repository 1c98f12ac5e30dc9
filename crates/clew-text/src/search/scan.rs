//! The full scan: every match is seen once, by the visitor, the counter and the sort heap.

use tantivy::query::Weight;
use tantivy::{DocId, SegmentReader};

use super::bits::SegmentBits;
use super::grouped::{GroupedTop, Wanted};
use super::matching::unscored;
use super::request::{DocVisitor, Relation, ShardRequest, ShardResult, Total, TrackTotal};
use super::run::{Counting, Run, below, by_score, counting, expired};
use super::snapshot::Snapshot;
use super::sort::SortKey;
use super::sorted::{Kept, SortedTop};
use super::span::ColumnOf;
use super::top::TopScores;
use crate::query::QueryError;

mod passing;
#[cfg(test)]
mod tests;

/// Documents handed on at a time when scores are read one by one.
const BLOCK: usize = 512;

enum Sink<'a> {
    Nothing,
    Score(TopScores),
    Sorted(SortedTop<'a>),
    Grouped(Box<GroupedTop<'a>>),
}

impl Sink<'_> {
    fn begin(
        &mut self,
        segment: usize,
        snapshot: &Snapshot,
        reader: &SegmentReader,
    ) -> Result<(), QueryError> {
        match self {
            Sink::Sorted(top) => top.begin(segment, snapshot, reader),
            Sink::Grouped(top) => top.begin(segment, snapshot, reader),
            _ => Ok(()),
        }
    }

    /// Whether no later segment can bring a better document.
    fn is_complete(&self) -> bool {
        matches!(self, Sink::Sorted(top) if top.is_complete())
    }

    fn offer(&mut self, segment: usize, doc: DocId, score: f32) -> Result<(), QueryError> {
        match self {
            Sink::Nothing => Ok(()),
            Sink::Score(top) => {
                top.offer(segment, doc, score);
                Ok(())
            }
            Sink::Sorted(top) => top.offer(doc, score),
            Sink::Grouped(top) => top.offer(doc, score),
        }
    }
}

/// What happens to each block of matches.
struct Scan<'r, 'a> {
    run: &'r Run<'r>,
    sink: Sink<'a>,
    visitor: Option<&'a mut dyn DocVisitor>,
    min_score: Option<f32>,
    only: Option<&'a [SegmentBits]>,
    /// Matches that may still be looked at.
    left: u64,
    seen: u64,
    max_score: Option<f32>,
    living: Vec<DocId>,
    /// The scores of the living, where the visitor wants them.
    living_scores: Vec<f32>,
    visitor_scores: bool,
    /// How far matches are counted, where nothing else needs to see every one.
    counting: Option<Counting>,
    /// What is sorted by, while all documents are looked at for it.
    looking_at: Option<ColumnOf>,
}

impl Scan<'_, '_> {
    /// Takes a block; `score_of` gives the score of the document at a place in it.
    fn block(
        &mut self,
        segment: usize,
        reader: &SegmentReader,
        docs: &[DocId],
        score_of: &dyn Fn(usize) -> f32,
    ) -> Result<(), QueryError> {
        let alive = reader.alive_bitset();
        self.living.clear();
        self.living_scores.clear();
        for (at, doc) in docs.iter().enumerate() {
            if self.left == 0 {
                break;
            }
            let score = score_of(at);
            let wanted = alive.is_none_or(|alive| alive.is_alive(*doc))
                && self.min_score.is_none_or(|min| score >= min)
                && self.only.is_none_or(|only| only[segment].contains(*doc));
            if !wanted {
                continue;
            }
            self.left -= 1;
            self.living.push(*doc);
            if self.visitor_scores {
                self.living_scores.push(score);
            }
            if self.run.passes(segment, *doc) {
                self.seen += 1;
                self.max_score = Some(self.max_score.map_or(score, |max| max.max(score)));
                self.sink.offer(segment, *doc, score)?;
            }
        }
        match &mut self.visitor {
            Some(visitor) if !self.living.is_empty() => {
                if self.visitor_scores {
                    visitor.scores(&self.living, &self.living_scores);
                }
                visitor.collect(&self.living)
            }
            _ => Ok(()),
        }
    }

    fn segment(
        &mut self,
        segment: usize,
        reader: &SegmentReader,
        weight: &Scoring,
    ) -> Result<(), QueryError> {
        self.sink.begin(segment, self.run.snapshot, reader)?;
        if let Some(visitor) = &mut self.visitor {
            visitor.segment(segment, reader)?;
        }
        // tantivy's callbacks cannot fail, so the first failure waits for the segment's end.
        let mut failed = Ok(());
        match weight {
            Scoring::Same(weight, score)
                if self.by_ranges(segment, reader, (&**weight, *score))? => {}
            Scoring::Same(weight, score) => {
                let before = self.seen;
                weight.for_each_no_score(reader, &mut |docs| {
                    if failed.is_ok() {
                        failed = self.block(segment, reader, docs, &|_| *score);
                    }
                })?;
                if let Some(column) = self.looking_at.take() {
                    let spans = self.run.snapshot.spans();
                    spans.looked(column, self.seen - before);
                }
            }
            Scoring::Each(weight) => {
                let mut docs = Vec::with_capacity(BLOCK);
                let mut scores: Vec<f32> = Vec::with_capacity(BLOCK);
                weight.for_each(reader, &mut |doc, score| {
                    docs.push(doc);
                    scores.push(score);
                    if docs.len() == BLOCK {
                        if failed.is_ok() {
                            failed = self.block(segment, reader, &docs, &|at| scores[at]);
                        }
                        docs.clear();
                        scores.clear();
                    }
                })?;
                if failed.is_ok() {
                    failed = self.block(segment, reader, &docs, &|at| scores[at]);
                }
            }
        }
        failed?;
        match &mut self.sink {
            Sink::Sorted(top) => top.end(),
            Sink::Grouped(top) => top.end(),
            _ => Ok(()),
        }
    }
}

enum Scoring {
    Same(Box<dyn Weight>, f32),
    Each(Box<dyn Weight>),
}

#[allow(
    clippy::too_many_lines,
    reason = "one pass over the segments, whose steps share their state"
)]
pub(super) fn scan<'a>(
    run: &Run<'_>,
    mut request: ShardRequest<'a>,
) -> Result<ShardResult, QueryError> {
    let visitor = request.visitor.as_ref();
    let visitor_scores = visitor.is_some_and(|visitor| visitor.wants_scores());
    let scores_shown = request.track_scores
        || (by_score(request.sort) && request.limit > 0)
        || request
            .sort
            .iter()
            .any(|key| matches!(key, SortKey::Score { .. }));
    // An order of one's own hides which score is the best, even when it is by score first.
    let best_shown = request.track_scores || request.sort.is_empty();
    let scores_wanted = scores_shown || request.min_score.is_some();
    let scoring = match run.plan.constant {
        Some(score) => Scoring::Same(unscored(run.snapshot, &run.plan)?, score),
        None if scores_wanted || visitor_scores => Scoring::Each(run.scored_weight()?),
        None => Scoring::Same(unscored(run.snapshot, &run.plan)?, 0.0),
    };
    let kept = Kept {
        scores: scores_shown,
        doc_base: request.doc_base,
    };
    let sink = if request.limit == 0 {
        Sink::Nothing
    } else if let Some(path) = request.collapse {
        let wanted = Wanted {
            sort: request.sort,
            limit: request.limit,
            after: request.search_after,
            kept,
        };
        let top = GroupedTop::new(path, &run.snapshot.mapping, wanted)?;
        Sink::Grouped(Box::new(top))
    } else if by_score(request.sort) {
        Sink::Score(TopScores::new(request.limit, below(&request)?))
    } else {
        Sink::Sorted(SortedTop::new(
            request.sort,
            request.limit,
            request.search_after,
            kept,
        )?)
    };
    // Nobody asks how many more there are: in the order of the index, the first are enough.
    let uncounted = request.track_total == TrackTotal::No && request.visitor.is_none();
    let needs_first = request.visitor.is_none()
        && request.min_score.is_none()
        && request.only.is_none()
        && request.terminate_after.is_none()
        && !request.track_scores;
    let segments = passing::order(&sink, run.snapshot)?;
    let mut scan = Scan {
        run,
        sink,
        visitor: request.visitor.take(),
        min_score: request.min_score,
        only: request.only,
        left: request.terminate_after.unwrap_or(u64::MAX),
        seen: 0,
        max_score: None,
        living: Vec::new(),
        living_scores: Vec::new(),
        visitor_scores,
        counting: needs_first.then(|| counting(run, request.track_total)),
        looking_at: None,
    };
    let mut timed_out = false;
    for (begin, segment) in segments {
        if expired(&request) {
            timed_out = true;
            break;
        }
        if scan.left == 0 || (uncounted && scan.sink.is_complete()) {
            break;
        }
        if begin.is_some_and(|begin| scan.is_hopeless(begin, 0)) {
            continue;
        }
        scan.segment(segment, &run.snapshot.readers[segment], &scoring)?;
    }
    let known = scan.counting.as_ref().and_then(|counting| counting.known);
    let total = match request.track_total {
        TrackTotal::No => Total {
            value: 0,
            relation: Relation::Gte,
        },
        track => known.unwrap_or_else(|| Total::of(scan.seen, !timed_out, track)),
    };
    Ok(ShardResult {
        total,
        max_score: scan.max_score.filter(|_| best_shown && request.limit > 0),
        hits: match scan.sink {
            Sink::Nothing => Vec::new(),
            Sink::Score(top) => top.into_hits(!request.sort.is_empty()),
            Sink::Sorted(top) => top.into_hits(),
            Sink::Grouped(top) => top.into_hits(),
        },
        timed_out,
        terminated_early: request.terminate_after.is_some() && scan.left == 0,
    })
}
