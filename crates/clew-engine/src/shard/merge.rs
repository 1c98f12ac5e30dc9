//! Merging segments. A merge runs beside writes and searches; only taking the list
//! and putting the result in its place hold the write lock.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use clew_platform::{CancellationToken, MemoryPurpose, run_in_background};
use clew_schema::Mapping;
use clew_vector::{GraphChoice, gets_graph, memory_needed};
use tantivy::index::{Segment, SegmentId};
use tantivy::indexer::merge_filtered_segments;

use super::directory::ShardDirectory;
use super::merge_choice::{choose, rows_by_column, sparse_bytes};
use super::merge_job::{MergeJob, SavePlace, forget};
use super::norms::complete_norms;
use super::reorder::{RowOrder, reorder};
use super::writer::{Writer, WriterSegment, open_index, open_index_to_merge};
use super::{AliveBits, SegmentView, Shard, ShardCounters};
use crate::base::error::{EngineError, io_error};
use crate::base::settings::MergeOrder;

/// From so many rows on the upkeep finds an order for them.
const UPKEEP_REORDER_ROWS_MIN: u32 = 1 << 16;

/// What to merge.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MergeGoal {
    /// What keeps the number of segments logarithmic, deletes few, and graphs built.
    Upkeep,
    /// At most this many segments, without deletes.
    AtMost(usize),
}

impl MergeGoal {
    /// Whether so many rows are put in an order of their own. The upkeep merges each document once for each size class,
    /// and only of the larger ones it takes searches long enough to look through them.
    pub(super) fn finds_similar(self, order: MergeOrder, rows: u32) -> bool {
        let rows_min = match self {
            MergeGoal::Upkeep => UPKEEP_REORDER_ROWS_MIN,
            MergeGoal::AtMost(_) => 0,
        };
        order == MergeOrder::Similar && rows >= rows_min
    }
}

/// The views of some of a writer's segments.
fn views(writer: &Writer, chosen: &[usize]) -> Vec<SegmentView> {
    let views = chosen.iter().map(|&at| writer.segments[at].view.clone());
    views.collect()
}

/// What a merge has written.
struct Merged {
    id: SegmentId,
    doc_count: u32,
    /// Where the documents have gone after they were stacked.
    order: Option<RowOrder>,
}

impl Shard {
    /// Runs one merge if the goal asks for one; whether it did. The work of the upkeep is done by a thread that
    /// yields to all others, while the locks are held by this one; somebody waits for what was asked for, which
    /// therefore does not wait for the upkeep: that leaves off.
    ///
    /// # Errors
    /// [`EngineError::DiskFull`] when there is no room for it, [`EngineError::MergeCancelled`] when the shard's life has
    /// ended or, of the upkeep, when somebody waits for another merge, [`EngineError::Panicked`]; others leave nothing of it
    /// on the disk either.
    pub(crate) fn merge(&self, goal: MergeGoal, order: MergeOrder) -> Result<bool, EngineError> {
        let output = self.directory.output(self.merge_state.progress.clone());
        // A defect leaves nothing behind, either, and ends neither the merges of other shards nor what waits for this one.
        let merged = EngineError::caught(|| self.merge_once(goal, order, &output));
        if matches!(goal, MergeGoal::AtMost(_)) {
            // Others may wait for the memory of what it has not gone on from.
            drop(self.merge_state.left_off.take());
        }
        merged.inspect_err(|_| self.remove_leftovers(&output))
    }

    fn merge_once(
        &self,
        goal: MergeGoal,
        order: MergeOrder,
        output: &ShardDirectory,
    ) -> Result<bool, EngineError> {
        // Before the lock: a flush beside a merge leaves unused files alone.
        self.make_parts_durable(goal)?;
        let state = &self.merge_state;
        let is_upkeep = matches!(goal, MergeGoal::Upkeep);
        // Nor does who only looks take it: meanwhile a flush would leave unused files where they are.
        if self.has_nothing_to_merge(goal)? {
            return Ok(false);
        }
        let asked = (!is_upkeep).then(|| state.ask_for_turn());
        let _one_at_a_time = self.merging.lock();
        drop(asked);
        // Given back before the lock.
        let upkeep = is_upkeep.then(|| state.begin_upkeep());
        if matches!(upkeep, Some(None)) {
            return Ok(false);
        }
        let _room = {
            let writer = self.writer()?;
            let wanted = views(&writer, &self.choose(&writer, goal));
            // Upkeep shows nothing early: it publishes only when it is going to merge, and then
            // because readers must know all deletes of the segments that are merged.
            if is_upkeep && wanted.is_empty() {
                return Ok(false);
            }
            self.claim_disk(&wanted, (goal, order))?
        };
        // Most of it without the writer's lock.
        self.refresh()?;
        let (parts, mapping, life) = {
            let mut writer = self.settled()?;
            self.publish(&mut writer)?;
            // Publishing made a segment of the buffer, and says which documents of the others live.
            let parts = views(&writer, &self.choose(&writer, goal));
            (parts, writer.mapping().clone(), writer.life)
        };
        if parts.is_empty() {
            return Ok(false);
        }
        self.check_memory(&parts)?;
        let started = self.context.clock.monotonic();
        let merged = self.merge_parts((&parts, &mapping), (goal, order), output)?;
        let mut writer = self.settled()?;
        if writer.life != life {
            // The shard was rebuilt meanwhile: it may never have had some of the parts.
            merged.iter().for_each(|merged| self.discard(&merged.id));
            return Err(EngineError::MergeCancelled);
        }
        // Should it panic: the list of segments may have it or not.
        let _applying = self.applying();
        self.replace(&mut writer, &parts, (merged, output))
            .map_err(|e| self.tantivy_error(e))?;
        self.publish(&mut writer)?;
        drop(writer);
        state.interrupted.lock().clear();
        forget(&*self.context.disk, &self.place.dir);
        self.count_merge(&parts, goal, started);
        Ok(true)
    }

