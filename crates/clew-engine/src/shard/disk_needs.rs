//! What a shard may still need of the disk, for what it has acknowledged and for merges; and what merges that failed
//! have left there.

use std::io;
use std::sync::atomic::Ordering;

use clew_vector::{GraphChoice, memory_needed};

use super::directory::ShardDirectory;
use super::merge::MergeGoal;
use super::merge_choice::rows_by_column;
use super::{SegmentView, Shard, Writer};
use crate::base::disk::DiskClaim;
use crate::base::error::EngineError;
use crate::base::settings::MergeOrder;

impl Shard {
    /// Bytes that may still have to be written for what was acknowledged: the buffers, and what the disk has refused.
    /// Waits for nobody, as it is asked for by those who write: of a shard that is being written to it is what was so
    /// before the present group of writes.
    pub(crate) fn unwritten_bytes(&self) -> u64 {
        if let Some(writer) = self.writer.try_lock() {
            self.note_unwritten(&writer);
        }
        let (spilled, _) = self.directory.spilled();
        // Several buffers may together have half as much each as one alone.
        let buffers = self.context.buffer_bytes_max;
        let most = buffers.saturating_mul(self.context.writers + 1) / 2 + spilled;
        self.unwritten.load(Ordering::Relaxed).min(most as u64)
    }

    /// A few writes have added about so much to that. To ask the buffer costs more than they do.
    pub(crate) fn add_unwritten(&self, bytes: u64) {
        self.unwritten.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Remembers that for those who ask while the writer is locked.
    pub(crate) fn note_unwritten(&self, writer: &Writer) {
        let (spilled, _) = self.directory.spilled();
        let bytes = writer.buffer_bytes() + spilled;
        self.unwritten.store(bytes as u64, Ordering::Relaxed);
    }

    /// Takes the room that a merge may need: for its result, which is at most as large as its parts, for another copy
    /// where it is put in order, and for the graphs that its parts lack.
    pub(super) fn claim_disk(
        &self,
        parts: &[SegmentView],
        (goal, order): (MergeGoal, MergeOrder),
    ) -> Result<DiskClaim, EngineError> {
        let bytes: u64 = parts.iter().map(SegmentView::bytes).sum();
        let rows = parts.iter().map(SegmentView::doc_count).sum();
        let copies = 1 + u64::from(goal.finds_similar(order, rows));
        let columns = rows_by_column(parts.iter());
        let graphs = columns.values().map(|(options, rows)| {
            let centres = &self.context.centres;
            let whole = centres.memory_needed(options, *rows, GraphChoice::WhenWorthIt);
            let plain = memory_needed(options, *rows, GraphChoice::Never);
            whole.saturating_sub(plain) as u64
        });
        let needed = bytes.saturating_mul(copies).saturating_add(graphs.sum());
        let what = format!("a merge of [{}][{}]", self.place.index, self.place.number);
        self.context.space.claim(&what, needed)
    }

    /// Removes what a merge has written that failed, and nothing else: what a manifest names may be in no writer's list.
    pub(super) fn remove_leftovers(&self, output: &ShardDirectory) {
        for name in output.take_written() {
            let path = self.place.dir.join(name);
            match self.context.disk.remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::warn!(path = %path.display(), %error, "cannot remove an unused file");
                }
                _ => {}
            }
        }
    }
}
