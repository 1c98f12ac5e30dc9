//! Metrics: numbers per bucket. A file holds one of them, or those that are counted alike: its plan, its collector and
//! its result.

pub(crate) mod cardinality;
pub(crate) mod extended_stats;
pub(crate) mod geo;
pub(crate) mod matrix_stats;
pub(crate) mod percentiles;
pub(crate) mod simple;
pub(crate) mod top_hits;
pub(crate) mod value_count;
pub(crate) mod weighted_avg;

use clew_query::AggError;

use crate::collect::Block;
use crate::field::column::ValueColumn;
use crate::field::rows::{Repeats, Rows};

/// Reads a block and calls `add` with each value's bucket.
pub(crate) fn each_value(
    column: &ValueColumn,
    rows: &mut Rows,
    block: Block<'_>,
    mut add: impl FnMut(u32, u64) -> Result<(), AggError>,
) -> Result<(), AggError> {
    if column.is_empty() {
        return Ok(());
    }
    column.read(block.docs, Repeats::Kept, rows);
    for (entry, raw) in rows.entries.iter().zip(&rows.values) {
        add(block.parents[*entry as usize], *raw)?;
    }
    Ok(())
}
