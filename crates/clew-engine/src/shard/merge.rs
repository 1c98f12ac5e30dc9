//! Merging segments: which, and how. A merge runs beside writes and searches; only taking the list
//! and putting the result in its place hold the write lock.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clew_platform::run_in_background;
use clew_text::{FieldId, FieldKind, Mapping};
use clew_vector::{ColumnOptions, GraphChoice, gets_graph, memory_needed};
use tantivy::index::{Segment, SegmentId};
use tantivy::indexer::merge_filtered_segments;

use super::manifest::io_error;
use super::merge_job::{MergeJob, SavePlace, forget};
use super::norms::complete_norms;
use super::writer::{Writer, WriterSegment, open_index, open_index_to_merge};
use super::{AliveBits, SegmentView, Shard, ShardCounters};
use crate::error::EngineError;

/// Segments of one size class that are merged together.
const MERGE_FACTOR: usize = 8;
/// Segments below this size are of one class: what they cost is their number.
const FLOOR_BYTES: u64 = 2 << 20;
/// Larger results are only made on demand.
const MERGED_BYTES_MAX: u64 = 5 << 30;
/// A segment is rewritten when more than one in this many of its documents is dead.
const DEAD_SHARE: u32 = 3;

/// What to merge.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MergeGoal {
    /// What keeps the number of segments logarithmic, deletes few, and graphs built.
    Upkeep,
    /// At most this many segments, without deletes.
    AtMost(usize),
}

impl Shard {
    /// Runs one merge if the goal asks for one; whether it did. Its work is done by a thread that
    /// yields to all others; the locks are held by this one.
    pub(crate) fn merge(&self, goal: MergeGoal) -> Result<bool, EngineError> {
        self.make_parts_durable(goal)?;
        let _one_at_a_time = self.merging.lock();
        let (parts, mapping) = {
            let mut writer = self.writer()?;
            // Upkeep shows nothing early: it publishes only when it is going to merge, and then
            // because readers must know all deletes of the segments that are merged.
            if matches!(goal, MergeGoal::Upkeep) && self.choose(&writer, goal).is_empty() {
                return Ok(false);
            }
            self.publish(&mut writer)?;
            let chosen = self.choose(&writer, goal);
            let parts: Vec<SegmentView> = chosen
                .iter()
                .map(|&at| writer.segments[at].view.clone())
                .collect();
            (parts, writer.mapping().clone())
        };
        if parts.is_empty() {
            return Ok(false);
        }
        self.check_memory(&parts)?;
        let state = &self.merge_state;
        let started = self.context.clock.monotonic();
        state.running.store(true, Ordering::Relaxed);
        let merged = run_in_background("clew-merge-work", || self.run_merge(&parts, &mapping));
        state.running.store(false, Ordering::Relaxed);
        state.progress.rest();
        let merged = merged.map_err(io_error("start a thread for", &self.place.dir))?;
        let merged = merged.map_err(|error| {
            if state.progress.is_cancelled() {
                EngineError::MergeCancelled
            } else {
                self.tantivy_error(error)
            }
        })?;
        let mut writer = self.writer()?;
        self.replace(&mut writer, &parts, merged)
            .map_err(|e| self.tantivy_error(e))?;
        self.publish(&mut writer)?;
        drop(writer);
        self.merge_state.interrupted.lock().clear();
        forget(&*self.context.disk, &self.place.dir);
        self.count_merge(&parts, started);
        Ok(true)
    }

    fn count_merge(&self, parts: &[SegmentView], started: Duration) {
        let counters = &self.counters;
        counters.merges.add(self.since(started));
        let docs = parts.iter().map(|part| u64::from(part.alive_count()));
        ShardCounters::add(&counters.merged_docs, docs.sum());
        let bytes = parts.iter().map(SegmentView::bytes);
        ShardCounters::add(&counters.merged_bytes, bytes.sum());
    }

    /// What is saved of a graph in the making is of use after a crash only if the segments that it is
    /// made of are still there.
    fn make_parts_durable(&self, goal: MergeGoal) -> Result<(), EngineError> {
        let is_long = {
            let writer = self.writer()?;
            let chosen = self.choose(&writer, goal);
            let views = chosen.iter().map(|&at| &writer.segments[at].view);
            let columns = rows_by_column(views);
            columns.values().any(|(options, rows)| {
                let new =
                    !chosen.is_empty() && gets_graph(options, *rows, GraphChoice::WhenWorthIt);
                new && memory_needed(options, *rows, GraphChoice::WhenWorthIt) <= self.memory_max()
            })
        };
        if is_long {
            self.flush()?;
        }
        Ok(())
    }

    fn memory_max(&self) -> usize {
        self.context.merges.memory.max()
    }

    /// Fails when the vectors alone take more memory than merges may: nothing can be done then, and
    /// the segments stay as they are.
    fn check_memory(&self, parts: &[SegmentView]) -> Result<(), EngineError> {
        let needs = rows_by_column(parts.iter());
        let needs = needs
            .values()
            .map(|(options, rows)| memory_needed(options, *rows, GraphChoice::Never));
        let (needed, allowed) = (needs.max().unwrap_or(0), self.memory_max());
        if needed > allowed {
            return Err(EngineError::MergeMemory { needed, allowed });
        }
        Ok(())
    }

