//! Exact search for several queries at once, on several threads.
//!
//! A scan is bound by memory, so rows are read from it once for many queries: a tile of rows stays
//! in the cache while each query of a block is measured against it. Threads take pieces of the
//! column as they come free, and each keeps its own best; what is nearest of all does not depend on
//! who measured it, so the hits are to the bit those of one query on one thread.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::VectorError;
use crate::column::Integrity;
use crate::exact::{BLOCK_ROWS, Top, reads_all, scan_all, scan_passing};
use crate::filter::RowFilter;
use crate::rank::Ranked;
use crate::rows::RowProbe;

/// Queries measured against a tile while it is in the cache: as many as fit beside it.
const BLOCK_QUERIES: usize = 64;
/// A tile stays in the second cache. One small enough for the first, of 24 KiB, was no faster: 31 to
/// 36 ns a distance in 384 dimensions instead of 32, and 200 to 240 for one query at a time.
const TILE_BYTES: usize = 128 << 10;
/// Rows that a thread takes at a time: much more work than taking them.
const PIECE_ROWS: usize = 4_096;

/// One query of many.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExactQuery<'a> {
    pub(crate) probe: RowProbe<'a>,
    pub(crate) filter: Option<RowFilter<'a>>,
    /// Hits wanted, at least one.
    pub(crate) k: usize,
}

/// The nearest rows of one query, in order, and the distances that took.
pub(crate) type ExactAnswer = (Vec<Ranked>, u64);

/// What [`super::search`] would answer to each of `queries`, which all look into one column.
pub(crate) fn search_many(
    queries: &[ExactQuery<'_>],
    integrity: &Integrity<'_>,
    threads: usize,
) -> Result<Vec<ExactAnswer>, VectorError> {
    let Some(first) = queries.first() else {
        return Ok(Vec::new());
    };
    let row_count = first.probe.rows.count();
    let reading_all: Vec<bool> = queries
        .iter()
        .map(|query| reads_all(query.filter.as_ref()))
        .collect();
    if reading_all.contains(&true) {
        integrity.touch_vectors()?;
    }
    let work = Work {
        queries,
        reading_all,
        integrity,
        row_count,
        tile_rows: (TILE_BYTES / first.probe.rows.pitch.max(1)).clamp(1, BLOCK_ROWS),
        next: AtomicUsize::new(0),
    };
    let threads = threads.clamp(1, work.pieces());
    let shares = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| work.run())).collect();
        let mut shares = vec![work.run()];
        for other in others {
            let joined = other.join();
            shares.push(joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        shares
    });
    let mut shares = shares.into_iter();
    // At least the caller's own share is there.
    let mut all = shares.next().unwrap_or_else(|| Ok(Vec::new()))?;
    for share in shares {
        for (mine, (other, measured)) in all.iter_mut().zip(share?) {
            mine.0.absorb(other);
            mine.1 += measured;
        }
    }
    let finish = |(top, measured): (Top, u64)| (top.finish(), measured);
    Ok(all.into_iter().map(finish).collect())
}

/// What is to be done, and the first piece that nobody has taken.
struct Work<'a> {
    queries: &'a [ExactQuery<'a>],
    /// Which of them read all rows in order; the others pick the rows that pass.
    reading_all: Vec<bool>,
    integrity: &'a Integrity<'a>,
    row_count: usize,
    tile_rows: usize,
    next: AtomicUsize,
}

impl Work<'_> {
    fn pieces_per_block(&self) -> usize {
        self.row_count.div_ceil(PIECE_ROWS).max(1)
    }

    fn pieces(&self) -> usize {
        self.queries.len().div_ceil(BLOCK_QUERIES) * self.pieces_per_block()
    }

    /// Takes pieces until none is left; answers the best rows seen for each query.
    fn run(&self) -> Result<Vec<(Top, u64)>, VectorError> {
        let mut found: Vec<(Top, u64)> = self
            .queries
            .iter()
            .map(|query| (Top::new(query.k), 0))
            .collect();
        loop {
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            if piece >= self.pieces() {
                return Ok(found);
            }
            let block = piece / self.pieces_per_block() * BLOCK_QUERIES;
            let block = block..self.queries.len().min(block + BLOCK_QUERIES);
            let start = piece % self.pieces_per_block() * PIECE_ROWS;
            let rows = start..self.row_count.min(start + PIECE_ROWS);
            self.measure(block.clone(), rows, &mut found[block])?;
        }
    }

    fn measure(
        &self,
        block: Range<usize>,
        rows: Range<usize>,
        found: &mut [(Top, u64)],
    ) -> Result<(), VectorError> {
        let number = |row| u32::try_from(row).expect("a column holds at most 2^30 rows");
        let queries = &self.queries[block.clone()];
        let reading_all = &self.reading_all[block];
        for tile in rows.clone().step_by(self.tile_rows) {
            let tile = number(tile)..number(rows.end.min(tile + self.tile_rows));
            let each = queries.iter().zip(reading_all).zip(&mut *found);
            for ((query, _), (top, measured)) in each.filter(|((_, all), _)| **all) {
                *measured += scan_all(&query.probe, query.filter.as_ref(), tile.clone(), top);
            }
        }
        let each = queries.iter().zip(reading_all).zip(found);
        for ((query, _), (top, measured)) in each.filter(|((_, all), _)| !**all) {
            let (probe, rows) = (&query.probe, number(rows.start)..number(rows.end));
            let filter = query.filter.as_ref();
            *measured += scan_passing((probe, self.integrity), filter, rows, top)?;
        }
        Ok(())
    }
}
