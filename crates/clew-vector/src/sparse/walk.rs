//! Goes through the postings of a query, window of rows by window, and leaves out what cannot reach
//! the best `k`.
//!
//! MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations", 1995) with the
//! maxima of blocks (Ding and Suel, "Faster top-k document retrieval using block-max indexes", 2011):
//! in each window, the dimensions whose greatest sum cannot lift any row over the threshold are
//! optional: only rows that the others brought in are completed by them. The others are added up for
//! the whole window at once, which costs less per posting than going row by row.
//!
//! Codes of weights bound every score from both sides. The walk compares bounds only; its caller
//! scores what may be a hit.

use std::ops::Range;

use clew_platform::Pace;

use crate::VectorError;
use crate::rank::Ranked;
use crate::sparse::found::BestRows;
use crate::sparse::postings::{Decoded, List};
use crate::sparse::score::{self, slack_ratio};
use crate::sparse::search::Question;
use crate::sparse::{ScoreRange, View};

/// Rows per window: their sums fit into the first cache, and bounds stay tight.
const WINDOW_ROWS: u32 = 4096;

/// Dimensions are optional as long as what they may add together is within this share of the threshold.
/// With all of it so many rows become candidates that completing them takes what it saves (measured).
const OPTIONAL_SHARE: f32 = 0.5;

/// Rows of a window that are passed over together when none of them is a candidate.
const GROUP_ROWS: usize = 32;

const _: () = assert!((WINDOW_ROWS as usize).is_multiple_of(GROUP_ROWS));

/// One dimension of the query, and how far its postings have been read.
struct Term<'a> {
    query: f32,
    list: List<'a>,
    decoded: Decoded<'a>,
    /// The blocks that may have rows of the window.
    blocks: Range<usize>,
    /// No row of the window gets more from this dimension.
    bound: f32,
}

/// A search through postings.
pub(super) struct Walk<'a, 'q> {
    view: &'q View<'a>,
    question: &'q Question<'a>,
    terms: Vec<Term<'a>>,
    /// The terms of the window: first what is long and worth little.
    order: Vec<usize>,
    /// Of each row of the window, at least what its postings are worth; all 0 between windows.
    sums: Vec<f32>,
    /// Rows of the window that may be hits, as places in `sums`, ascending.
    candidates: Vec<u32>,
    /// An exact score is no greater than its bound over this, and rounding hides no more.
    slack: f32,
    found: BestRows,
    pub(super) postings: u64,
    blocks_decoded: u64,
}

