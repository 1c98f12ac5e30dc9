//! A shard: one log stream's documents as searchable segments.
//!
//! Writes go through [`Writer`], under one lock: number, log, give the document its place in a buffer. Without the lock the
//! document is put there. A refresh seals the buffers into segments and publishes a [`View`]; searches only ever see views.
//! A flush makes the segments durable and moves the checkpoint; a merge replaces segments by one.
//! Built on tantivy without its `IndexWriter`: `docs/decisions/0002-shard-without-index-writer.md`.

mod alive;
mod apply;
mod centres;
mod change;
mod checked_file;
mod copy_memory;
mod directory;
mod disk_needs;
mod document;
mod file_names;
mod filling;
#[cfg(test)]
mod fixture;
mod flush;
mod health;
mod inspect;
mod left_off;
mod manifest;
mod merge;
mod merge_choice;
mod merge_job;
mod norms;
mod plan;
mod prepared;
mod price;
mod rebuild;
mod recovery;
mod reorder;
mod repair;
mod row_plugin;
mod sealing;
mod segment;
mod source_plugin;
mod sums;
pub(crate) mod update;
mod vector_file;
mod vector_plugin;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use clew_log::{Glsn, Log, StreamId};
use clew_platform::{Clock, Disk, MemoryAccount};
use clew_query::QueryReader;
use clew_search::Snapshot;
use parking_lot::{Mutex, MutexGuard};
use tantivy::DocId;
use tokio::sync::watch;

use crate::base::access::Purpose;
use crate::base::activity::Timed;
use crate::base::disk::DiskGuard;
use crate::base::error::EngineError;
use crate::base::index_name::IndexName;
use crate::base::signal::Signal;
use crate::base::waiting::{Seat, Seats, lock_aside};

pub(crate) use alive::AliveBits;
pub(crate) use apply::{ShardAction, ShardWrite, ShardWritten, Target, Text, logged};
pub(crate) use centres::IndexCentres;
pub(crate) use copy_memory::CopyMemory;
pub(crate) use file_names::{is_manifest, is_shard_file};
pub(crate) use filling::{Pending, PutIn};
pub(crate) use health::Remedy;
pub use inspect::FileDamage;
pub(crate) use inspect::ShardFiles;
pub(crate) use merge::MergeGoal;
pub(crate) use merge_choice::has_old_columns;
pub(crate) use merge_job::{MergeLimits, MergeState};
pub(crate) use plan::{Plan, Planned};
pub(crate) use prepared::Prepared;
pub(crate) use repair::ShardRepair;
pub(crate) use segment::SegmentView;
pub(crate) use vector_file::VectorFile;
pub(crate) use writer::{Fullness, Writer};

use directory::ShardDirectory;
use health::ShardHealth;
use price::RecentPrice;

/// Where a shard belongs.
#[derive(Clone, Debug)]
pub(crate) struct ShardPlace {
    pub(crate) index: Arc<IndexName>,
    pub(crate) number: u32,
    pub(crate) stream: StreamId,
    pub(crate) dir: PathBuf,
}

/// What a shard needs of the node.
#[derive(Clone, Debug)]
pub(crate) struct ShardContext {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) log: Log,
    /// A buffer that has grown to this is sealed into a segment.
    pub(crate) buffer_bytes_max: usize,
    /// So many groups of writes are made postings and columns of at once.
    pub(crate) writers: usize,
    /// Reads the queries that documents store.
    pub(crate) query_reader: Option<QueryReader>,
    pub(crate) merges: MergeLimits,
    /// Around which the shards of the index form their lists.
    pub(crate) centres: Arc<IndexCentres>,
    /// Wakes what mends shards that have failed.
    pub(crate) healer: Arc<Signal>,
    /// Says whether there is room for a merge.
    pub(crate) space: Arc<DiskGuard>,
}

/// A searchable state of a shard.
pub(crate) struct View {
    /// What queries run over.
    pub(crate) snapshot: Snapshot,
    /// Our files beside it, in the same order.
    pub(crate) segments: Vec<SegmentView>,
}

/// Counts of what a shard has done since it was opened.
#[derive(Debug, Default)]
pub(crate) struct ShardCounters {
    pub(crate) indexed: AtomicU64,
    pub(crate) deleted: AtomicU64,
    /// Updates that changed nothing.
    pub(crate) noops: AtomicU64,
    pub(crate) refreshes: Timed,
    pub(crate) flushes: Timed,
    pub(crate) merges: Timed,
    /// What the parts of all merges held.
    pub(crate) merged_docs: AtomicU64,
    pub(crate) merged_bytes: AtomicU64,
    /// Bytes of segments that merges have replaced since the last flush: their files are kept until then.
    pub(crate) superseded_bytes: AtomicU64,
}

impl ShardCounters {
    fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}

