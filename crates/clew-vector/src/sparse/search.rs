//! Chooses how to search, and turns finds into hits.

use std::collections::BinaryHeap;

use clew_platform::Pace;

use crate::VectorError;
use crate::filter::RowFilter;
use crate::rank::Ranked;
use crate::sparse::postings::List;
use crate::sparse::score::{exact, slack_ratio};
use crate::sparse::walk::Walk;
use crate::sparse::{
    ScoreRange, SparseEntry, SparseHit, SparseOutcome, SparseSearchRequest, SparseStrategy, View,
};

/// Scoring one vector costs about as much as adding up this many postings (measured: 30 weights of
/// the query against vectors of 120, scattered).
const ROW_POSTINGS: usize = 250;

/// With some of the query left out, so many times `k` are found, and scored by the whole query.
const DROP_FINDS: usize = 4;

/// Vectors on their way from memory while the ones before them are scored.
const COMING_ROWS: usize = 4;

/// Rows by exact score, the best `k` of those offered.
#[derive(Debug)]
pub(super) struct Top {
    k: usize,
    heap: BinaryHeap<Ranked>,
    range: Option<ScoreRange>,
}

impl Top {
    fn new(k: usize, range: Option<ScoreRange>) -> Self {
        Top {
            k,
            heap: BinaryHeap::new(),
            range,
        }
    }

    /// What a row has to score to be among the best: 0 until there are `k`.
    #[inline]
    pub(super) fn threshold(&self) -> f32 {
        match self.heap.peek() {
            Some(worst) if self.heap.len() == self.k => -worst.distance(),
            _ => 0.0,
        }
    }

    #[inline]
    pub(super) fn offer(&mut self, row: u32, score: f32) {
        let one = Ranked::new(-score, row);
        if score <= 0.0 || self.range.is_some_and(|range| !range.holds(score)) {
            return;
        }
        if self.heap.len() < self.k {
            self.heap.push(one);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && one < *worst
        {
            *worst = one;
        }
    }
}

/// A query and the rows that may be hits.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) query: &'a [SparseEntry],
    pub(super) filter: Option<RowFilter<'a>>,
}

/// Finds the best `k`. `forced` leaves the choice of the way to a test.
pub(super) fn search(
    view: &View<'_>,
    request: &SparseSearchRequest<'_>,
    forced: Option<SparseStrategy>,
) -> Result<SparseOutcome, VectorError> {
    request.validate()?;
    let strategy = SparseStrategy::Postings;
    let mut outcome = SparseOutcome {
        hits: Vec::new(),
        strategy,
        postings: 0,
        blocks_skipped: 0,
        rows: 0,
    };
    let row_count = view.row_count();
    let k = request.k.min(row_count);
    if k == 0 {
        return Ok(outcome);
    }
    let used = undropped(request);
    let mut terms = Vec::with_capacity(used.len());
    for entry in &used {
        if let Some(list) = view.index.list(entry.dimension)? {
            terms.push((entry.weight, list));
        }
    }
    let question = Question {
        query: request.query,
        filter: request.filter.map(|filter| RowFilter {
            filter,
            docs: view.docs,
            repeated: false,
            row_count,
        }),
    };
    outcome.strategy = forced.unwrap_or_else(|| choose(&question, &terms));
    let mut top = Top::new(k, request.range);
    match outcome.strategy {
        SparseStrategy::Rows => by_rows(view, &question, (&mut top, &mut outcome))?,
        SparseStrategy::Postings => {
            let dropped = positive(request).count() - used.len();
            let wanted = if dropped == 0 {
                k
            } else {
                k.saturating_mul(DROP_FINDS)
            };
            // A part of a score says nothing of the least that all of it has to be.
            let range = request.range.filter(|_| dropped == 0);
            let terms = (terms, wanted.min(row_count));
            let mut walk = Walk::new(view, &question, terms, range);
            let mut found = walk.run()?;
            outcome.postings = walk.postings;
            outcome.blocks_skipped = walk.blocks_skipped();
            let bounds = if dropped == 0 {
                Bounds::OfScores(slack_ratio(used.len()))
            } else {
                found.truncate(wanted);
                Bounds::OfParts
            };
            rescore(view, &question, (&found, bounds), (&mut top, &mut outcome))?;
        }
    }
    let hits = top.heap.into_sorted_vec().into_iter();
    outcome.hits = hits
        .map(|one| SparseHit {
            doc: view.doc(one.row()),
            score: -one.distance(),
        })
        .collect();
    Ok(outcome)
}