    /// The positions of the segments to merge now: those whose merge was interrupted, or those that
    /// the goal asks for.
    fn choose(&self, writer: &Writer, goal: MergeGoal) -> Vec<usize> {
        let mut interrupted = self.merge_state.interrupted.lock();
        if matches!(goal, MergeGoal::Upkeep) && !interrupted.is_empty() {
            let segments = &writer.segments;
            let position = |id| segments.iter().position(|s| s.view.files.id == id);
            let found: Option<Vec<usize>> = interrupted.iter().map(|&id| position(id)).collect();
            if let Some(found) = found {
                return found;
            }
            interrupted.clear();
        }
        choose(writer, goal, self.memory_max())
    }

    /// Writes the living documents of some segments as one; `None` when none lives.
    fn run_merge(
        &self,
        parts: &[SegmentView],
        mapping: &Arc<Mapping>,
    ) -> tantivy::Result<Option<(SegmentId, u32)>> {
        if parts.iter().all(|part| part.alive_count() == 0) {
            return Ok(None);
        }
        let segments_of = |index: &tantivy::Index| -> Vec<Segment> {
            let meta = |part: &SegmentView| index.new_segment_meta(part.files.id, part.doc_count());
            parts.iter().map(|part| index.segment(meta(part))).collect()
        };
        let plain = open_index(self.directory.fork(HashMap::new()), mapping)?;
        let norms = complete_norms(mapping.schema(), &segments_of(&plain))?;
        let job = MergeJob {
            limits: self.context.merges.clone(),
            state: self.merge_state.clone(),
            place: SavePlace {
                disk: self.context.disk.clone(),
                clock: self.context.clock.clone(),
                dir: self.place.dir.clone(),
                parts: parts.iter().map(|part| part.files.id).collect(),
            },
        };
        let source = open_index_to_merge(self.directory.fork(norms), mapping, Arc::new(job))?;
        let alive = parts
            .iter()
            .map(|part| part.alive.as_deref().map(AliveBits::to_tantivy));
        let merged = merge_filtered_segments(
            &segments_of(&source),
            source.settings().clone(),
            alive.collect(),
            self.directory.fork(HashMap::new()),
        )?;
        let meta = merged.searchable_segment_metas()?.pop();
        Ok(meta.map(|meta| (meta.id(), meta.max_doc())))
    }

    /// Puts the merged segment in the place of its parts. Documents that died meanwhile are
    /// killed in it: the n-th document that lived at the start is its n-th document.
    fn replace(
        &self,
        writer: &mut Writer,
        parts: &[SegmentView],
        merged: Option<(SegmentId, u32)>,
    ) -> tantivy::Result<()> {
        let is_part = |segment: &WriterSegment| {
            parts
                .iter()
                .any(|part| part.files.id == segment.view.files.id)
        };
        let mut new_alive = merged.map(|(_, doc_count)| AliveBits::full(doc_count));
        let mut new_doc = 0;
        for part in parts {
            let now = writer
                .segments
                .iter()
                .find(|s| s.view.files.id == part.files.id);
            // A segment whose last document died meanwhile has left the list.
            let lives_now =
                |doc| now.is_some_and(|s| s.alive.as_ref().is_none_or(|alive| alive.is_alive(doc)));
            let lived = part.alive.as_ref();
            for doc in (0..part.doc_count()).filter(|&d| lived.is_none_or(|a| a.is_alive(d))) {
                if let (false, Some(alive)) = (lives_now(doc), &mut new_alive) {
                    alive.kill(new_doc);
                }
                new_doc += 1;
            }
        }
        writer.segments.retain(|segment| !is_part(segment));
        writer.changed = true;
        if let (Some((id, doc_count)), Some(alive)) = (merged, new_alive) {
            let alive = (alive.alive_count() < doc_count).then(|| Arc::new(alive));
            let bytes = self.directory.segment_bytes(&id);
            let view = SegmentView::open(&writer.index, id, doc_count, alive, bytes)?;
            writer.segments.insert(0, WriterSegment::new(view));
        }
        Ok(())
    }
}

/// The columns of some segments, with as many rows as they have together.
fn rows_by_column<'a>(
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

/// Memory that the vectors of a segment take in a merge.
fn vector_bytes(view: &SegmentView) -> usize {
    let columns = view.vectors().columns();
    let needs = columns
        .map(|(_, column)| memory_needed(column.options(), column.len(), GraphChoice::Never));
    needs.sum()
}

/// The positions of the segments to merge now; empty when all is well. Merges of the upkeep leave
/// alone what does not fit into the memory allowed.
fn choose(writer: &Writer, goal: MergeGoal, memory_max: usize) -> Vec<usize> {
    let segments = &writer.segments;
    let mut by_size: Vec<usize> = (0..segments.len()).collect();
    by_size.sort_by_key(|&at| segments[at].view.bytes());
    let needs_rewrite = |at: usize| {
        segments[at].alive_count() < segments[at].view.doc_count()
            || wants_graph(&segments[at].view, writer.mapping(), memory_max)
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
            let rewrite = by_size.into_iter().find(|&at| {
                // By the deletes that searches know: a merge would show the others early.
                let view = &segments[at].view;
                let (all, alive) = (view.doc_count(), view.alive_count());
                (all - alive) * DEAD_SHARE > all
                    || wants_graph(&segments[at].view, writer.mapping(), memory_max)
            });
            rewrite.into_iter().collect()
        }
    }
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
}
