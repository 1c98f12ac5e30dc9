//! The full scan: every match is seen once, by the visitor, the counter and the sort heap.

use std::ops::ControlFlow;

use clew_platform::{Pace, stopped};
use clew_query::QueryError;
use tantivy::query::Weight;
use tantivy::{DocId, SegmentReader};

use super::helpers::helpers;
use super::request::{DocVisitor, ShardRequest, ShardResult};
use super::run::Run;
use super::total::{Relation, Total, TrackTotal};
use crate::query::{each_block, each_scored};
use crate::search::top::hits_of;
use passing::Begin;
use shared::Together;
use sink::Sink;
use wish::Wish;

mod passing;
mod shared;
mod sink;
#[cfg(test)]
mod tests;
mod wish;

/// What happens to each block of matches.
struct Scan<'r, 'a, 'v> {
    run: &'r Run<'r>,
    wish: Wish<'a>,
    sink: Sink<'a>,
    visitor: Option<&'v mut dyn DocVisitor>,
    /// What threads at other segments of the same scan see of this one.
    together: &'r Together,
    /// Matches that may still be looked at.
    left: u64,
    seen: u64,
    max_score: Option<f32>,
    living: Vec<DocId>,
    /// The scores of the living, where the visitor wants them.
    living_scores: Vec<f32>,
    /// The column that is sorted by, while all documents are looked at for it.
    looking_at: Option<String>,
    /// Counts blocks of matches.
    pace: Pace,
}

impl<'r, 'a, 'v> Scan<'r, 'a, 'v> {
    fn new(
        (run, together): (&'r Run<'r>, &'r Together),
        wish: Wish<'a>,
        visitor: Option<&'v mut dyn DocVisitor>,
    ) -> Result<Self, QueryError> {
        Ok(Scan {
            run,
            wish,
            sink: wish.sink(run.snapshot)?,
            visitor,
            together,
            left: wish.terminate_after.unwrap_or(u64::MAX),
            seen: 0,
            max_score: None,
            living: Vec::new(),
            living_scores: Vec::new(),
            looking_at: None,
            pace: Pace::of_blocks(),
        })
    }

    /// Goes through segments, as long as there is time and any use in it.
    fn segments(
        mut self,
        scoring: &Scoring,
        segments: impl Iterator<Item = (Begin, usize)>,
    ) -> Result<ScanFound<'a>, QueryError> {
        let mut timed_out = false;
        for (begin, segment) in segments {
            if stopped() {
                timed_out = true;
                break;
            }
            if self.left == 0 || (self.wish.uncounted && self.sink.is_complete()) {
                break;
            }
            self.together.meet(&mut self.sink);
            if begin.is_some_and(|begin| self.is_hopeless(begin, 0)) {
                continue;
            }
            self.segment(segment, &self.run.snapshot.readers[segment], scoring)?;
            timed_out |= stopped();
            self.together.meet(&mut self.sink);
        }
        Ok(ScanFound {
            sink: self.sink,
            seen: self.seen,
            max_score: self.max_score,
            left: self.left,
            timed_out,
        })
    }
}