/// One shard. Lock order: `writers`, `flushing`, `merging`, `sealing`, `writer`, a buffer's.
pub(crate) struct Shard {
    pub(crate) place: ShardPlace,
    pub(crate) counters: ShardCounters,
    /// Of searches for vectors, by the candidates that they keep.
    pub(crate) candidate_price: RecentPrice,
    /// Of reading what found documents have in columns, by 16 bytes of it.
    pub(crate) fetch_price: RecentPrice,
    health: Arc<ShardHealth>,
    context: ShardContext,
    directory: ShardDirectory,
    /// Places of those who write.
    writers: Seats,
    writer: Mutex<Writer>,
    /// Held while a buffer is written without the writer's lock.
    sealing: Mutex<()>,
    view: ArcSwap<View>,
    /// Rises whenever searches see everything that was written until then, and when the shard's life ends.
    published: watch::Sender<u64>,
    flushing: Mutex<flush::FlushState>,
    merging: Mutex<()>,
    /// Bytes that were not on the disk yet when the writer was last seen.
    unwritten: AtomicU64,
    /// How the running merge is getting on.
    pub(crate) merge_state: Arc<MergeState>,
}

/// Where the living version of a document lies.
pub(crate) enum Located {
    /// Not yet in a segment: it is read from the log.
    Log(Glsn),
    /// In a segment.
    Segment(Box<SegmentView>, DocId),
}

impl Shard {
    /// The account that everything of the node takes its memory of.
    pub(crate) fn memory(&self) -> &Arc<MemoryAccount> {
        &self.context.merges.memory
    }

