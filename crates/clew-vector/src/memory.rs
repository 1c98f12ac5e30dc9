//! Memory of builds: how much one will need, said before it begins, so that what does not fit is refused and
//! never tried.

use crate::codes::{FACTORS, bit_pitch_bytes, pitch_bytes};
use crate::graph::{base_slots, growing_base_slots, upper_slots};
use crate::ivf::lists_memory;
use crate::structure::{compares_lists, gets_graph, gets_structure, is_coded};
use crate::{ColumnOptions, GraphChoice, Method, Space};

/// A list, a vector or a buffer takes a little more than what is in it; this is for all that is not
/// one of many rows: one thread's candidates and marks, a block of output.
const FIXED_BYTES: usize = 256 << 10;
/// What the byte codes keep beside a row: its step and its own part of a distance.
const BYTE_FACTS_BYTES: usize = 8;

/// Bytes of memory that a column takes at most from its first vector until its image is written, if it
/// is made by [`crate::ColumnBuilder::with_room`]: vectors, codes, and the graph twice, as it grows and
/// as it is written; or lists, and what they are formed by. Within 15 % of what an allocator counts
/// (`tests/memory.rs`).
pub fn memory_needed(options: &ColumnOptions, rows: usize, graph: GraphChoice) -> usize {
    memory_needed_of_part(options, (rows, 1), graph)
}

/// The same of a column that is one of so many parts, and forms its lists around
/// [`SharedCentres`](crate::SharedCentres): it has more of them, each with a block that is not full.
pub fn memory_needed_of_part(
    options: &ColumnOptions,
    (rows, parts): (usize, usize),
    graph: GraphChoice,
) -> usize {
    let number = size_of::<u32>();
    let stored = options.element.row_bytes(options.dimension);
    let norm = usize::from(options.space == Space::Cosine) * number;
    let mut row_bytes = stored + number + norm;
    if !gets_structure(options, (rows, parts), graph) {
        return row_bytes.saturating_mul(rows).saturating_add(FIXED_BYTES);
    }
    let of_lists = options.list_options();
    let (lists, lists_fixed) = lists_memory(options.dimension, (rows, parts), &of_lists);
    let is_part = !gets_graph(options, rows, graph);
    let fixed_bytes = match (options.method, compares_lists(options, graph)) {
        (method, _) if is_part || method != Method::Graph => {
            row_bytes += lists;
            FIXED_BYTES + lists_fixed
        }
        (_, false) => {
            row_bytes += graph_memory(options).0;
            FIXED_BYTES
        }
        // Lists are formed when the graph has grown.
        (_, true) => {
            let (growing, grown) = graph_memory(options);
            row_bytes += growing.max(grown + lists);
            FIXED_BYTES.max(lists_fixed)
        }
    };
    row_bytes.saturating_mul(rows).saturating_add(fixed_bytes)
}

/// Bytes that a graph and its codes take per row while it grows, and when it has grown.
fn graph_memory(options: &ColumnOptions) -> (usize, usize) {
    let (number, m) = (size_of::<u32>(), options.hnsw.m);
    // Each level holds a `slots`-th of the rows of the one below; lists are held once, as they
    // are not cut.
    let upper_share = (upper_slots(m) + 3).div_ceil(upper_slots(m) - 1);
    let mut grown = number * (base_slots(m) + upper_share) + number;
    let mut growing = number * growing_base_slots(m) + size_of::<u16>() + size_of::<bool>();
    if is_coded(options) {
        let dimension = options.element.numbers(options.dimension);
        grown += pitch_bytes(dimension, options.code_bits) + FACTORS * number;
        growing += bit_pitch_bytes(dimension) + dimension + BYTE_FACTS_BYTES;
    }
    (growing + grown, grown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Element;
    use crate::structure::{GRAPH_BYTES_MIN, LISTED_ROWS_MIN};

    #[test]
    fn a_part_has_more_lists_and_needs_more_memory_for_them() {
        let options = ColumnOptions {
            method: Method::Lists(crate::IvfOptions::default()),
            ..ColumnOptions::new(64, Space::L2)
        };
        let of_parts =
            |parts| memory_needed_of_part(&options, (10_000, parts), GraphChoice::Always);
        assert_eq!(
            of_parts(1),
            memory_needed(&options, 10_000, GraphChoice::Always)
        );
        assert!(of_parts(1) < of_parts(4) && of_parts(4) < of_parts(18));
        // There is no more than one list for eight rows.
        assert_eq!(of_parts(1_000), of_parts(10_000));
    }

    #[test]
    fn small_parts_of_a_whole_that_is_not_small_get_lists() {
        let graph = ColumnOptions::new(128, Space::L2);
        let lists = ColumnOptions {
            method: Method::Lists(crate::IvfOptions::default()),
            ..graph
        };
        let exact = ColumnOptions {
            exact_structure: true,
            ..graph
        };
        let multi = ColumnOptions {
            multi: true,
            ..graph
        };
        let slots = ColumnOptions {
            element: Element::Bit,
            ..ColumnOptions::new(4_096, Space::MinHash32)
        };
        // As many as a graph is not worth it for.
        let small = GRAPH_BYTES_MIN / 512;
        let worth = GraphChoice::WhenWorthIt;
        let cases = [
            (graph, (small + 1, 1), worth, true),
            (graph, (small, 1), worth, false),
            (graph, (small, 2), worth, true),
            (lists, (small, 2), worth, true),
            (lists, (small, 2), GraphChoice::Never, false),
            (exact, (small, 2), worth, false),
            (multi, (small, 2), worth, false),
            (slots, (small + 1, 1), worth, false),
            (graph, (small / 18, 18), worth, false),
            (graph, (small / 9, 18), worth, true),
            (graph, (LISTED_ROWS_MIN - 1, 1_000), worth, false),
            (graph, (LISTED_ROWS_MIN, 1_000), worth, true),
        ];
        for (options, rows, choice, wanted) in cases {
            let got = gets_structure(&options, rows, choice);
            assert_eq!(got, wanted, "{rows:?} {choice:?} {options:?}");
            let least = memory_needed(&options, rows.0, GraphChoice::Never);
            let needed = memory_needed_of_part(&options, rows, choice);
            assert_eq!(needed > least, wanted, "{rows:?}");
        }
    }
}
