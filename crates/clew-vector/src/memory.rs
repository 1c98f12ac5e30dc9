//! Memory of builds: how much one will need, said before it begins, and a budget that all running
//! builds share. What does not fit is refused, never tried: a process that the system kills for its
//! memory takes every index with it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::codes::{FACTORS, bit_pitch_bytes, pitch_bytes};
use crate::column::{GRAPH_BYTES_MIN, is_coded};
use crate::graph::{base_slots, growing_base_slots, upper_slots};
use crate::ivf::lists_memory;
use crate::watch::BuildProgress;
use crate::{ColumnOptions, GraphChoice, Method, Space, VectorError};

/// A list, a vector or a buffer takes a little more than what is in it; this is for all that is not
/// one of many rows: one thread's candidates and marks, a block of output.
const FIXED_BYTES: usize = 256 << 10;
/// What the byte codes keep beside a row: its step and its own part of a distance.
const BYTE_FACTS_BYTES: usize = 8;
/// How often a build that waits for memory looks whether it was cancelled.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Whether a column of so many rows gets a graph.
pub fn gets_graph(options: &ColumnOptions, rows: usize, graph: GraphChoice) -> bool {
    let bytes = rows.saturating_mul(options.element.row_bytes(options.dimension));
    match graph {
        GraphChoice::Never => false,
        GraphChoice::WhenWorthIt => bytes > GRAPH_BYTES_MIN,
        GraphChoice::Always => rows > 0,
    }
}

/// Bytes of memory that a column takes at most from its first vector until its image is written, if it
/// is made by [`crate::ColumnBuilder::with_room`]: vectors, codes, and the graph twice, as it grows and
/// as it is written; or lists, and what they are formed by. Within 15 % of what an allocator counts
/// (`tests/memory.rs`).
pub fn memory_needed(options: &ColumnOptions, rows: usize, graph: GraphChoice) -> usize {
    let number = size_of::<u32>();
    let stored = options.element.row_bytes(options.dimension);
    let norm = usize::from(options.space == Space::Cosine) * number;
    let mut row_bytes = stored + number + norm;
    if !gets_graph(options, rows, graph) {
        return row_bytes.saturating_mul(rows).saturating_add(FIXED_BYTES);
    }
    if let Method::Lists(lists) = options.method {
        let (per_row, fixed) = lists_memory(options.dimension, rows, &lists);
        return (row_bytes + per_row)
            .saturating_mul(rows)
            .saturating_add(fixed + FIXED_BYTES);
    } else {
        let m = options.hnsw.m;
        let slots = growing_base_slots(m) + base_slots(m);
        // Each level holds a `slots`-th of the rows of the one below; lists are held once, as they
        // are not cut.
        let upper_share = (upper_slots(m) + 3).div_ceil(upper_slots(m) - 1);
        row_bytes += number * (slots + upper_share) + number + size_of::<bool>();
        if is_coded(options) {
            let dimension = options.element.numbers(options.dimension);
            let kept = pitch_bytes(dimension, options.code_bits) + FACTORS * number;
            row_bytes += kept + bit_pitch_bytes(dimension) + dimension + BYTE_FACTS_BYTES;
        }
    }
    row_bytes.saturating_mul(rows).saturating_add(FIXED_BYTES)
}

/// Memory that builds may take together.
#[derive(Debug)]
pub struct MemoryBudget {
    max: usize,
    used: Mutex<usize>,
    freed: Condvar,
}

impl MemoryBudget {
    /// A budget of so many bytes.
    pub fn new(max: usize) -> Self {
        MemoryBudget {
            max,
            used: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    /// Bytes that all builds may take together.
    pub fn max(&self) -> usize {
        self.max
    }

    /// Bytes that running builds have taken.
    pub fn used(&self) -> usize {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        // A number is never half written.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes memory now, or fails with [`VectorError::Memory`].
    pub fn take(self: &Arc<Self>, needed: usize) -> Result<MemoryShare, VectorError> {
        let mut used = self.lock();
        let allowed = self.max - *used;
        if needed > allowed {
            return Err(VectorError::Memory { needed, allowed });
        }
        *used += needed;
        let budget = self.clone();
        Ok(MemoryShare { budget, needed })
    }

    /// Takes memory as soon as other builds have given back enough. Fails at once with
    /// [`VectorError::Memory`] when they never can, and with [`VectorError::Cancelled`].
    ///
    /// Whoever holds a share already must not ask for another one here: two could wait for each other.
    pub fn wait(
        self: &Arc<Self>,
        needed: usize,
        progress: &BuildProgress,
    ) -> Result<MemoryShare, VectorError> {
        if needed > self.max {
            let allowed = self.max;
            return Err(VectorError::Memory { needed, allowed });
        }
        let mut used = self.lock();
        while needed > self.max - *used {
            progress.check()?;
            let woken = self.freed.wait_timeout(used, LOOK_EVERY);
            used = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        *used += needed;
        let budget = self.clone();
        Ok(MemoryShare { budget, needed })
    }
}

/// Part of a budget; given back when dropped.
#[derive(Debug)]
pub struct MemoryShare {
    budget: Arc<MemoryBudget>,
    needed: usize,
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        *self.budget.lock() -= self.needed;
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(error: &VectorError) -> Option<(usize, usize)> {
        match error {
            VectorError::Memory { needed, allowed } => Some((*needed, *allowed)),
            _ => None,
        }
    }

    #[test]
    fn shares_never_exceed_the_budget_and_come_back() {
        let budget = Arc::new(MemoryBudget::new(100));
        let first = budget.take(60).unwrap();
        assert_eq!(refused(&budget.take(41).unwrap_err()), Some((41, 40)));
        let second = budget.take(40).unwrap();
        assert_eq!(budget.used(), 100);
        drop(first);
        assert_eq!(budget.used(), 40);
        drop(second);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_build_waits_for_another_one_but_not_for_what_never_comes() {
        let budget = Arc::new(MemoryBudget::new(100));
        let progress = BuildProgress::default();
        let never = budget.wait(101, &progress).unwrap_err();
        assert_eq!(refused(&never), Some((101, 100)));
        let first = budget.take(60).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| budget.wait(50, &progress).map(drop));
            drop(first);
            waiting.join().unwrap().unwrap();
        });
        let _all = budget.take(100).unwrap();
        progress.cancel();
        let error = budget.wait(1, &progress).unwrap_err();
        assert!(matches!(error, VectorError::Cancelled), "{error}");
    }
}
