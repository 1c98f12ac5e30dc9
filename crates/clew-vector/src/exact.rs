//! Exact search: measure every row that may be a hit. Also the specification of every other search.

use crate::VectorError;
use crate::column::Integrity;
use crate::filter::RowFilter;
use crate::plan::SCAN_ALL_RATIO_MIN;
use crate::rank::Ranked;
use crate::rows::{Probe, RowProbe};

/// Rows measured by one kernel call: their distances fit into the first cache.
const BLOCK_ROWS: usize = 256;
/// Scattered rows on their way from memory while the ones before them are measured.
const PICKED_ROWS: usize = 16;

/// The `k` nearest rows, in order, and the number of distances that took. Every vector read is
/// checked first.
pub(crate) fn search(
    (probe, integrity): (&RowProbe<'_>, &Integrity<'_>),
    filter: Option<&RowFilter<'_>>,
    k: usize,
) -> Result<(Vec<Ranked>, u64), VectorError> {
    let mut top = Top::new(k);
    let rows = probe.rows.count();
    let measured = match filter {
        Some(some) if (some.survivors_expected() as f64) < rows as f64 * SCAN_ALL_RATIO_MIN => {
            scan_passing((probe, integrity), some, &mut top)?
        }
        _ => {
            integrity.touch_vectors()?;
            scan_all(probe, filter, &mut top)
        }
    };
    Ok((top.finish(), measured))
}

fn scan_all(probe: &RowProbe<'_>, filter: Option<&RowFilter<'_>>, top: &mut Top) -> u64 {
    let rows = probe.rows.count();
    let mut distances = [0.0; BLOCK_ROWS];
    for first in (0..rows).step_by(BLOCK_ROWS) {
        let block = &mut distances[..BLOCK_ROWS.min(rows - first)];
        probe.measure_block(first, block);
        let first = u32::try_from(first).expect("a column holds at most 2^30 rows");
        for (row, &distance) in (first..).zip(&*block) {
            let one = Ranked::new(distance, row);
            if one < top.limit && filter.is_none_or(|filter| filter.passes(row)) {
                top.push(one);
            }
        }
    }
    rows as u64
}

fn scan_passing(
    (probe, integrity): (&RowProbe<'_>, &Integrity<'_>),
    filter: &RowFilter<'_>,
    top: &mut Top,
) -> Result<u64, VectorError> {
    let (mut ready, mut coming) = (Vec::new(), Vec::with_capacity(PICKED_ROWS));
    let (mut measured, mut health) = (0, Ok(()));
    filter.for_each_row(|row| {
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
    });
    let rest = measure_picked(probe, &ready, top) + measure_picked(probe, &coming, top);
    health.map(|()| measured + rest)
}

fn measure_picked(probe: &RowProbe<'_>, rows: &[u32], top: &mut Top) -> u64 {
    let mut distances = [0.0; PICKED_ROWS];
    let distances = &mut distances[..rows.len()];
    probe.measure(rows, distances);
    for (&row, &distance) in rows.iter().zip(&*distances) {
        let one = Ranked::new(distance, row);
        if one < top.limit {
            top.push(one);
        }
    }
    rows.len() as u64
}

/// The best `k` of a stream: collects up to a few times `k`, then throws the worse part away, which
/// costs less per candidate than keeping them in order.
struct Top {
    k: usize,
    kept: Vec<Ranked>,
    /// Only candidates below this can still be among the best.
    limit: Ranked,
}

impl Top {
    fn new(k: usize) -> Self {
        // Room for no hit at all would leave no limit to compare with.
        assert!(k > 0);
        Top {
            k,
            kept: Vec::new(),
            limit: Ranked::WORST,
        }
    }

    fn push(&mut self, one: Ranked) {
        self.kept.push(one);
        if self.kept.len() >= self.k * 2 + 16 {
            let (_, last, _) = self.kept.select_nth_unstable(self.k - 1);
            self.limit = *last;
            self.kept.truncate(self.k);
        }
    }

    fn finish(mut self) -> Vec<Ranked> {
        self.kept.sort_unstable();
        self.kept.truncate(self.k);
        self.kept
    }
}
