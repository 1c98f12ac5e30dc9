//! Documents put in an order that makes their postings small and searches fast: beside the similar ones.
//!
//! A merge that is asked to writes its result twice: first as always, with the segments one behind the other; then
//! anew, in the order that [`bisection`] finds in the postings of the first. A document takes its nested objects
//! along. Vectors stay where they are, so a segment that has some keeps its order.

mod bisection;
mod holdings;
mod rewrite;

use clew_platform::Reservation;
use clew_vector::VectorError;
use tantivy::SegmentReader;
use tantivy::index::Segment;

use super::merge_job::{MergeLimits, MergeState};
use super::row_plugin::{Rows, plugin_error};
use super::vector_file::VectorFile;
use bisection::Effort;
use holdings::{Terms, Units};
use rewrite::rewrite;

pub(super) use rewrite::RowOrder;

/// Writes a segment without deletes anew, in a better order; `None` when there is none, when it has vectors, or when it
/// would take more memory to find the order than merges may.
pub(super) fn reorder(
    source: &Segment,
    target: &Segment,
    (limits, state): (&MergeLimits, &MergeState),
) -> tantivy::Result<Option<RowOrder>> {
    let reader = SegmentReader::open(source)?;
    if !VectorFile::open(&reader)?.is_empty() {
        return Ok(None);
    }
    let Some(order) = find(&reader, limits, state)? else {
        return Ok(None);
    };
    let check = || state.progress.check().map_err(plugin_error);
    rewrite(&reader, (source, target), &order, &check)?;
    Ok(Some(order))
}

/// A better order of a segment's rows.
fn find(
    reader: &SegmentReader,
    limits: &MergeLimits,
    state: &MergeState,
) -> tantivy::Result<Option<RowOrder>> {
    let rows = reader.max_doc();
    let blocks = Rows::open(reader)?.blocks()?;
    let units = Units::of(blocks.as_ref(), rows);
    let terms = Terms::choose(reader, &units)?;
    let needed = terms.memory_needed(&units, rows);
    let Some(_memory) = admit(needed, limits, state)? else {
        return Ok(None);
    };
    let progress = &state.progress;
    let effort = Effort {
        threads: limits.threads,
        stopped: &|| progress.is_cancelled(),
    };
    let order = bisection::order(terms.holdings(reader, &units)?, &effort);
    progress.check().map_err(plugin_error)?;
    let better = order.filter(|order| !order.is_sorted());
    Ok(better.map(|order| RowOrder::new(units.rows(order))))
}

/// Takes memory; `None` when merges may not take so much.
fn admit(
    needed: usize,
    limits: &MergeLimits,
    state: &MergeState,
) -> tantivy::Result<Option<Reservation>> {
    match limits.admit(needed, &state.progress) {
        Err(VectorError::Memory { needed, allowed }) => {
            tracing::warn!(
                needed,
                allowed,
                "documents keep their order, as to find a better one needs more memory than merges may take"
            );
            Ok(None)
        }
        share => share.map(Some).map_err(plugin_error),
    }
}