impl Scan<'_, '_, '_> {
    /// Whether every match that lives counts, and only its being there does.
    fn takes_all(&self) -> bool {
        let Wish {
            min_score,
            only,
            terminate_after,
            visitor_scores,
            ..
        } = &self.wish;
        let unbounded = min_score.is_none() && only.is_none() && terminate_after.is_none();
        let unread = matches!(self.sink, Sink::Nothing) && !visitor_scores;
        unbounded && unread && self.run.post.is_none()
    }

    /// Takes a block, and says whether more are wanted; `score_of` gives the score of the document at a place in it.
    fn block(
        &mut self,
        segment: usize,
        reader: &SegmentReader,
        docs: &[DocId],
        score_of: &dyn Fn(usize) -> f32,
    ) -> Result<ControlFlow<()>, QueryError> {
        if self.pace.is_over() {
            return Ok(ControlFlow::Break(()));
        }
        let since = self.run.since();
        let taken = self.take(segment, reader, docs, score_of);
        self.run.collected(since, docs.len());
        match taken {
            // What was found before the document that there was no time for counts.
            Err(QueryError::Stopped) => return Ok(ControlFlow::Break(())),
            taken => taken?,
        }
        Ok(match self.left {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })
    }

    fn take(
        &mut self,
        segment: usize,
        reader: &SegmentReader,
        docs: &[DocId],
        score_of: &dyn Fn(usize) -> f32,
    ) -> Result<(), QueryError> {
        let alive = reader.alive_bitset();
        if alive.is_none() && self.takes_all() {
            self.seen += docs.len() as u64;
            self.together.count(docs.len() as u64);
            let since = self.run.since();
            return match &mut self.visitor {
                Some(visitor) if !docs.is_empty() => {
                    let visited = visitor.collect(docs);
                    self.run.visited(since);
                    visited
                }
                _ => Ok(()),
            };
        }
        let before = self.seen;
        self.living.clear();
        self.living_scores.clear();
        for (at, doc) in docs.iter().enumerate() {
            if self.left == 0 {
                break;
            }
            let score = score_of(at);
            let wanted = alive.is_none_or(|alive| alive.is_alive(*doc))
                && self.wish.min_score.is_none_or(|min| score >= min)
                && self
                    .wish
                    .only
                    .is_none_or(|only| only[segment].contains(*doc));
            if !wanted {
                continue;
            }
            self.left -= 1;
            self.living.push(*doc);
            if self.wish.visitor_scores {
                self.living_scores.push(score);
            }
            if self.run.passes(segment, *doc) {
                self.seen += 1;
                self.max_score = Some(self.max_score.map_or(score, |max| max.max(score)));
                self.sink.offer(segment, *doc, score)?;
            }
        }
        self.together.count(self.seen - before);
        let since = self.run.since();
        match &mut self.visitor {
            Some(visitor) if !self.living.is_empty() => {
                if self.wish.visitor_scores {
                    visitor.scores(&self.living, &self.living_scores);
                }
                let visited = visitor.collect(&self.living);
                self.run.visited(since);
                visited
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
            let since = self.run.since();
            visitor.segment(segment, reader)?;
            self.run.visited(since);
            self.run.collected(since, 0);
        }
        match weight {
            Scoring::Same(weight, score)
                if self.by_ranges(segment, reader, (&**weight, *score))? => {}
            Scoring::Same(weight, score) => {
                let before = self.seen;
                each_block(&**weight, reader, |docs| {
                    self.block(segment, reader, docs, &|_| *score)
                })?;
                if let Some(column) = self.looking_at.take() {
                    let spans = &self.run.snapshot.columns().spans;
                    spans.looked((reader.segment_id(), &column), self.seen - before);
                }
            }
            Scoring::Each(weight) => each_scored(&**weight, reader, |docs, scores| {
                self.block(segment, reader, docs, &|at| scores[at])
            })?,
        }
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

/// What was found in some segments.
struct ScanFound<'a> {
    sink: Sink<'a>,
    seen: u64,
    max_score: Option<f32>,
    left: u64,
    timed_out: bool,
}

impl ScanFound<'_> {
    /// Joins what another thread has found in other segments.
    fn absorb(&mut self, other: Self) {
        self.sink.absorb(other.sink);
        self.seen += other.seen;
        self.max_score = self
            .max_score
            .into_iter()
            .chain(other.max_score)
            .reduce(f32::max);
        self.timed_out |= other.timed_out;
    }

    fn result(self, wish: &Wish<'_>, (track, best_shown): (TrackTotal, bool)) -> ShardResult {
        let known = wish.counting.and_then(|counting| counting.known);
        let total = match track {
            TrackTotal::No => Total {
                value: 0,
                relation: Relation::Gte,
            },
            track => known.unwrap_or_else(|| Total::of(self.seen, !self.timed_out, track)),
        };
        ShardResult {
            total,
            max_score: self.max_score.filter(|_| best_shown && wish.limit > 0),
            hits: match self.sink {
                Sink::Nothing => Vec::new(),
                Sink::Score(top) => hits_of(top, !wish.sort.is_empty()),
                Sink::Sorted(top) => top.into_hits(),
                Sink::Grouped(top) => top.into_hits(),
            },
            timed_out: self.timed_out,
            terminated_early: wish.terminate_after.is_some() && self.left == 0,
        }
    }
}

pub(super) fn scan(
    run: &Run<'_>,
    mut request: ShardRequest<'_>,
) -> Result<ShardResult, QueryError> {
    let wish = Wish::of(run, &request)?;
    let scoring = wish.scoring(run)?;
    let segments = match wish.counting {
        Some(_) => passing::order(&wish.sink(run.snapshot)?, run.snapshot)?,
        // Visitors see the segments in their order.
        None => (0..run.snapshot.readers.len())
            .map(|segment| (None, segment))
            .collect(),
    };
    // An order of one's own hides which score is the best, even when it is by score first.
    let best_shown = request.track_scores || request.sort.is_empty();
    let shown = (request.track_total, best_shown);
    if let Some(threads) = helpers(run, &request).filter(|_| shared::fits(&wish))
        && let visitor = &mut request.visitor
        && let Some(found) = shared::found((run, wish), (&scoring, &segments), (threads, visitor))
    {
        return Ok(found.result(&wish, shown));
    }
    let together = Together::default();
    let visitor = request.visitor.take();
    let scan = Scan::new((run, &together), wish, visitor)?;
    let found = scan.segments(&scoring, segments.into_iter())?;
    Ok(found.result(&wish, shown))
}
