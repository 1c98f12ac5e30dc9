//! Exact search: measure every row that may be a hit. Also the specification of every other search.

mod documents;
mod many;
mod top;

pub(crate) use documents::search_documents;
pub(crate) use many::{ExactQuery, search_many};
pub(crate) use top::{Keep, Top};

use std::ops::Range;

use clew_platform::Pace;

use crate::VectorError;
use crate::column::Integrity;
use crate::filter::RowFilter;
use crate::plan::SCAN_ALL_RATIO_MIN;
use crate::rank::Ranked;
use crate::row_set::RowSet;
use crate::rows::{Probe, RowProbe};
use crate::scratch::Scratch;

/// Rows measured by one kernel call: their distances fit into the first cache.
const BLOCK_ROWS: usize = 256;
/// Scattered rows on their way from memory while the ones before them are measured.
const PICKED_ROWS: usize = 16;
/// The same for rows of codes.
const COARSE_ROWS: usize = 32;
const _: () = assert!(PICKED_ROWS <= COARSE_ROWS);

/// The `k` nearest rows, in order, and the number of distances that took. Every vector read is
/// checked first.
pub(crate) fn search(
    (probe, integrity): (&RowProbe<'_>, &Integrity<'_>),
    filter: Option<&RowFilter<'_>>,
    k: usize,
) -> Result<(Vec<Ranked>, u64), VectorError> {
    let mut top = Top::new(k);
    let measured = measure_rows((probe, integrity), filter, &mut top)?;
    Ok((top.finish(), measured))
}

/// Shows every row that passes to `top`, in order; answers the number of distances.
fn measure_rows(
    (probe, integrity): (&RowProbe<'_>, &Integrity<'_>),
    filter: Option<&RowFilter<'_>>,
    top: &mut impl Keep,
) -> Result<u64, VectorError> {
    let rows = all_rows(probe.rows.count());
    if reads_all(filter) {
        integrity.touch_vectors()?;
        Ok(scan_all(probe, filter, rows, top))
    } else {
        scan_passing((probe, integrity), filter, rows, top)
    }
}

fn all_rows(count: usize) -> Range<u32> {
    0..u32::try_from(count).expect("a column holds at most 2^30 rows")
}

/// Whether so many rows pass that reading all of them in order is cheaper than picking.
fn reads_all(filter: Option<&RowFilter<'_>>) -> bool {
    filter.is_none_or(|some| {
        some.survivors_expected() as f64 >= some.row_count as f64 * SCAN_ALL_RATIO_MIN
    })
}

/// Measures consecutive rows, and keeps the best of those that pass.
fn scan_all(
    probe: &RowProbe<'_>,
    filter: Option<&RowFilter<'_>>,
    rows: Range<u32>,
    top: &mut impl Keep,
) -> u64 {
    let mut distances = [0.0; BLOCK_ROWS];
    let count = rows.len() as u64;
    let mut pace = Pace::of_blocks();
    for first in rows.clone().step_by(BLOCK_ROWS) {
        if pace.is_over() {
            break;
        }
        let block = &mut distances[..BLOCK_ROWS.min((rows.end - first) as usize)];
        probe.measure_block(first as usize, block);
        for (row, &distance) in (first..).zip(&*block) {
            let one = Ranked::new(distance, row);
            if one < top.limit() && filter.is_none_or(|filter| filter.passes(row)) {
                top.push(one);
            }
        }
    }
    count
}

fn scan_passing(
    (probe, integrity): (&RowProbe<'_>, &Integrity<'_>),
    filter: Option<&RowFilter<'_>>,
    rows: Range<u32>,
    top: &mut impl Keep,
) -> Result<u64, VectorError> {
    let (mut ready, mut coming) = (Vec::new(), Vec::with_capacity(PICKED_ROWS));
    let (mut measured, mut health) = (0, Ok(()));
    let mut pace = Pace::default();
    let mut visit = |row| {
        if pace.is_over() {
            return;
        }
        if let Err(damage) = integrity.touch_vector(row) {
            health = Err(damage);
            return;
        }
        probe.prefetch(row);
        coming.push(row);
        if coming.len() == PICKED_ROWS {
            measured += measure_picked(probe, &ready, top);
            std::mem::swap(&mut ready, &mut coming);
            coming.clear();
        }
    };
    match filter {
        Some(filter) => filter.for_each_row(rows, visit),
        None => rows.for_each(&mut visit),
    }
    let rest = measure_picked(probe, &ready, top) + measure_picked(probe, &coming, top);
    health.map(|()| measured + rest)
}

fn measure_picked<P: Probe>(probe: &P, rows: &[u32], top: &mut impl Keep) -> u64 {
    let mut distances = [0.0; COARSE_ROWS];
    let distances = &mut distances[..rows.len()];
    probe.measure(rows, distances);
    for (&row, &distance) in rows.iter().zip(&*distances) {
        let one = Ranked::new(distance, row);
        if one < top.limit() {
            top.push(one);
        }
    }
    rows.len() as u64
}

