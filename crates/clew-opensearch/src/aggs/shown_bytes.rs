//! What results of aggregations take while they are shown: as a tree of JSON, which is several times their text.

use clew_aggregation::{AggResult, NamedResult};

/// An object with some members: the least that a map of them takes, with their names.
const OBJECT_BYTES: usize = 1024;
/// A member more: its name, its value.
const MEMBER_BYTES: usize = 96;

/// Memory that results take at most while they are shown.
pub(crate) fn shown_bytes(results: &[NamedResult]) -> usize {
    results.iter().map(|named| of_result(&named.result)).sum()
}

fn of_result(result: &AggResult) -> usize {
    let parts = result.parts();
    let inside: usize = parts.subs.iter().map(|subs| shown_bytes(subs)).sum();
    OBJECT_BYTES * (1 + parts.buckets) + MEMBER_BYTES * parts.members + inside
}
