//! What a column is searched through, said before it is built: by its settings and the number of its vectors.

use crate::graph::UNCODED_DIMENSION_MAX;
use crate::ivf::TRAIN_ROWS_MIN;
use crate::{ColumnOptions, Element, Method};

/// A column gets a graph above this many bytes of vectors. A walk at ef 64 costs as much as scanning
/// about 2,900 rows (measured, see `plan.rs`), which are 1.4 MiB in 128 dimensions and 4.2 MiB in
/// 384; and building costs thousands of searches.
pub const GRAPH_BYTES_MIN: usize = 2 << 20;

/// Whether an image gets what its [`Method`] searches through: a graph, or inverted lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphChoice {
    /// Neither: every search of this column is a scan.
    Never,
    /// It does if the vectors take more than [`GRAPH_BYTES_MIN`]. One of several parts ([`ColumnBuilder::sharing`](crate::ColumnBuilder::sharing)) gets lists if
    /// all of them would.
    WhenWorthIt,
    /// It does if there is any vector: for tests and measurements, as small columns are better off
    /// without.
    Always,
}

/// A part of fewer rows is scanned, whatever the whole: they are too few to learn codes from.
pub(crate) const LISTED_ROWS_MIN: usize = TRAIN_ROWS_MIN;

/// Whether a column of so many rows gets a graph.
pub fn gets_graph(options: &ColumnOptions, rows: usize, graph: GraphChoice) -> bool {
    let bytes = rows.saturating_mul(options.element.row_bytes(options.dimension));
    match graph {
        GraphChoice::Never => false,
        GraphChoice::WhenWorthIt => bytes > GRAPH_BYTES_MIN && options.space.slot_bits().is_none(),
        GraphChoice::Always => rows > 0,
    }
}

/// Whether a column of so many rows, which is one of so many parts of about that size, gets what it is searched through: by its
/// own size a graph or lists, or else lists by the size of the whole. Parts that each would be scanned are then searched at
/// once, by codes that take a twelfth of the bytes of their vectors.
pub(crate) fn gets_structure(
    options: &ColumnOptions,
    (rows, parts): (usize, usize),
    graph: GraphChoice,
) -> bool {
    if gets_graph(options, rows, graph) {
        return true;
    }
    let is_for_lists = matches!(options.method, Method::Lists(_)) || compares_lists(options, graph);
    let whole = rows.saturating_mul(parts);
    is_for_lists && rows >= LISTED_ROWS_MIN && gets_graph(options, whole, graph)
}

/// Whether lists are built beside the graph that was asked for, and may stand in for it.
pub(crate) fn compares_lists(options: &ColumnOptions, graph: GraphChoice) -> bool {
    // Lists do not find documents of several vectors, and bits have none.
    let can_have_lists = options.element != Element::Bit && !options.multi;
    // `Always` is for those who want what they name.
    let is_named = options.exact_structure || graph != GraphChoice::WhenWorthIt;
    options.method == Method::Graph && can_have_lists && !is_named
}

/// True when the graph of such a column is walked by codes. Bits are their own code.
pub(crate) fn is_coded(options: &ColumnOptions) -> bool {
    options.dimension > UNCODED_DIMENSION_MAX && options.element != Element::Bit
}