    /// Has what is merged written, for the upkeep in the background; `None` when no document lives.
    fn merge_parts(
        &self,
        (parts, mapping): (&[SegmentView], &Arc<Mapping>),
        (goal, order): (MergeGoal, MergeOrder),
        output: &ShardDirectory,
    ) -> Result<Option<Merged>, EngineError> {
        let state = &self.merge_state;
        let running = state.begin_running();
        let work = || self.write_merged(parts, mapping, (goal, order), output);
        let merged = match goal {
            MergeGoal::Upkeep => run_in_background("clew-merge-work", work),
            MergeGoal::AtMost(_) => Ok(work()),
        };
        drop(running);
        let merged = merged.map_err(io_error("start a thread for", &self.place.dir))?;
        merged.map_err(|error| match state.progress.is_cancelled() {
            true => EngineError::MergeCancelled,
            false => self.tantivy_error(error),
        })
    }

    /// Writes what is merged on this thread.
    fn write_merged(
        &self,
        parts: &[SegmentView],
        mapping: &Arc<Mapping>,
        (goal, order): (MergeGoal, MergeOrder),
        output: &ShardDirectory,
    ) -> tantivy::Result<Option<Merged>> {
        // Whoever asked for it may go: vectors are linked by searches, which would leave off then.
        let _entered = CancellationToken::default().enter();
        let progress = &self.merge_state.progress;
        // What a merge writes is sound by its sums, whatever it was made from.
        self.check_parts(parts, &mut |_| progress.check().map_err(io::Error::other))?;
        let merged = self.run_merge((parts, goal), mapping, output)?;
        let merged = merged.map(|(id, rows)| match goal.finds_similar(order, rows) {
            true => self.reorder((id, rows), mapping, output),
            false => Ok(Merged::stacked(id, rows)),
        });
        merged.transpose()
    }

    fn count_merge(&self, parts: &[SegmentView], goal: MergeGoal, started: Duration) {
        let counters = &self.counters;
        let took = self.since(started);
        counters.merges.add(took);
        let (index, shard) = (&self.place.index, self.place.number);
        let rows: Vec<u32> = parts.iter().map(SegmentView::alive_count).collect();
        tracing::debug!(%index, shard, ?goal, ?rows, ?took, "merged segments");
        let docs = parts.iter().map(|part| u64::from(part.alive_count()));
        ShardCounters::add(&counters.merged_docs, docs.sum());
        let bytes = parts.iter().map(SegmentView::bytes).sum();
        ShardCounters::add(&counters.merged_bytes, bytes);
        ShardCounters::add(&counters.superseded_bytes, bytes);
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
        self.context.merges.memory.largest(MemoryPurpose::Merges)
    }

    /// Fails when the vectors alone take more memory than merges may: nothing can be done then, and
    /// the segments stay as they are.
    fn check_memory(&self, parts: &[SegmentView]) -> Result<(), EngineError> {
        let needs = rows_by_column(parts.iter());
        let needs = needs
            .values()
            .map(|(options, rows)| memory_needed(options, *rows, GraphChoice::Never));
        let needed = needs.max().unwrap_or(0).max(sparse_bytes(parts.iter()));
        let allowed = self.memory_max();
        if needed > allowed {
            return Err(EngineError::MergeMemory { needed, allowed });
        }
        Ok(())
    }

