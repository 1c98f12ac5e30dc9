//! Which segments are merged next: those of a size class that has become crowded, those with many dead documents,
//! and those that lack a graph.

use std::collections::HashMap;

use clew_schema::{FieldId, FieldKind, Mapping};
use clew_vector::{
    ColumnOptions, GraphChoice, SparseColumn, gets_graph, memory_needed, sparse_memory_needed,
};

use super::SegmentView;
use super::merge::MergeGoal;
use super::writer::Writer;

/// Segments of one size class that are merged together.
const MERGE_FACTOR: usize = 8;
/// Segments below this size are of one class: what they cost is their number.
const FLOOR_BYTES: u64 = 2 << 20;
/// Larger results are only made on demand.
const MERGED_BYTES_MAX: u64 = 5 << 30;
/// A graph goes on growing in a segment of up to so many times the bytes that join it. To copy a vector of 768 dimensions
/// costs a fifth of inserting it, so copies cost less than what is inserted.
const GROWN_BYTES_RATIO: u64 = 3;
/// A segment is rewritten when more than one in this many of its documents is dead.
const DEAD_SHARE: u32 = 3;

/// The columns of some segments, with as many rows as they have together.
pub(super) fn rows_by_column<'a>(
    views: impl Iterator<Item = &'a SegmentView>,
) -> HashMap<FieldId, (ColumnOptions, usize)> {
    let mut columns: HashMap<FieldId, (ColumnOptions, usize)> = HashMap::new();
    for view in views {
        for (field, column) in view.vectors().columns() {
            let entry = columns.entry(field).or_insert((*column.options(), 0));
            entry.1 += column.len();
        }
    }
    columns
}

/// Memory that the largest column of sparse vectors takes in a merge of some segments.
pub(super) fn sparse_bytes<'a>(views: impl Iterator<Item = &'a SegmentView>) -> usize {
    let mut needs: HashMap<FieldId, usize> = HashMap::new();
    for view in views {
        for (field, column) in view.vectors().sparse_columns() {
            *needs.entry(field).or_default() += sparse_column_bytes(column);
        }
    }
    needs.into_values().max().unwrap_or(0)
}

fn sparse_column_bytes<B>(column: &SparseColumn<B>) -> usize
where
    B: std::ops::Deref<Target = [u8]>,
{
    sparse_memory_needed(column.len(), column.weight_count())
}

/// Memory that the vectors of a segment take in a merge.
fn vector_bytes(view: &SegmentView) -> usize {
    let columns = view.vectors().columns();
    let needs = columns
        .map(|(_, column)| memory_needed(column.options(), column.len(), GraphChoice::Never));
    let sparse = view.vectors().sparse_columns();
    let sparse = sparse.map(|(_, column)| sparse_column_bytes(column));
    needs.chain(sparse).sum()
}

/// The positions of the segments to merge now; empty when all is well. Merges of the upkeep leave
/// alone what does not fit into the memory allowed.
pub(super) fn choose(writer: &Writer, goal: MergeGoal, memory_max: usize) -> Vec<usize> {
    let segments = &writer.segments;
    let mut by_size: Vec<usize> = (0..segments.len()).collect();
    by_size.sort_by_key(|&at| segments[at].view.bytes());
    let needs_rewrite = |at: usize| {
        segments[at].alive_count() < segments[at].view.doc_count()
            || wants_graph(&segments[at].view, writer.mapping(), memory_max)
            || has_old_columns(&segments[at].view, writer.mapping())
    };
    match goal {
        MergeGoal::AtMost(max) if segments.len() > max.max(1) => {
            by_size.truncate(segments.len() - max.max(1) + 1);
            by_size
        }
        MergeGoal::AtMost(_) => by_size
            .into_iter()
            .find(|&at| needs_rewrite(at) || !segments[at].view.merged())
            .into_iter()
            .collect(),
        MergeGoal::Upkeep => {
            by_size.retain(|&at| vector_bytes(&segments[at].view) <= memory_max);
            let sizes = |at: usize| Sizes {
                files: segments[at].view.bytes(),
                vectors: vector_bytes(&segments[at].view),
            };
            let crowded = crowded_class(&by_size, sizes, memory_max);
            if !crowded.is_empty() {
                return crowded;
            }
            let wants = |&at: &usize| wants_graph(&segments[at].view, writer.mapping(), memory_max);
            let (wanting, others): (Vec<usize>, Vec<usize>) = by_size.into_iter().partition(wants);
            if !wanting.is_empty() {
                let growable = others.into_iter();
                let growable = growable.filter(|&at| is_growable(&segments[at].view));
                let growable: Vec<usize> = growable.collect();
                return grown(
                    (wanting, &growable),
                    |at| segments[at].view.bytes(),
                    |parts| {
                        let views = parts.iter().map(|&at| &segments[at].view);
                        fit_a_graph(views, memory_max)
                    },
                );
            }
            let rewrite = others.into_iter().find(|&at| {
                // By the deletes that searches know: a merge would show the others early.
                let view = &segments[at].view;
                let (all, alive) = (view.doc_count(), view.alive_count());
                (all - alive) * DEAD_SHARE > all || has_old_columns(view, writer.mapping())
            });
            rewrite.into_iter().collect()
        }
    }
}