impl<'a, 'q> Walk<'a, 'q> {
    pub(super) fn new(
        view: &'q View<'a>,
        question: &'q Question<'a>,
        (terms, k): (Vec<(f32, List<'a>)>, usize),
        range: Option<ScoreRange>,
    ) -> Self {
        let term = |(query, list)| Term {
            query,
            list,
            decoded: Decoded::empty(),
            blocks: 0..0,
            bound: 0.0,
        };
        let slack = 1.0 - slack_ratio(terms.len()).min(1.0);
        Walk {
            view,
            question,
            slack,
            order: (0..terms.len()).collect(),
            terms: terms.into_iter().map(term).collect(),
            sums: vec![0.0; WINDOW_ROWS as usize],
            candidates: Vec::new(),
            found: BestRows::new(k, (range, slack)),
            postings: 0,
            blocks_decoded: 0,
        }
    }

    /// Blocks of the query's dimensions that were not decoded.
    pub(super) fn blocks_skipped(&self) -> u64 {
        let blocks = |term: &Term<'_>| term.list.blocks.len() as u64;
        self.terms.iter().map(blocks).sum::<u64>() - self.blocks_decoded
    }

    /// The rows that may be among the best `k`, the most promising first: no row that is left out
    /// scores more than `k` others.
    pub(super) fn run(&mut self) -> Result<Vec<Ranked>, VectorError> {
        let mut next = 0;
        let mut pace = Pace::of_lists(self.terms.len());
        while let Some(row) = self.seek(next) {
            if pace.is_over() {
                break;
            }
            let base = row - row % WINDOW_ROWS;
            let Some(end) = base.checked_add(WINDOW_ROWS) else {
                break;
            };
            self.window(base, end)?;
            self.found.tidy(self.slack);
            next = end;
        }
        Ok(self.found.take(self.slack))
    }

    /// Leaves behind all blocks before `row`; the first row from there on that may have a posting.
    fn seek(&mut self, row: u32) -> Option<u32> {
        let mut next: Option<u32> = None;
        for term in &mut self.terms {
            let blocks = term.list.blocks.iter().skip(term.blocks.start);
            term.blocks.start += blocks.take_while(|block| block.last_row < row).count();
            if term.blocks.start < term.list.blocks.len() {
                let first = term.list.first_row(term.blocks.start).max(row);
                next = Some(next.map_or(first, |next| next.min(first)));
            }
        }
        next
    }

    /// What a sum has to reach to be worth scoring.
    fn floor(&self) -> f32 {
        self.found.threshold() * self.slack
    }

    fn window(&mut self, base: u32, end: u32) -> Result<(), VectorError> {
        let (total, error) = self.bound(end);
        let floor = self.floor();
        if total < floor {
            return Ok(());
        }
        let terms = &self.terms;
        let cheapness = |term: &usize| terms[*term].cheapness();
        self.order
            .sort_unstable_by(|a, b| cheapness(a).total_cmp(&cheapness(b)));
        let rest_of = |optional: usize| -> f32 {
            let terms = self.order[..optional].iter();
            terms.map(|&term| self.terms[term].bound).sum()
        };
        let mut optional = 0;
        while optional < self.order.len() && rest_of(optional + 1) < floor * OPTIONAL_SHARE {
            optional += 1;
        }
        let before = self.postings;
        let rest = rest_of(optional);
        for at in optional..self.order.len() {
            self.add_all(self.order[at], (base, end))?;
        }
        if self.postings == before {
            return Ok(());
        }
        self.collect(base, floor - rest);
        for at in (0..optional).rev() {
            if self.candidates.is_empty() {
                break;
            }
            self.add_candidates(self.order[at], (base, end))?;
            let terms = self.order[..at].iter();
            let rest: f32 = terms.map(|&term| self.terms[term].bound).sum();
            self.sift(floor - rest);
        }
        self.keep(base, error);
        self.sums.fill(0.0);
        Ok(())
    }

    /// What each dimension may add in the window up to `end`. Answers how much all may add, and by
    /// how much that may be more than what the vectors say.
    fn bound(&mut self, end: u32) -> (f32, f32) {
        let (mut total, mut total_error) = (0.0, 0.0);
        for term in &mut self.terms {
            let (mut bound, mut error) = (0.0_f32, 0.0_f32);
            let mut past = term.blocks.start;
            while let Some(block) = term.list.blocks.get(past)
                && term.list.first_row(past) < end
            {
                bound = bound.max(score::bound(term.query, block));
                error = error.max(score::error(term.query, block));
                past += 1;
            }
            term.blocks.end = past;
            term.bound = bound;
            total += bound;
            total_error += error;
        }
        (total, total_error)
    }

    fn add_all(&mut self, term: usize, window: (u32, u32)) -> Result<(), VectorError> {
        for block in self.terms[term].blocks.clone() {
            self.add_block((term, block), window)?;
        }
        Ok(())
    }

    /// Adds the blocks that may have postings of candidates.
    fn add_candidates(&mut self, term: usize, (base, end): (u32, u32)) -> Result<(), VectorError> {
        let mut at = 0;
        for block in self.terms[term].blocks.clone() {
            let list = &self.terms[term].list;
            let first = list.first_row(block).saturating_sub(base);
            let last = list.blocks[block].last_row.saturating_sub(base);
            let candidates = &self.candidates[at..];
            at += candidates.partition_point(|&place| place < first);
            if self.candidates.get(at).is_some_and(|&place| place <= last) {
                self.add_block((term, block), (base, end))?;
            }
        }
        Ok(())
    }

    fn add_block(
        &mut self,
        (term, block): (usize, usize),
        (base, end): (u32, u32),
    ) -> Result<(), VectorError> {
        let term = &mut self.terms[term];
        let decoded = term.decoded.fill(&self.view.index, &term.list, block)?;
        self.blocks_decoded += u64::from(decoded);
        let (rows, codes) = term.decoded.within(base, end);
        self.postings += rows.len() as u64;
        let postings = (term.decoded.step, rows, codes);
        score::add(term.query, postings, (base, &mut self.sums));
        Ok(())
    }

    /// Collects the rows that have a posting, pass the filter and have a sum of at least `wanted`.
    fn collect(&mut self, base: u32, wanted: f32) {
        // Whether a row is a candidate cannot be foretold, so nothing branches on it: a place is
        // written always, and stays if the next one goes behind it.
        let wanted = wanted.max(f32::MIN_POSITIVE);
        self.candidates.resize(WINDOW_ROWS as usize, 0);
        let mut count = 0;
        let groups = self.sums.chunks_exact(GROUP_ROWS);
        for (first, group) in (0_u32..).step_by(GROUP_ROWS).zip(groups) {
            let any = group
                .iter()
                .fold(0, |any, &sum| any | u32::from(sum >= wanted));
            if any != 0 {
                for (place, &sum) in (first..).zip(group) {
                    self.candidates[count] = place;
                    count += usize::from(sum >= wanted);
                }
            }
        }
        self.candidates.truncate(count);
        if let Some(filter) = &self.question.filter {
            self.candidates.retain(|place| filter.passes(base + place));
        }
    }

    /// Leaves the candidates with a sum of at least `wanted`.
    fn sift(&mut self, wanted: f32) {
        let mut count = 0;
        for at in 0..self.candidates.len() {
            let place = self.candidates[at];
            self.candidates[count] = place;
            count += usize::from(self.sums[place as usize] >= wanted);
        }
        self.candidates.truncate(count);
    }

    /// Keeps the candidates that may still be hits.
    fn keep(&mut self, base: u32, error: f32) {
        for &place in &self.candidates {
            let sum = self.sums[place as usize];
            if sum >= self.found.threshold() * self.slack {
                // Both are rounded, and may be nearly the same.
                let least = sum * self.slack - error * (2.0 - self.slack);
                self.found.push(base + place, (least, sum));
            }
        }
    }
}

impl Term<'_> {
    /// What the window's postings of this dimension may be worth, each.
    fn cheapness(&self) -> f32 {
        self.bound / self.blocks.len().max(1) as f32
    }
}