    /// Whether segments are as the goal wants them, and, unless it is the upkeep's, searches see all that there is: no merge of
    /// the upkeep has to give way then.
    fn has_nothing_to_merge(&self, goal: MergeGoal) -> Result<bool, EngineError> {
        let writer = self.writer()?;
        let shows_enough = matches!(goal, MergeGoal::Upkeep) || writer.first_invisible().is_none();
        Ok(shows_enough && self.choose(&writer, goal).is_empty())
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
        (parts, goal): (&[SegmentView], MergeGoal),
        mapping: &Arc<Mapping>,
        output: &ShardDirectory,
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
            limits: self.context.merges.of(goal),
            centres: self.context.centres.clone(),
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
            output.fork(HashMap::new()),
        )?;
        let meta = merged.searchable_segment_metas()?.pop();
        Ok(meta.map(|meta| (meta.id(), meta.max_doc())))
    }

    /// Writes a merged segment anew, in a better order if there is one. Of the two only one is left.
    fn reorder(
        &self,
        (id, doc_count): (SegmentId, u32),
        mapping: &Arc<Mapping>,
        output: &ShardDirectory,
    ) -> tantivy::Result<Merged> {
        let started = self.context.clock.monotonic();
        let index = open_index(output.fork(HashMap::new()), mapping)?;
        let source = index.new_segment_meta(id, doc_count);
        let target = index.new_segment();
        let target_id = target.id();
        let work = (&self.context.merges, &*self.merge_state);
        let order = reorder(&index.segment(source), &target, work);
        let is_better = matches!(order, Ok(Some(_)));
        self.discard(if is_better { &id } else { &target_id });
        let Some(order) = order.inspect_err(|_| self.discard(&id))? else {
            return Ok(Merged::stacked(id, doc_count));
        };
        let dir = self.place.dir.display();
        let took = self.since(started);
        tracing::info!(%dir, rows = doc_count, ?took, "put similar documents beside each other");
        Ok(Merged {
            id: target_id,
            doc_count,
            order: Some(order),
        })
    }

    /// Removes the files of a segment that nothing names. Failing is no error: the next flush tries again.
    fn discard(&self, id: &SegmentId) {
        let files = self.directory.segment_files(id).unwrap_or_default();
        for (name, _) in files {
            self.directory.forget(&name);
            let path = self.place.dir.join(name);
            if let Err(error) = self.context.disk.remove_file(&path) {
                tracing::warn!(path = %path.display(), %error, "cannot remove an unused file");
            }
        }
    }

    /// Puts the merged segment in the place of its parts. Documents that died meanwhile are
    /// killed in it: the n-th document that lived at the start is its n-th document, or has gone
    /// from there to where the order says.
    fn replace(
        &self,
        writer: &mut Writer,
        parts: &[SegmentView],
        (merged, output): (Option<Merged>, &ShardDirectory),
    ) -> tantivy::Result<()> {
        let is_part = |segment: &WriterSegment| {
            parts
                .iter()
                .any(|part| part.files.id == segment.view.files.id)
        };
        let mut new_alive = merged
            .as_ref()
            .map(|merged| AliveBits::full(merged.doc_count));
        let order = merged.as_ref().and_then(|merged| merged.order.as_ref());
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
                    alive.kill(order.map_or(new_doc, |order| order.new_of(new_doc)));
                }
                new_doc += 1;
            }
        }
        let opened = match (merged, new_alive) {
            (Some(Merged { id, doc_count, .. }), Some(alive)) => {
                let alive = (alive.alive_count() < doc_count).then(|| Arc::new(alive));
                let bytes = output.written_bytes(&id);
                let view = SegmentView::open(&writer.index, id, doc_count, alive, bytes);
                let view = view.inspect_err(|_| self.discard(&id))?;
                Some(WriterSegment::new(view))
            }
            _ => None,
        };
        // The parts go only once what stands for them is open: the disk may refuse that.
        writer.segments.retain(|segment| !is_part(segment));
        writer.changed = true;
        if let Some(opened) = opened {
            writer.segments.insert(0, opened);
        }
        Ok(())
    }
}

impl Merged {
    fn stacked(id: SegmentId, doc_count: u32) -> Self {
        Merged {
            id,
            doc_count,
            order: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_upkeep_puts_only_large_segments_in_order() {
        let (least, any) = (UPKEEP_REORDER_ROWS_MIN, MergeGoal::AtMost(1));
        let cases = [
            (MergeOrder::Similar, MergeGoal::Upkeep, least - 1, false),
            (MergeOrder::Similar, MergeGoal::Upkeep, least, true),
            (MergeOrder::Similar, any, 1, true),
            (MergeOrder::Stacked, MergeGoal::Upkeep, least, false),
            (MergeOrder::Stacked, any, least, false),
        ];
        for (order, goal, rows, wanted) in cases {
            let found = goal.finds_similar(order, rows);
            assert_eq!(found, wanted, "{order:?} {goal:?} {rows}");
        }
    }
}