/// Segments that want a graph, merged into one, and with them the largest of those whose graph may go on growing: to
/// insert their vectors into it costs no more than a graph of their own, which the next merge would throw away. Both
/// from the smallest on, as far as they fit.
fn grown(
    (wanting, growable): (Vec<usize>, &[usize]),
    bytes: impl Fn(usize) -> u64,
    fits: impl Fn(&[usize]) -> bool,
) -> Vec<usize> {
    let mut parts = Vec::new();
    for at in wanting {
        parts.push(at);
        // One alone was found to fit before.
        if parts.len() > 1 && !fits(&parts) {
            parts.pop();
            return parts;
        }
    }
    let joining: u64 = parts.iter().map(|&at| bytes(at)).sum();
    let bytes_max = joining.saturating_mul(GROWN_BYTES_RATIO);
    let base = growable.iter().rev().find(|&&at| bytes(at) <= bytes_max);
    if let Some(&base) = base {
        parts.push(base);
        if !fits(&parts) {
            parts.pop();
        }
    }
    parts
}

/// Whether some segments may be merged into one that gets a graph.
fn fit_a_graph<'a>(
    parts: impl Iterator<Item = &'a SegmentView> + Clone,
    memory_max: usize,
) -> bool {
    let files: u64 = parts.clone().map(SegmentView::bytes).sum();
    let columns = rows_by_column(parts);
    let needs = columns
        .values()
        .map(|(options, rows)| memory_needed(options, *rows, GraphChoice::WhenWorthIt));
    files <= MERGED_BYTES_MAX && needs.max().unwrap_or(0) <= memory_max
}

/// Whether a merge of the segment goes on from its graph, and copies little but vectors beside it.
fn is_growable(view: &SegmentView) -> bool {
    let mut columns = view.vectors().columns();
    let has_graph = columns.any(|(_, column)| column.has_graph() || column.has_lists());
    has_graph && vector_bytes(view) as u64 > view.bytes() / 2
}

/// Sizes of a segment.
#[derive(Clone, Copy)]
struct Sizes {
    files: u64,
    /// Memory that a merge needs for its vectors.
    vectors: usize,
}

/// The smallest size class that has enough segments to be merged; each class is eight times as
/// large as the one below.
fn crowded_class(
    by_size: &[usize],
    sizes: impl Fn(usize) -> Sizes,
    memory_max: usize,
) -> Vec<usize> {
    let class = |at: usize| (sizes(at).files.max(FLOOR_BYTES) / FLOOR_BYTES).ilog2() / 3;
    for group in by_size.chunk_by(|&a, &b| class(a) == class(b)) {
        let (mut files, mut vectors) = (0, 0);
        let fitting = group.iter().take_while(|&&at| {
            files += sizes(at).files;
            vectors += sizes(at).vectors;
            files <= MERGED_BYTES_MAX && vectors <= memory_max
        });
        let fitting: Vec<usize> = fitting.copied().collect();
        if fitting.len() >= MERGE_FACTOR {
            return fitting;
        }
    }
    Vec::new()
}

/// Whether a column of the segment lacks the graph that a merge would build.
fn wants_graph(segment: &SegmentView, mapping: &Mapping, memory_max: usize) -> bool {
    let choice = GraphChoice::WhenWorthIt;
    segment.vectors().columns().any(|(field, column)| {
        let mapped = mapping.by_id(field).map(|field| &field.kind);
        matches!(mapped, Some(FieldKind::Vector(_)))
            && !(column.has_graph() || column.has_lists())
            && gets_graph(column.options(), column.len(), choice)
            // Otherwise the upkeep would write it again and again, each time without a graph.
            && memory_needed(column.options(), column.len(), choice) <= memory_max
    })
}

/// Whether a column of the segment was written under other options than its field has now.
pub(crate) fn has_old_columns(segment: &SegmentView, mapping: &Mapping) -> bool {
    segment.vectors().columns().any(|(field, column)| {
        let mapped = mapping.by_id(field).map(|field| &field.kind);
        matches!(mapped, Some(FieldKind::Vector(vector)) if !column.is_of(&vector.column))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_merged_once_it_is_crowded() {
        let check = |sizes: &[u64], want: &[usize]| {
            let mut by_size: Vec<usize> = (0..sizes.len()).collect();
            by_size.sort_by_key(|&at| sizes[at]);
            let of = |at: usize| Sizes {
                files: sizes[at],
                vectors: 10,
            };
            assert_eq!(crowded_class(&by_size, of, 1000), want, "{sizes:?}");
            // Eight do not fit.
            assert_eq!(crowded_class(&by_size, of, 79), [0; 0], "{sizes:?}");
        };
        let mib = 1 << 20;
        check(&[1; 7], &[]);
        check(&[1; 8], &[0, 1, 2, 3, 4, 5, 6, 7]);
        check(
            &[1, 1, 1, 1, 100 * mib, 100 * mib, 100 * mib, 100 * mib],
            &[],
        );
        let mut sizes = vec![300 * mib; 8];
        sizes.extend([1; 3]);
        check(&sizes, &[0, 1, 2, 3, 4, 5, 6, 7]);
        check(&[4096 * mib; 9], &[]);
    }

    #[test]
    fn a_graph_grows_while_what_joins_it_is_not_much_smaller() {
        // By place: segments 0 and 1 want a graph, the others have one.
        let check = |sizes: [u64; 4], bytes_max: u64, want: &[usize]| {
            let bytes = |at: usize| sizes[at];
            let fits =
                |parts: &[usize]| parts.iter().map(|&at| bytes(at)).sum::<u64>() <= bytes_max;
            let found = grown((vec![0, 1], &[2, 3]), bytes, fits);
            assert_eq!(found, want, "{sizes:?}, {bytes_max}");
        };
        check([10, 20, 50, 90], 1000, &[0, 1, 3]);
        check([10, 20, 50, 91], 1000, &[0, 1, 2]);
        check([10, 20, 91, 91], 1000, &[0, 1]);
        // Too much at once: no base, or not all that want one.
        check([10, 20, 50, 90], 100, &[0, 1]);
        check([10, 20, 50, 90], 29, &[0]);
        check([10, 20, 50, 90], 5, &[0]);
    }
}