fn positive<'a>(request: &SparseSearchRequest<'a>) -> impl Iterator<Item = &'a SparseEntry> {
    let query = request.query.iter();
    query.filter(|entry| entry.weight > 0.0)
}

/// The query without its zeros and without the smallest weights that it asks to leave out, by
/// ascending dimension.
fn undropped(request: &SparseSearchRequest<'_>) -> Vec<SparseEntry> {
    let mut used: Vec<SparseEntry> = positive(request).copied().collect();
    if request.range.is_some_and(|range| range.up_to.is_some()) {
        return used;
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a number of weights, rounded down"
    )]
    let dropped = (f64::from(request.drop_ratio) * used.len() as f64) as usize;
    if dropped > 0 {
        used.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        used.truncate(used.len() - dropped);
        used.sort_unstable_by_key(|entry| entry.dimension);
    }
    used
}

fn choose(question: &Question<'_>, terms: &[(f32, List<'_>)]) -> SparseStrategy {
    let Some(filter) = question.filter else {
        return SparseStrategy::Postings;
    };
    let postings: usize = terms.iter().map(|(_, list)| list.count).sum();
    if filter.survivors_expected().saturating_mul(ROW_POSTINGS) < postings {
        SparseStrategy::Rows
    } else {
        SparseStrategy::Postings
    }
}

/// What the distances of finds say.
#[derive(Debug, Clone, Copy)]
enum Bounds {
    /// No score is greater by more than this share.
    OfScores(f32),
    /// Only a part of the query was looked at.
    OfParts,
}

/// Scores finds, the most promising first, as long as they may be hits.
fn rescore(
    view: &View<'_>,
    question: &Question<'_>,
    (found, bounds): (&[Ranked], Bounds),
    (top, outcome): (&mut Top, &mut SparseOutcome),
) -> Result<(), VectorError> {
    let mut pace = Pace::default();
    for (at, one) in found.iter().enumerate() {
        if pace.is_over() {
            break;
        }
        if let Bounds::OfScores(slack) = bounds
            && -one.distance() < top.threshold() * (1.0 - slack)
        {
            break;
        }
        if let Some(coming) = found.get(at + COMING_ROWS) {
            view.prefetch(coming.row());
        }
        score_row(view, question, one.row(), (&mut *top, &mut *outcome))?;
    }
    Ok(())
}

/// Scores every row that passes: also the specification of every other way.
fn by_rows(
    view: &View<'_>,
    question: &Question<'_>,
    (top, outcome): (&mut Top, &mut SparseOutcome),
) -> Result<(), VectorError> {
    let mut health = Ok(());
    let mut pace = Pace::default();
    let mut visit = |row| {
        if health.is_ok() && !pace.is_over() {
            health = score_row(view, question, row, (&mut *top, &mut *outcome));
        }
    };
    let rows = u32::try_from(view.row_count()).unwrap_or(u32::MAX);
    match &question.filter {
        Some(filter) => filter.for_each_row(0..rows, visit),
        None => (0..rows).for_each(&mut visit),
    }
    health
}

fn score_row(
    view: &View<'_>,
    question: &Question<'_>,
    row: u32,
    (top, outcome): (&mut Top, &mut SparseOutcome),
) -> Result<(), VectorError> {
    let vector = view.row(row)?;
    outcome.rows += 1;
    top.offer(row, exact(question.query, vector));
    Ok(())
}