/// What a scan by a coarse probe keeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CoarseLimits {
    /// Hits wanted.
    pub(crate) k: usize,
    /// A row is kept if its estimate lies no farther than this behind the `k`-th best.
    pub(crate) spare: f32,
    /// A row is kept if its estimate is no greater than this.
    pub(crate) distance_max: f32,
}

/// The passing rows that may be among the `k` nearest, by a coarse probe and in order, left in
/// `scratch.coarse`; answers the number of rows measured. No graph is needed, so no row that passes
/// is missed for lack of a way to it.
pub(crate) fn scan_coarse<P: Probe>(
    (probe, row_count): (&P, usize),
    filter: Option<&RowFilter<'_>>,
    limits: CoarseLimits,
    scratch: &mut Scratch,
) -> u64 {
    let mut top = CoarseTop::new(limits, std::mem::take(&mut scratch.coarse));
    let (mut ready, mut coming) = (Vec::new(), Vec::with_capacity(COARSE_ROWS));
    let mut measured = 0;
    let mut offer = |rows: &[u32]| {
        let mut distances = [0.0; COARSE_ROWS];
        let distances = &mut distances[..rows.len()];
        probe.measure(rows, distances);
        for (&row, &distance) in rows.iter().zip(&*distances) {
            if distance <= top.limit {
                top.push(Ranked::new(distance, row));
            }
        }
        measured += rows.len() as u64;
    };
    let mut pace = Pace::of_blocks();
    let mut visit = |row| {
        if pace.is_stopped() {
            return;
        }
        probe.prefetch(row);
        coming.push(row);
        if coming.len() == COARSE_ROWS {
            pace.is_over();
            offer(&ready);
            std::mem::swap(&mut ready, &mut coming);
            coming.clear();
        }
    };
    for_each_candidate(filter, row_count, &mut visit);
    offer(&ready);
    offer(&coming);
    scratch.coarse = top.finish();
    measured
}

fn for_each_candidate(
    filter: Option<&RowFilter<'_>>,
    row_count: usize,
    mut visit: impl FnMut(u32),
) {
    match filter {
        Some(filter) => filter.for_each_row(all_rows(row_count), visit),
        None => all_rows(row_count).for_each(&mut visit),
    }
}

/// The `keep` nearest rows that pass and are not yet `taken`, in no order, and the number of rows
/// measured; fewer come back only when there are no more.
pub(crate) fn scan_rest<P: Probe>(
    (probe, row_count): (&P, usize),
    filter: Option<&RowFilter<'_>>,
    taken: &RowSet,
    keep: usize,
) -> (Vec<Ranked>, u64) {
    let mut top = Top::new(keep);
    let (mut ready, mut coming) = (Vec::new(), Vec::with_capacity(COARSE_ROWS));
    let mut measured = 0;
    let mut visit = |row| {
        if taken.contains(row) {
            return;
        }
        probe.prefetch(row);
        coming.push(row);
        if coming.len() == COARSE_ROWS {
            measured += measure_picked(probe, &ready, &mut top);
            std::mem::swap(&mut ready, &mut coming);
            coming.clear();
        }
    };
    for_each_candidate(filter, row_count, &mut visit);
    measured += measure_picked(probe, &ready, &mut top);
    measured += measure_picked(probe, &coming, &mut top);
    (top.into_kept(), measured)
}

/// Everything near enough to the `k`-th best of a stream of estimates.
pub(crate) struct CoarseTop {
    limits: CoarseLimits,
    kept: Vec<Ranked>,
    /// Length at which what lies behind the limit is thrown away.
    full: usize,
    pub(crate) limit: f32,
}

impl CoarseTop {
    const FULL_MIN: usize = 512;

    pub(crate) fn new(limits: CoarseLimits, mut kept: Vec<Ranked>) -> Self {
        // Room for no hit at all would leave no limit to compare with.
        assert!(limits.k > 0);
        kept.clear();
        CoarseTop {
            limits,
            kept,
            full: Self::FULL_MIN.max(2 * limits.k),
            limit: limits.distance_max,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, one: Ranked) {
        self.kept.push(one);
        if self.kept.len() >= self.full {
            self.tighten();
            self.full = Self::FULL_MIN.max(2 * self.kept.len());
        }
    }

    fn tighten(&mut self) {
        if self.kept.len() > self.limits.k {
            let (_, last, _) = self.kept.select_nth_unstable(self.limits.k - 1);
            self.limit = self.limit.min(last.distance() + self.limits.spare);
            let limit = self.limit;
            self.kept.retain(|one| one.distance() <= limit);
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Ranked> {
        self.tighten();
        self.kept.sort_unstable();
        self.kept
    }
}