    /// What searches see now.
    pub(crate) fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    /// Takes the write lock; fails when the shard has failed or its index was deleted.
    pub(crate) fn writer(&self) -> Result<MutexGuard<'_, Writer>, EngineError> {
        let writer = lock_aside(&self.writer);
        if self.health.is_retired() {
            let index = self.place.index.to_string();
            return Err(EngineError::IndexNotFound { index });
        }
        self.check_sound()?;
        Ok(writer)
    }

    /// The same for whoever is going to fill the buffer: fails, too, when so much waits in memory for a disk that
    /// refuses it that there is no room for more.
    pub(crate) fn writer_with_room(&self) -> Result<MutexGuard<'_, Writer>, EngineError> {
        let writer = self.writer()?;
        let (bytes, refusal) = self.directory.spilled();
        match refusal {
            Some(refusal) if bytes >= self.context.buffer_bytes_max => Err(self.failed(&format!(
                "[{bytes}] bytes wait for a disk that refuses them: {refusal}"
            ))),
            _ => Ok(writer),
        }
    }

    /// A place among those who write, until what is written is in the buffers.
    pub(crate) fn seat(&self) -> Seat<'_> {
        self.writers.take()
    }

    /// Puts documents that have their place into a buffer, taking the time of each if that is wanted.
    pub(crate) fn fill(&self, pending: Pending, is_timed: bool) -> PutIn {
        let clock = is_timed.then_some(&*self.context.clock);
        pending.end(&self.health, clock)
    }

    /// Whether whoever writes now would wait for others who do.
    pub(crate) fn is_written_to(&self) -> bool {
        self.writers.are_taken()
    }

    /// Whether the shard's files are damaged, as far as was found.
    pub(crate) fn is_damaged(&self) -> bool {
        self.remedy() == Some(Remedy::Repair)
    }

    /// What a failure within the shard comes to: when its files were found damaged, that.
    pub(crate) fn told(&self, error: EngineError) -> EngineError {
        match self.is_damaged() {
            true => self.check_sound().err().unwrap_or(error),
            false => error,
        }
    }

    /// Whether something waits in memory for a disk that has refused it.
    pub(crate) fn has_spilled(&self) -> bool {
        self.directory.spilled().0 > 0
    }

    /// Fails when an answer would lack something, or have what was refused: the shard has failed, or its index is still
    /// being filled.
    pub(crate) fn check_readable(&self) -> Result<(), EngineError> {
        self.check_sound()?;
        match self.is_unfinished() {
            true => Err(self.not_active(Purpose::Read)),
            false => Ok(()),
        }
    }

    /// What is said of a shard that serves nothing yet.
    pub(crate) fn not_active(&self, purpose: Purpose) -> EngineError {
        EngineError::ShardNotActive {
            index: self.place.index.to_string(),
            shard: self.place.number,
            purpose,
        }
    }

    /// Whether the index of the shard is still being filled.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.health.is_unfinished()
    }

    /// The index of the shard is being filled, or that has ended.
    pub(crate) fn set_unfinished(&self, unfinished: bool) {
        self.health.set_unfinished(unfinished);
    }

    /// Fails when the shard has failed.
    pub(crate) fn check_sound(&self) -> Result<(), EngineError> {
        match self.health.failure() {
            None => Ok(()),
            Some(failure) => Err(self.failed(&failure.reason)),
        }
    }

    pub(crate) fn failed(&self, reason: &str) -> EngineError {
        let (index, reason) = (self.place.index.to_string(), reason.to_string());
        EngineError::ShardFailed {
            index,
            shard: self.place.number,
            reason,
        }
    }

    /// Why the shard has failed, when it has.
    pub(crate) fn failure(&self) -> Option<String> {
        let failure = self.health.failure();
        failure.map(|failure| failure.reason.clone())
    }

    /// What would bring the shard back, when it has failed.
    pub(crate) fn remedy(&self) -> Option<Remedy> {
        self.health.remedy()
    }

    /// Whether the index of the shard was deleted.
    pub(crate) fn is_retired(&self) -> bool {
        self.health.is_retired()
    }

    /// Finds the living version of a document, whether searches see it already or not.
    pub(crate) fn locate(&self, id: &str) -> Result<Option<Located>, EngineError> {
        let writer = lock_aside(&self.writer);
        // Under the lock: whoever has held it until now may have failed the shard, and lost its buffer.
        self.check_readable()?;
        let found = writer.locate(id);
        found.map_err(|source| self.tantivy_error(source))
    }

    /// Time that has passed since a moment of the clock.
    fn since(&self, started: Duration) -> Duration {
        self.context.clock.monotonic().saturating_sub(started)
    }

    /// Operations that the shard has ever had: their numbers have no gaps.
    pub(crate) fn operations(&self) -> u64 {
        lock_aside(&self.writer).next_seq_no
    }

    /// Whether searches see everything up to a position.
    pub(crate) fn is_visible(&self, glsn: Glsn) -> bool {
        lock_aside(&self.writer)
            .first_invisible()
            .is_none_or(|first| first > glsn)
    }

    /// The first position that searches do not see yet; `None` when they see everything.
    pub(crate) fn first_invisible(&self) -> Option<Glsn> {
        lock_aside(&self.writer).first_invisible()
    }

    /// Whether there is something a refresh would show.
    pub(crate) fn is_dirty(&self) -> bool {
        self.remedy().is_none() && lock_aside(&self.writer).first_invisible().is_some()
    }

    /// Stops the shard: it serves nothing until it has been rebuilt from its files and the log.
    pub(crate) fn fail(&self, cause: &dyn std::fmt::Display) {
        lock_aside(&self.writer).fail(cause);
    }

    /// Stops the shard for good: its files do not hold what was written.
    pub(crate) fn damaged(&self, reason: &str) {
        let (index, shard) = (self.place.index.get(), self.place.number);
        tracing::error!(index, shard, reason, "shard is damaged");
        self.health.fail(Remedy::Repair, reason);
    }

    /// While this is held, a panic leaves a shard that is rebuilt: what it was about to apply is in the log, and
    /// how much of it is in memory nobody knows.
    pub(crate) fn applying(&self) -> impl Drop + use<> {
        health::Applying::new(self.health.clone())
    }

    /// Stops the shard when it has applied what the log has lost: a position beyond what is durable, in a log that
    /// has failed.
    pub(crate) fn forget_undurable(&self) {
        let writer = lock_aside(&self.writer);
        let log = &self.context.log;
        // Both under the lock: a log that has gone on since has what is applied after that, and nothing is applied now.
        if log.poisoned().is_some() && writer.applied > log.durable() {
            let reason = "the log's disk failed before all that was written was durable";
            self.health.fail(Remedy::Rebuild, reason);
        }
    }

    /// Lets the running merge fail as soon as it can, and every later one at once.
    pub(crate) fn stop_merging(&self) {
        self.merge_state.progress.cancel();
    }

    /// Bytes of the documents that are in no segment yet.
    pub(crate) fn buffer_bytes(&self) -> usize {
        lock_aside(&self.writer).buffer_bytes()
    }

    /// Ends the shard's life with its index: writes, flushes and merges fail from now on.
    pub(crate) fn retire(&self) {
        self.stop_merging();
        // Under the locks: what is being written is written, nothing more.
        let _sealing = lock_aside(&self.sealing);
        let mut writer = lock_aside(&self.writer);
        writer.wait_for_turns();
        self.health.retire();
        // Who waits to see what was written would wait for a refresh that does not come.
        self.published.send_modify(|count| *count += 1);
    }

    /// Changes whenever a view is published, and when the shard's life ends.
    pub(crate) fn published(&self) -> watch::Receiver<u64> {
        self.published.subscribe()
    }

    pub(crate) fn tantivy_error(&self, source: tantivy::TantivyError) -> EngineError {
        let place = format!("[{}][{}]", self.place.index, self.place.number);
        self.told(EngineError::Tantivy { place, source })
    }
}
